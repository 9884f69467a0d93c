//! The tolerance of a waitable timer, which the system makes use of.

use oversleep_record::Os;
use oversleep_record::finding::Severity;

use crate::entry::{Conclusion, Scope};
use crate::finding::{Check, FindingEntry, Pair, PairCheck};
use crate::names::{TOLERANT_TIMER, WAITABLE_TIMER};
use crate::read::side_by_side;
use crate::read::windows::{default_period, period_as_found};
use crate::remedies::windows::SET_NO_TOLERANCE;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-W010",
    name: "timer-tolerance",
    summary: "The system may delay a waitable timer by up to the tolerance it is given, to expire it together with \
              others.",
    applies_to: "Windows 7 and later: SetWaitableTimerEx, SetThreadpoolTimer with a window, SetCoalescableTimer",
    scope: Scope::Os(Os::Windows),
    severity: Severity::Note,
    meaning: "SetWaitableTimerEx takes the delay that the caller tolerates. The system uses it to expire several \
              timers at one interrupt, so the timer ends at any time between its due time and the due time plus the \
              tolerance. That saves power if nothing has to be on time; libraries that pass a tolerance by default \
              make every timer late. Microsoft recommends at least 32 ms, two default ticks, and preferably 100 ms: a \
              shorter tolerance finds no other interrupt to wait for.",
    how_we_know: "oversleep measures the same timer with and without a tolerance, in the same rounds.",
    what_to_do: "Use a tolerance of zero for timers that must be on time, and a generous one for all others.",
    sources: &["https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-setwaitabletimerex"],
    remedies: &[&SET_NO_TOLERANCE],
    check: Check::Pair(PairCheck {
        find: |file| {
            side_by_side(file, TOLERANT_TIMER, WAITABLE_TIMER).map(|(tolerant, plain)| Pair::new(tolerant, plain))
        },
        enough: Pair::both_sound,
        effect: None,
        // The phase at which the timer was set varies its end by less than half a tick.
        differs: |file, pair| pair.differs_by_half_of(period_as_found(file).unwrap_or_else(|| default_period(file))),
        found: |_, pair| {
            let delay = pair.difference();
            Conclusion::found(format!("the system delays a timer with a tolerance by {delay}: {}", both(pair)))
        },
        absent: |_, pair| {
            format!("the system did not delay the timer with a tolerance, or by less than a tick: {}", both(pair))
        },
    }),
}];

fn both(pair: &Pair<'_>) -> String {
    let (tolerant, plain) = pair.lateness();
    format!("at {} it was {tolerant} late, without a tolerance {plain}", pair.requested())
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::Verdict;

    use crate::testing::{Explained, Sheet};

    fn beside(tolerant: i64) -> Sheet {
        let sheet = Sheet::windows().steady("B5/waitable-timer-tolerant/1ms", tolerant);
        sheet.steady("B5/waitable-timer/1ms", 14_600_000)
    }

    #[test]
    fn a_tolerance_is_used_or_not() {
        beside(30_200_000).finds(
            "OVS-W010",
            "the system delays a timer with a tolerance by 15.6 ms: at 1 ms it was 30.2 ms late, without a tolerance 14.6 ms",
        );
        beside(14_600_000).finds_no(
            "OVS-W010",
            "the system did not delay the timer with a tolerance, or by less than a tick: at 1 ms it was 14.6 ms late, without a \
             tolerance 14.6 ms",
        );
    }

    #[test]
    fn less_than_half_a_tick_is_where_the_timer_was_set() {
        let verdict = |sheet: Sheet| sheet.verdict("OVS-W010");
        assert_eq!(verdict(beside(14_600_000 + 7_812_499)), Verdict::NotFound);
        assert_eq!(verdict(beside(14_600_000 + 7_812_500)), Verdict::Found);
        let finer = beside(14_600_000 + 600_000).span(FactName::TimerPeriodNow, 1_000_000);
        assert_eq!(verdict(finer), Verdict::Found);
    }

    #[test]
    fn both_must_be_measured() {
        let one = Sheet::windows().steady("B5/waitable-timer-tolerant/1ms", 14_600_000);
        one.lacks("OVS-W010", "B5/waitable-timer/1ms was not measured. Run `oversleep check --only B5`");
        let wild = beside(14_600_000).wild("B5/poll/1ms", 1);
        assert_eq!(wild.verdict("OVS-W010"), Verdict::NotFound, "another wait's trouble");
    }
}
