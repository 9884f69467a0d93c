//! The runtimes of this machine compared with a table of rules observed on Linux: every wait of the table is measured,
//! and its rule is inferred again from durations alone. A runtime that isn't installed is SKIPPED. The result stays in
//! the build's directory for temporary files, so that records and reports can be made from it.

use std::fs;
use std::path::Path;

use oversleep_explain::runtimes::rule::{Rule, Zero};
use oversleep_explain::runtimes::{RuntimeWait, waits};
use oversleep_record::series::{Quantity, Series};
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile};

use crate::support::Home;

const MILLISECOND: Nanos = Nanos::from_millis(1);
/// A wait without slack is less late than nanosleep by at least this share of the slack.
const OF_SLACK_MIN: f64 = 0.5;
/// A wait that is delayed for 5 ms or 100 ms is at least this many times as late.
const HELD_UP_MIN: i64 = 10;

/// A line of the table.
struct Line {
    runtime: &'static str,
    /// Major versions from the first number up to, but not including, the second.
    versions: (u32, u32),
    wait: &'static str,
    rule: Rule,
    /// Whether a request of zero never returns.
    zero_is_forever: bool,
}

const ANY: (u32, u32) = (0, u32::MAX);

const fn line(runtime: &'static str, wait: &'static str, rule: Rule) -> Line {
    Line { runtime, versions: ANY, wait, rule, zero_is_forever: false }
}

const fn of_versions(line: Line, versions: (u32, u32)) -> Line {
    Line { versions, ..line }
}

const fn forever_at_zero(line: Line) -> Line {
    Line { zero_is_forever: true, ..line }
}

const TABLE: &[Line] = &[
    line("java", "Thread.sleep(ms)", Rule::Truncates),
    of_versions(line("java", "Thread.sleep(ms,ns)", Rule::RoundsUp), (0, 21)),
    of_versions(line("java", "Thread.sleep(ms,ns)", Rule::Exact), (21, u32::MAX)),
    of_versions(line("java", "Thread.sleep(Duration)", Rule::Exact), (21, u32::MAX)),
    line("java", "LockSupport.parkNanos", Rule::Exact),
    line("java", "Condition.awaitNanos", Rule::Exact),
    forever_at_zero(line("java", "Object.wait(ms,ns)", Rule::RoundsUp)),
    line("java", "LockSupport.parkUntil", Rule::Truncates),
    line("go", "time.Sleep", Rule::RoundsUp),
    line("go", "time.Timer", Rule::RoundsUp),
    line("go", "time.After", Rule::RoundsUp),
    line("go", "time.Sleep(busy)", Rule::Exact),
    line("python", "time.sleep", Rule::Exact),
    line("python", "select.select", Rule::Exact),
    line("python", "Lock.acquire", Rule::Exact),
    line("python", "select.poll", Rule::RoundsUp),
    line("python", "select.epoll", Rule::RoundsUp),
    line("python", "asyncio.sleep", Rule::RoundsUp),
    line("node", "setTimeout", Rule::TruncatesToAtLeastOne),
    line("node", "Atomics.wait", Rule::Exact),
    line("free-pascal", "Sleep", Rule::Truncates),
    line("mono", "Thread.Sleep(TimeSpan)", Rule::Truncates),
    line("c", "poll", Rule::RoundsUp),
    line("c", "epoll_wait", Rule::RoundsUp),
    forever_at_zero(line("c", "timerfd", Rule::Exact)),
    forever_at_zero(line("c", "timer_create", Rule::Exact)),
    line("c", "io_uring", Rule::Exact),
    line("c", "mq_timedreceive", Rule::Exact),
];

/// The measurements, and the deviations from the table.
struct Check<'a> {
    file: &'a ResultFile,
    all: Vec<RuntimeWait<'a>>,
    faults: Vec<String>,
}

fn major(version: &str) -> u32 {
    version.split('.').next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

impl<'a> Check<'a> {
    fn of(file: &'a ResultFile) -> Check<'a> {
        Check { file, all: waits(file), faults: Vec::new() }
    }

    /// All versions of this wait.
    fn named(&self, runtime: &str, wait: &str) -> Vec<RuntimeWait<'a>> {
        let is_it = |one: &&RuntimeWait<'_>| one.runtime.name == runtime && one.name == wait;
        self.all.iter().filter(is_it).cloned().collect()
    }

    fn demand(&mut self, holds: bool, what: String) {
        println!("{} {what}", if holds { "ok    " } else { "FAULT " });
        if !holds {
            self.faults.push(what);
        }
    }

    fn line(&mut self, line: &Line) {
        let found = self.named(line.runtime, line.wait);
        if !self.all.iter().any(|one| one.runtime.name == line.runtime) {
            return oversleep_testing::skip(format!("{} is not installed here: {}", line.runtime, line.wait));
        }
        self.demand(!found.is_empty(), format!("{} has {}", line.runtime, line.wait));
        for wait in found.iter().filter(|one| (line.versions.0..line.versions.1).contains(&major(&one.runtime.version)))
        {
            let ruling = wait.ruling();
            let told = ruling.as_ref().map_or_else(ToString::to_string, ToString::to_string);
            let late = wait.at(MILLISECOND).and_then(|series| series.distribution.p50()).map(Nanos);
            let late = late.map_or("nothing".to_owned(), |late| (MILLISECOND + late).to_string());
            let zero = wait.zero();
            let zero_told = zero.map_or("not measured".to_owned(), |zero| zero.to_string());
            let what = format!("{} {}: {told}; 1 ms took {late}; 0 {zero_told}", wait.runtime, wait.name);
            let is_forever = matches!(zero, Some(Zero::Forever));
            let is_rule = ruling.is_ok_and(|ruling| ruling.rule == line.rule);
            self.demand(is_rule && is_forever == line.zero_is_forever, what);
        }
    }

    /// The median lateness of that wait in the first version, for 1 ms.
    fn lateness(&self, runtime: &str, wait: &str) -> Option<i64> {
        self.named(runtime, wait).first()?.at(MILLISECOND)?.distribution.p50()
    }

    /// The cost of one read of that clock.
    fn cost(&self, runtime: &str, clock: &str) -> Option<i64> {
        let is_it = |series: &&Series| {
            series.quantity == Quantity::Cost
                && series.subject == clock
                && series.runtime.as_ref().is_some_and(|one| one.name == runtime)
        };
        self.file.experiment(ExperimentId::R3).find(is_it)?.distribution.p50()
    }

    fn pair(&mut self, what: &str, one: Option<i64>, other: Option<i64>, holds: impl Fn(i64, i64) -> bool) {
        match (one, other) {
            (Some(one), Some(other)) => self.demand(holds(one, other), format!("{what}: {one} and {other}")),
            _ => oversleep_testing::skip(format!("{what}: not measured")),
        }
    }
}

#[test]
#[ignore = "measures every runtime that is installed here, one to two minutes; a quiet machine"]
fn every_rule_of_the_runtimes_is_found_on_the_real_ones() {
    let home = Home::new();
    home.run(["runtimes", "--quiet", "--name", "recorded-runtimes", "--out", "runtimes.json"]).fine();
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runtimes.json");
    fs::copy(home.path().join("runtimes.json"), &kept).expect("written");
    println!("{}", kept.display());
    judge(&ResultFile::read(&fs::read(&kept).expect("readable")).expect("a result"));
}

/// Judges the result of the last run again.
#[test]
#[ignore = "reads what every_rule_of_the_runtimes_is_found_on_the_real_ones left"]
fn the_last_result_is_judged_again() {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runtimes.json");
    let Ok(bytes) = fs::read(&kept) else { return oversleep_testing::skip(format!("there is no {}", kept.display())) };
    judge(&ResultFile::read(&bytes).expect("a result"));
}

fn judge(file: &ResultFile) {
    let mut check = Check::of(file);
    TABLE.iter().for_each(|line| check.line(line));

    let slack = file.environment.nanos(FactName::TimerSlack).unwrap_or_default().0 as f64;
    for wait in ["timerfd", "timer_create", "io_uring", "mq_timedreceive"] {
        let (one, nanosleep) = (check.lateness("c", wait), check.lateness("c", "nanosleep"));
        let is_less = |one, nanosleep| (nanosleep - one) as f64 > slack * OF_SLACK_MIN;
        check.pair(&format!("C {wait} has no slack, nanosleep has: ns late"), one, nanosleep, is_less);
    }
    for wait in check.named("java", "LockSupport.parkUntil") {
        let early = wait.ruling().is_ok_and(|ruling| ruling.is_early());
        check.demand(early, format!("{} {} often ends early", wait.runtime, wait.name));
    }
    let early = |wait: &RuntimeWait<'_>| wait.at(MILLISECOND).map(|series| series.counts.early);
    for wait in check.named("node", "setTimeout(busy)") {
        let count = early(&wait);
        check.demand(count > Some(0), format!("{} {} can end early: {count:?} did", wait.runtime, wait.name));
    }
    // The shortest park takes the timer slack and a wake-up, as parkNanos(1) shows.
    let shortest =
        |series: &&Series| series.requested_ns == Some(Nanos(1)) && series.subject == "LockSupport.parkNanos";
    let parks: Vec<i64> =
        file.experiment(ExperimentId::B10).filter(shortest).filter_map(|series| series.distribution.p50()).collect();
    for park in parks {
        let nanosleep = check.lateness("c", "nanosleep");
        check.pair("parkNanos(1) takes what a wait adds, in ns", Some(park), nanosleep, |park, late| {
            park * 2 > late && park < late * 2
        });
    }
    let python = (check.lateness("python", "time.sleep(busy)"), check.lateness("python", "time.sleep"));
    check.pair("a busy Python thread holds a sleep up, ns late", python.0, python.1, |busy, idle| {
        busy > HELD_UP_MIN * idle
    });
    let pascal = check.lateness("free-pascal", "TThread.WaitFor");
    check.pair("Free Pascal's main thread waits 100 ms for another", pascal, Some(MILLISECOND.0), |late, request| {
        late > HELD_UP_MIN * request
    });
    let c = |clock: &str| check.cost("c", clock);
    let monotonic = c("clock_gettime(CLOCK_MONOTONIC)");
    let (coarse, raw, clock) = (c("clock_gettime(CLOCK_MONOTONIC_COARSE)"), c("syscall(clock_gettime)"), c("clock"));
    let (pascal, java) = (check.cost("free-pascal", "GetTickCount64"), check.cost("java", "System.nanoTime"));
    let python = check.cost("python", "time.perf_counter_ns");
    let is_less = |one: i64, other: i64| one < other;
    check.pair("the coarse clock is cheaper, ps", coarse, monotonic, is_less);
    check.pair("without the vDSO it is dearer, ps", monotonic, raw, is_less);
    check.pair("clock() is a system call, ps", monotonic, clock, is_less);
    check.pair("GetTickCount64 is a system call, ps", monotonic, pascal, is_less);
    check.pair("a call of Python costs more than the clock, ps", java, python, is_less);
    assert!(check.faults.is_empty(), "{:#?}", check.faults);
}
