//! A machine whose counter fails as requested, in virtual or in real time.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

use crate::clock::keeper::Keeper;
use crate::clock::machine::Machine;
use crate::clock::reason::{Clocksource, Reason};
use crate::clock::seen::Seen;

/// The number of processors of a simulated machine, and of the readers that a thread can act as.
pub const CPUS: usize = 4;
/// The counter advances three ticks per nanosecond.
const TICKS_PER_NS: i64 = 3;
/// Virtual time that each read takes.
const READ_NS: u64 = 10;
const RELAXED: Ordering = Ordering::Relaxed;

/// What the kernel switches to.
pub(crate) const OTHER: &[u8] = b"acpi_pm";

thread_local! {
    static READER: Cell<usize> = const { Cell::new(0) };
    static CPU: Cell<usize> = const { Cell::new(0) };
    /// This thread's view of the machine with this number, one per reader.
    static VIEWS: (Cell<u64>, [Seen; CPUS]) = const { (Cell::new(0), [const { Seen::new() }; CPUS]) };
}

/// Makes this thread act as the reader with this number, on this processor, so that one thread can stand for several in
/// a test in virtual time.
///
/// ```
/// use oversleep::clock::fault::{FaultyClock, as_reader};
///
/// let clock = FaultyClock::in_virtual_time();
/// as_reader(0, 0);
/// let sent = clock.now_ordered();
/// clock.shift(1, -30_000);
/// as_reader(1, 1);
/// assert!(clock.now_ordered() >= sent);
/// ```
///
/// # Panics
///
/// Panics if either number isn't below [`CPUS`].
pub fn as_reader(reader: usize, cpu: usize) {
    assert!(reader < CPUS && cpu < CPUS, "a reader and a processor are below {CPUS}: {reader}, {cpu}");
    READER.set(reader);
    CPU.set(cpu);
}

/// The machine.
pub(crate) struct Faulty {
    number: u64,
    /// The start of real time; `None` for virtual time.
    real: Option<Instant>,
    now_ns: AtomicU64,
    offset: [AtomicI64; CPUS],
    drift_ppm: AtomicI64,
    drift_from_ns: AtomicU64,
    stopped_at_ns: AtomicU64,
    slewed_ns: AtomicI64,
    suspended_ns: AtomicU64,
    read_cost_ns: AtomicU64,
    objects: AtomicBool,
}

impl Faulty {
    fn new(real: Option<Instant>) -> Keeper<Self> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        as_reader(0, 0);
        Keeper::new(Self {
            number: NUMBERS.fetch_add(1, RELAXED),
            real,
            now_ns: AtomicU64::new(5_000_000_000),
            offset: [const { AtomicI64::new(1 << 40) }; CPUS],
            drift_ppm: AtomicI64::new(0),
            drift_from_ns: AtomicU64::new(0),
            stopped_at_ns: AtomicU64::new(u64::MAX),
            slewed_ns: AtomicI64::new(0),
            suspended_ns: AtomicU64::new(0),
            read_cost_ns: AtomicU64::new(0),
            objects: AtomicBool::new(false),
        })
    }

    /// A clock in virtual time, in which each read takes 10 ns.
    pub(crate) fn in_virtual_time() -> Keeper<Self> {
        Self::new(None)
    }

    /// A clock in real time, for several threads at once.
    pub(crate) fn in_real_time() -> Keeper<Self> {
        Self::new(Some(Instant::now()))
    }

    pub(super) fn is_virtual(&self) -> bool {
        self.real.is_none()
    }

    /// The time without suspends.
    fn awake_ns(&self) -> u64 {
        match self.real {
            Some(start) => self.now_ns.load(RELAXED) + start.elapsed().as_nanos() as u64,
            None => self.now_ns.fetch_add(READ_NS, RELAXED) + READ_NS,
        }
    }

    /// The time with suspends, in which the counter runs.
    fn true_ns(&self) -> u64 {
        self.awake_ns() + self.suspended_ns.load(RELAXED)
    }

    /// Lets time pass, in virtual time.
    pub(crate) fn pass(&self, ns: u64) {
        self.now_ns.fetch_add(ns, RELAXED);
    }

    /// Suspends the machine. The counter runs on.
    pub(crate) fn suspend(&self, ns: u64) {
        self.suspended_ns.fetch_add(ns, RELAXED);
    }

    /// Moves one processor's counter.
    pub(crate) fn shift(&self, cpu: usize, ns: i64) {
        self.offset[cpu].fetch_add(ns * TICKS_PER_NS, RELAXED);
    }

    /// Moves all counters, as a migration or a restored snapshot may.
    pub(crate) fn shift_all(&self, ns: i64) {
        (0..CPUS).for_each(|cpu| self.shift(cpu, ns));
    }

    /// Changes the rate of all counters from now on.
    pub(crate) fn drift(&self, ppm: i64) {
        self.drift_from_ns.store(self.true_ns(), RELAXED);
        self.drift_ppm.store(ppm, Ordering::Release);
    }

    /// Stops all counters.
    pub(crate) fn stop(&self) {
        self.stopped_at_ns.store(self.true_ns(), RELAXED);
    }

    /// Moves the operating system's clock, which the kernel slews.
    pub(crate) fn slew(&self, ns: i64) {
        self.slewed_ns.fetch_add(ns, RELAXED);
    }

    /// Makes the kernel keep time by something else.
    pub(crate) fn object(&self) {
        self.objects.store(true, RELAXED);
    }

    /// Makes each read of the counter cost this much, as an emulated one does.
    pub(crate) fn emulate_counter(&self, ns: u64) {
        self.read_cost_ns.store(ns, RELAXED);
    }
}

impl Machine for Faulty {
    fn ticks(&self) -> u64 {
        self.now_ns.fetch_add(self.read_cost_ns.load(RELAXED), RELAXED);
        let ns = self.true_ns().min(self.stopped_at_ns.load(RELAXED));
        let drift_ppm = self.drift_ppm.load(Ordering::Acquire);
        let drifted_ns = ns.saturating_sub(self.drift_from_ns.load(RELAXED)) as i64 * drift_ppm / 1_000_000;
        let ticks = (ns as i64 + drifted_ns) * TICKS_PER_NS + self.offset[CPU.get()].load(RELAXED);
        ticks as u64
    }

    fn ticks_ordered(&self) -> u64 {
        self.ticks()
    }

    fn monotonic_ns(&self) -> u64 {
        // A modelled counter takes longer to read than a real one, and the clock doesn't use a counter that costs more than
        // the operating system's clock.
        if self.real.is_some() {
            (0..3).for_each(|_| _ = std::hint::black_box(self.ticks()));
        }
        self.steady_ns().wrapping_add_signed(self.slewed_ns.load(RELAXED))
    }

    fn steady_ns(&self) -> u64 {
        self.awake_ns()
    }

    fn continuous_ns(&self) -> u64 {
        self.true_ns().wrapping_add_signed(self.slewed_ns.load(RELAXED))
    }

    fn cpu(&self) -> u32 {
        CPU.get() as u32
    }

    fn refusal(&self) -> Option<Reason> {
        None
    }

    fn objection(&self) -> Option<Reason> {
        let clocksource = Clocksource::new(OTHER);
        self.objects.load(RELAXED).then_some(Reason::KernelPrefers { clocksource })
    }

    fn with_seen<T>(&self, use_it: impl FnOnce(&Seen) -> T) -> T {
        VIEWS.with(|(number, views)| {
            if number.replace(self.number) != self.number {
                views.iter().for_each(Seen::forget);
            }
            use_it(&views[READER.get()])
        })
    }
}
