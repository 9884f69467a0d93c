//! Why a wait that nothing disturbs is late all the same: the three-way split of its lateness.

use oversleep_record::finding::Severity;
use oversleep_record::stats::VALUES_MIN;
use oversleep_record::{FactName, ResultFile};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, judge, not_measured, reference_sleep, settle};
use super::super::split;
use super::super::text::percent;

/// Share of waits without a split beyond which the rest may not stand for all.
const UNATTRIBUTED_MAX: f64 = 0.2;

pub(super) const WAKE_UP_BASELINE: FindingEntry = FindingEntry {
    id: "OVS-L018",
    name: "wake-up-baseline",
    summary: "Every wait is late by the sum of slack and timer, the run queue, and the way back to the program.",
    applies_to: "Linux with perf_event_open for one's own threads (perf_event_paranoid 2 or lower)",
    scope: Scope::Os("linux"),
    severity: Severity::Note,
    explanation: "\
Between the deadline and the program's next clock read lie three stretches. First the timer: slack, the interrupt, \
leaving an idle state, marking the thread runnable. Then the run queue: the thread is runnable and waits for a CPU. Then \
the way back: the context switch, the end of the system call, the clock read.\n\n\
How we know: a software perf event of the thread records when it was switched in, schedstat how long it was runnable \
before; both need no privilege beyond one's own threads. The parts are differences of stamps of one clock, so for each \
wait they add up to its lateness exactly; the medians shown need not. Waits whose switch-in was not seen are counted \
as unattributed and not guessed.\n\n\
What to make of it: the first part shrinks with the timer slack and the idle states, the second with a real-time policy \
or a free CPU, the third with a faster processor. In a guest the hypervisor's share is inside the first and the third.",
    remedies: &["lower-timer-slack", "real-time-policy", "sleep-with-oversleep", "hybrid-wait"],
    check: |file| settle(wake_up_baseline(file)),
};

fn wake_up_baseline(file: &ResultFile) -> Look<Conclusion> {
    let series = reference_sleep(file)?;
    judge(series)?;
    let row = split::of_sleeps(file).ok_or_else(|| match file.environment.flag(FactName::PerfSwitchTimes) {
        Some(false) => {
            Conclusion::lacks("switch-in times can't be seen here (perf.switch_times), so lateness was not split")
        }
        _ => not_measured(file, &format!("the split of {}", series.key)),
    })?;
    if row.attributed_count < VALUES_MIN {
        return Err(Conclusion::lacks(format!(
            "all parts were seen of {} waits of {} only; a conclusion needs {VALUES_MIN}",
            row.attributed_count, row.series
        )));
    }
    let all = row.attributed_count + row.unattributed_count;
    let unseen = row.unattributed_count as f64 / all as f64;
    if unseen > UNATTRIBUTED_MAX {
        return Ok(Conclusion::TooDisturbed(
            Statement::new(format!(
                "of {} of the waits of {} the switch-in was not seen: the rest may not stand for all",
                percent(unseen),
                row.series
            ))
            .rests_on(&row.series, format!("{} of {all} unattributed", row.unattributed_count)),
        ));
    }
    let parts = row.medians;
    Ok(Conclusion::Found(
        Statement::new(format!(
            "{} is {} late: {} timer, slack and waking, {} run queue, {} return to the program",
            row.wait, parts.total, parts.timer, parts.run_queue, parts.wake_return
        ))
        .rests_on(
            &row.series,
            format!(
                "medians of {} waits, {} unattributed; {}",
                row.attributed_count, row.unattributed_count, row.method
            ),
        ),
    ))
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::Verdict;
    use oversleep_record::split::LatenessSplit;

    use super::super::super::testing::{Explained, Sheet, rounds};

    fn split_waits(seen: u64, unseen: u64) -> Sheet {
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        let mut split = LatenessSplit {
            attributed_count: seen,
            unattributed_count: unseen,
            method: "perf context switches".into(),
            ..LatenessSplit::default()
        };
        for _ in 0..seen {
            split.total.record(66_000);
            split.timer.record(52_000);
            split.run_queue.record(3_000);
            split.wake_return.record(11_000);
        }
        series.split = Some(split);
        Sheet::linux().series(series)
    }

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-L018");
        (finding.verdict, finding.sentence)
    }

    #[test]
    fn the_baseline_in_three_parts() {
        assert_eq!(
            says(&split_waits(80, 3)),
            (
                Verdict::Found,
                "nanosleep is 66 µs late: 52 µs timer, slack and waking, 3 µs run queue, 11 µs return to the program"
                    .into()
            )
        );
        assert_eq!(
            split_waits(80, 3).finding("OVS-L018").evidence[0].says,
            "medians of 80 waits, 3 unattributed; perf context switches"
        );
    }

    #[test]
    fn few_splits_of_each_sleep_are_pooled() {
        let mut sheet = split_waits(20, 0);
        let mut usleep = sheet.file.series[0].clone();
        (usleep.key, usleep.subject) = ("B5/usleep/1ms".into(), "usleep".into());
        sheet = sheet.series(usleep);
        let finding = sheet.finding("OVS-L018");
        assert_eq!(
            finding.sentence,
            "a plain sleep is 66 µs late: 52 µs timer, slack and waking, 3 µs run queue, 11 µs return to the program"
        );
        assert_eq!(finding.evidence[0].source, "B5/nanosleep/1ms and B5/usleep/1ms");
    }

    #[test]
    fn no_split_no_explanation() {
        let blind = Sheet::linux().steady("B5/nanosleep/1ms", 66_000).flag(FactName::PerfSwitchTimes, false);
        assert_eq!(
            says(&blind),
            (
                Verdict::NotEnoughData,
                "switch-in times can't be seen here (perf.switch_times), so lateness was not split".into()
            )
        );
        let few = says(&split_waits(12, 0));
        assert_eq!(few.0, Verdict::NotEnoughData);
        assert_eq!(few.1, "all parts were seen of 12 waits of B5/nanosleep/1ms only; a conclusion needs 30");
        assert_eq!(says(&split_waits(80, 40)).0, Verdict::TooDisturbed);
        assert_eq!(says(&Sheet::linux().wild("B5/nanosleep/1ms", 66_000)).0, Verdict::TooDisturbed);
    }
}
