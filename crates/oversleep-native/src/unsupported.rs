//! Any operating system without its own folder: what the standard library offers, and reasons for everything else.

use std::time::{SystemTime, UNIX_EPOCH};

use oversleep_record::conditions::Setting;
use oversleep_record::environment::{Environment, PlatformId};
use oversleep_record::{Nanos, Unavailable};

use super::{neighbour_process, std_clocks, threads};
use oversleep_system::*;

/// The machine this process runs on.
pub struct Native {
    clocks: Vec<Box<dyn Clock>>,
    waits: Vec<Box<dyn Wait>>,
}

impl Native {
    /// This machine.
    pub fn new() -> Native {
        Native { clocks: registry!(clocks::EVERYWHERE, &[std_clocks::READS]), waits: vec![Box::new(ThreadSleep)] }
    }
}

impl Platform for Native {
    fn id(&self) -> PlatformId {
        PlatformId { os: std::env::consts::OS.to_owned(), arch: std::env::consts::ARCH.to_owned(), modelled: None }
    }

    fn now(&self) -> Nanos {
        Nanos(std_clocks::elapsed_ns() as i64)
    }

    fn reference_clock(&self) -> &'static str {
        clocks::reference(std::env::consts::OS)
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

struct ThreadSleep;

impl Wait for ThreadSleep {
    fn info(&self) -> &WaitInfo {
        describe!(waits::EVERYWHERE, "thread-sleep")
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
