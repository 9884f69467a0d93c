//! The settings that guards hold, and how they differ.

use super::{Claims, Settings, Thread};
use crate::outcome::Denied;
use crate::sys;

type Set<T, V> = fn(&mut T, V) -> Result<(), Denied>;
type Policy<T> = <T as Thread>::Policy;

/// A setting of a thread.
pub(crate) trait Setting<T: Thread> {
    type Value: Copy;
    const CLAIMS: fn(&mut Settings<T::Policy>) -> &mut Claims<Self::Value>;
    const READ: fn(&mut T) -> Result<Self::Value, Denied>;
    const SET: Set<T, Self::Value>;
    /// Sets the value from before the first claim.
    const RESTORE: Set<T, Self::Value> = Self::SET;
    /// The call that sets it, and the next step if it reports success but has no effect.
    const CALL: &'static str;
    const IF_IGNORED: &'static str = "check whether a sandbox or an emulator handles the call itself";
    /// Whether the first value satisfies a request for the second.
    const IS_AS_FINE: fn(Self::Value, Self::Value) -> bool;
    /// Whether the newest claim counts, instead of the finest.
    const NEWEST_COUNTS: bool = false;
    /// What it reads as while a real-time policy suspends it.
    const SUSPENDED: Option<Self::Value> = None;
    /// Called before the change for the first claim.
    const BEFORE_FIRST: fn(&mut Settings<T::Policy>, &mut T) = |_, _| {};
    /// Called after the last claim was released.
    const AFTER_LAST: fn(&mut Settings<T::Policy>, &mut T) = |_, _| {};
}

/// Whether both values are equally fine.
pub(super) fn is_same<S: Setting<T>, T: Thread>(a: S::Value, b: S::Value) -> bool {
    S::IS_AS_FINE(a, b) && S::IS_AS_FINE(b, a)
}

/// The timer slack: set exactly, whether finer or coarser.
#[derive(Debug)]
pub(crate) struct Slack;

impl<T: Thread> Setting<T> for Slack {
    type Value = u64;
    const CLAIMS: fn(&mut Settings<Policy<T>>) -> &mut Claims<u64> = |settings| &mut settings.slack;
    const READ: fn(&mut T) -> Result<u64, Denied> = T::slack_ns;
    const SET: Set<T, u64> = T::set_slack_ns;
    const CALL: &'static str = sys::SET_SLACK;
    // Emulators narrow the number to 32 bits (qemu-user 7.2), and sandboxes fake the call.
    const IF_IGNORED: &'static str = "check whether an emulator or a sandbox changes the arguments of the call";
    const IS_AS_FINE: fn(u64, u64) -> bool = |is_ns, requested_ns| is_ns == requested_ns;
    const NEWEST_COUNTS: bool = true;
    const SUSPENDED: Option<u64> = Some(0);
}

/// The time slice.
#[derive(Debug)]
pub(crate) struct Slice;

impl<T: Thread> Setting<T> for Slice {
    type Value = u64;
    const CLAIMS: fn(&mut Settings<Policy<T>>) -> &mut Claims<u64> = |settings| &mut settings.slice;
    const READ: fn(&mut T) -> Result<u64, Denied> = T::slice_ns;
    const SET: Set<T, u64> = T::set_slice_ns;
    const RESTORE: Set<T, u64> = |thread, ns| {
        thread.restore_slice_ns(ns);
        Ok(())
    };
    const CALL: &'static str = sys::SET_SLICE;
    const IS_AS_FINE: fn(u64, u64) -> bool = |is_ns, requested_ns| is_ns <= requested_ns;
    const SUSPENDED: Option<u64> = Some(0);
}

/// The scheduling policy.
#[derive(Debug)]
pub(crate) struct RealTime;

impl<T: Thread> Setting<T> for RealTime {
    type Value = T::Policy;
    const CLAIMS: fn(&mut Settings<T::Policy>) -> &mut Claims<T::Policy> = |settings| &mut settings.policy;
    const READ: fn(&mut T) -> Result<T::Policy, Denied> = T::policy;
    // Restoring the former policy needs no privilege.
    const SET: Set<T, T::Policy> = T::set_policy;
    const CALL: &'static str = sys::SET_POLICY;
    const IS_AS_FINE: fn(T::Policy, T::Policy) -> bool = |is, requested| T::rank(is) >= T::rank(requested);
    // Since Linux 6.12 a thread that leaves a real-time policy gets the default slack.
    const BEFORE_FIRST: fn(&mut Settings<T::Policy>, &mut T) =
        |settings, thread| settings.slack.later = thread.slack_ns().ok().filter(|&ns| ns != 0);
    const AFTER_LAST: fn(&mut Settings<T::Policy>, &mut T) = |settings, thread| {
        settings.catch_up::<Slack, T>(thread);
        settings.catch_up::<Slice, T>(thread);
    };
}
