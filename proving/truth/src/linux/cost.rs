//! What the collector costs, and that it loses nothing that it doesn't count. The figures are those of a release build:
//! `cargo prove why-cost`.

use std::convert::Infallible;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use oversleep_collect::{Collector, Losses};
use oversleep_why::{Builder, Machine, Outcome};

use super::memory::{ADDED_MAX_KB, Memory, cpu_ns};
use super::observe::{Running, arch, collector, judge, median};
use super::victim;

type Check = fn() -> Result<String, String>;

pub const ALL: &[(&str, Check)] = &[
    ("cost attributed", attributed),
    ("cost overhead", overhead),
    ("cost CPU", cpu),
    ("cost flood", flood),
    ("cost replay", super::replay::replay),
    ("cost threads", threads),
    ("cost recordings", super::reading::recordings),
];

/// From one look into the buffer to the next.
const LOOK: Duration = Duration::from_millis(100);

/// What became of a stream: every wait goes into a result, as in the command.
struct Seen {
    by_timer: u64,
    attributed: u64,
    otherwise: u64,
    losses: Losses,
    took: Duration,
    /// CPU time of this thread until the programs were detached, and for that.
    cpu_ns: u64,
    detach_ns: u64,
}

impl Seen {
    fn rate(&self) -> f64 {
        self.by_timer as f64 / self.took.as_secs_f64()
    }

    /// Whether everything that was sent arrived, or was counted.
    fn is_counted(&self) -> bool {
        self.losses.sent == self.losses.received
    }
}

fn collect(collector: &mut Collector, span: Duration) -> Seen {
    let (mut machine, mut builder, began) = (Machine::new(arch()), Builder::new(), Instant::now());
    let mut batch = Vec::new();
    let (before, mut detach_ns) = (cpu_ns(), 0);
    loop {
        let is_last = began.elapsed() >= span;
        if is_last {
            let before = cpu_ns();
            collector.stop();
            detach_ns = cpu_ns() - before;
        }
        let Ok(()) = collector.drain_each(&mut batch, is_last, |events| {
            for event in events {
                machine.feed(event);
                while let Some(wait) = machine.take_next() {
                    builder.add(&wait, "truth");
                }
            }
            Ok::<(), Infallible>(())
        });
        if is_last {
            break;
        }
        // As the command does it.
        sleep(collector.pause());
    }
    let took = began.elapsed();
    let cpu_ns = cpu_ns() - before - detach_ns;
    let (by_timer, attributed, otherwise) = builder.groups().iter().fold((0, 0, 0), |(a, b, c), group| {
        (a + group.lateness.count(), b + group.split.attributed_count, c + group.waits.otherwise_count())
    });
    Seen { by_timer, attributed, otherwise, losses: collector.losses(), took, cpu_ns, detach_ns }
}

fn following(victims: &[&Running]) -> Result<Collector, String> {
    let mut collector = collector()?;
    for victim in victims {
        collector.follow(victim.pid()).map_err(|error| error.to_string())?;
    }
    Ok(collector)
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// 2,000 waits a second, with a task on each CPU that never stops.
fn attributed() -> Result<String, String> {
    let _hogs =
        (0..cpus()).map(|_| Running::start(&mut victim::command("bursts:100000"))).collect::<Result<Vec<_>, _>>()?;
    let victim = Running::start(&mut victim::command("paced:4"))?;
    let seen = collect(&mut following(&[&victim])?, Duration::from_secs(20));
    let text = format!(
        "{} of {} waits ({:.2} %) without a gap at {:.0} waits/s beside {} busy CPUs, {} ended otherwise, {:?}",
        seen.attributed,
        seen.by_timer,
        seen.attributed as f64 / seen.by_timer.max(1) as f64 * 100.0,
        seen.rate(),
        cpus(),
        seen.otherwise,
        seen.losses,
    );
    judge(seen.attributed * 1_000 >= seen.by_timer * 995 && seen.by_timer > 10_000 && seen.is_counted(), text)
}

/// How much longer a wait of 1 ms takes while it is followed, by the program's own clock, in turn with `perf trace` and with
/// nothing.
fn overhead() -> Result<String, String> {
    const ROUNDS: usize = 9;
    let perf = |pid: u32| {
        let mut perf = Command::new("perf");
        perf.args(["trace", "-o", "/dev/null", "-p", &pid.to_string()]);
        Running::start(&mut perf)
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let plain = lap(|_| Ok(()))?;
        ours.push(lap(followed)? - plain);
        theirs.push(lap(perf)? - plain);
    }
    let (ours, theirs) = (median(ours.into_iter()), median(theirs.into_iter()));
    let ratio = ours as f64 / theirs as f64;
    let text =
        format!("{ours} ns added to a wake-up at p50, perf trace {theirs} ns: {ratio:.2} ×, {ROUNDS} rounds in turn");
    judge(ratio <= 0.4, text)
}

/// A program that measures itself on a CPU of its own, a second and a half after it began.
fn lap<T>(watched_by: impl FnOnce(u32) -> Result<T, String>) -> Result<i64, String> {
    let mut command = victim::with(&["taskset", "-c", victim::cpu(), "chrt", "-f", "10"], "lap:500");
    let child = command.stdout(Stdio::piped()).spawn().map_err(|error| format!("SKIPPED: {error}"))?;
    let watcher = watched_by(child.id())?;
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    drop(watcher);
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    text.parse().map_err(|_| format!("the program measured {text:?}"))
}

/// A collector in a thread of its own, for as long as this value lives.
fn followed(pid: u32) -> Result<impl Drop, String> {
    struct Followed(std::sync::Arc<std::sync::atomic::AtomicBool>, Option<std::thread::JoinHandle<()>>);
    impl Drop for Followed {
        fn drop(&mut self) {
            self.0.store(true, std::sync::atomic::Ordering::Relaxed);
            let _ = self.1.take().map(std::thread::JoinHandle::join);
        }
    }
    let mut collector = collector()?;
    collector.follow(pid).map_err(|error| error.to_string())?;
    let is_over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = is_over.clone();
    let thread = std::thread::spawn(move || {
        let (mut machine, mut events) = (Machine::new(arch()), Vec::new());
        while !seen.load(std::sync::atomic::Ordering::Relaxed) {
            collector.drain_all(&mut events, false);
            events.drain(..).for_each(|event| machine.feed(&event));
            drop(machine.take());
            sleep(LOOK);
        }
    });
    Ok(Followed(is_over, Some(thread)))
}

/// CPU time of this process, which collects 2,000 waits a second.
fn cpu() -> Result<String, String> {
    let one = || Running::start(&mut victim::command("waits:900"));
    let victims = [one()?, one()?];
    let mut collector = following(&[&victims[0], &victims[1]])?;
    let seen = collect(&mut collector, Duration::from_secs(20));
    let share = seen.cpu_ns as f64 / seen.took.as_nanos() as f64 * 100.0;
    let text = format!(
        "{share:.2} % of a core at {:.0} waits/s, {:.1} µs and {:.1} records a wait; beside it {:.1} ms once, to detach",
        seen.rate(),
        seen.cpu_ns as f64 / 1e3 / seen.by_timer.max(1) as f64,
        seen.losses.received as f64 / seen.by_timer.max(1) as f64,
        seen.detach_ns as f64 / 1e6
    );
    judge(share <= 0.5 && seen.by_timer > 20_000, text)
}

/// A minute of the shortest waits that threads can make.
fn flood() -> Result<String, String> {
    let memory = Memory::begin()?;
    let victims =
        (0..cpus()).map(|_| Running::start(&mut victim::command("slack-waits:1"))).collect::<Result<Vec<_>, _>>()?;
    let mut collector = following(&victims.iter().collect::<Vec<_>>())?;
    let seen = collect(&mut collector, Duration::from_secs(60));
    let added_kb = memory.added_kb()?;
    let text = format!(
        "{} waits at {:.0}/s, {:.2} % without a gap; sent {}, received {}, counted as lost {}; {} MB of memory",
        seen.by_timer,
        seen.rate(),
        seen.attributed as f64 / seen.by_timer.max(1) as f64 * 100.0,
        seen.losses.sent,
        seen.losses.received,
        seen.losses.no_room,
        added_kb / 1024,
    );
    judge(seen.is_counted() && added_kb < ADDED_MAX_KB && seen.by_timer > 100_000, text)
}

/// 10,000 threads, each with a wait of a second. A kernel may run none of our programs while a certain task has the CPU,
/// and not count that: of a wait that ends then, no step is seen. All others have to be whole.
fn threads() -> Result<String, String> {
    const THREADS: usize = 10_000;
    let memory = Memory::begin()?;
    let victim = Running::start(&mut victim::command(&format!("threads:{THREADS}")))?;
    let mut collector = following(&[&victim])?;
    let began = Instant::now();
    let mut machine = Machine::new(arch());
    let (mut tids, mut whole, mut unseen, mut all) = (std::collections::HashSet::new(), 0u64, 0u64, 0u64);
    while began.elapsed() < Duration::from_secs(15) {
        let mut events = Vec::new();
        collector.drain_all(&mut events, false);
        events.iter().for_each(|event| machine.feed(event));
        for wait in machine.take().iter().filter(|wait| wait.outcome == Outcome::Timer) {
            tids.insert(wait.tid);
            all += 1;
            whole += u64::from(wait.is_attributed());
            let marks = [wait.marks.fired, wait.marks.waking, wait.marks.wakeup, wait.marks.running];
            unseen += u64::from(marks.iter().all(Option::is_none));
        }
        sleep(LOOK);
    }
    let losses = collector.losses();
    let text = format!(
        "{} threads seen, {whole} of {all} waits without a gap, {unseen} without any step, {} threads not followed, {} events \
         lost, {} MB of memory",
        tids.len(),
        losses.threads_not_followed,
        losses.no_room,
        memory.added_kb()? / 1024,
    );
    let is_whole = whole * 1_000 >= (all - unseen) * 995 && unseen * 20 <= all;
    judge(tids.len() >= THREADS && losses.threads_not_followed == 0 && is_whole, text)
}
