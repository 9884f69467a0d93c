//! Clocks: the fastest one that is valid here, and instants on the operating system's monotonic time line.
//!
//! | module | what it does |
//! |---|---|
//! | `scale`, `servo` | arithmetic: ticks to nanoseconds, and a line that follows the operating system's clock |
//! | `watch`, `bucket` | arithmetic: what makes a counter suspect, and when suspicions are too many |
//! | `latch`, `latest`, `seen` | what threads share: the line, the latest ordered time, and each thread's own view |
//! | `calibrate`, `judge`, `cores` | examine the machine before the counter is used, and `verify` on request |
//! | `keeper` | ties them together; `demotion` tells others when the counter fails |
//! | `machine` | the counter and the clocks |
//! | `fault` | a counter that fails as a test requests, with the feature `fault-injection` |

mod atomic;
mod boot;
mod bucket;
mod calibrate;
mod cores;
mod demotion;
#[cfg(any(test, feature = "fault-injection"))]
pub mod fault;
mod instant;
mod judge;
mod keeper;
mod latch;
mod latest;
mod machine;
mod reason;
mod scale;
mod seen;
mod servo;
mod verify;
mod watch;

use std::time::Duration;

use crate::sys::counter;
use keeper::Keeper;
use machine::Real;

pub use boot::BootInstant;
pub use instant::Instant;
pub(crate) use judge::Verdict;
pub use reason::{Choice, Clocksource, Faults, Reason, Source};
pub(crate) use servo::lead_given_up_ns;
pub use verify::Verified;

/// The clock of this process.
static CLOCK: Keeper<Real> = Keeper::new(Real);

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
/// It reads the processor's counter (the TSC on x86-64, the generic timer on AArch64) as long as the checks pass, and the
/// operating system's monotonic clock otherwise. [`Clock::why`] says which one it reads, and which check each rejected
/// clock failed. Either way an [`Instant`] lies on the operating system's monotonic time line.
///
/// # Guarantees
///
/// * **Monotonic within a thread**: no read is below an earlier one of the same thread, on whatever core, before and
///   after a fault.
/// * **Monotonic across threads**: an [ordered](Clock::now_ordered) read is never below an ordered read that came
///   before it, on any core, whatever the counters do. [`Clock::now`] doesn't promise that: the processor may read the
///   counter before earlier loads have finished, usually tens of nanoseconds early, and more if such a load waits: a
///   microsecond for another core's cache, tens of microseconds on a busy virtual machine. While a counter fails, the
///   times of two threads may differ by its error, until it is out of use; from then on no read of any thread is below an
///   earlier one.
/// * **A counter that fails goes out of use** if its error reaches 30 µs: within a second, provided that each of the threads
///   reads the clock at least three times in it. The error may be on one core or on all, and come from a jump, a change of
///   rate (200 ppm) or a stop. The counter also goes out of use if the kernel stops keeping time by it, or if there are five
///   smaller errors within 40 s. [`Clock::on_demotion`] tells you, [`Clock::why`] names the reason and has the counts.
/// * **Bounded error**: ticks are converted along a straight line that is used for at most 100 ms. The first thread that
///   reads the clock after that compares the line with the operating system's clock (about 1 µs, on that thread only) and
///   draws the next one, never below the old one. So errors don't accumulate, and the clock follows NTP.
/// * **Readers never wait**: while one thread draws the next line, the others continue with the old one, at the cost of a
///   few counter reads. If that thread loses its processor for more than 6 ms, they read the operating system's clock, and
///   are up to 0.1 ms behind it, until one of them draws the line instead, a millisecond later.
///
/// # How a failing counter is found
///
/// Each thread compares its core's counter with the operating system's clock when it first reads a line, so ten times a
/// second (about 0.1 µs). The comparison uses a clock that is never adjusted (`CLOCK_MONOTONIC_RAW` on Linux), so NTP
/// can't be mistaken for a fault, and the clock that counts suspends tells them apart from faults. A reading that isn't
/// above the thread's last one is examined at once. The kernel's clock source is read about twice a second (3 µs).
///
/// * **The operating system's clock may read the same counter.** If the kernel trusts a counter that is wrong on one
///   core, no comparison with the kernel's clocks can show that. Only readings below an earlier one do: ordered reads
///   find them at once, and plain reads within 0.1 s where they meet the beginning of another core's line.
///   [`Choice::clocksource`] names what the kernel reads.
/// * **When the counter goes out of use**, time continues from the end of its last line: it stands still for up to 0.1 s,
///   or up to 2 ms if the kernel has changed its clock source and the counter is sound.
/// * **A counter that stops** on all cores is found after eight equal readings of one thread on x86-64, and after 256 on
///   AArch64, where a few are ordinary.
/// * **Emulated counters** (AArch64 processors with an erratum, some hypervisors) are found by what a read costs, before
///   the counter is used.
///
/// # What to expect
///
/// * **First use** takes about 0.3 ms to choose and calibrate the clock. It may read a file. If it can't, it compares
///   up to four cores, with two threads each: 0.5 ms, or up to 20 ms per core if they are busy. Cores too busy to
///   compare mean that the operating system's clock is used. So don't use it for the first time in a signal handler; later
///   reads may be made there.
/// * **Sandboxes**: call [`Clock::before_sandbox`] before you enter one that ends the process for a forbidden call.
/// * **Signal handlers** that don't return (`siglongjmp`) may interrupt a read of this clock, but not its first use: the
///   counter would never come into use.
/// * **Slewing**: NTP usually adjusts the clock by at most 500 ppm. If the kernel slews it faster (up to 8 % by chrony,
///   10 % by `adjtimex`), this clock is up to 10 ms off when that begins or ends, and catches up within 0.3 s. If it is
///   ahead it slows down; it never goes back. If the thread that draws the next line loses its processor at that
///   moment, time stands still for the others for up to 27 ms.
/// * **Suspend**: this clock stops during suspend, like its time line, even if the counter keeps running;
///   [`BootInstant`] doesn't. After a resume it may be up to 0.1 ms ahead, which it gives up within 0.2 s. After a suspend
///   shorter than 0.14 s it may be ahead by that duration, up to 0.11 s, which it gives up within half a second. Without a
///   clock that shows suspends (Linux before 2.6.39, Wine), the counter goes out of use.
/// * **SIGSTOP** and paused threads: the clock includes the time that passed.
/// * **Virtual machines**: the counter is used if the guest's kernel keeps time by it. A migration or a restored snapshot
///   that moves the counter, but not the guest's clock, takes it out of use. One that moves both, or neither, isn't
///   noticed: the clock follows the guest's clock.
/// * **WSL 2** is a virtual machine. If its kernel keeps time by `hyperv_clocksource_tsc_page`, the operating system's
///   clock is used. If the kernel's choice can't be read (WSL 1, some containers), the cores are compared instead.
/// * **Forked children** continue with the parent's line, whatever its other threads were doing. One exception: a child
///   created by the raw system call, with its own memory, in the 30 ns in which another thread puts a line into a slot. It
///   has one slot less of seven.
/// * **Time namespaces** (Linux): in a child in another namespace, the time line goes on where the parent's was, so its
///   instants differ from `CLOCK_MONOTONIC` by a constant. So it does if the process enters one (`setns`) that takes the
///   clock back by more than 1 ms. One that takes it forward is followed, and the counter goes out of use.
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
    /// Cost: hardly more than a read of the processor's counter, whose time hides the rest (9.48 ns for both on an EPYC
    /// guest), or a read of the operating system's clock if that is in use.
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
        Instant::from_nanos(CLOCK.now_ns())
    }

    /// Now, read after every load that precedes this call, and never below an earlier ordered read of any thread. For
    /// comparing instants across threads.
    ///
    /// Cost: a fence and an exchange on a shared cache line more than [`Clock::now`]: 27 ns beside 9.5 ns, and 23 ns for
    /// the operating system's clock, on an EPYC guest. Threads that do this at the same time wait for each other's cache
    /// line, as they do for any shared counter. There is no cheaper way: if the first of two reads left no trace, the second
    /// could not know that its core's counter is behind.
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
        Instant::from_nanos(CLOCK.ordered_now_ns())
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
        Instant::from_nanos(crate::sys::coarse_ns().unwrap_or_else(|| CLOCK.now_ns()))
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
        choice().source
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
        choice()
    }

    /// Calls `callback` when the counter goes out of use while the program runs, with the reason; at once if it already
    /// has. From then on reads take the operating system's clock and cost more.
    ///
    /// The thread that finds the fault calls it, from whatever it was doing when it read the clock, so the callback must
    /// be short, must not panic, and may be called in a signal handler if the program reads the clock there. Set a flag
    /// or count, and report elsewhere. It may read the clock. There is room for 16 callbacks, and none is ever removed.
    ///
    /// Returns whether there was room.
    ///
    /// ```
    /// use oversleep::clock::{Clock, Reason};
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// static IS_SLOW: AtomicBool = AtomicBool::new(false);
    /// assert!(Clock::on_demotion(|_: &Reason| IS_SLOW.store(true, Ordering::Relaxed)));
    /// ```
    pub fn on_demotion(callback: fn(&Reason)) -> bool {
        CLOCK.on_demotion(callback)
    }

    /// Starts the clock, and lets it make no other system call from now on than those that read a clock.
    ///
    /// Call this before a sandbox that ends the process for a forbidden call. Otherwise the clock reads the name of the
    /// kernel's clock source about twice a second while it is used (`openat`, `read`, `close`, `prctl`). It stops that by
    /// itself if a seccomp filter appears after the first use and allows `prctl(PR_GET_SECCOMP)`. Without that file, a
    /// change of the kernel's clock source isn't noticed, but a counter that fails still is.
    ///
    /// ```
    /// oversleep::Clock::before_sandbox();
    /// ```
    pub fn before_sandbox() {
        CLOCK.now_ns();
        machine::ask_no_more();
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

/// The clock in use, and why nothing faster is. Starts the clock.
fn choice() -> Choice {
    let state = CLOCK.counter_state();
    let hz = state.map(|state| state.track.rate.hz());
    let source = if state.is_some() { counter::COUNTER.unwrap_or(Source::Os) } else { Source::Os };
    let rejection = CLOCK.rejection();
    let why = |candidate| match counter::COUNTER {
        Some(counter) if counter == candidate => rejection.map(|(reason, _)| reason),
        _ => Some(Reason::AnotherArchitecture),
    };
    let rejected = [Source::Tsc, Source::Cntvct].into_iter().filter(|&candidate| candidate != source);
    Choice {
        source,
        hz,
        rejected: rejected.filter_map(|candidate| Some((candidate, why(candidate)?))).collect(),
        is_demoted: rejection.is_some_and(|(_, is_demoted)| is_demoted),
        clocksource: crate::sys::clocksource(),
        faults: CLOCK.faults(),
    }
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
