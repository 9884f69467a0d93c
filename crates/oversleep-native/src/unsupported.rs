//! The stand-in for operating systems without a module of their own: what the standard library offers, and reasons for
//! everything else.

use oversleep_record::environment::Environment;
use oversleep_record::{Nanos, ProcessorState, Unavailable};
use oversleep_system::*;

use super::native::{Registry, System};
use super::std_clocks;

/// The machine this process runs on.
pub type Native = super::native::Native<Unsupported>;

/// A system of which nothing is known.
#[derive(Default)]
pub struct Unsupported;

impl System for Unsupported {
    const NAME: &'static str = std::env::consts::OS;
    const CLOCKS: Registry<dyn Clock> = || registry!(clocks::EVERYWHERE, &[std_clocks::READS]);
    const WAITS: Registry<dyn Wait> = || vec![Box::new(ThreadSleep)];
    const HANDOFFS: Registry<dyn HandoffKind> = Vec::new;
    const TUNABLES: Registry<dyn Tunable> = Vec::new;
    const LOADS: Registry<dyn LoadKind> = Vec::new;
    const CPUS: fn() -> Vec<Cpu> = cpus;
    const ENVIRONMENT: fn() -> Environment = Environment::default;
    const ABILITIES: fn() -> Vec<Ability> = Vec::new;
    const RESOLUTION_ROWS: fn() -> Vec<ResolutionRow> = Vec::new;

    fn now() -> Nanos {
        Nanos(std_clocks::elapsed_ns() as i64)
    }

    fn counters(&self) -> CounterReading {
        CounterReading { at: Self::now(), ..CounterReading::default() }
    }

    fn processor_state(&self) -> ProcessorState {
        ProcessorState::default()
    }
}

fn cpus() -> Vec<Cpu> {
    let count = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    (0..count).map(|number| Cpu { number, kind: CpuKind::Uniform }).collect()
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
