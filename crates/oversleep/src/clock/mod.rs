//! Clocks: the fastest one that is valid here, and instants on the operating system's monotonic time line.
//!
//! `scale` and `servo` are arithmetic, `latch` is how threads share a line, `calibrate`, `judge` and `cores` look at
//! the machine, and `state` ties them together. No other module of this crate reads the counter.

mod calibrate;
mod cores;
mod instant;
mod judge;
mod latch;
mod reason;
mod scale;
mod servo;
mod state;
mod verify;

use std::time::Duration;

pub use instant::Instant;
pub(crate) use judge::Verdict;
pub use reason::{Choice, Clocksource, Reason, Source};
pub use verify::Verified;

/// Nanoseconds on the operating system's monotonic clock (`CLOCK_MONOTONIC` on Linux, which counts from boot and stands
/// still while the machine is suspended).
///
/// ```
/// let earlier_ns = oversleep::clock::monotonic_ns();
/// assert!(oversleep::clock::monotonic_ns() >= earlier_ns);
/// ```
pub fn monotonic_ns() -> u64 {
    crate::sys::monotonic_ns()
}

/// The fastest clock that is valid on this machine.
///
/// It reads the processor's counter (the TSC on x86-64, the generic timer on AArch64) when the checks pass, and the
/// operating system's monotonic clock otherwise; [`Clock::why`] says which, and which check each rejected clock failed.
/// Either way an [`Instant`] lies on the operating system's monotonic time line.
///
/// # How it stays right
///
/// Ticks become nanoseconds by a 128-bit multiplication and a shift, along a line that is drawn for 100 ms at most. The
/// thread that first reads it afterwards compares it with the operating system's clock (about 1 µs, on that thread
/// only) and draws the next line, which is nowhere below the old one. So the error doesn't grow with time, adjustments by
/// NTP are followed, and a counter whose rate keeps jumping by more than these goes out of use. A reader never waits for
/// another thread: meanwhile it goes on with the old line, by two readings of the counter, and after 6 ms more, should
/// that thread have lost its processor, with the operating system's clock, up to 0.1 ms behind it.
///
/// # What to expect
///
/// * **First use** takes about 0.3 ms, in which the clock is chosen and calibrated. It may open a file, and where that
///   can't be read it makes two threads for each of up to four cores, which takes 0.5 ms, and on busy cores up to 20 ms for
///   each; those too busy to be compared leave the operating system's clock. So make it before a sandbox closes, and not in
///   a signal handler; later reads may be made there.
/// * **Signal handlers** that don't return (`siglongjmp`) mustn't leave a reading of this clock: at first use the counter
///   would never come into use, and later the next line never be drawn, so that each reading costs that of the operating
///   system's clock besides, and may be 0.1 ms behind it.
/// * **Monotonic**: an [ordered](Clock::now_ordered) reading, which [`Instant::now`] is, too, is never below one that was
///   taken earlier, on whatever core. The cheaper [`Clock::now`] has that promise within one thread only: the processor
///   may take it before the loads that precede it in the program have finished, tens of nanoseconds early as a rule and
///   a microsecond when such a load waits for another core's cache.
/// * **Slewing**: as a rule NTP adjusts the clock by 500 ppm at most. Where the kernel is told to slew it by more (chrony
///   does by up to 8 %, `adjtimex` by 10 %), this clock is up to 10 ms off when that begins or ends, and catches up within
///   0.3 s: from ahead by going more slowly, never by going back. Should the thread that draws the next line lose its
///   processor right then, time stands still for the others for up to 27 ms.
/// * **Suspend**: on Linux the time line stands still, and so does this clock, even where the counter runs on. After a
///   resume it may be up to 0.1 ms ahead, which it gives up within 0.2 s; after a suspend of less than 50 ms by as much as
///   that lasted. Where no clock tells of suspends (Linux before 2.6.39, Wine), by up to 0.1 s.
/// * **SIGSTOP**, or a paused thread: the time that passed is shown.
/// * **Virtual machines**: the counter is used when the guest's kernel itself keeps time by it. After a migration that
///   changes the counter, the first reading finds out; one from within the same 100 ms may be wrong by the jump.
/// * **WSL 2** is a virtual machine: where its kernel keeps time by `hyperv_clocksource_tsc_page`, the operating system's
///   clock is used. Where the kernel's choice can't be read (WSL 1, some containers), the cores are compared instead.
/// * **Forked children** go on with the parent's line, whatever its other threads were about to do. A child that was
///   made without `fork` (by the system call itself, with memory of its own) in the microsecond in which another thread
///   drew the next line goes on with the operating system's clock.
/// * **Out of use**: when the counter proves unsteady, time stands still until the end of its last line, which is a
///   millisecond as a rule.
///
/// `OVERSLEEP_CLOCK=os` in the environment, at first use, forces the operating system's clock.
///
/// ```
/// use oversleep::Clock;
///
/// let start = Clock::now();
/// println!("{}", Clock::why());
/// assert!(Clock::now() >= start);
/// ```
#[derive(Debug)]
pub struct Clock;

impl Clock {
    /// Now, by the cheapest exact reading: what reading the counter costs, and 1 to 2 ns more; with the operating
    /// system's clock, what that costs. For timing within one thread.
    ///
    /// ```
    /// use oversleep::Clock;
    ///
    /// let start = Clock::now();
    /// let sum: u64 = (0..1_000).sum();
    /// println!("{sum} in {} ns", Clock::now().nanos_since(start));
    /// ```
    #[inline]
    pub fn now() -> Instant {
        Instant::from_nanos(state::now_ns())
    }

    /// Now, read after every load that precedes this call: for comparing instants across threads. Dearer than
    /// [`Clock::now`] by a fence, about 10 ns, and no dearer than the operating system's clock.
    ///
    /// ```
    /// use oversleep::Clock;
    ///
    /// let sent = Clock::now_ordered();
    /// let received = std::thread::spawn(Clock::now_ordered).join().unwrap();
    /// assert!(received >= sent);
    /// ```
    #[inline]
    pub fn now_ordered() -> Instant {
        Instant::from_nanos(state::ordered_now_ns())
    }

    /// The cheapest reading: a past moment on the same time line, up to [`Clock::coarse_step`] ago. On Linux it reads
    /// `CLOCK_MONOTONIC_COARSE`, about a quarter of the cost of [`Clock::now`]; elsewhere it is the same as that.
    ///
    /// ```
    /// use oversleep::Clock;
    ///
    /// let coarse = Clock::coarse();
    /// println!("{} ns ago or less", Clock::now().nanos_since(coarse));
    /// ```
    #[inline]
    pub fn coarse() -> Instant {
        Instant::from_nanos(crate::sys::coarse_ns().unwrap_or_else(state::now_ns))
    }

    /// How far [`Clock::coarse`] moves at a time: one timer tick, 1–10 ms, on Linux; elsewhere 1 ns.
    ///
    /// ```
    /// assert!(oversleep::Clock::coarse_step() >= std::time::Duration::from_nanos(1));
    /// ```
    pub fn coarse_step() -> Duration {
        Duration::from_nanos(crate::sys::coarse_step_ns().unwrap_or(1))
    }

    /// The clock in use. Starts it, if this is the first use.
    /// Costs as much as [`Clock::why`]: it is for reports, not for loops.
    ///
    /// ```
    /// println!("{} is read here", oversleep::Clock::source());
    /// ```
    pub fn source() -> Source {
        state::choice().source
    }

    /// The clock in use, and why each faster one isn't. Starts it, if this is the first use. Allocates the list of reasons.
    ///
    /// ```
    /// use oversleep::clock::{Clock, Source};
    ///
    /// let choice = Clock::why();
    /// // Either a counter is in use, or something is said against each.
    /// assert!(choice.source != Source::Os || choice.rejected.len() == 2);
    /// ```
    pub fn why() -> Choice {
        state::choice()
    }

    /// Checks the counter thoroughly, and takes it out of use when it fails: what the kernel thinks of it by now, its
    /// rate over 100 ms, and every core that this thread may run on against the first, by threads made for it. Takes a
    /// little over 100 ms, three times that while the kernel changes its own rate, and up to 20 ms more for a core that
    /// is kept busy, at which it ceases to compare; nothing in this crate calls it by itself.
    ///
    /// # Errors
    ///
    /// The check that failed; from then on the operating system's clock is used.
    ///
    /// ```
    /// match oversleep::Clock::verify() {
    ///     Ok(verified) => println!("steady within {:.3} ppm", verified.drift_ppm),
    ///     Err(reason) => println!("the counter is out of use: {reason}"),
    /// }
    /// ```
    pub fn verify() -> Result<Verified, Reason> {
        verify::verify()
    }
}
