//! A clock that only moves when a test or a sleep moves it.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::TimeSource;
use crate::clock::Instant;

/// How long a turn of a spinning loop takes, or a yield.
const RELAX: Duration = Duration::from_nanos(50);

/// A clock in virtual time. Clones share their time.
///
/// A sleep takes no real time: it moves the clock to its deadline, so code with one thread runs at full speed and
/// exactly alike each time. If other threads must see time stand still until the test moves it, make it
/// [driven](VirtualClock::driven).
///
/// ```
/// use oversleep::time::{TimeSource, VirtualClock};
/// use oversleep::{Missed, Pacer};
/// use std::time::Duration;
///
/// let time = VirtualClock::new();
/// let mut frames = Pacer::every(Duration::from_millis(10)).on_missed(Missed::Skip).with_time(time.clone());
/// assert_eq!(frames.wait().period, 1);
/// time.advance(Duration::from_millis(35)); // a slow frame
/// let beat = frames.wait();
/// assert_eq!((beat.period, beat.missed, beat.lateness_ns), (4, 2, 5_000_000));
/// ```
#[derive(Clone, Debug)]
pub struct VirtualClock {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    is_driven: bool,
}

#[derive(Debug)]
struct State {
    now: Instant,
    lateness: Duration,
    /// How many threads sleep until each instant. Only a driven clock has any.
    sleepers: BTreeMap<Instant, usize>,
}

impl Default for VirtualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl VirtualClock {
    /// A clock that shows an hour since its zero, and that each sleep moves to the sleep's deadline.
    ///
    /// ```
    /// use oversleep::time::{TimeSource, VirtualClock};
    ///
    /// let time = VirtualClock::new();
    /// assert_eq!(time.now(), time.now());
    /// ```
    pub fn new() -> Self {
        Self::with(false)
    }

    /// A clock that stands still until [`advance`](VirtualClock::advance) or
    /// [`advance_to_next`](VirtualClock::advance_to_next) moves it. Sleeps block their threads until then.
    ///
    /// ```
    /// use oversleep::time::{TimeSource, VirtualClock};
    /// use std::time::Duration;
    ///
    /// let time = VirtualClock::driven();
    /// let worker = std::thread::spawn({
    ///     let time = time.clone();
    ///     move || time.sleep(Duration::from_secs(5))
    /// });
    /// time.wait_for_sleepers(1);
    /// time.advance(Duration::from_secs(5));
    /// worker.join().unwrap();
    /// ```
    pub fn driven() -> Self {
        Self::with(true)
    }

    fn with(is_driven: bool) -> Self {
        // An hour leaves room for arithmetic on earlier instants.
        let now = Instant::from_nanos(3_600_000_000_000);
        let state = Mutex::new(State { now, lateness: Duration::ZERO, sleepers: BTreeMap::new() });
        Self { shared: Arc::new(Shared { state, changed: Condvar::new(), is_driven }) }
    }

    /// From now on each sleep ends this long after its deadline, as on a machine with a coarse timer.
    ///
    /// ```
    /// use oversleep::time::{TimeSource, VirtualClock};
    /// use std::time::Duration;
    ///
    /// let time = VirtualClock::new();
    /// time.set_lateness(Duration::from_millis(15));
    /// let start = time.now();
    /// time.sleep(Duration::from_millis(1));
    /// assert_eq!(time.now() - start, Duration::from_millis(16));
    /// ```
    pub fn set_lateness(&self, lateness: Duration) {
        self.state().lateness = lateness;
    }

    /// Moves the clock forward, and wakes the threads whose sleeps have ended.
    ///
    /// ```
    /// use oversleep::time::{TimeSource, VirtualClock};
    /// use std::time::Duration;
    ///
    /// let time = VirtualClock::new();
    /// let start = time.now();
    /// time.advance(Duration::from_secs(3));
    /// assert_eq!(time.now() - start, Duration::from_secs(3));
    /// ```
    pub fn advance(&self, duration: Duration) {
        let mut state = self.state();
        state.now = state.now.saturating_add(duration);
        self.shared.changed.notify_all();
    }

    /// Moves the clock to the end of the sleep that ends next, and returns that; `None` if no thread sleeps.
    ///
    /// ```
    /// assert_eq!(oversleep::time::VirtualClock::driven().advance_to_next(), None);
    /// ```
    pub fn advance_to_next(&self) -> Option<Instant> {
        let mut state = self.state();
        let (&next, _) = state.sleepers.first_key_value()?;
        state.now = state.now.max(next);
        self.shared.changed.notify_all();
        Some(next)
    }

    /// Blocks, in real time, until this many threads sleep, or wait for a deadline, on a driven clock.
    ///
    /// ```
    /// oversleep::time::VirtualClock::driven().wait_for_sleepers(0);
    /// ```
    pub fn wait_for_sleepers(&self, count: usize) {
        let mut state = self.state();
        while state.sleepers.values().sum::<usize>() < count {
            state = self.changed(state);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `deadline`, or on a driven clock until `is_over`.
    fn wait_until(&self, deadline: Instant, is_over: impl Fn() -> bool) {
        let mut state = self.state();
        if state.now >= deadline || is_over() {
            return;
        }
        let end = deadline.saturating_add(state.lateness);
        if !self.shared.is_driven {
            state.now = end;
            return;
        }
        *state.sleepers.entry(end).or_default() += 1;
        self.shared.changed.notify_all();
        while state.now < end && !is_over() {
            state = self.changed(state);
        }
        if let Some(count) = state.sleepers.get_mut(&end) {
            *count -= 1;
            if *count == 0 {
                state.sleepers.remove(&end);
            }
        }
    }

    fn changed<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl TimeSource for VirtualClock {
    fn now(&self) -> Instant {
        self.state().now
    }

    fn sleep_until(&self, deadline: Instant) {
        self.wait_until(deadline, || false);
    }

    /// On a driven clock another thread can end the wait. Otherwise it moves the clock, as a sleep does.
    fn wait_by(&self, deadline: Instant, has_come: &dyn Fn() -> bool, _system: &mut dyn FnMut()) {
        self.wait_until(deadline, has_come);
    }

    fn notify(&self) {
        // The lock ensures that no thread is between checking and waiting.
        drop(self.state());
        self.shared.changed.notify_all();
    }

    /// Takes 50 ns, or lets other threads run if the clock is driven.
    fn relax(&self) {
        self.yield_now();
    }

    /// Takes 50 ns, or lets other threads run if the clock is driven.
    fn yield_now(&self) {
        if self.shared.is_driven { std::thread::yield_now() } else { self.advance(RELAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_spins_comes_to_its_end() {
        let time = VirtualClock::new();
        let deadline = time.now() + Duration::from_micros(1);
        let mut turns = 0;
        while time.now() < deadline {
            time.relax();
            turns += 1;
        }
        assert_eq!(turns, 20);
    }

    #[test]
    fn a_driven_clock_wakes_threads_in_the_order_of_their_deadlines() {
        let time = VirtualClock::driven();
        let start = time.now();
        let ends = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for seconds in [3, 1, 2] {
                let (time, ends) = (time.clone(), &ends);
                scope.spawn(move || {
                    time.sleep_until(start + Duration::from_secs(seconds));
                    ends.lock().unwrap().push((seconds, time.now() - start));
                });
            }
            time.wait_for_sleepers(3);
            for seconds in 1..=3 {
                assert_eq!(time.advance_to_next(), Some(start + Duration::from_secs(seconds)));
                while ends.lock().unwrap().len() < seconds as usize {
                    std::thread::yield_now();
                }
            }
            assert_eq!(time.advance_to_next(), None);
        });
        let expected = [1, 2, 3].map(|seconds| (seconds, Duration::from_secs(seconds)));
        assert_eq!(*ends.lock().unwrap(), expected);
    }

    #[test]
    fn a_sleep_into_the_past_takes_no_time() {
        let time = VirtualClock::new();
        time.set_lateness(Duration::from_secs(1));
        let now = time.now();
        time.sleep_until(now);
        assert_eq!(time.now(), now);
    }
}
