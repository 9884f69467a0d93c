//! Why an undisturbed wait is late nevertheless: its lateness in three parts.

use oversleep_record::finding::Severity;
use oversleep_record::part::Part;
use oversleep_record::split::PartSplit;
use oversleep_record::stats::VALUES_MIN;
use oversleep_record::words::percent;
use oversleep_record::{Distribution, ExperimentId, FactName, Nanos, Os, ResultFile, Series};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::p50;
use crate::finding::{Check, FindingEntry};
use crate::read::{not_measured, reference_sleep, sleeps_of, wait_series};
use crate::remedies::linux::{LOWER_TIMER_SLACK, REAL_TIME_POLICY};
use crate::remedies::program::{HYBRID_WAIT, SLEEP_WITH_OVERSLEEP};
use crate::split;

/// If more than this share of the waits has no split, the others may not be representative.
const UNATTRIBUTED_MAX: f64 = 0.2;

/// The medians of the parts may miss the whole by at most this share of it.
const GAP_MAX: f64 = 0.02;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-L018",
    name: "wake-up-baseline",
    summary: "Every wait is late by the sum of three parts: slack and timer, the run queue, and the return to the \
              program. `check --why` names each of them further.",
    applies_to: "Linux with perf_event_open for one's own threads (perf_event_paranoid 2 or lower)",
    scope: Scope::Os(Os::Linux),
    severity: Severity::Note,
    meaning: "The time between the deadline and the program's next clock read has three parts. The first is the timer: \
              slack, the interrupt, leaving an idle state, marking the thread runnable. The second is the run queue: \
              the thread is runnable and waits for a CPU. The third is the return: the context switch, the end of the \
              system call, the clock read.",
    how_we_know: "A per-thread software perf event records when the thread was switched in, and schedstat records how \
                  long it was runnable before that. Neither needs a privilege for a process's own threads. The parts \
                  are differences of timestamps of one clock, so for each wait they add up to its lateness exactly, \
                  but their medians need not; where these miss more than \
                  2 % of the whole, the sentence says so, and has the 99th percentiles beside them. oversleep counts waits whose switch-in it did not see as \
                  unattributed and does not guess their parts. With `check --why`, a program in the kernel follows waits in \
                  rounds of their own, whose figures are in no other series, and the first part falls into timer slack, \
                  the interrupt, waking and others.",
    what_to_do: "The first part shrinks with the timer slack and the idle states, the second with a real-time policy or a \
                 free CPU, the third with a faster processor. In a guest, the hypervisor's share is inside the first and the \
                 third.",
    sources: &["https://man7.org/linux/man-pages/man2/perf_event_open.2.html"],
    remedies: &[&LOWER_TIMER_SLACK, &REAL_TIME_POLICY, &SLEEP_WITH_OVERSLEEP, &HYBRID_WAIT],
    check: Check::Rule(wake_up_baseline),
}];

fn wake_up_baseline(file: &ResultFile) -> Checked {
    // Its rounds are separate, so they may be conclusive where the others are not.
    let followed = sleeps_of(file).iter().filter_map(|wait| wait_series(file, wait));
    let followed = followed.filter_map(|series| Some((series, series.why.as_ref()?))).next();
    if let Some(found) = followed.and_then(|(series, parts)| in_every_part(series, parts)) {
        return Ok(found);
    }
    let series = reference_sleep(file)?;
    let row = split::of_sleeps(file).ok_or_else(|| match file.environment.flag(FactName::PerfSwitchTimes) {
        Some(false) => Conclusion::lacks(
            "switch-in times are not available here (perf.switch_times). `oversleep doctor` says how to allow them",
        ),
        _ => not_measured(file, ExperimentId::B5, format!("the split of {}", series.key)),
    })?;
    let (seen, unseen) = (row.attributed_count, row.unattributed_count);
    if seen < VALUES_MIN {
        return Err(Conclusion::lacks(format!(
            "all parts are known for only {seen} waits of {} and a conclusion needs {VALUES_MIN}. Use --thorough",
            row.series
        )));
    }
    let all = seen + unseen;
    let share = unseen as f64 / all as f64;
    if share > UNATTRIBUTED_MAX {
        let disturbed = Conclusion::disturbed(format!(
            "the switch-in of {} of the waits of {} was not seen, so the rest may not stand for all. Use --thorough",
            percent(share),
            row.series
        ));
        return Err(disturbed.rests_on(&row.series, format!("{unseen} of {all} unattributed")));
    }
    // If a part has two values, the medians leave a gap. Means would add up, but a few long waits decide them, and the
    // tables have medians.
    let has_gap = row.medians.remainder().0.abs() as f64 > row.medians.total.0.abs() as f64 * GAP_MAX;
    let p99s = row.p99s.as_ref().filter(|_| has_gap);
    let late = match (has_gap, p99s) {
        (true, Some(p99s)) => format!(" (p50; p99 {}; those of its parts don't add up to it)", p99s.total),
        (true, None) => " (p50; those of its parts don't add up to it)".to_owned(),
        (false, _) => String::new(),
    };
    let part = |of: fn(&split::Parts) -> Nanos| match p99s {
        Some(p99s) => format!("{} (p99 {})", of(&row.medians), of(p99s)),
        None => of(&row.medians).to_string(),
    };
    let found = Conclusion::found(format!(
        "{} is {} late{late}: {} for timer, slack and waking, {} in the run queue, {} for the return to the program",
        row.wait,
        row.medians.total,
        part(|parts| parts.timer),
        part(|parts| parts.run_queue),
        part(|parts| parts.wake_return)
    ));
    Ok(found.rests_on(&row.series, format!("medians of {seen} waits, {unseen} unattributed; {}", row.method)))
}

/// Parts from this share of the lateness on are named; the rest is summed up.
const NAMED_MIN: f64 = 0.01;

/// The mean parts as observed in the kernel, because means add up. `None` if too few waits were observed completely.
fn in_every_part(series: &Series, split: &PartSplit) -> Option<Conclusion> {
    let all = split.attributed_count + split.unattributed_count;
    let is_enough =
        split.attributed_count >= VALUES_MIN && split.unattributed_count as f64 <= all as f64 * UNATTRIBUTED_MAX;
    let total = split.total.as_ref().and_then(Distribution::mean).filter(|_| is_enough)?;
    let is_named = |part: &&Part| split.mean(**part).abs() >= total.abs() * NAMED_MIN;
    let named: Vec<Part> = Part::ALL.iter().filter(is_named).copied().collect();
    let mut words: Vec<String> =
        named.iter().map(|&part| format!("{} {}", nanos(split.mean(part)), words(part))).collect();
    let rest = total - named.iter().map(|&part| split.mean(part)).sum::<f64>();
    if nanos(rest) != Nanos::ZERO {
        words.push(format!("{} for the rest", nanos(rest)));
    }
    // Means add up, and medians are what the tables show.
    let late = p50(series);
    let mean = match nanos(total) {
        mean if mean == late => String::new(),
        mean => format!(" (p50; mean {mean}, which the parts add up to)"),
    };
    let found = Conclusion::found(format!("{} is {late} late{mean}: {}", series.subject, words.join(", ")));
    Some(found.rests_on_series([series]).rests_on(
        series.key.as_str(),
        format!(
            "means of {} waits, {} unattributed; {}",
            split.attributed_count, split.unattributed_count, split.method
        ),
    ))
}

fn nanos(mean: f64) -> Nanos {
    Nanos(mean.round() as i64)
}

/// The words for a part, after its figure.
fn words(part: Part) -> &'static str {
    match part {
        Part::Api => "for entering the call",
        Part::Stop => "stopped",
        Part::Signal => "interrupted by signals",
        Part::Slack => "of timer slack",
        Part::Irq => "until the timer interrupt",
        Part::Timer => "for the timer and waking",
        Part::Irqbody => "for other work of the interrupt",
        Part::Wake => "for waking the thread",
        Part::Ipi => "from waking to the run queue",
        Part::Runq => "in the run queue",
        Part::Ret => "for the return from the call",
        Part::Quota => "of CPU quota",
        Part::User => "back in the program",
        Part::Unattributed => "not observed",
        Part::Requested => "of waiting as requested",
        Part::Late => "late from a wait",
        Part::Work => "of the thread's own work",
        Part::Fault => "in page faults",
        Part::Blocked => "asleep in other calls",
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::part::Parts;
    use oversleep_record::split::PartSplit;

    use crate::testing::{Explained, Sheet};

    fn split_waits(seen: u64, unseen: u64) -> Sheet {
        let mut sheet = Sheet::linux().steady("B5/nanosleep/1ms", 66_000).split(52_000, 3_000, 11_000);
        let split = sheet.file.series[0].split.as_mut().unwrap();
        (split.attributed_count, split.unattributed_count) = (seen, unseen);
        sheet
    }

    #[test]
    fn the_baseline_in_three_parts() {
        let sheet = split_waits(80, 3);
        sheet.finds(
            "OVS-L018",
            "nanosleep is 66 µs late: 52 µs for timer, slack and waking, 3 µs in the run queue, 11 µs for the return to the \
             program",
        );
        assert_eq!(sheet.finding("OVS-L018").evidence[0].text, "medians of 80 waits, 3 unattributed; test");
    }

    #[test]
    fn a_program_in_the_kernel_names_every_part() {
        let mut sheet = split_waits(80, 3);
        let mut why = PartSplit::apart("test");
        for n in 0..40 {
            let parts = Parts {
                api: 300,
                slack: 50_000,
                irq: 2_000 + 100 * (n % 2),
                wake: 1_000,
                runq: 3_000,
                ret: 4_000,
                ..Parts::default()
            };
            why.record(&parts);
        }
        sheet.file.series[0].why = Some(why.clone());
        sheet.finds(
            "OVS-L018",
            "nanosleep is 66 µs late (p50; mean 60.4 µs, which the parts add up to): 50 µs of timer slack, 2.05 µs until the timer interrupt, 1 µs for waking the \
             thread, 3 µs in the run queue, 4 µs for the return from the call, 300 ns for the rest",
        );
        assert_eq!(sheet.finding("OVS-L018").evidence[1].text, "means of 40 waits, 0 unattributed; test");
        let mut even = PartSplit::apart("test");
        (0..40).for_each(|_| even.record(&Parts { slack: 50_000, ret: 16_000, ..Parts::default() }));
        sheet.file.series[0].why = Some(even);
        sheet.finds("OVS-L018", "nanosleep is 66 µs late: 50 µs of timer slack, 16 µs for the return from the call");
        why.unattributed_count = 40;
        sheet.file.series[0].why = Some(why);
        let three = sheet.finding("OVS-L018").sentence;
        assert!(three.starts_with("nanosleep is 66 µs late: 52 µs for timer, slack and waking"), "{three}");
    }

    #[test]
    fn parts_whose_medians_leave_a_gap_are_told_by_p50_and_p99_and_never_by_a_mean() {
        let mut sheet = Sheet::linux().steady("B5/nanosleep/1ms", 50_000).split(10_000, 0, 0);
        let mut add = |count, timer, run_queue| {
            let split = sheet.file.series[0].split.as_mut().unwrap();
            let waits = Sheet::linux().steady("B5/nanosleep/1ms", 0).split(timer, run_queue, 0).file.series.remove(0);
            let waits = waits.split.unwrap();
            for _ in 0..count {
                split.total.merge(&waits.total);
                split.timer.merge(&waits.timer);
                split.run_queue.merge(&waits.run_queue);
            }
        };
        add(2, 50_000, 0);
        add(2, 10_000, 40_000);
        sheet.finds(
            "OVS-L018",
            "nanosleep is 50 µs late (p50; those of its parts don't add up to it): 10 µs for timer, slack and waking, 0 ns in the \
             run queue, 0 ns for the return to the program",
        );
        let finding = sheet.finding("OVS-L018");
        assert_eq!(finding.evidence[0].text, "medians of 80 waits, 0 unattributed; test");
        let split = sheet.file.series[0].split.as_mut().expect("it was split");
        let one = split.clone();
        (0..20).for_each(|_| {
            split.total.merge(&one.total);
            split.timer.merge(&one.timer);
            split.run_queue.merge(&one.run_queue);
            split.wake_return.merge(&one.wake_return);
        });
        split.run_queue.record(900_000);
        let skewed = sheet.finding("OVS-L018").sentence;
        assert!(
            skewed.starts_with(
                "nanosleep is 50 µs late (p50; p99 50 µs; those of its parts don't add up to it): 10 µs (p99"
            ),
            "{skewed}"
        );
        assert!(!skewed.contains("mean") && !skewed.contains("average"), "{skewed}");
        assert_eq!(crate::consistency::contradictions(&sheet.file), []);
    }

    #[test]
    fn few_splits_of_each_sleep_are_pooled() {
        let mut sheet = split_waits(20, 0);
        let mut usleep = sheet.file.series[0].clone();
        (usleep.key, usleep.subject) = ("B5/usleep/1ms".into(), "usleep".into());
        sheet = sheet.series(usleep);
        let finding = sheet.finding("OVS-L018");
        assert!(finding.sentence.starts_with("a plain sleep is 66 µs late: 52 µs for timer"), "{}", finding.sentence);
        assert_eq!(finding.evidence[0].source, "B5/nanosleep/1ms and B5/usleep/1ms");
    }

    #[test]
    fn no_split_no_explanation() {
        Sheet::linux().steady("B5/nanosleep/1ms", 66_000).flag(FactName::PerfSwitchTimes, false).lacks(
            "OVS-L018",
            "switch-in times are not available here (perf.switch_times). `oversleep doctor` says how to allow them",
        );
        split_waits(12, 0).lacks(
            "OVS-L018",
            "all parts are known for only 12 waits of B5/nanosleep/1ms and a conclusion needs 30. Use --thorough",
        );
        split_waits(80, 40).is_disturbed("OVS-L018");
        Sheet::linux().wild("B5/nanosleep/1ms", 66_000).is_disturbed("OVS-L018");
    }
}
