//! What the collector and the state machine say of a program.

use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use oversleep_collect::{Collector, Options};
use oversleep_why::calls::Arch;
use oversleep_why::{Machine, Outcome, Part, Wait};

/// A program that ends with this value.
pub struct Running(pub Child);

impl Running {
    pub fn start(command: &mut Command) -> Result<Running, String> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Running).map_err(|error| format!("SKIPPED: {}: {error}", command.get_program().display()))
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn collector() -> Result<Collector, String> {
    let options = Options { everyone: false, children: true, tick_ns: 4_000_000 };
    Collector::open(options).map_err(|error| format!("SKIPPED: {error}"))
}

/// The waits of what is followed, for that long.
pub fn watch(collector: &mut Collector, span: Duration) -> Vec<Wait> {
    let mut machine = Machine::new(Arch::named(std::env::consts::ARCH).expect("the collector knows this processor"));
    let began = Instant::now();
    loop {
        let is_last = began.elapsed() >= span;
        let mut events = Vec::new();
        collector.drain(&mut events, is_last);
        events.iter().for_each(|event| machine.feed(event));
        if is_last {
            break;
        }
        sleep(Duration::from_millis(20));
    }
    machine.finish();
    machine.take()
}

/// The waits of one process that ended by their timer.
pub fn waits_of(pid: u32, span: Duration) -> Result<Vec<Wait>, String> {
    let mut collector = collector()?;
    collector.follow(pid).map_err(|error| error.to_string())?;
    Ok(timed(watch(&mut collector, span)))
}

/// The waits of a program that is started for this, and of its children.
pub fn waits_from(command: &mut Command, span: Duration) -> Result<Vec<Wait>, String> {
    let mut collector = collector()?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = collector.spawn(command);
    let child = child.map_err(|error| format!("SKIPPED: {}: {error}", command.get_program().display()))?;
    let _running = Running(child);
    Ok(timed(watch(&mut collector, span)))
}

pub fn timed(waits: Vec<Wait>) -> Vec<Wait> {
    waits.into_iter().filter(|wait| wait.outcome == Outcome::Timer).collect()
}

/// A quantile of a part, waits with steal left out.
pub fn quantile(waits: &[Wait], part: Part, quantile: f64) -> Result<i64, String> {
    let mut values: Vec<i64> =
        waits.iter().filter(|wait| wait.steal_ns == 0).map(|wait| wait.parts.get(part)).collect();
    values.sort_unstable();
    let at = ((values.len() as f64 * quantile) as usize).min(values.len().saturating_sub(1));
    values.get(at).copied().ok_or_else(|| "no wait was seen".to_owned())
}

pub fn p50(waits: &[Wait], part: Part) -> Result<i64, String> {
    quantile(waits, part, 0.5)
}

/// `ok` with that text, or the same text as a failure.
pub fn judge(holds: bool, text: String) -> Result<String, String> {
    if holds { Ok(text) } else { Err(text) }
}
