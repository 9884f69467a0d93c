//! What the collector and the state machine say of a program.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use oversleep_collect::{Collector, Options};
use oversleep_why::calls::Arch;
use oversleep_why::{Machine, Outcome, Part, Wait};

/// This processor.
pub fn arch() -> Arch {
    Arch::named(std::env::consts::ARCH).expect("the collector knows this processor")
}

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
    collector_with(false)
}

/// With or without stacks.
pub fn collector_with(stacks: bool) -> Result<Collector, String> {
    let options = Options { everyone: false, children: true, stacks, periods: true, tick_ns: 4_000_000 };
    Collector::open(options).map_err(|error| format!("SKIPPED: {error}"))
}

/// From one look into the buffer to the next.
const LOOK: Duration = Duration::from_millis(20);

/// The waits of what is followed, until `is_over`.
fn follow(collector: &mut Collector, mut is_over: impl FnMut(usize) -> bool) -> Vec<Wait> {
    let mut machine = Machine::new(arch());
    let mut waits = Vec::new();
    loop {
        let is_last = is_over(waits.len());
        let mut events = Vec::new();
        collector.drain_all(&mut events, is_last);
        events.iter().for_each(|event| machine.feed(event));
        waits.extend(machine.take());
        if is_last {
            break;
        }
        sleep(LOOK);
    }
    machine.finish();
    waits.extend(machine.take());
    waits
}

/// The waits of what is followed, for that long.
pub fn watch(collector: &mut Collector, span: Duration) -> Vec<Wait> {
    let began = Instant::now();
    follow(collector, |_| began.elapsed() >= span)
}

/// The waits of some processes, all by their timer, while something is done to them, and for a moment longer.
pub fn watch_while(pids: &[u32], change: impl FnOnce() + Send) -> Result<Vec<Wait>, String> {
    let mut collector = collector()?;
    for &pid in pids {
        collector.follow(pid).map_err(|error| error.to_string())?;
    }
    let waits = std::thread::scope(|scope| {
        let changer = scope.spawn(change);
        let mut rest = Duration::from_millis(500);
        follow(&mut collector, |_| {
            if changer.is_finished() {
                rest = rest.saturating_sub(LOOK);
            }
            rest.is_zero()
        })
    });
    Ok(timed(waits))
}

/// The waits of a program that ends by itself, and how it did.
pub fn watch_until(
    collector: &mut Collector,
    command: &mut Command,
    longest: Duration,
) -> Result<(Vec<Wait>, ExitStatus), String> {
    let began = Instant::now();
    let mut running = spawned(collector, command)?;
    let mut status = None;
    let waits = follow(collector, |_| {
        status = running.0.try_wait().ok().flatten();
        status.is_some() || began.elapsed() >= longest
    });
    Ok((waits, status.ok_or("it had not ended in time")?))
}

fn spawned(collector: &mut Collector, command: &mut Command) -> Result<Running, String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = collector.spawn(command);
    child.map(Running).map_err(|error| format!("SKIPPED: {}: {error}", command.get_program().display()))
}

/// The waits of one process that ended by their timer.
pub fn waits_of(pid: u32, span: Duration) -> Result<Vec<Wait>, String> {
    let mut collector = collector()?;
    collector.follow(pid).map_err(|error| error.to_string())?;
    Ok(timed(watch(&mut collector, span)))
}

/// Waits that a program is given ten times as long for, because some need seconds to start on a busy machine.
const WAITS_MIN: usize = 40;

/// The waits of a program that is started for this, and of its children.
pub fn waits_from(command: &mut Command, span: Duration) -> Result<Vec<Wait>, String> {
    let mut collector = collector()?;
    let _running = spawned(&mut collector, command)?;
    let began = Instant::now();
    let is_over = |count| began.elapsed() >= if count < WAITS_MIN { span * 10 } else { span };
    Ok(timed(follow(&mut collector, is_over)))
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

/// 0 without any.
pub fn median(values: impl Iterator<Item = i64>) -> i64 {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

pub fn p50(waits: &[Wait], part: Part) -> Result<i64, String> {
    quantile(waits, part, 0.5)
}

/// `ok` with that text, or the same text as a failure.
pub fn judge(holds: bool, text: String) -> Result<String, String> {
    if holds { Ok(text) } else { Err(text) }
}
