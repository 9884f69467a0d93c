//! Findings about language runtimes: what each makes of a request, what zero means, whether its instrument can be trusted.

mod engine;

use oversleep_record::finding::Severity;
use oversleep_record::words::{counted, list, percent};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, label};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{p50, summary};
use crate::finding::{Check, FindingEntry};
use crate::read::COMMON_REQUEST;
use crate::remedies::runtimes::{ATOMICS_WAIT, PARK_NANOS, PPOLL_OR_TIMERFD, SYSCALL_NANOSLEEP, TIME_SLEEP};
use crate::runtimes::rule::{Rule, Ruling, Zero};
use crate::runtimes::{RATE_ERROR_MAX, RuntimeWait, rate_error, seconds, waits};

/// Results that hold waits or clocks of language runtimes.
pub(crate) const RUNTIMES: Scope = Scope::Where(|file| {
    file.series.iter().any(|series| series.runtime.is_some() && series.experiment != ExperimentId::TRIAL)
});

const ANY: &str = "every system; the runtimes that oversleep has probes for, and programs that speak its protocol";
const HOW: &str = "oversleep requests durations on, just below and between whole milliseconds, and compares what was measured \
                   with what each rule would give. The rule that leaves the most constant rest is told, if no other comes \
                   near it.";

pub(super) static FAMILIES: &[&[FindingEntry]] = &[FINDINGS, engine::FINDINGS];

static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-R001",
        name: "runtime-truncates",
        summary: "Some waits of language runtimes drop what is less than a millisecond: a shorter request does not wait.",
        applies_to: ANY,
        scope: RUNTIMES,
        severity: Severity::Cost,
        meaning: "A call that takes an integer of milliseconds, or converts a finer type to one, turns 1.5 ms into 1 ms and \
                  300 µs into 0. A loop that should sleep between polls then spins, and a program that must not be early is.",
        how_we_know: HOW,
        what_to_do: "Use a call of the same runtime that passes nanoseconds on; the table shows which are exact here.",
        sources: &["https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/lang/Thread.html#sleep(long)"],
        remedies: &[&PARK_NANOS, &ATOMICS_WAIT],
        check: Check::Rule(|file| of_rule(file, &[Rule::Truncates, Rule::TruncatesToAtLeastOne])),
    },
    FindingEntry {
        id: "OVS-R002",
        name: "runtime-rounds-up",
        summary: "Some waits of language runtimes round a request up to whole milliseconds.",
        applies_to: ANY,
        scope: RUNTIMES,
        severity: Severity::Cost,
        meaning: "An event loop that waits in poll or epoll_wait passes whole milliseconds, rounded up so as never to be \
                  early: 300 µs take 1 ms and more. The timers of Go while it is idle, of asyncio and of tokio end so, and \
                  Thread.sleep of Java before 21 rounds by itself.",
        how_we_know: HOW,
        what_to_do: "Where a finer wait matters, leave the event loop for it: a blocking call that takes nanoseconds, on a \
                     thread of its own.",
        sources: &[
            "https://man7.org/linux/man-pages/man2/epoll_wait.2.html",
            "https://bugs.openjdk.org/browse/JDK-8306463",
        ],
        remedies: &[&PARK_NANOS, &TIME_SLEEP, &SYSCALL_NANOSLEEP, &PPOLL_OR_TIMERFD],
        check: Check::Rule(|file| of_rule(file, &[Rule::RoundsUp, Rule::RoundsUpToGrid, Rule::RoundsToNearest])),
    },
    FindingEntry {
        id: "OVS-R003",
        name: "runtime-ends-early",
        summary: "Some waits of language runtimes end before the duration they were given has passed.",
        applies_to: ANY,
        scope: RUNTIMES,
        severity: Severity::Cost,
        meaning: "A deadline in whole milliseconds of a clock lies anywhere within the next millisecond, so the wait is \
                  shorter by the phase at which it was requested. A timer of an event loop counts from the time that the \
                  loop last read, which is earlier than the call.",
        how_we_know: "Each wait is timed from just before the call. Waits count as early that end more than 1 µs before what \
                      the call was given.",
        what_to_do: "Read a monotonic clock after the wait, and wait again for what is left.",
        sources: &[],
        remedies: &[],
        check: Check::Rule(early),
    },
    FindingEntry {
        id: "OVS-R004",
        name: "zero-waits-forever",
        summary: "With some calls a request of zero means forever, or disarms the timer.",
        applies_to: ANY,
        scope: RUNTIMES,
        severity: Severity::Note,
        meaning: "A request that is computed (deadline − now) comes down to zero when the deadline has passed, and a request \
                  below a millisecond does so where the call counts in milliseconds. Object.wait(0) then waits for a \
                  notification, and a timer that is set to zero never fires.",
        how_we_know: "Each call is given ever shorter requests, zero last. One that has not returned 400 ms after it was due \
                      is ended.",
        what_to_do: "Check for a deadline that has passed before you wait, and round a request up to the call's unit.",
        sources: &["https://man7.org/linux/man-pages/man2/timerfd_create.2.html"],
        remedies: &[],
        check: Check::Rule(zero),
    },
    FindingEntry {
        id: "OVS-R005",
        name: "runtime-clock-rate",
        summary: "A program's clock runs slow or fast, so every duration that it reports is wrong by as much.",
        applies_to: ANY,
        scope: RUNTIMES,
        severity: Severity::Fault,
        meaning: "A counter that is divided by the wrong frequency, a clock of CPU time, or a tick that is lost now and then \
                  makes an instrument that looks plausible. One published measurement was taken with a clock that ran 10 to \
                  13 % slow.",
        how_we_know: "Every program states its clock when it begins and when it ends. oversleep compares that span with its \
                      own clock.",
        what_to_do: "Measure with the runtime's monotonic clock, and check it against another one over a second.",
        sources: &[],
        remedies: &[],
        check: Check::Rule(clock_rate),
    },
    FindingEntry {
        id: "OVS-R006",
        name: "runtime-busy",
        summary: "What else runs in a runtime changes how late its waits end.",
        applies_to: "runtimes that share one lock, one event loop or one scheduler among their threads",
        scope: RUNTIMES,
        severity: Severity::Cost,
        meaning: "A thread of Python that wakes up waits for the interpreter's lock, up to a switch interval of 5 ms per \
                  computing thread. Go's scheduler looks at its timers itself while goroutines run, so a wait is exact then, \
                  until a goroutine keeps its processor; idle, it waits in the kernel with whole milliseconds.",
        how_we_know: "The same call is measured in an idle program and in one where another thread or task computes.",
        what_to_do: "Keep computing threads out of the process that waits, or lower sys.setswitchinterval in Python.",
        sources: &["https://docs.python.org/3/library/sys.html#sys.setswitchinterval"],
        remedies: &[],
        check: Check::Rule(busy),
    },
    FindingEntry {
        id: "OVS-R007",
        name: "resolution-tricks",
        summary: "Published tricks that raise the timer resolution for Java change nothing where that resolution is not shared.",
        applies_to: "Java on every system",
        scope: RUNTIMES,
        severity: Severity::Note,
        meaning: "A daemon thread in an endless Thread.sleep, the option ForceTimeHighResolution and an opened MIDI device \
                  were ways to hold a timer resolution of 1 ms on Windows. Since Windows 10 2004 a resolution reaches only \
                  the process that requests it, and Linux and macOS have no such resolution.",
        how_we_know: "LockSupport.parkNanos is measured for 1 ms as it is and with each trick, in alternating processes.",
        what_to_do: "Leave them out. On Windows, hold a resolution in the process that waits, or use a high-resolution timer.",
        sources: &["https://randomascii.wordpress.com/2020/10/04/windows-timer-resolution-the-great-rule-change/"],
        remedies: &[],
        check: Check::Rule(tricks),
    },
];

fn measured(file: &ResultFile) -> Vec<(RuntimeWait<'_>, Ruling)> {
    waits(file).into_iter().filter_map(|wait| wait.ruling().ok().map(|ruling| (wait, ruling))).collect()
}

fn needs_rules(file: &ResultFile) -> Checked<Vec<(RuntimeWait<'_>, Ruling)>> {
    let all = measured(file);
    match all.is_empty() {
        true => Err(Conclusion::lacks("no wait of a runtime was requested often enough. Run `oversleep runtimes`")),
        false => Ok(all),
    }
}

/// `Thread.sleep(ms) of java 17.0.15`.
fn named(wait: &RuntimeWait<'_>) -> String {
    format!("{} of {}", wait.name, wait.runtime)
}

/// The request whose wait shows a rule best: of those measured, the one that the rule changes most.
fn clearest<'a>(wait: &RuntimeWait<'a>, rule: Rule) -> Option<&'a Series> {
    let changed = |requested: &Nanos| (rule.rounded(*requested) - *requested).0.abs();
    let with_values =
        wait.requests().into_iter().filter(|&requested| wait.at(requested).is_some_and(Series::has_values));
    wait.at(with_values.max_by_key(changed)?)
}

fn took(series: &Series) -> String {
    let requested = series.requested_ns.unwrap_or_default();
    format!("{requested} took {}", requested + p50(series))
}

fn of_rule(file: &ResultFile, rules: &[Rule]) -> Checked {
    let all = needs_rules(file)?;
    let found: Vec<_> = all.iter().filter(|(_, ruling)| rules.contains(&ruling.rule)).collect();
    let Some((first, ruling)) = found.first() else {
        return Ok(Conclusion::absent(format!("none of {} does", counted(all.len(), "wait"))));
    };
    let example = clearest(first, ruling.rule);
    let figure = example.map(|series| format!(": {}", took(series))).unwrap_or_default();
    let exact = all
        .iter()
        .find(|(wait, other)| wait.runtime == first.runtime && other.rule == Rule::Exact && !other.is_early());
    let cure = example.zip(exact).and_then(|(series, (wait, _))| {
        let same = wait.at(series.requested_ns?)?;
        Some(format!(
            "; {} for the same request {}",
            wait.name,
            took(same).rsplit(" took ").next().map(|took| format!("took {took}"))?
        ))
    });
    let others = found.len() - 1;
    let more = if others == 0 { String::new() } else { format!("; {} more: {}", others, names(&found[1..])) };
    let sentence = format!("{} {}{figure}{}{more}", named(first), ruling.rule, cure.unwrap_or_default());
    let conclusion = Conclusion::found(sentence);
    Ok(found
        .iter()
        .filter_map(|(wait, ruling)| clearest(wait, ruling.rule))
        .take(12)
        .fold(conclusion, |all, series| all.rests_on(&series.key, summary(series))))
}

/// Names of waits, a runtime once.
fn names(found: &[&(RuntimeWait<'_>, Ruling)]) -> String {
    let mut by_runtime: Vec<(String, Vec<&str>)> = Vec::new();
    for (wait, _) in found {
        let runtime = wait.runtime.to_string();
        match by_runtime.iter_mut().find(|(known, _)| *known == runtime) {
            Some((_, names)) => names.push(wait.name),
            None => by_runtime.push((runtime, vec![wait.name])),
        }
    }
    by_runtime
        .into_iter()
        .map(|(runtime, names)| format!("{runtime} ({})", names.join(", ")))
        .collect::<Vec<_>>()
        .join(", ")
}

fn early(file: &ResultFile) -> Checked {
    let all = needs_rules(file)?;
    let found: Vec<_> = all.iter().filter(|(_, ruling)| ruling.is_early()).collect();
    let Some((first, ruling)) = found.first() else {
        return Ok(Conclusion::absent(format!("none of {} ended early often", counted(all.len(), "wait"))));
    };
    let (share, earliest) = (percent(ruling.early_share), Nanos(-ruling.earliest.0));
    let more = if found.len() == 1 { String::new() } else { format!("; also {}", names(&found[1..])) };
    let sentence = format!("{} ends early: {share} of {} waits, by up to {earliest}{more}", named(first), ruling.count);
    Ok(Conclusion::found(sentence))
}

fn zero(file: &ResultFile) -> Checked {
    let all = waits(file);
    let told: Vec<_> = all.iter().filter_map(|wait| Some((wait, wait.zero()?))).collect();
    if told.is_empty() {
        return Err(Conclusion::lacks("no wait of a runtime was requested for 0. Run `oversleep runtimes`"));
    }
    let forever: Vec<String> =
        told.iter().filter(|(_, zero)| *zero == Zero::Forever).map(|(wait, _)| named(wait)).collect();
    match forever.is_empty() {
        true => Ok(Conclusion::absent(format!("{} returned from a request of 0", counted(told.len(), "wait")))),
        false => Ok(Conclusion::found(format!("a request of 0 never returns with some calls: {}", list(&forever)))),
    }
}

fn clock_rate(file: &ResultFile) -> Checked {
    let mut errors: Vec<(&Series, f64)> =
        seconds(file).filter_map(|series| Some((series, rate_error(series)?))).collect();
    errors.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let Some((worst, error)) = errors.first() else {
        return Err(Conclusion::lacks("no program stated its clock at its beginning and its end"));
    };
    let runtime = worst.runtime.as_ref().map(ToString::to_string).unwrap_or_default();
    let error_words = format!("{:.2} % {}", error.abs() * 100.0, if *error < 0.0 { "slow" } else { "fast" });
    let shown = Nanos(worst.distribution.p50().unwrap_or_default()).as_secs_f64();
    let sentence = format!("{} of {runtime} runs {error_words}: it showed {shown:.4} s of a second", worst.clock);
    let all_agree = |series: &Series| {
        let off = |value: Option<i64>| value.is_some_and(|ns| (ns as f64 / 1e9 - 1.0).abs() > RATE_ERROR_MAX);
        off(series.distribution.min()) && off(series.distribution.max())
    };
    Ok(match error.abs() > RATE_ERROR_MAX && all_agree(worst) {
        true => Conclusion::found(sentence),
        false => Conclusion::absent(format!(
            "{} agree with the system's, within {:.2} %",
            counted(errors.len(), "clock"),
            error.abs() * 100.0
        )),
    }
    .rests_on(&worst.key, summary(worst)))
}

/// How names of operations beside a busy thread end.
const BUSY: &str = "(busy)";

/// A wait of an idle program and the same beside a busy thread, for 1 ms.
fn idle_and_busy<'a>(all: &[RuntimeWait<'a>], busy: &RuntimeWait<'a>) -> Option<(String, &'a Series, &'a Series)> {
    let plain = busy.name.strip_suffix(BUSY)?;
    let idle = all.iter().find(|wait| wait.runtime == busy.runtime && wait.name == plain)?;
    let series = |wait: &RuntimeWait<'a>| wait.at(COMMON_REQUEST).filter(|series| series.has_values());
    Some((named(idle), series(idle)?, series(busy)?))
}

fn busy(file: &ResultFile) -> Checked {
    let all = waits(file);
    let mut pairs: Vec<_> = all.iter().filter_map(|busy| idle_and_busy(&all, busy)).collect();
    if pairs.is_empty() {
        return Err(Conclusion::lacks(
            "no runtime was measured both idle and busy. Run `oversleep runtimes go python`",
        ));
    }
    pairs.sort_by_key(|(_, idle, busy)| -(p50(busy) - p50(idle)).0.abs());
    let (name, idle, busy) = &pairs[0];
    let sentence = format!(
        "{name} takes {} beside a busy one: 1 ms took {}, and {} in an idle program",
        if p50(busy) > p50(idle) { "longer" } else { "less" },
        COMMON_REQUEST + p50(busy),
        COMMON_REQUEST + p50(idle)
    );
    let differs = (p50(busy) - p50(idle)).0.abs() > 2 * p50(idle).0.abs().max(50_000);
    let conclusion = match differs {
        true => Conclusion::found(sentence),
        false => {
            Conclusion::absent(format!("the largest difference is that of {name}: {} and {}", p50(busy), p50(idle)))
        }
    };
    Ok(conclusion.rests_on(&busy.key, summary(busy)).rests_on(&idle.key, summary(idle)))
}

fn tricks(file: &ResultFile) -> Checked {
    let of = |series: &&Series| series.has_values();
    let all: Vec<&Series> = file.experiment(ExperimentId::B11).filter(of).collect();
    let variant = |series: &Series| series.label(label::VARIANT).unwrap_or_default();
    let plain = |series: &Series| {
        all.iter().copied().find(|other| variant(other) == "as-found" && other.runtime == series.runtime)
    };
    let mut changed = Vec::new();
    let mut tried = Vec::new();
    for series in all.iter().copied().filter(|series| variant(series) != "as-found") {
        let Some(plain) = plain(series) else { continue };
        // A tick of Windows is 15.6 ms; other processes change a wait by tens of µs.
        let gained = p50(plain) - p50(series);
        let runtime = series.runtime.as_ref().map(ToString::to_string).unwrap_or_default();
        let sentence = format!("{} of {runtime} ({} → {})", variant(series), p50(plain), p50(series));
        tried.push(sentence.clone());
        if gained > Nanos(500_000) {
            changed.push(sentence);
        }
    }
    if tried.is_empty() {
        return Err(Conclusion::lacks("no trick was tried. Run `oversleep runtimes java`"));
    }
    Ok(match changed.is_empty() {
        true => Conclusion::found(format!("no trick changes a wait here: {}", list(&tried))),
        false => Conclusion::absent(format!("these still change a wait here: {}", list(&changed))),
    })
}

#[cfg(test)]
mod tests;
