//! The tolerance of a waitable timer, which is used.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, Nanos, ResultFile};

use super::super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::super::read::{Look, p50, settle, summary};
use super::side_by_side;

/// The tick where its period is not known: the longest.
const DEFAULT_TICK: Nanos = Nanos(15_625_000);

/// The timer with a tolerance, and the one without.
pub(in super::super::super) const TOLERANT: &str = "waitable-timer-tolerant";
pub(in super::super::super) const PLAIN: &str = "waitable-timer";

pub(in super::super) const TIMER_TOLERANCE: FindingEntry = FindingEntry {
    id: "OVS-W010",
    name: "timer-tolerance",
    summary: "A waitable timer with a tolerance is put off, up to that tolerance, to fall together with others.",
    applies_to: "Windows 7 and later: SetWaitableTimerEx, SetThreadpoolTimer with a window, SetCoalescableTimer",
    scope: Scope::Os("windows"),
    severity: Severity::Note,
    explanation: "\
SetWaitableTimerEx takes the delay the caller tolerates. The system uses it to expire several timers at one interrupt: \
the timer ends anywhere between its due time and the due time plus the tolerance. It saves power where nothing has to be \
punctual; libraries that pass a tolerance by default make every timer late. The vendor recommends at least 32 ms, two \
default ticks, and 100 ms better: less finds no other interrupt to wait for.\n\n\
How we know: the same timer is measured with and without a tolerance, in the same rounds.\n\n\
Cure: a tolerance of zero for timers that must be on time, a generous one for all others.",
    remedies: &["set-no-tolerance"],
    check: |file| settle(timer_tolerance(file)),
};

fn timer_tolerance(file: &ResultFile) -> Look<Conclusion> {
    let (tolerant, plain) = side_by_side(file, TOLERANT, PLAIN)?;
    let requested = plain.requested_ns.unwrap_or_default();
    let rests = |sentence: String| {
        Statement::new(sentence).rests_on(&tolerant.key, summary(tolerant)).rests_on(&plain.key, summary(plain))
    };
    let added = p50(tolerant) - p50(plain);
    // Ends scatter by where between two ticks the timer was set: what is less than half of one is that.
    let tick = file.environment.nanos(FactName::TimerPeriodNow).unwrap_or(DEFAULT_TICK);
    Ok(if added >= Nanos(tick.0 / 2) {
        Conclusion::Found(rests(format!(
            "a waitable timer of {requested} with a tolerance ended {} late, without one {}: it was put off by {added}",
            p50(tolerant),
            p50(plain)
        )))
    } else {
        Conclusion::Absent(rests(format!(
            "a waitable timer of {requested} with a tolerance ended {} late, without one {}: it was not put off here, or the \
             tick hides by how much",
            p50(tolerant),
            p50(plain)
        )))
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::Verdict;

    use super::super::super::super::testing::{Explained, Sheet};

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-W010");
        (finding.verdict, finding.sentence)
    }

    fn beside(tolerant: i64) -> Sheet {
        let sheet = Sheet::windows().steady("B5/waitable-timer-tolerant/1ms", tolerant);
        sheet.steady("B5/waitable-timer/1ms", 14_600_000)
    }

    #[test]
    fn a_tolerance_is_used_or_not() {
        assert_eq!(
            says(&beside(30_200_000)),
            (
                Verdict::Found,
                "a waitable timer of 1 ms with a tolerance ended 30.2 ms late, without one 14.6 ms: it was put off by \
                 15.6 ms"
                    .into()
            )
        );
        assert_eq!(
            says(&beside(14_600_000)),
            (
                Verdict::Absent,
                "a waitable timer of 1 ms with a tolerance ended 14.6 ms late, without one 14.6 ms: it was not put off here, \
                 or the tick hides by how much"
                    .into()
            )
        );
    }

    #[test]
    fn what_is_less_than_half_a_tick_is_where_the_timer_was_set() {
        assert_eq!(says(&beside(14_600_000 + 7_812_499)).0, Verdict::Absent);
        assert_eq!(says(&beside(14_600_000 + 7_812_500)).0, Verdict::Found);
        let finer = beside(14_600_000 + 600_000).span(FactName::TimerPeriodNow, 1_000_000);
        assert_eq!(says(&finer).0, Verdict::Found);
    }

    #[test]
    fn both_must_be_measured() {
        let one = Sheet::windows().steady("B5/waitable-timer-tolerant/1ms", 14_600_000);
        assert_eq!(says(&one), (Verdict::NotEnoughData, "B5/waitable-timer/1ms was not measured in this run".into()));
        let wild = beside(14_600_000).wild("B5/poll/1ms", 1);
        assert_eq!(says(&wild).0, Verdict::Absent, "another wait's trouble");
    }
}
