//! High-resolution timers, there and unused.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, Nanos, ResultFile};

use super::super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::super::read::{Look, p50, settle, sleeps_of, summary};
use super::side_by_side;

pub(in super::super::super) const HIGH_RESOLUTION: &str = "waitable-timer-high-resolution";
/// What the high-resolution timer must gain to be worth a change.
const GAIN_MIN: Nanos = Nanos(300_000);

pub(in super::super) const HIGH_RESOLUTION_TIMER: FindingEntry = FindingEntry {
    id: "OVS-W009",
    name: "high-resolution-timer",
    summary: "High-resolution waitable timers usually end 0.5 to 1 ms late without any request, and are there.",
    applies_to: "Windows 10 1803 (build 17134) and later; std::thread::sleep of Rust 1.75, Go 1.23, CPython 3.11 use them",
    scope: Scope::Os("windows"),
    severity: Severity::Cost,
    explanation: "\
A waitable timer made with CREATE_WAITABLE_TIMER_HIGH_RESOLUTION does not wait for the clock interrupt's period: the \
system raises the interrupt rate for just that expiry. Its waits end on a grid of about 0.5 ms and never early, \
1 ms after 1.5 to 2 ms, whether or not any process holds a resolution. Sleep and the timeouts of other waits don't use it.\n\n\
How we know: the flag is tried, and the timer is measured beside the plain sleep in the same rounds.\n\n\
Cure: one such timer per thread that must be punctual; it needs a handle and two calls per wait. With all CPUs busy it \
is as late as any other wait.",
    remedies: &["use-high-resolution-timer", "sleep-with-oversleep"],
    check: |file| settle(high_resolution(file)),
};

fn high_resolution(file: &ResultFile) -> Look<Conclusion> {
    if file.environment.flag(FactName::TimerHighResolution) == Some(false) {
        return Ok(Conclusion::Absent(
            Statement::new("this Windows has no high-resolution waitable timers (they came with Windows 10 1803)")
                .rests_on(FactName::TimerHighResolution, "no"),
        ));
    }
    let (fine, sleep) = side_by_side(file, HIGH_RESOLUTION, sleeps_of(file)[0])?;
    let requested = sleep.requested_ns.unwrap_or_default();
    let rests = |sentence: String| {
        Statement::new(sentence).rests_on(&fine.key, summary(fine)).rests_on(&sleep.key, summary(sleep))
    };
    if p50(sleep) - p50(fine) < GAIN_MIN {
        return Ok(Conclusion::Absent(rests(format!(
            "a high-resolution timer of {requested} ended {} late, hardly earlier than {} ({})",
            p50(fine),
            sleep.subject,
            p50(sleep)
        ))));
    }
    Ok(Conclusion::Found(rests(format!(
        "a high-resolution timer of {requested} ended {} late where {} ended {} late, without any request for a resolution",
        p50(fine),
        sleep.subject,
        p50(sleep)
    ))))
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::{Tried, Verdict};

    use super::super::super::super::testing::{Explained, Sheet};

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-W009");
        (finding.verdict, finding.sentence)
    }

    fn beside(sleep: i64) -> Sheet {
        let sheet = Sheet::windows().flag(FactName::TimerHighResolution, true).steady("B5/sleep/1ms", sleep);
        sheet.steady("B5/waitable-timer-high-resolution/1ms", 520_000)
    }

    #[test]
    fn it_is_there_and_punctual() {
        let sheet = beside(14_600_000);
        assert_eq!(
            says(&sheet),
            (
                Verdict::Found,
                "a high-resolution timer of 1 ms ended 520 µs late where sleep ended 14.6 ms late, without any request for a \
                 resolution"
                    .into()
            )
        );
        let tried = &sheet.finding("OVS-W009").advice[0].tried;
        assert!(matches!(
            tried,
            Tried::Measured { before_p50_ns: 14_600_000, after_p50_ns: 520_000, helped: true, .. }
        ));
    }

    #[test]
    fn no_gain_not_there_or_not_measured() {
        assert_eq!(
            says(&beside(600_000)),
            (
                Verdict::Absent,
                "a high-resolution timer of 1 ms ended 520 µs late, hardly earlier than sleep (600 µs)".into()
            )
        );
        assert_eq!(
            says(&Sheet::windows().flag(FactName::TimerHighResolution, false)),
            (
                Verdict::Absent,
                "this Windows has no high-resolution waitable timers (they came with Windows 10 1803)".into()
            )
        );
        assert_eq!(
            says(&Sheet::windows()),
            (Verdict::NotEnoughData, "B5/waitable-timer-high-resolution/1ms was not measured in this run".into())
        );
        let wild =
            Sheet::windows().wild("B5/sleep/1ms", 14_600_000).steady("B5/waitable-timer-high-resolution/1ms", 520_000);
        assert_eq!(says(&wild).0, Verdict::TooDisturbed);
    }
}
