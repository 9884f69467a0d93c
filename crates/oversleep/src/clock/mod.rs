//! Clocks: the fastest one that is valid here, and instants on the operating system's monotonic time line.
//!
//! `scale` and `servo` are arithmetic, `latch` lets threads share a line, `calibrate`, `judge` and `cores` examine the
//! machine, and `state` ties them together. No other module of this crate reads the counter.

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

/// Nanoseconds on the operating system's monotonic clock. On Linux this is `CLOCK_MONOTONIC`, which counts from boot
/// and stops while the machine is suspended.
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
/// It reads the processor's counter (the TSC on x86-64, the generic timer on AArch64) if the checks pass, and the
/// operating system's monotonic clock otherwise. [`Clock::why`] says which one it reads, and which check each rejected
/// clock failed. Either way an [`Instant`] lies on the operating system's monotonic time line.
///
/// # Guarantees
///
/// * **Monotonic**: an [ordered](Clock::now_ordered) read is never below an earlier one, on any core. The cheaper
///   [`Clock::now`], which [`Instant::now`] is too, guarantees this only within one thread: the processor may read the
///   counter before earlier loads have finished, usually tens of nanoseconds early, and a microsecond if such a load
///   waits for another core's cache.
/// * **Bounded error**: ticks are converted along a straight line that is used for at most 100 ms. The first thread
///   that reads the clock after that compares the line with the operating system's clock (about 1 µs, on that thread
///   only) and draws the next one, never below the old one. So errors don't accumulate, the clock follows NTP, and a
///   counter whose rate keeps jumping is taken out of use.
/// * **Readers never wait**: while one thread draws the next line, the others continue with the old one, at the cost of
///   two counter reads. If that thread loses its processor for more than 6 ms, they read the operating system's clock,
///   and are up to 0.1 ms behind it.
///
/// # What to expect
///
/// * **First use** takes about 0.3 ms to choose and calibrate the clock. It may read a file. If it can't, it compares
///   up to four cores, with two threads each: 0.5 ms, or up to 20 ms per core if they are busy. Cores too busy to
///   compare mean that the operating system's clock is used. So use the clock once before you enter a sandbox, and not
///   for the first time in a signal handler; later reads may be made there.
/// * **Signal handlers** that don't return (`siglongjmp`) must not interrupt a read of this clock. During first use,
///   the counter would never come into use. Later, the next line would never be drawn, so each read would also read the
///   operating system's clock and could be 0.1 ms behind it.
/// * **Slewing**: NTP usually adjusts the clock by at most 500 ppm. If the kernel slews it faster (up to 8 % by chrony,
///   10 % by `adjtimex`), this clock is up to 10 ms off when that begins or ends, and catches up within 0.3 s. If it is
///   ahead it slows down; it never goes back. If the thread that draws the next line loses its processor at that
///   moment, time stands still for the others for up to 27 ms.
/// * **Suspend**: on Linux this clock stops during suspend, like its time line, even if the counter keeps running.
///   After a resume it may be up to 0.1 ms ahead, which it gives up within 0.2 s. After a suspend shorter than 50 ms,
///   it may be ahead by that duration. Without a clock that shows suspends (Linux before 2.6.39, Wine), it may be ahead
///   by 0.1 s.
/// * **SIGSTOP** and paused threads: the clock includes the time that passed.
/// * **Virtual machines**: the counter is used if the guest's kernel keeps time by it. After a migration that changes
///   the counter, the first read detects it; a read within the same 100 ms may be wrong by the jump.
/// * **WSL 2** is a virtual machine. If its kernel keeps time by `hyperv_clocksource_tsc_page`, the operating system's
///   clock is used. If the kernel's choice can't be read (WSL 1, some containers), the cores are compared instead.
/// * **Forked children** continue with the parent's line, whatever its other threads were doing. One exception: a child
///   created by the raw system call, with its own memory, in the microsecond in which another thread draws a line. It
///   continues with the operating system's clock.
/// * **Unsteady counters**: when the counter is taken out of use, time stands still until the end of its last line,
///   usually a millisecond.
///
/// To force the operating system's clock, set `OVERSLEEP_CLOCK=os` in the environment before the first use.
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
    /// Now, by the cheapest exact read. For timing within one thread.
    ///
    /// Cost: a counter read plus 1 to 2 ns, or a read of the operating system's clock if that is in use.
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

    /// Now, read after every load that precedes this call. For comparing instants across threads.
    ///
    /// Cost: a fence more than [`Clock::now`], about 10 ns, and no more than the operating system's clock.
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

    /// The cheapest read: a past moment on the same time line, up to [`Clock::coarse_step`] ago.
    ///
    /// Platforms: on Linux it reads `CLOCK_MONOTONIC_COARSE`, at about a quarter of the cost of [`Clock::now`];
    /// elsewhere it is the same as that.
    ///
    /// ```
    /// use oversleep::Clock;
    ///
    /// let coarse = Clock::coarse();
    /// println!("{} ns behind", Clock::now().nanos_since(coarse));
    /// ```
    #[inline]
    pub fn coarse() -> Instant {
        Instant::from_nanos(crate::sys::coarse_ns().unwrap_or_else(state::now_ns))
    }

    /// The step of [`Clock::coarse`]: one tick on Linux, 1–10 ms; 1 ns elsewhere.
    ///
    /// ```
    /// assert!(oversleep::Clock::coarse_step() >= std::time::Duration::from_nanos(1));
    /// ```
    pub fn coarse_step() -> Duration {
        Duration::from_nanos(crate::sys::coarse_step_ns().unwrap_or(1))
    }

    /// The clock in use. Starts it if this is the first use.
    ///
    /// Cost: as much as [`Clock::why`], so use it in reports, not in loops.
    ///
    /// ```
    /// println!("Clock reads {}", oversleep::Clock::source());
    /// ```
    pub fn source() -> Source {
        state::choice().source
    }

    /// The clock in use, and why each faster one isn't. Starts it if this is the first use. Allocates the list of
    /// reasons.
    ///
    /// ```
    /// use oversleep::clock::{Clock, Source};
    ///
    /// let choice = Clock::why();
    /// // Either a counter is in use, or there is a reason against each.
    /// assert!(choice.source != Source::Os || choice.rejected.len() == 2);
    /// ```
    pub fn why() -> Choice {
        state::choice()
    }

    /// Checks the counter thoroughly, and takes it out of use if a check fails.
    ///
    /// It checks whether the kernel still trusts the counter, its rate over 100 ms, and every core that this thread may
    /// run on against the first, with temporary threads. Nothing else in this crate calls it.
    ///
    /// Cost: a little over 100 ms, or three times that while the kernel changes the rate of its own clock. A core that
    /// stays busy takes up to 20 ms more, and ends the comparison.
    ///
    /// # Errors
    ///
    /// The check that failed. From then on the operating system's clock is used.
    ///
    /// ```
    /// match oversleep::Clock::verify() {
    ///     Ok(verified) => println!("the counter drifts by {:.3} ppm", verified.drift_ppm),
    ///     Err(reason) => println!("the counter is out of use: {reason}"),
    /// }
    /// ```
    pub fn verify() -> Result<Verified, Reason> {
        verify::verify()
    }
}
