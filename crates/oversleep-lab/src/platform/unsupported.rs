//! Any operating system without a room of its own yet: what the standard library offers, and honest refusals.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};
use oversleep_record::conditions::Setting;
use oversleep_record::environment::{Environment, PlatformId};
use oversleep_record::{Nanos, Unavailable};

use super::interface::*;
use super::neighbour_process;
use super::threads;

/// The machine this process runs on.
pub struct Native {
    clocks: Vec<Box<dyn Clock>>,
    waits: Vec<Box<dyn Wait>>,
}

impl Native {
    /// This machine.
    pub fn new() -> Native {
        Native { clocks: vec![Box::new(StdInstant)], waits: vec![Box::new(ThreadSleep)] }
    }
}

fn elapsed_ns() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    let now = Instant::now();
    now.saturating_duration_since(*ORIGIN.get_or_init(|| now)).as_nanos() as u64
}

impl Platform for Native {
    fn id(&self) -> PlatformId {
        PlatformId { os: std::env::consts::OS.to_owned(), arch: std::env::consts::ARCH.to_owned(), modelled: None }
    }

    fn now(&self) -> Nanos {
        Nanos(elapsed_ns() as i64)
    }

    fn reference_clock(&self) -> &'static str {
        "std-instant"
    }

    fn relax(&self) {
        std::hint::spin_loop();
    }

    fn work(&self, units: u64) {
        threads::work(units);
    }

    fn clocks(&self) -> &[Box<dyn Clock>] {
        &self.clocks
    }

    fn waits(&self) -> &[Box<dyn Wait>] {
        &self.waits
    }

    fn handoffs(&self) -> &[Box<dyn HandoffKind>] {
        &[]
    }

    fn tunables(&self) -> &[Box<dyn Tunable>] {
        &[]
    }

    fn loads(&self) -> &[Box<dyn LoadKind>] {
        &[]
    }

    fn cpus(&self) -> Vec<Cpu> {
        let count = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        (0..count).map(|number| Cpu { number, kind: CpuKind::Uniform }).collect()
    }

    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
        threads::spawn(name, body)
    }

    fn neighbour(&self, setting: Option<&Setting>) -> Result<Box<dyn Neighbour>, Unavailable> {
        neighbour_process::start(setting)
    }

    fn environment(&self) -> Environment {
        Environment::default()
    }

    fn counters(&self) -> CounterReading {
        CounterReading { at: self.now(), ..CounterReading::default() }
    }

    fn splitter(&self) -> Result<Box<dyn Splitter>, Unavailable> {
        Err(Unavailable::NotOnThisPlatform)
    }

    fn abilities(&self) -> Vec<Ability> {
        Vec::new()
    }

    fn unix_time_s(&self) -> Option<i64> {
        i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
    }
}

struct StdInstant;

static INSTANT: ClockInfo = ClockInfo {
    name: "std-instant",
    call: "std::time::Instant::now()",
    doc: "Rust's clock for durations, counted from the first read in this process.",
    counts: Counts::ElapsedTime,
    epoch: Epoch::Process,
    unit: "ns",
    across_suspend: AcrossSuspend::Unspecified,
    bits: 64,
    may_avoid_syscall: true,
    since: "Rust 1.8",
    page: "https://doc.rust-lang.org/std/time/struct.Instant.html",
};

impl Clock for StdInstant {
    fn info(&self) -> &ClockInfo {
        &INSTANT
    }

    fn available(&self) -> Result<(), Unavailable> {
        Ok(())
    }

    fn stated_frequency_hz(&self) -> Option<u64> {
        Some(1_000_000_000)
    }

    fn stated_step_ns(&self) -> Option<Nanos> {
        None
    }

    fn read(&self) -> u64 {
        elapsed_ns()
    }

    fn read_batch(&self, count: u64) {
        for _ in 0..count {
            black_box(elapsed_ns());
        }
    }

    fn read_into(&self, out: &mut [u64]) {
        out.fill_with(|| black_box(elapsed_ns()));
    }
}

struct ThreadSleep;

static SLEEP: WaitInfo = WaitInfo {
    name: "thread-sleep",
    call: "std::thread::sleep",
    doc: "Rust's sleep.",
    family: Family::Sleep,
    absolute: false,
    granularity: Granularity::NANOSECOND,
    zero: ZeroMeans::ReturnsAtOnce,
    slack: SlackRule::None,
    since: "Rust 1.4",
    page: "https://doc.rust-lang.org/std/thread/fn.sleep.html",
};

impl Wait for ThreadSleep {
    fn info(&self) -> &WaitInfo {
        &SLEEP
    }

    fn open(&self, _: &SharedPlatform) -> Result<Box<dyn Waiter>, Unavailable> {
        Ok(Box::new(ThreadSleep))
    }
}

impl Waiter for ThreadSleep {
    fn wait(&mut self, target: Target) -> WaitEnd {
        std::thread::sleep(target.remaining.to_std().unwrap_or_default());
        WaitEnd::TimedOut
    }
}
