//! Keeps track of the guards that hold a thread's settings, which may be dropped in any order: after each drop the
//! setting is what the remaining guards request, and after the last one it is what it was before the first.
//!
//! Pure except for the access to the thread, which tests replace.

mod setting;

use std::cell::RefCell;
use std::marker::PhantomData;

use crate::outcome::{Denied, Outcome, Why};
use crate::sys;
use setting::is_same;

pub(crate) use setting::{RealTime, Setting, Slack, Slice};

/// Access to the settings of a thread, as far as the kernel allows it: of the calling thread, unless a test replaces it.
pub(crate) trait Thread {
    /// A scheduling policy with its parameters.
    type Policy: Copy;

    /// Zero under a real-time policy, which has none.
    fn slack_ns(&mut self) -> Result<u64, Denied> {
        sys::timer_slack_ns()
    }
    fn set_slack_ns(&mut self, ns: u64) -> Result<(), Denied> {
        sys::set_timer_slack_ns(ns)
    }
    /// Zero under a real-time policy, which has none.
    fn slice_ns(&mut self) -> Result<u64, Denied> {
        sys::slice_ns()
    }
    fn set_slice_ns(&mut self, ns: u64) -> Result<(), Denied> {
        sys::set_slice_ns(ns)
    }
    /// Restores a slice that was read before. If it was the system's default, it becomes the default again.
    fn restore_slice_ns(&mut self, ns: u64) {
        sys::restore_slice_ns(ns);
    }
    fn policy(&mut self) -> Result<Self::Policy, Denied>;
    fn set_policy(&mut self, policy: Self::Policy) -> Result<(), Denied>;
    /// Higher is more urgent; zero for an ordinary policy.
    fn rank(policy: Self::Policy) -> u32;
}

/// Identifies a claim of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim(u64);

/// The claims on one setting.
#[derive(Debug)]
pub(crate) struct Claims<V> {
    /// The value before the first claim.
    was: Option<V>,
    held: Vec<(Claim, V)>,
    /// The value to set once the thread has left its real-time policy: under one, the kernel ignores the change.
    later: Option<V>,
}

impl<V> Claims<V> {
    const NONE: Claims<V> = Claims { was: None, held: Vec::new(), later: None };
}

/// All claims on settings of one thread.
#[derive(Debug)]
pub(crate) struct Settings<P> {
    slack: Claims<u64>,
    slice: Claims<u64>,
    policy: Claims<P>,
    next: u64,
}

/// A claim if one was made, and the outcome of the request.
type Held<V> = (Option<Claim>, Outcome<V>);

impl<P: Copy> Settings<P> {
    pub(crate) const NONE: Settings<P> =
        Settings { slack: Claims::NONE, slice: Claims::NONE, policy: Claims::NONE, next: 0 };

    fn is_empty(&self) -> bool {
        self.slack.held.is_empty() && self.slice.held.is_empty() && self.policy.held.is_empty()
    }

    /// Sets a setting to what `requested` makes of its value, unless that is as fine. If the system refuses, `refused` may
    /// have another process set it.
    pub(crate) fn hold<S: Setting<T>, T: Thread<Policy = P>>(
        &mut self,
        thread: &mut T,
        requested: impl FnOnce(S::Value) -> S::Value,
        refused: impl FnOnce(Denied) -> Result<(), Denied>,
    ) -> Result<Held<S::Value>, Denied> {
        let was = S::READ(thread)?;
        let mut requested = requested(was);
        // The kernel ignores a change to what a real-time policy suspends, and couldn't restore it.
        let is_suspended = S::SUSPENDED.is_some_and(|suspended| is_same::<S, T>(was, suspended));
        let is_fine = is_suspended || S::IS_AS_FINE(was, requested);
        let is_first = S::CLAIMS(self).held.is_empty();
        if is_suspended || (is_fine && is_first) {
            return Ok((None, Outcome::AlreadyFiner { is: was }));
        }
        if !is_fine {
            if is_first {
                S::BEFORE_FIRST(self, thread);
            }
            if let Err(denied) = S::SET(thread, requested) {
                refused(denied)?;
                requested = S::READ(thread)?;
            }
            let now = S::READ(thread);
            if !now.is_ok_and(|now| is_same::<S, T>(now, requested) && !S::IS_AS_FINE(was, now)) {
                // Some sandboxes fake success. This restores whatever did change.
                let _ = S::RESTORE(thread, was);
                now?;
                return Err(Denied { why: Why::Ignored { call: S::CALL }, how: S::IF_IGNORED });
            }
        }
        self.next += 1;
        let (claim, claims) = (Claim(self.next), S::CLAIMS(self));
        if is_first {
            claims.was = Some(was);
        }
        claims.held.push((claim, requested));
        let outcome = match is_fine {
            true => Outcome::AlreadyFiner { is: was },
            false => Outcome::Applied { was, now: requested },
        };
        Ok((Some(claim), outcome))
    }

    /// Sets what the remaining claims request, or what was before the first.
    pub(crate) fn release<S: Setting<T>, T: Thread<Policy = P>>(&mut self, thread: &mut T, claim: Claim) {
        let claims = S::CLAIMS(self);
        let is_newest = claims.held.last().is_some_and(|(held, _)| *held == claim);
        claims.held.retain(|(held, _)| *held != claim);
        if S::NEWEST_COUNTS && !is_newest {
            return;
        }
        let is_last = claims.held.is_empty();
        let held = claims.held.iter().map(|&(_, value)| value);
        let finest = held.reduce(|a, b| if S::NEWEST_COUNTS || S::IS_AS_FINE(b, a) { b } else { a });
        let Some(value) = finest.or(claims.was) else { return };
        let is_suspended = |value| S::READ(thread).is_ok_and(|now| is_same::<S, T>(now, value));
        if S::SUSPENDED.is_some_and(is_suspended) {
            claims.later = Some(value);
            return;
        }
        // A sandbox entered since then may forbid restoring it. A drop can't report that.
        let set = if is_last { S::RESTORE } else { S::SET };
        if set(thread, value).is_ok() && is_last {
            S::AFTER_LAST(self, thread);
        }
    }

    /// Sets what was to be set once the thread has left its real-time policy.
    fn catch_up<S: Setting<T>, T: Thread<Policy = P>>(&mut self, thread: &mut T) {
        let claims = S::CLAIMS(self);
        if let Some(value) = claims.later.take() {
            let set = if claims.held.is_empty() { S::RESTORE } else { S::SET };
            let _ = set(thread, value);
        }
    }
}

/// The calling thread.
pub(crate) struct ThisThread;

impl Thread for ThisThread {
    type Policy = sys::Policy;

    fn policy(&mut self) -> Result<sys::Policy, Denied> {
        sys::policy()
    }

    fn set_policy(&mut self, policy: sys::Policy) -> Result<(), Denied> {
        sys::set_policy(policy)
    }

    fn rank(policy: sys::Policy) -> u32 {
        sys::scheduling(policy).rank()
    }
}

type OfThread = Settings<sys::Policy>;

thread_local! {
    /// Allocated while the thread holds something.
    static OF_THIS_THREAD: RefCell<Option<Box<OfThread>>> = const { RefCell::new(None) };
}

// Every thread of the process pays for it.
const _: () = assert!(size_of::<RefCell<Option<Box<OfThread>>>>() <= 32);

/// Calls `body` with the claims of the calling thread. `None` while the thread ends: its settings end with it.
fn with<R>(body: impl FnOnce(&mut OfThread, &mut ThisThread) -> R) -> Option<R> {
    OF_THIS_THREAD
        .try_with(|settings| {
            let mut settings = settings.try_borrow_mut().ok()?;
            let held = settings.get_or_insert_with(|| Box::new(Settings::NONE));
            let result = body(held, &mut ThisThread);
            if held.is_empty() {
                *settings = None;
            }
            Some(result)
        })
        .ok()
        .flatten()
}

/// The slack that the calling thread holds through this library, if any.
pub(crate) fn held_slack_ns() -> Option<u64> {
    let held = |settings: &RefCell<Option<Box<OfThread>>>| {
        settings.try_borrow().ok()?.as_ref()?.slack.held.last().map(|&(_, ns)| ns)
    };
    OF_THIS_THREAD.try_with(held).ok().flatten()
}

/// The denial for a thread that is ending, and for a signal handler that interrupts a change.
const ENDING: Denied = Denied {
    why: Why::Unsupported { what: "setting that can be held while a thread ends, or during another change" },
    how: "hold it before the thread's destructors run, and not in a signal handler",
};

/// Holds a setting for the thread that created it. Its users see the values as `V`.
#[derive(Debug)]
pub(crate) struct Guard<S: Setting<ThisThread>, V> {
    claim: Option<Claim>,
    outcome: Outcome<V>,
    of_this_thread: PhantomData<(S, *const ())>,
}

impl<S: Setting<ThisThread>, V> Guard<S, V> {
    /// As [`Settings::hold`]. If that is denied, the guard holds nothing.
    pub(crate) fn hold(
        requested: impl FnOnce(S::Value) -> S::Value,
        refused: impl FnOnce(Denied) -> Result<(), Denied>,
        show: fn(S::Value) -> V,
    ) -> Self {
        let held = with(|settings, thread| settings.hold::<S, _>(thread, requested, refused));
        let (claim, outcome) = match held.unwrap_or(Err(ENDING)) {
            Ok((claim, outcome)) => (claim, outcome.map(show)),
            Err(denied) => (None, Outcome::Denied(denied)),
        };
        Self { claim, outcome, of_this_thread: PhantomData }
    }

    pub(crate) fn outcome(&self) -> &Outcome<V> {
        &self.outcome
    }
}

impl<S: Setting<ThisThread>, V> Drop for Guard<S, V> {
    fn drop(&mut self) {
        if let Some(claim) = self.claim {
            with(|settings, thread| settings.release::<S, _>(thread, claim));
        }
    }
}

#[cfg(test)]
mod tests;
