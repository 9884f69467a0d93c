//! Clocks that do not count elapsed time.

use oversleep_record::clock::{Counts, Difference};
use oversleep_record::finding::Severity;
use oversleep_record::words::{list, percent};
use oversleep_record::{ClockResult, ExperimentId, Nanos, ResultFile};

use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::read::not_measured;
use crate::remedies::program::USE_ELAPSED_CLOCK;
use crate::verdicts::ratio_check;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-G001",
    name: "cpu-time-clock",
    summary: "Some clocks count CPU time or stand still while a thread waits, so they are wrong for elapsed time.",
    applies_to: "every operating system; clock() counts CPU time on POSIX systems and elapsed time on Windows",
    scope: Scope::Anywhere,
    severity: Severity::Note,
    meaning: "The C library's clock() counts the CPU time of the process. A program that sleeps for a second and calls \
              clock() before and after sees next to nothing; one with four busy threads sees four seconds. This is \
              neither a bug nor peculiar to WSL or virtual machines: POSIX defines it this way. On Windows the same \
              function counts elapsed time, which is how programs come to use it for timing. The clocks \
              CLOCK_PROCESS_CPUTIME_ID and CLOCK_THREAD_CPUTIME_ID say what they count in their names.",
    how_we_know: "oversleep reads each clock before and after a wait of about 100 ms, and compares what it shows with \
                  the reference clock, which it reads at the same time. Both include the wait's own lateness.",
    what_to_do: "Measure durations with a monotonic clock of elapsed time. Use CPU-time clocks for what they are good at, the \
                 cost of work.",
    sources: &["https://man7.org/linux/man-pages/man3/clock.3.html"],
    remedies: &[&USE_ELAPSED_CLOCK],
    check: Check::Rule(cpu_time_clock),
}];

fn mean_wait(clock: &ClockResult, which: fn(&Difference) -> Nanos) -> Nanos {
    let sum: Nanos = clock.differences.iter().map(which).sum();
    Nanos(sum.0 / clock.differences.len().max(1) as i64)
}

fn indicated(clock: &ClockResult) -> Nanos {
    mean_wait(clock, |difference| difference.indicated_ns)
}

fn waited(clock: &ClockResult) -> Nanos {
    mean_wait(clock, |difference| difference.reference_ns)
}

fn cpu_time_clock(file: &ResultFile) -> Checked {
    let compared: Vec<&ClockResult> =
        file.clocks.iter().filter(|clock| clock.unavailable.is_none() && clock.indicated_ratio().is_some()).collect();
    if compared.is_empty() {
        return Err(not_measured(file, ExperimentId::A2, "a wait by each clock and by the reference clock"));
    }
    let resting = |conclusion: Conclusion, clocks: &[&ClockResult]| {
        clocks.iter().fold(conclusion, |all, clock| {
            all.rests_on(&clock.name, format!("showed {} of {}", indicated(clock), waited(clock)))
        })
    };
    // A clock that claims to count elapsed time and doesn't is a fault of this machine.
    let elapsed = compared.iter().copied().filter(|clock| clock.counts == Counts::ElapsedTime);
    let broken: Vec<(&ClockResult, f64)> =
        elapsed.filter_map(|clock| Some((clock, ratio_check(file, clock)?.err()?))).collect();
    if let Some((worst, ratio)) = broken.first() {
        let sentence = format!(
            "{} showed {} of a wait: by the reference clock, it does not count elapsed time here",
            worst.name,
            percent(*ratio)
        );
        let clocks: Vec<&ClockResult> = broken.iter().map(|(clock, _)| *clock).collect();
        return Ok(resting(Conclusion::found(sentence), &clocks).matters(Severity::Fault));
    }
    let is_cpu_time = |clock: &&ClockResult| matches!(clock.counts, Counts::ProcessCpuTime | Counts::ThreadCpuTime);
    let cpu_time: Vec<&ClockResult> = compared.iter().copied().filter(is_cpu_time).collect();
    let Some(example) = cpu_time.iter().find(|clock| clock.name == "clock").or(cpu_time.first()) else {
        return Ok(resting(Conclusion::absent("every clock compared counts elapsed time"), &compared));
    };
    let whose = if example.counts == Counts::ThreadCpuTime { "thread" } else { "process" };
    let others = cpu_time.iter().map(|clock| clock.name.as_str()).filter(|name| *name != example.name);
    let others: Vec<&str> = others.collect();
    let too = match others.len() {
        0 => String::new(),
        1 => format!("; {} counts CPU time too", others[0]),
        _ => format!("; {} count CPU time too", list(&others)),
    };
    let sentence = format!(
        "{} showed {} of a {} wait: it counts the CPU time of the {whose}{too}",
        example.name,
        indicated(example),
        waited(example)
    );
    Ok(resting(Conclusion::found(sentence), &cpu_time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Explained, Sheet, differed, good_clock};

    fn clock(name: &str, counts: Counts, indicated: i64) -> ClockResult {
        ClockResult { counts, differences: vec![differed(indicated)], ..good_clock(name) }
    }

    #[test]
    fn cpu_time_is_not_elapsed_time() {
        let sheet = Sheet::linux()
            .clock(clock("thread-cputime", Counts::ThreadCpuTime, 40_000))
            .clock(clock("clock", Counts::ProcessCpuTime, 410_000))
            .clock(good_clock("monotonic"));
        sheet.finds(
            "OVS-G001",
            "clock showed 410 µs of a 100 ms wait: it counts the CPU time of the process; thread-cputime counts CPU \
             time too",
        );
        assert_eq!(sheet.finding("OVS-G001").severity, Severity::Note);
    }

    #[test]
    fn a_clock_of_elapsed_time_that_is_off_is_a_fault() {
        let sheet = Sheet::linux().clock(clock("tsc", Counts::ElapsedTime, 61_000_000));
        sheet.finds(
            "OVS-G001",
            "tsc showed 61 % of a wait: by the reference clock, it does not count elapsed time here",
        );
        assert_eq!(sheet.finding("OVS-G001").severity, Severity::Fault);
    }

    #[test]
    fn clocks_that_are_right_or_unknown() {
        let windows = Sheet::windows().clock(clock("clock", Counts::ElapsedTime, 100_000_000));
        windows.finds_no("OVS-G001", "every clock compared counts elapsed time");
        Sheet::linux().lacks_data("OVS-G001");
    }
}
