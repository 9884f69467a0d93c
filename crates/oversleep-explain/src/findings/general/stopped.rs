//! A process or a machine that was stopped during a measurement.

use oversleep_record::finding::Severity;
use oversleep_record::{Nanos, ResultFile, Series};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::observed;
use crate::finding::{Check, FindingEntry};

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-G011",
    name: "process-stopped",
    summary: "This process, or the whole machine, was stopped during the run, so some waits were late by as much.",
    applies_to: "Wherever the scheduler counts how long a thread waits for a CPU (Linux); suspend on Linux",
    scope: Scope::Anywhere,
    severity: Severity::Fault,
    meaning: "A process that is stopped (SIGSTOP, Ctrl-Z, a debugger, the freezer of control groups, `docker pause`) runs \
              again only when it is continued. A virtual machine that its host pauses, migrates or saves stands still as a \
              whole. No counter of the scheduler shows either: the thread neither ran nor waited for a CPU. A wait that \
              was in progress ends late by the time that was left of it, and every deadline meanwhile has passed.",
    how_we_know: "oversleep compares each wait with the median one. It subtracts the time that the thread waited for a CPU \
                  meanwhile, steal and throttling. What is left was no wish of the program. Where other threads make a \
                  value late as well (hand-offs, fork-joins), the thread that waits for the end of the round does the \
                  same with waits of its own, of 25 ms each. Less than 50 ms or a tenth of the request is not counted, \
                  because timers may be put off by as much. A suspend shows as the difference of the clocks that go on \
                  meanwhile and those that don't.",
    what_to_do: "Repeat the run and let nothing stop the process or the machine meanwhile. If it happens again, find out \
                 who does it: a debugger, a container runtime, a job scheduler, or the host.",
    sources: &[
        "https://man7.org/linux/man-pages/man7/signal.7.html",
        "https://docs.kernel.org/admin-guide/cgroup-v2.html",
    ],
    remedies: &[],
    check: Check::Rule(stopped),
}];

fn stopped(file: &ResultFile) -> Checked {
    let stalled = observed(&file.series, |meanwhile| meanwhile.stalled_ns);
    let suspended = observed(&file.series, |meanwhile| meanwhile.suspended_ns);
    let Some((_, window)) = stalled.or(suspended) else {
        return Err(Conclusion::lacks(
            "how long threads wait for a CPU is not available here, or no wait was measured. `oversleep doctor` says which \
             counters can be read",
        ));
    };
    let is_some = |seen: Option<(Nanos, Nanos)>| seen.map(|(span, _)| span).filter(|&span| span > Nanos::ZERO);
    let sentence = match (is_some(stalled), is_some(suspended)) {
        (None, None) => {
            return Ok(Conclusion::absent(format!("nothing stopped this process or the machine in {window}")));
        }
        (Some(span), None) => format!(
            "this process was stopped for {span}: it neither ran nor waited for a CPU nor slept by its own wish"
        ),
        (None, Some(span)) => format!("this machine was suspended for {span} during this run"),
        (Some(span), Some(suspended)) => {
            format!("this process was stopped for {span}; this machine was suspended for {suspended}")
        }
    };
    let mut series: Vec<(&Series, Nanos)> = file.series.iter().map(|series| (series, longest(series))).collect();
    series.retain(|(_, span)| *span > Nanos::ZERO);
    series.sort_by_key(|(_, span)| std::cmp::Reverse(*span));
    let found = series.iter().take(SERIES_MAX).fold(Conclusion::found(sentence), |found, (series, span)| {
        found.rests_on(&series.key, format!("{}, {span}", marked(series)))
    });
    // What the sentence says is of all of them.
    let all = is_some(stalled).into_iter().chain(is_some(suspended)).map(|span| span.to_string());
    Ok(match series.len() {
        0 | 1 => found,
        count => found.rests_on(format!("all {count} series"), all.collect::<Vec<_>>().join(", ")),
    })
}

/// The most series that are named.
const SERIES_MAX: usize = 3;

/// How long a series was stopped or suspended, whichever is longer.
fn longest(series: &Series) -> Nanos {
    let rounds = series.rounds.iter().map(|round| &round.disturbance);
    rounds.filter_map(|meanwhile| meanwhile.stalled_ns.max(meanwhile.suspended_ns)).sum()
}

/// The number of marked rounds of a series.
fn marked(series: &Series) -> String {
    let is_marked = |span: Option<Nanos>| span.is_some_and(|span| span > Nanos::ZERO);
    let rounds = series.rounds.iter().map(|round| &round.disturbance);
    let marked = rounds.filter(|meanwhile| is_marked(meanwhile.stalled_ns) || is_marked(meanwhile.suspended_ns));
    format!("{} of its {} rounds", marked.count(), series.rounds.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

    /// A sleep in four rounds of 20 ms, the second of which was stopped or suspended for so long.
    fn of(stalled: Option<i64>, suspended: Option<i64>) -> Sheet {
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        for (index, round) in series.rounds.iter_mut().enumerate() {
            let in_second =
                |ms: Option<i64>| ms.map(|ms| if index == 1 { Nanos::from_millis(ms) } else { Nanos::ZERO });
            round.disturbance.stalled_ns = in_second(stalled);
            round.disturbance.suspended_ns = in_second(suspended);
        }
        Sheet::linux().series(series)
    }

    #[test]
    fn stopped_suspended_both_and_neither() {
        let stopped = of(Some(972), Some(0));
        stopped.finds(
            "OVS-G011",
            "this process was stopped for 972 ms: it neither ran nor waited for a CPU nor slept by its own wish",
        );
        stopped.rests_on("OVS-G011", &[("B5/nanosleep/1ms", "1 of its 4 rounds, 972 ms")]);
        of(None, Some(12_000)).finds("OVS-G011", "this machine was suspended for 12 s during this run");
        of(Some(972), Some(12_000))
            .finds("OVS-G011", "this process was stopped for 972 ms; this machine was suspended for 12 s");
        of(Some(0), Some(0)).finds_no("OVS-G011", "nothing stopped this process or the machine in 80 ms");
        of(None, None).lacks_data("OVS-G011");
    }

    #[test]
    fn how_long_it_was_stopped_is_in_the_evidence() {
        let two = |key: &str, ms: i64| {
            let mut series = rounds(key, &[66_000; 4], 20);
            series.rounds[1].disturbance.stalled_ns = Some(Nanos::from_millis(ms));
            series
        };
        let sheet = Sheet::linux().series(two("B5/nanosleep/1ms", 525)).series(two("B5/timerfd/1ms", 300));
        let finding = sheet.finding("OVS-G011");
        let expected = [
            ("B5/nanosleep/1ms", "1 of its 4 rounds, 525 ms"),
            ("B5/timerfd/1ms", "1 of its 4 rounds, 300 ms"),
            // Measured in the same rounds: one stop, which is not counted twice.
            ("all 2 series", "525 ms"),
        ];
        sheet.rests_on("OVS-G011", &expected);
        assert!(finding.sentence.starts_with("this process was stopped for 525 ms"), "{}", finding.sentence);
    }
}
