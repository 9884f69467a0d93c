//! Programs in PID namespaces of their own, seen from outside and from inside.

use std::time::Duration;

use oversleep_why::Wait;

use super::{SPAN, Scenario};
use crate::system::observe::{judge, waits_from};
use crate::system::victim;

pub const ALL: &[(&str, Scenario)] = &[
    ("PID namespace", || seen_from_outside(1)),
    ("nested namespaces", || seen_from_outside(3)),
    ("inside a namespace", seen_from_inside),
];

/// What runs inside ends with it: otherwise it would go on when the scenario is over.
const UNSHARE: [&str; 5] = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];

/// Programs that are started one after another.
const STARTED: usize = 5;

/// Ids are those of the namespace that looks, whatever the program itself sees.
fn seen_from_outside(depth: usize) -> Result<String, String> {
    let prefix: Vec<&str> = UNSHARE.iter().copied().cycle().take(depth * UNSHARE.len()).collect();
    let waits = waits_from(&mut victim::with(&prefix, "waits:1000"), SPAN)?;
    let waits: Vec<Wait> = waits.into_iter().filter(|wait| wait.requested_ns == Some(1_000_000)).collect();
    let whole = waits.iter().filter(|wait| wait.is_attributed()).count();
    let pid = waits.first().map_or(0, |wait| wait.tgid);
    let text = format!("{whole} of {} waits without a gap, of process {pid}", waits.len());
    judge(waits.len() > 500 && whole * 1_000 >= waits.len() * 995 && pid > 100, text)
}

/// The collector itself runs in a namespace, where processes have small ids, and follows one that runs already and one that
/// it starts.
fn seen_from_inside() -> Result<String, String> {
    let mut inside = victim::with(&UNSHARE, "looks:0");
    let mut child = inside.stdout(std::process::Stdio::piped()).spawn().map_err(|error| format!("SKIPPED: {error}"))?;
    let began = std::time::Instant::now();
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if began.elapsed() > Duration::from_secs(30) {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match text.strip_prefix("ok: ") {
        Some(text) => Ok(text.to_owned()),
        None if text.starts_with("SKIPPED") => Err(text),
        None => Err(format!("{text} ({})", output.status)),
    }
}

/// What runs inside.
pub fn look() -> Result<String, String> {
    use crate::system::observe::{Running, waits_of};
    let victim = Running::start(&mut victim::command("waits:1000"))?;
    let found = waits_of(victim.pid(), SPAN)?;
    let started = waits_from(&mut victim::command("waits:1000"), SPAN)?;
    // The first wait of a program that is started, which may come before this process runs again.
    let mut firsts = 0;
    for _ in 0..STARTED {
        let mut sleep = std::process::Command::new("sleep");
        let mut collector = crate::system::observe::collector()?;
        let longest = Duration::from_secs(5);
        firsts += crate::system::observe::watch_until(&mut collector, sleep.arg("0.005"), longest)?.0.len();
    }
    let of = |waits: &[Wait], pid: u32| waits.iter().filter(|wait| wait.tgid == pid && wait.tid == pid).count();
    let (first, second) = (of(&found, victim.pid()), of(&started, started.first().map_or(0, |wait| wait.tgid)));
    let pid = started.first().map_or(0, |wait| wait.tgid);
    let text = format!(
        "{first} of {} waits of process {}, {second} of {} of {pid}, {firsts} of {STARTED} first ones",
        found.len(),
        victim.pid(),
        started.len()
    );
    let gaps = found.iter().chain(&started).filter(|wait| !wait.is_attributed()).count();
    let is_whole = gaps * 100 < found.len() + started.len();
    judge(
        first > 500
            && first == found.len()
            && second > 500
            && second == started.len()
            && pid < 100
            && is_whole
            && firsts == STARTED,
        text,
    )
}
