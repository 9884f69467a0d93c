//! Other tasks on the same CPU: who ran instead, and why it was allowed to.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use oversleep_why::culprit::Why;
use oversleep_why::{Outcome, Part, Wait};

use super::{SPAN, Scenario, us};
use crate::system::observe::{Running, collector, judge, p50, waits_of, watch};
use crate::system::victim;

pub const ALL: &[(&str, Scenario)] = &[
    ("FIFO hog", fifo_hog),
    ("fair hog", fair_hog),
    ("SCHED_IDLE program", idle_program),
    ("SCHED_DEADLINE neighbour", deadline_neighbour),
    ("timer storm", timer_storm),
    ("handed over", handed_over),
];

/// The victim and its hog on one CPU; the victim's waits.
fn beside(hog: &mut Command) -> Result<Vec<Wait>, String> {
    let _hog = Running::start(hog)?;
    let victim = Running::start(&mut victim::with(&["taskset", "-c", victim::cpu()], "waits:1000"))?;
    sleep(Duration::from_millis(100));
    waits_of(victim.pid(), SPAN)
}

fn fifo_hog() -> Result<String, String> {
    let waits = beside(&mut victim::with(&["taskset", "-c", victim::cpu(), "chrt", "-f", "50"], "bursts:3"))?;
    let longest = waits.iter().max_by_key(|wait| wait.parts.runq).ok_or("no wait was seen")?;
    let culprit = longest.culprits.first().ok_or("nobody was named")?;
    let text = format!(
        "runq {}: {} (policy {}, priority {})",
        us(longest.parts.runq),
        culprit.name,
        culprit.policy,
        99 - culprit.prio
    );
    let is_right = culprit.name == "truth" && culprit.policy == 1 && culprit.prio == 49 && culprit.is_pinned;
    judge(is_right && longest.parts.runq > 1_500_000, text)
}

fn fair_hog() -> Result<String, String> {
    let waits = beside(&mut victim::with(&["taskset", "-c", victim::cpu()], "bursts:1000"))?;
    // While the hog sleeps its CPU is idle, and leaving that state also takes some microseconds.
    let is_delayed = |wait: &&Wait| wait.parts.runq > 5_000 && wait.cpu_idle.is_none();
    let delayed: Vec<&Wait> = waits.iter().filter(is_delayed).collect();
    let named = delayed.iter().filter(|wait| wait.culprits.iter().any(|culprit| culprit.name == "truth")).count();
    let blamed = delayed.iter().filter(|wait| !wait.culprits.is_empty()).count();
    let text = format!("{blamed} of {} delayed waits name who ran, {named} of them the hog", delayed.len());
    // Others that want this CPU are culprits, too.
    judge(named > 10 && blamed * 10 >= delayed.len() * 9, text)
}

/// A program of the policy SCHED_IDLE beside ordinary work: that goes first.
fn idle_program() -> Result<String, String> {
    let _hog = Running::start(&mut victim::with(&["taskset", "-c", victim::cpu()], "bursts:20"))?;
    let victim = Running::start(&mut victim::with(&["taskset", "-c", victim::cpu(), "chrt", "-i", "0"], "waits:1000"))?;
    sleep(Duration::from_millis(100));
    let waits = waits_of(victim.pid(), SPAN)?;
    let longest = waits.iter().max_by_key(|wait| wait.parts.runq).ok_or("no wait was seen")?;
    let culprit = longest.culprits.first().ok_or("nobody was named")?;
    let text = format!("runq {}: {}, {:?}", us(longest.parts.runq), culprit.name, culprit.why);
    judge(culprit.why == Why::HigherPolicy && longest.policy == Some(5) && longest.parts.runq > 5_000_000, text)
}

/// Tasks of SCHED_DEADLINE can't be pinned: as many as there are CPUs want 3 of each 10 ms.
fn deadline_neighbour() -> Result<String, String> {
    let period = ["--sched-runtime", "3000000", "--sched-deadline", "10000000", "--sched-period", "10000000", "0"];
    let prefix: Vec<&str> = ["chrt", "-d"].into_iter().chain(period).collect();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let hog = || Running::start(&mut victim::with(&prefix, "bursts:1000"));
    let _hogs = (0..cpus).map(|_| hog()).collect::<Result<Vec<_>, _>>()?;
    let victim = Running::start(&mut victim::with(&["chrt", "-f", "50"], "waits:1000"))?;
    sleep(Duration::from_millis(100));
    let waits = waits_of(victim.pid(), SPAN)?;
    let by_deadline = |wait: &&Wait| wait.culprits.first().is_some_and(|culprit| culprit.policy == 6);
    let longest = waits.iter().filter(by_deadline).max_by_key(|wait| wait.parts.runq);
    let longest = longest.ok_or("no task of SCHED_DEADLINE was named")?;
    let culprit = &longest.culprits[0];
    let text = format!("runq {}: {}, {:?}", us(longest.parts.runq), culprit.name, culprit.why);
    judge(culprit.why == Why::HigherPolicy && longest.parts.runq > 500_000, text)
}

/// A task on the same CPU that has a timer every 20 µs: nothing may be lost or left without a name.
fn timer_storm() -> Result<String, String> {
    let storm = "import signal, time\nsignal.signal(signal.SIGALRM, lambda *_: None)\n\
        signal.setitimer(signal.ITIMER_REAL, 0.00002, 0.00002)\nwhile True: time.sleep(1)";
    let waits = beside(Command::new("taskset").args(["-c", victim::cpu(), "python3", "-c", storm]))?;
    let whole = waits.iter().filter(|wait| wait.is_attributed()).count();
    let text = format!("{whole} of {} waits without a gap, irq {} at p50", waits.len(), us(p50(&waits, Part::Irq)?));
    judge(waits.len() > 100 && whole * 1_000 >= waits.len() * 995, text)
}

/// A thread that waits for another one's futex, which comes late: the other one's lateness has parts, its own wait did not
/// end by a timer.
fn handed_over() -> Result<String, String> {
    let victim = Running::start(&mut victim::command("hands-over:1000"))?;
    let mut collector = collector()?;
    collector.follow(victim.pid()).map_err(|error| error.to_string())?;
    let waits = watch(&mut collector, SPAN);
    let of = |call: &str, outcome| {
        waits.iter().filter(|wait| wait.call.as_deref() == Some(call) && wait.outcome == outcome).count()
    };
    let (late, handed, wrong) =
        (of("clock_nanosleep", Outcome::Timer), of("futex", Outcome::Event), of("futex", Outcome::Timer));
    let text =
        format!("{late} sleeps by their timer; {handed} futexes woken by their peer, {wrong} taken for timeouts");
    judge(late > 100 && handed > 100 && wrong == 0, text)
}
