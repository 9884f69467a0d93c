//! Clocks that go backwards.

use oversleep_record::clock::{Counts, Steps};
use oversleep_record::finding::Severity;
use oversleep_record::words::counted;
use oversleep_record::{ClockResult, ExperimentId, Nanos, ResultFile, Series};

use crate::entry::{Checked, Conclusion, RemedyEntry, Scope};
use crate::finding::{Check, FindingEntry};
use crate::read::not_measured;
use crate::remedies::machine::USE_TSC_CLOCKSOURCE;
use crate::remedies::program::{READ_WITH_A_FENCE, USE_OS_CLOCK};
use crate::verdicts::is_only_unfenced;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-G004",
    name: "backward-clock",
    summary: "A clock of elapsed time went backwards, on one thread or from one CPU to another.",
    applies_to: "every operating system; counters read without a fence, skewed counters, clocks of faulty hypervisors",
    scope: Scope::Anywhere,
    severity: Severity::Fault,
    meaning: "The second of two readings of a monotonic clock must never be smaller, even on another CPU. It is \
              smaller if each CPU has its own counter and the counters are not in step, if a hypervisor fails to keep \
              them in step, or if the processor executes the read of the counter before what precedes it in the \
              program. Durations then come out negative, and unsigned arithmetic turns them into centuries.",
    how_we_know: "oversleep reads each clock continuously on one thread, and in turn on threads on different CPUs that \
                  hand over to each other, so that the second read certainly happens later. It counts decreases and \
                  never clamps them.",
    what_to_do: "Read the operating system's clock, which hides the skew. With a bare counter, use the fenced or serialising \
                 read (lfence; rdtsc or rdtscp). If the system's own monotonic clock goes backwards, change the \
                 clocksource.",
    sources: &["https://www.felixcloutier.com/x86/rdtsc"],
    remedies: &[&USE_OS_CLOCK, &USE_TSC_CLOCKSOURCE, &READ_WITH_A_FENCE],
    check: Check::Rule(backward_clock),
}];

/// Remedies for a read that the processor moved: nothing is wrong with the clocksource then.
static CURES_OF_A_MOVED_READ: &[&RemedyEntry] = &[&READ_WITH_A_FENCE, &USE_OS_CLOCK];

/// How a clock went backwards, in clauses; empty if it didn't.
fn backward_in_words(steps: Steps) -> Vec<String> {
    let how_far = |far: Option<Nanos>| far.map(|far| format!(", by up to {far}")).unwrap_or_default();
    let on_one_thread = (steps.backward_on_one_thread > 0).then(|| {
        let times = counted(steps.backward_on_one_thread, "time");
        format!("{times} on one thread{}", how_far(steps.backward_on_one_thread_ns))
    });
    let across_cpus = (steps.backward_across_cpus > 0).then(|| {
        format!(
            "from one CPU to another in {} of {} hand-overs{}",
            steps.backward_across_cpus,
            steps.cross_cpu_reads,
            how_far(steps.backward_across_cpus_ns)
        )
    });
    on_one_thread.into_iter().chain(across_cpus).collect()
}

fn backward_clock(file: &ResultFile) -> Checked {
    let is_elapsed = |clock: &&ClockResult| clock.counts == Counts::ElapsedTime && clock.unavailable.is_none();
    let observed: Vec<(&ClockResult, Steps)> = file
        .clocks
        .iter()
        .filter(is_elapsed)
        .filter_map(|clock| Some((clock, clock.steps?)))
        .filter(|(_, steps)| steps.reads > 0)
        .collect();
    let timed_by: Vec<&Series> = file.series.iter().filter(|series| series.counts.backward > 0).collect();
    if observed.is_empty() && timed_by.is_empty() {
        return Err(not_measured(file, ExperimentId::A4, "whether clocks go backwards"));
    }
    let mut faults = Vec::new();
    let mut is_grave = !timed_by.is_empty();
    let mut found = Conclusion::found("");
    for (clock, steps) in &observed {
        let mut clauses = backward_in_words(*steps);
        if clauses.is_empty() {
            continue;
        }
        if is_only_unfenced(file, clock) {
            let fenced = "reads with a fence never did, so the processor moved the read and the counters are in step";
            faults.push(format!("{} went backwards: {}; {fenced}", clock.name, clauses.join(" and ")));
            clauses.push(fenced.to_owned());
        } else {
            is_grave = true;
            faults.push(format!("{} went backwards: {}", clock.name, clauses.join(" and ")));
        }
        found = found.rests_on(&clock.name, clauses.join("; "));
    }
    for series in timed_by {
        let times = counted(series.counts.backward, "time");
        let says = format!("{} went backwards: {times} between two reads", series.clock);
        faults.push(format!("{says} during {}", series.key));
        found = found.rests_on(&series.key, says);
    }
    if !faults.is_empty() {
        let found = found.and(faults.join("; "));
        return Ok(if is_grave {
            found.matters(Severity::Fault)
        } else {
            found.matters(Severity::Note).cured_by(CURES_OF_A_MOVED_READ)
        });
    }
    let reads: u64 = observed.iter().map(|(_, steps)| steps.reads).sum();
    let crossed: u64 = observed.iter().map(|(_, steps)| steps.cross_cpu_reads).sum();
    Ok(Conclusion::absent(match crossed {
        0 => format!("no clock went backwards in {reads} reads; CPUs were not compared"),
        _ => format!("no clock went backwards in {reads} reads and {crossed} hand-overs between CPUs"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Explained, Sheet, good_clock, rounds};

    const STEPS: Steps = Steps {
        reads: 1_000,
        smallest_ns: None,
        median_ns: None,
        changes_per_second: None,
        cross_cpu_reads: 500,
        backward_on_one_thread: 1,
        backward_on_one_thread_ns: None,
        backward_across_cpus: 7,
        backward_across_cpus_ns: Some(Nanos(420)),
    };

    #[test]
    fn a_skewed_counter_is_a_fault() {
        Sheet::linux().clock(ClockResult { steps: Some(STEPS), ..good_clock("tsc") }).finds(
            "OVS-G004",
            "tsc went backwards: 1 time on one thread and from one CPU to another in 7 of 500 hand-overs, by up to 420 ns",
        );
    }

    #[test]
    fn a_read_without_a_fence_is_not() {
        let reordered = Steps { backward_on_one_thread: 0, ..STEPS };
        let unfenced = ClockResult { steps: Some(reordered), ..good_clock("tsc") };
        let sheet = Sheet::linux().clock(unfenced).clock(good_clock("tsc-fenced"));
        sheet.finds(
            "OVS-G004",
            "tsc went backwards: from one CPU to another in 7 of 500 hand-overs, by up to 420 ns; reads with a fence never did, so \
             the processor moved the read and the counters are in step",
        );
        let finding = sheet.finding("OVS-G004");
        assert_eq!(finding.severity, Severity::Note);
        let remedies: Vec<&str> = finding.advice.iter().map(|advice| advice.remedy.as_str()).collect();
        assert_eq!(remedies, ["read-with-a-fence", "use-os-clock"], "the machine's clocksource is fine");
    }

    #[test]
    fn clocks_that_go_backwards_while_they_time_and_clocks_that_don_t() {
        let mut timed = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        timed.counts.backward = 2;
        Sheet::linux()
            .series(timed)
            .finds("OVS-G004", "monotonic went backwards: 2 times between two reads during B5/nanosleep/1ms");
        Sheet::linux()
            .clock(good_clock("tsc"))
            .finds_no("OVS-G004", "no clock went backwards in 1000 reads and 1000 hand-overs between CPUs");
        // Time of day may be set back; that is expected and not a fault.
        let set_back = ClockResult { steps: Some(STEPS), counts: Counts::TimeOfDay, ..good_clock("realtime") };
        Sheet::linux().clock(set_back).lacks_data("OVS-G004");
    }
}
