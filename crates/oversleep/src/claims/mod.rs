//! Keeps track of the guards that hold a thread's settings, which may be dropped in any order: after each drop the
//! setting is what the remaining guards request, and after the last one it is what it was before the first.
//!
//! Pure except for the access to the thread, which tests replace.

use std::cell::RefCell;

use crate::outcome::{Denied, Outcome, Why};
use crate::sys;

/// Access to the settings of a thread, as far as the kernel allows it.
pub(crate) trait Thread {
    /// A scheduling policy with its parameters.
    type Policy: Copy;

    /// Zero under a real-time policy, which has none.
    fn slack_ns(&mut self) -> Result<u64, Denied>;
    fn set_slack_ns(&mut self, ns: u64) -> Result<(), Denied>;
    /// Zero under a real-time policy, which has none.
    fn slice_ns(&mut self) -> Result<u64, Denied>;
    fn set_slice_ns(&mut self, ns: u64) -> Result<(), Denied>;
    /// Restores a slice that was read before. If it was the system's default, it becomes the default again.
    fn restore_slice_ns(&mut self, ns: u64);
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
struct Claims<V> {
    /// The value before the first claim.
    was: Option<V>,
    held: Vec<(Claim, V)>,
}

impl<V: Copy> Claims<V> {
    const NONE: Claims<V> = Claims { was: None, held: Vec::new() };

    fn add(&mut self, claim: Claim, was: V, value: V) {
        if self.held.is_empty() {
            self.was = Some(was);
        }
        self.held.push((claim, value));
    }

    fn remove(&mut self, claim: Claim) {
        self.held.retain(|(held, _)| *held != claim);
    }
}

/// All claims on settings of one thread.
#[derive(Debug)]
pub(crate) struct Settings<P> {
    slack: Claims<u64>,
    slice: Claims<u64>,
    policy: Claims<P>,
    /// The slack to restore once the thread has left its real-time policy: under one, the kernel ignores the change.
    slack_later: Option<u64>,
    slice_later: Option<u64>,
    next: u64,
}

/// A claim if one was made, and the outcome of the request.
type Held<V> = (Option<Claim>, Outcome<V>);

impl<P: Copy> Settings<P> {
    pub(crate) const NONE: Settings<P> = Settings {
        slack: Claims::NONE,
        slice: Claims::NONE,
        policy: Claims::NONE,
        slack_later: None,
        slice_later: None,
        next: 0,
    };

    fn is_empty(&self) -> bool {
        self.slack.held.is_empty() && self.slice.held.is_empty() && self.policy.held.is_empty()
    }

    fn claim(&mut self) -> Claim {
        self.next += 1;
        Claim(self.next)
    }

    /// Sets this slack, whether finer or coarser than the current one.
    pub(crate) fn hold_slack(&mut self, thread: &mut impl Thread, requested_ns: u64) -> Result<Held<u64>, Denied> {
        let was_ns = thread.slack_ns()?;
        // Under a real-time policy the kernel ignores the change, and writing 0 back couldn't restore it.
        let is_set = was_ns == 0 || was_ns == requested_ns;
        if is_set && (was_ns == 0 || self.slack.held.is_empty()) {
            return Ok((None, Outcome::AlreadyFiner { is: was_ns }));
        }
        if !is_set {
            thread.set_slack_ns(requested_ns)?;
            let now_ns = thread.slack_ns();
            if now_ns != Ok(requested_ns) {
                // Emulators narrow the number to 32 bits (qemu-user 7.2), and sandboxes fake the call.
                let _ = thread.set_slack_ns(was_ns);
                now_ns?;
                return Err(Denied {
                    why: Why::Ignored { call: sys::SET_SLACK },
                    how: "check whether an emulator or a sandbox changes the arguments of the call",
                });
            }
        }
        let claim = self.claim();
        self.slack.add(claim, was_ns, requested_ns);
        let outcome = match is_set {
            true => Outcome::AlreadyFiner { is: was_ns },
            false => Outcome::Applied { was: was_ns, now: requested_ns },
        };
        Ok((Some(claim), outcome))
    }

    pub(crate) fn release_slack(&mut self, thread: &mut impl Thread, claim: Claim) {
        let is_last = self.slack.held.last().is_some_and(|(held, _)| *held == claim);
        self.slack.remove(claim);
        if !is_last {
            return;
        }
        let wanted_ns = self.slack.held.last().map(|&(_, ns)| ns).or(self.slack.was);
        match (wanted_ns, thread.slack_ns()) {
            (Some(ns), Ok(0)) => self.slack_later = Some(ns),
            // A sandbox entered since then may forbid restoring it. A drop can't report that.
            (Some(ns), _) => drop(thread.set_slack_ns(ns)),
            (None, _) => {}
        }
    }

    /// Sets this slice, unless the current one is as short.
    pub(crate) fn hold_slice(&mut self, thread: &mut impl Thread, requested_ns: u64) -> Result<Held<u64>, Denied> {
        let was_ns = thread.slice_ns()?;
        let is_short = was_ns <= requested_ns;
        if is_short && (was_ns == 0 || self.slice.held.is_empty()) {
            return Ok((None, Outcome::AlreadyFiner { is: was_ns }));
        }
        if !is_short {
            thread.set_slice_ns(requested_ns)?;
            let now_ns = thread.slice_ns();
            if now_ns != Ok(requested_ns) {
                thread.restore_slice_ns(was_ns);
                now_ns?;
                let why = Why::Ignored { call: sys::SET_SLICE };
                return Err(Denied { why, how: "check whether a sandbox or an emulator handles the call itself" });
            }
        }
        let claim = self.claim();
        self.slice.add(claim, was_ns, requested_ns);
        let outcome = match is_short {
            true => Outcome::AlreadyFiner { is: was_ns },
            false => Outcome::Applied { was: was_ns, now: requested_ns },
        };
        Ok((Some(claim), outcome))
    }

    pub(crate) fn release_slice(&mut self, thread: &mut impl Thread, claim: Claim) {
        self.slice.remove(claim);
        let is_real_time = thread.slice_ns() == Ok(0);
        let shortest_ns = self.slice.held.iter().map(|&(_, ns)| ns).min();
        match (shortest_ns, self.slice.was) {
            (wanted_ns, was_ns) if is_real_time => self.slice_later = wanted_ns.or(was_ns),
            (Some(ns), _) => drop(thread.set_slice_ns(ns)),
            (None, Some(was_ns)) => thread.restore_slice_ns(was_ns),
            (None, None) => {}
        }
    }

    /// Sets this policy, unless the current one is as urgent. If that is forbidden, `ask` may request it from another
    /// process. The outcome has the policies.
    pub(crate) fn hold_policy<T: Thread<Policy = P>>(
        &mut self,
        thread: &mut T,
        requested: impl FnOnce(P) -> P,
        ask: impl FnOnce() -> Option<Result<(), Denied>>,
    ) -> Result<Held<P>, Denied> {
        let was = thread.policy()?;
        let mut requested = requested(was);
        let is_urgent = T::rank(was) >= T::rank(requested);
        if is_urgent && self.policy.held.is_empty() {
            return Ok((None, Outcome::AlreadyFiner { is: was }));
        }
        if !is_urgent {
            // Since Linux 6.12 a thread that leaves a real-time policy gets the default slack.
            let slack_ns = thread.slack_ns().ok().filter(|&ns| ns != 0);
            if let Err(denied) = thread.set_policy(requested) {
                match ask() {
                    Some(Ok(())) => requested = thread.policy()?,
                    Some(Err(refused)) => return Err(refused),
                    None => return Err(denied),
                }
            }
            let now = thread.policy();
            if !now.is_ok_and(|now| T::rank(now) == T::rank(requested) && T::rank(now) > T::rank(was)) {
                // Some sandboxes fake success. This restores whatever did change.
                let _ = thread.set_policy(was);
                now?;
                let why = Why::Ignored { call: sys::SET_POLICY };
                return Err(Denied { why, how: "check whether a sandbox or an emulator handles the call itself" });
            }
            if self.policy.held.is_empty() {
                self.slack_later = slack_ns;
            }
        }
        let claim = self.claim();
        self.policy.add(claim, was, requested);
        let outcome = match is_urgent {
            true => Outcome::AlreadyFiner { is: was },
            false => Outcome::Applied { was, now: requested },
        };
        Ok((Some(claim), outcome))
    }

    pub(crate) fn release_policy<T: Thread<Policy = P>>(&mut self, thread: &mut T, claim: Claim) {
        self.policy.remove(claim);
        let most_urgent = self.policy.held.iter().map(|&(_, policy)| policy).max_by_key(|&policy| T::rank(policy));
        let Some(wanted) = most_urgent.or(self.policy.was) else { return };
        // Restoring the former policy needs no privilege. If a sandbox forbids it, a drop can't report that.
        if thread.set_policy(wanted).is_ok() && self.policy.held.is_empty() {
            if let Some(ns) = self.slack_later.take() {
                let _ = thread.set_slack_ns(ns);
            }
            if let Some(ns) = self.slice_later.take() {
                match self.slice.held.is_empty() {
                    true => thread.restore_slice_ns(ns),
                    false => drop(thread.set_slice_ns(ns)),
                }
            }
        }
    }
}

/// The calling thread.
pub(crate) struct ThisThread;

impl Thread for ThisThread {
    type Policy = sys::Policy;

    fn slack_ns(&mut self) -> Result<u64, Denied> {
        sys::timer_slack_ns()
    }

    fn set_slack_ns(&mut self, ns: u64) -> Result<(), Denied> {
        sys::set_timer_slack_ns(ns)
    }

    fn slice_ns(&mut self) -> Result<u64, Denied> {
        sys::slice_ns()
    }

    fn set_slice_ns(&mut self, ns: u64) -> Result<(), Denied> {
        sys::set_slice_ns(ns)
    }

    fn restore_slice_ns(&mut self, ns: u64) {
        sys::restore_slice_ns(ns);
    }

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
pub(crate) fn with<R>(body: impl FnOnce(&mut OfThread, &mut ThisThread) -> R) -> Option<R> {
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
pub(crate) const ENDING: Denied = Denied {
    why: Why::Unsupported { what: "setting that can be held while a thread ends, or during another change" },
    how: "hold it before the thread's destructors run, and not in a signal handler",
};

#[cfg(test)]
mod tests;
