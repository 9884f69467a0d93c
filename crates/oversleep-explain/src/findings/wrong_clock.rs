//! Clocks that do not count the time that passes.

use oversleep_record::clock::Counts;
use oversleep_record::finding::Severity;
use oversleep_record::{ClockResult, Nanos, ResultFile};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, settle};
use super::super::text::{list, percent};
use super::super::verdicts::off_ratio;

pub(super) const CPU_TIME_CLOCK: FindingEntry = FindingEntry {
    id: "OVS-G001",
    name: "cpu-time-clock",
    summary: "Some clocks count CPU time or stand still while a thread waits; taken for elapsed time they are wrong.",
    applies_to: "every operating system; clock() counts CPU time on POSIX systems and elapsed time on Windows",
    scope: Scope::Anywhere,
    severity: Severity::Note,
    explanation: "\
The C library's clock() counts the CPU time of the process: a program that sleeps for a second and asks clock() before \
and after sees next to nothing, one with four busy threads sees four seconds. It is not broken and not peculiar to WSL \
or virtual machines; POSIX says so. On Windows the same function counts elapsed time, which is how programs that use \
it for timing come about. The clocks CLOCK_PROCESS_CPUTIME_ID and CLOCK_THREAD_CPUTIME_ID are honest about it.\n\n\
How we know: each clock is read before and after a wait of about 100 ms, and what it says passed is compared with the \
reference clock, which is read beside it; the wait's own lateness is in both.\n\n\
Cure: time with a monotonic clock of elapsed time. Keep CPU-time clocks for what they are good at, the cost of work.",
    remedies: &["use-elapsed-clock"],
    check: |file| settle(cpu_time_clock(file)),
};

fn mean_wait(clock: &ClockResult, which: fn(&oversleep_record::clock::Difference) -> Nanos) -> Nanos {
    let sum: Nanos = clock.differences.iter().map(which).sum();
    Nanos(sum.0 / clock.differences.len().max(1) as i64)
}

fn showed(clock: &ClockResult) -> String {
    format!(
        "showed {} of {}",
        mean_wait(clock, |difference| difference.indicated_ns),
        mean_wait(clock, |difference| difference.reference_ns)
    )
}

fn cpu_time_clock(file: &ResultFile) -> Look<Conclusion> {
    let compared: Vec<&ClockResult> =
        file.clocks.iter().filter(|clock| clock.unavailable.is_none() && clock.indicated_ratio().is_some()).collect();
    if compared.is_empty() {
        return Err(Conclusion::lacks("no clock was compared with the reference clock over a wait (A2) in this run"));
    }
    let is_cpu_time = |clock: &&&ClockResult| matches!(clock.counts, Counts::ProcessCpuTime | Counts::ThreadCpuTime);
    let cpu_time: Vec<&&ClockResult> = compared.iter().filter(is_cpu_time).collect();
    // A clock that claims to count elapsed time and doesn't is a fault of this machine.
    let broken = compared.iter().filter(|clock| clock.counts == Counts::ElapsedTime);
    let broken: Vec<(&&ClockResult, f64)> = broken
        .filter_map(|clock| match off_ratio(file, clock)? {
            Ok(()) => None,
            Err(ratio) => Some((clock, ratio)),
        })
        .collect();
    let evidence = |statement: Statement, clocks: &[&&ClockResult]| {
        clocks.iter().fold(statement, |all, clock| all.rests_on(&clock.name, showed(clock)))
    };
    if let Some((worst, ratio)) = broken.first() {
        let clocks: Vec<&&ClockResult> = broken.iter().map(|(clock, _)| *clock).collect();
        let sentence = format!(
            "{} showed {} of a wait as the reference clock saw it: it does not count the time that passes here",
            worst.name,
            percent(*ratio)
        );
        return Ok(Conclusion::Found(evidence(Statement::new(sentence), &clocks).matters(Severity::Fault)));
    }
    let Some(example) = cpu_time.iter().find(|clock| clock.name == "clock").or(cpu_time.first()) else {
        let statement = Statement::new("every clock compared counts the time that passes");
        return Ok(Conclusion::Absent(evidence(statement, &compared.iter().collect::<Vec<_>>())));
    };
    let whose = match example.counts {
        Counts::ThreadCpuTime => "of the thread",
        _ => "of the process",
    };
    let others: Vec<&str> =
        cpu_time.iter().filter(|clock| clock.name != example.name).map(|clock| clock.name.as_str()).collect();
    let likewise = if others.is_empty() { String::new() } else { format!("; likewise {}", list(&others)) };
    Ok(Conclusion::Found(evidence(
        Statement::new(format!(
            "{} {} wait: it counts CPU time {whose}, not time that passes{likewise}",
            example.name,
            showed(example).replacen("of ", "of a ", 1)
        )),
        &cpu_time,
    )))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::Verdict;

    use super::super::super::testing::{Explained, Sheet, differed, good_clock};
    use super::*;

    fn says(sheet: &Sheet) -> (Verdict, Severity, String) {
        let finding = sheet.finding("OVS-G001");
        (finding.verdict, finding.severity, finding.sentence)
    }

    fn clock(name: &str, counts: Counts, indicated: i64) -> ClockResult {
        ClockResult { counts, differences: vec![differed(indicated)], ..good_clock(name) }
    }

    #[test]
    fn cpu_time_is_not_elapsed_time() {
        let sheet = Sheet::linux()
            .clock(clock("thread-cputime", Counts::ThreadCpuTime, 40_000))
            .clock(clock("clock", Counts::ProcessCpuTime, 410_000))
            .clock(good_clock("monotonic"));
        assert_eq!(
            says(&sheet),
            (
                Verdict::Found,
                Severity::Note,
                "clock showed 410 µs of a 100 ms wait: it counts CPU time of the process, not time that passes; likewise \
                 thread-cputime"
                    .into()
            )
        );
    }

    #[test]
    fn a_clock_of_elapsed_time_that_is_off_is_a_fault() {
        let sheet = Sheet::linux().clock(clock("tsc", Counts::ElapsedTime, 61_000_000));
        assert_eq!(
            says(&sheet),
            (
                Verdict::Found,
                Severity::Fault,
                "tsc showed 61 % of a wait as the reference clock saw it: it does not count the time that passes here"
                    .into()
            )
        );
    }

    #[test]
    fn clocks_that_are_right_or_unknown() {
        let windows = Sheet::windows().clock(clock("clock", Counts::ElapsedTime, 100_000_000));
        assert_eq!(says(&windows).0, Verdict::Absent);
        assert_eq!(says(&windows).2, "every clock compared counts the time that passes");
        assert_eq!(says(&Sheet::linux()).0, Verdict::NotEnoughData);
    }
}
