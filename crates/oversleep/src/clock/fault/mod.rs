//! A counter that fails on request, to test programs that must survive such a failure. Needs the feature `fault-injection`.
//!
//! * [`FaultyClock`] is a clock of its own on a simulated machine, in virtual or in real time. It is a
//!   [`TimeSource`], so code that takes one runs on it.
//! * [`process`] changes what this process's [`Clock`](super::Clock) reads, so a whole program can be tested unchanged.
//!
//! The feature makes each read of the process's clock check for an injected fault, so enable it in tests only. Without
//! it, none of this is compiled.

mod machine;
#[cfg(feature = "fault-injection")]
pub mod process;

use std::time::Duration;

use super::Instant;
use super::keeper::Keeper;
use super::reason::{Faults, Reason};
use crate::time::TimeSource;

pub(crate) use machine::Faulty;
pub use machine::{CPUS, as_reader};

/// A clock like [`Clock`](super::Clock), on a simulated machine whose counter fails on request.
///
/// The machine has [`CPUS`] processors. Each thread, and each reader that a thread acts as ([`as_reader`]), has its own
/// view of the clock, as each thread has of the real one.
///
/// ```
/// use oversleep::clock::Reason;
/// use oversleep::clock::fault::FaultyClock;
/// use std::time::Duration;
///
/// let clock = FaultyClock::in_virtual_time();
/// let before = clock.now();
/// // A hypervisor migrates the machine, and the counter jumps back by an hour.
/// clock.shift_all(-3_600_000_000_000);
/// clock.pass(Duration::from_millis(200));
/// assert!(clock.now() >= before);
/// assert!(matches!(clock.demotion(), Some(Reason::CounterJumped { .. })));
/// ```
pub struct FaultyClock(pub(super) Keeper<Faulty>);

impl FaultyClock {
    /// A clock in virtual time: [`pass`](FaultyClock::pass) moves it, and each read takes 10 ns.
    ///
    /// ```
    /// use oversleep::clock::fault::FaultyClock;
    /// use std::time::Duration;
    ///
    /// let clock = FaultyClock::in_virtual_time();
    /// let start = clock.now();
    /// clock.pass(Duration::from_secs(3_600));
    /// assert!(clock.now() - start >= Duration::from_secs(3_599));
    /// ```
    pub fn in_virtual_time() -> Self {
        Self(Faulty::in_virtual_time())
    }

    /// A clock in real time, for several threads at once.
    ///
    /// ```
    /// use oversleep::clock::fault::FaultyClock;
    ///
    /// let clock = FaultyClock::in_real_time();
    /// assert!(clock.now() <= clock.now());
    /// ```
    pub fn in_real_time() -> Self {
        Self(Faulty::in_real_time())
    }

    /// Like [`Clock::now`](super::Clock::now).
    ///
    /// ```
    /// println!("{:?}", oversleep::clock::fault::FaultyClock::in_virtual_time().now());
    /// ```
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.0.now_ns())
    }

    /// Like [`Clock::now_ordered`](super::Clock::now_ordered).
    ///
    /// ```
    /// println!("{:?}", oversleep::clock::fault::FaultyClock::in_virtual_time().now_ordered());
    /// ```
    pub fn now_ordered(&self) -> Instant {
        Instant::from_nanos(self.0.ordered_now_ns())
    }

    /// The simulated operating system's clock.
    ///
    /// ```
    /// let clock = oversleep::clock::fault::FaultyClock::in_virtual_time();
    /// assert!(clock.monotonic_ns() < clock.monotonic_ns());
    /// ```
    pub fn monotonic_ns(&self) -> u64 {
        super::machine::Machine::monotonic_ns(&self.0.machine)
    }

    /// Why the counter went out of use; `None` while it is in use.
    ///
    /// ```
    /// assert_eq!(oversleep::clock::fault::FaultyClock::in_virtual_time().demotion(), None);
    /// ```
    pub fn demotion(&self) -> Option<Reason> {
        self.0.rejection().map(|(reason, _)| reason).filter(|_| !self.0.latch.is_started())
    }

    /// What was suspected and counted so far.
    ///
    /// ```
    /// assert_eq!(oversleep::clock::fault::FaultyClock::in_virtual_time().faults().suspected, 0);
    /// ```
    pub fn faults(&self) -> Faults {
        self.0.faults()
    }

    /// Like [`Clock::on_demotion`](super::Clock::on_demotion).
    ///
    /// ```
    /// let clock = oversleep::clock::fault::FaultyClock::in_virtual_time();
    /// assert!(clock.on_demotion(|reason| println!("out of use: {reason}")));
    /// ```
    pub fn on_demotion(&self, callback: fn(&Reason)) -> bool {
        self.0.on_demotion(callback)
    }

    /// Lets time pass on every clock of the machine.
    ///
    /// ```
    /// oversleep::clock::fault::FaultyClock::in_virtual_time().pass(std::time::Duration::from_secs(1));
    /// ```
    pub fn pass(&self, duration: Duration) {
        self.0.machine.pass(ns(duration));
    }

    /// Suspends the machine for this long. Its counter runs on, as most do.
    ///
    /// ```
    /// use oversleep::clock::fault::FaultyClock;
    /// use std::time::Duration;
    ///
    /// let clock = FaultyClock::in_virtual_time();
    /// clock.now();
    /// clock.suspend(Duration::from_millis(60));
    /// clock.now();
    /// assert_eq!(clock.demotion(), None);
    /// ```
    pub fn suspend(&self, duration: Duration) {
        self.0.machine.suspend(ns(duration));
    }

    /// Moves the counter of one processor, by nanoseconds.
    ///
    /// ```
    /// oversleep::clock::fault::FaultyClock::in_virtual_time().shift(1, -30_000);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the machine has no such processor.
    pub fn shift(&self, cpu: usize, ns: i64) {
        self.0.machine.shift(cpu, ns);
    }

    /// Moves the counters of all processors, as a migration or a restored snapshot may.
    ///
    /// ```
    /// oversleep::clock::fault::FaultyClock::in_virtual_time().shift_all(5_000_000);
    /// ```
    pub fn shift_all(&self, ns: i64) {
        self.0.machine.shift_all(ns);
    }

    /// Changes the rate of all counters from now on, by parts per million.
    ///
    /// ```
    /// oversleep::clock::fault::FaultyClock::in_virtual_time().drift(-200);
    /// ```
    pub fn drift(&self, ppm: i64) {
        self.0.machine.drift(ppm);
    }

    /// Stops all counters.
    ///
    /// ```
    /// oversleep::clock::fault::FaultyClock::in_virtual_time().stop();
    /// ```
    pub fn stop(&self) {
        self.0.machine.stop();
    }

    /// Moves the operating system's clock, as the kernel does when it slews it.
    ///
    /// ```
    /// oversleep::clock::fault::FaultyClock::in_virtual_time().slew(500);
    /// ```
    pub fn slew(&self, ns: i64) {
        self.0.machine.slew(ns);
    }

    /// Makes the kernel keep time by another clock source from now on.
    ///
    /// ```
    /// oversleep::clock::fault::FaultyClock::in_virtual_time().change_clocksource();
    /// ```
    pub fn change_clocksource(&self) {
        self.0.machine.object();
    }

    /// Makes each read of the counter cost this much, as an emulated one does. Call it before the first read.
    ///
    /// ```
    /// use oversleep::clock::fault::FaultyClock;
    ///
    /// let clock = FaultyClock::in_virtual_time();
    /// clock.emulate_counter(std::time::Duration::from_nanos(600));
    /// clock.now();
    /// assert!(clock.demotion().is_some());
    /// ```
    pub fn emulate_counter(&self, cost: Duration) {
        self.0.machine.emulate_counter(ns(cost));
    }

    /// Acts as a thread that was about to draw the next line and is then stopped for good, as in a debugger or beside
    /// threads of a higher priority. Returns false if another thread was drawing the line.
    ///
    /// ```
    /// use oversleep::clock::fault::FaultyClock;
    ///
    /// let clock = FaultyClock::in_virtual_time();
    /// clock.now();
    /// assert!(clock.lose_claim());
    /// ```
    pub fn lose_claim(&self) -> bool {
        self.0.claim().is_some()
    }
}

/// A sleep moves virtual time, or takes real time.
impl TimeSource for FaultyClock {
    fn now(&self) -> Instant {
        FaultyClock::now(self)
    }

    fn sleep_until(&self, deadline: Instant) {
        loop {
            let left = deadline.duration_since(self.now());
            if left.is_zero() {
                return;
            }
            match self.0.machine.is_virtual() {
                true => self.pass(left),
                false => std::thread::sleep(left),
            }
        }
    }
}

impl std::fmt::Debug for FaultyClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultyClock").field("demotion", &self.demotion()).field("faults", &self.faults()).finish()
    }
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
