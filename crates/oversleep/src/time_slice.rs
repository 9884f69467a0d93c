//! The calling thread's time slice: how soon an ordinary thread runs when it wakes up, and for how long at a time.
//!
//! Linux 6.12 and later let any thread choose it.

use std::time::Duration;

use crate::claims::{Guard, Slice};
use crate::outcome::{Denied, Outcome};
use crate::sys;

/// The calling thread's time slice (Linux 6.12; elsewhere every call is [`Denied`] with a reason).
///
/// The scheduler owes each thread a slice, to be used up by a *virtual deadline*. A short slice means an early deadline:
/// a thread that wakes up usually runs at once, instead of when the slice of the running thread ends, milliseconds later.
/// It needs no privilege, since it doesn't buy CPU time: the thread's share stays the same.
///
/// # What it costs others
///
/// * A thread that wakes up interrupts the running one more often. That thread gets the time back later.
/// * While it computes, the thread itself is interrupted more often: after its slice, at the granularity of the
///   scheduler's tick. That costs throughput, so hold a short slice in threads that wait most of the time.
///
/// # Inheritance
///
/// Threads and programs that the thread starts meanwhile inherit the slice for good, unless the thread resets its
/// scheduling on fork (`SCHED_FLAG_RESET_ON_FORK`). This crate sets no such flag, because an ordinary user can't clear it
/// again. Start them before, or let them set their own.
///
/// The nice value and every other attribute of the thread stay as they are.
///
/// ```
/// use oversleep::TimeSlice;
///
/// let held = TimeSlice::hold(TimeSlice::SHORTEST);
/// println!("time slice: {}", held.outcome());
/// // ... waits in this thread end sooner beside busy threads ...
/// drop(held); // restores the former slice
/// ```
#[derive(Debug)]
pub struct TimeSlice;

impl TimeSlice {
    /// The shortest slice that a thread can have: 100 µs.
    ///
    /// ```
    /// assert_eq!(oversleep::TimeSlice::SHORTEST, std::time::Duration::from_micros(100));
    /// ```
    pub const SHORTEST: Duration = Duration::from_micros(100);
    /// The longest one: 100 ms.
    ///
    /// ```
    /// assert_eq!(oversleep::TimeSlice::LONGEST, std::time::Duration::from_millis(100));
    /// ```
    pub const LONGEST: Duration = Duration::from_millis(100);

    /// The calling thread's time slice. One system call, about 0.1 µs.
    ///
    /// Zero means that the thread runs under a real-time policy, which has none.
    ///
    /// # Errors
    ///
    /// [`Denied`] if the system has no such slice or a sandbox forbids reading it.
    ///
    /// ```
    /// match oversleep::TimeSlice::current() {
    ///     Ok(slice) => println!("this thread runs for {slice:?} at a time"),
    ///     Err(denied) => println!("{denied}"),
    /// }
    /// ```
    pub fn current() -> Result<Duration, Denied> {
        sys::slice_ns().map(Duration::from_nanos)
    }

    /// Sets the calling thread's slice until the guard is dropped, unless it is as short already. A slice shorter than
    /// [`SHORTEST`](TimeSlice::SHORTEST) or longer than [`LONGEST`](TimeSlice::LONGEST) is taken as that. Four system
    /// calls now, and as many on drop: about 1.5 µs each time.
    ///
    /// If a thread holds several, the shortest counts. They may be dropped in any order; the last one restores the slice
    /// that the thread had before the first.
    ///
    /// You get a guard even if the system denies the request; [`TimeSliceGuard::outcome`] says which it was.
    ///
    /// ```
    /// use oversleep::TimeSlice;
    /// use std::time::Duration;
    ///
    /// let before = TimeSlice::current();
    /// let held = TimeSlice::hold(Duration::from_micros(500));
    /// println!("{}", held.outcome());
    /// drop(held);
    /// assert_eq!(TimeSlice::current(), before);
    /// ```
    pub fn hold(slice: Duration) -> TimeSliceGuard {
        let requested_ns = slice.clamp(Self::SHORTEST, Self::LONGEST).as_nanos() as u64;
        TimeSliceGuard(Guard::hold(|_| requested_ns, Err, Duration::from_nanos))
    }
}

/// Holds a time slice for the thread that created it. Once the thread holds no other, the drop restores the former slice,
/// even while a panic unwinds.
///
/// It can't be sent to another thread:
///
/// ```compile_fail
/// fn send<T: Send>(_: T) {}
/// send(oversleep::TimeSlice::hold(oversleep::TimeSlice::SHORTEST));
/// ```
#[must_use = "the slice is released as soon as this is dropped"]
#[derive(Debug)]
pub struct TimeSliceGuard(Guard<Slice, Duration>);

impl TimeSliceGuard {
    /// The outcome of the request.
    ///
    /// ```
    /// let held = oversleep::TimeSlice::hold(oversleep::TimeSlice::SHORTEST);
    /// if let Some(denied) = held.outcome().denied() {
    ///     println!("waits beside busy threads end as before: {denied}");
    /// }
    /// ```
    pub fn outcome(&self) -> &Outcome<Duration> {
        self.0.outcome()
    }
}
