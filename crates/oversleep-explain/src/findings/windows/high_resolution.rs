//! High-resolution timers, available and unused.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, Nanos, Os, ResultFile};

use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry, Pair, PairCheck};
use crate::names::{HIGH_RESOLUTION_TIMER, WINDOWS_SLEEPS};
use crate::read::side_by_side;
use crate::remedies::program::SLEEP_WITH_OVERSLEEP;
use crate::remedies::windows::USE_HIGH_RESOLUTION_TIMER;

/// The smallest gain from the high-resolution timer that is worth a change.
const GAIN_MIN: Nanos = Nanos(300_000);

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-W009",
    name: "high-resolution-timer",
    summary: "High-resolution waitable timers are available, and usually end only 0.5 to 1 ms late without any request.",
    applies_to: "Windows 10 1803 (build 17134) and later; std::thread::sleep of Rust 1.75, Go 1.23, CPython 3.11 use them",
    scope: Scope::Os(Os::Windows),
    // The remedy of what default-tick costs, not a cost by itself.
    severity: Severity::Note,
    meaning: "A waitable timer created with CREATE_WAITABLE_TIMER_HIGH_RESOLUTION does not wait for the clock \
              interrupt's period: the system raises the interrupt rate for just that expiry. Its waits never end early \
              and end on a grid of about 0.5 ms, so a wait of 1 ms takes 1.5 to 2 ms, whether or not any process holds \
              a timer resolution. Sleep and the timeouts of other waits don't use it.",
    how_we_know: "oversleep tries the flag, and measures the timer alongside a plain sleep in the same rounds.",
    what_to_do: "Use one such timer for each thread that must be on time; it takes a handle and two calls per wait. \
                 When all CPUs are busy, it is as late as any other wait.",
    sources: &["https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createwaitabletimerexw"],
    remedies: &[&USE_HIGH_RESOLUTION_TIMER, &SLEEP_WITH_OVERSLEEP],
    check: Check::Pair(PairCheck {
        find: sleep_and_timer,
        enough: Pair::both_sound,
        effect: None,
        differs: |_, pair| pair.difference() >= GAIN_MIN,
        found: |_, pair| {
            let ((sleep, fine), requested) = (pair.lateness(), pair.requested());
            Conclusion::found(format!(
                "a high-resolution timer of {requested} was {fine} late: {} was {sleep} late, and the timer needs no request for a timer \
                 resolution",
                pair.worse.subject
            ))
        },
        absent: |_, pair| {
            let ((sleep, fine), requested) = (pair.lateness(), pair.requested());
            let wait = &pair.worse.subject;
            format!("a high-resolution timer of {requested} was {fine} late, hardly less than {wait} ({sleep})")
        },
    }),
}];

fn sleep_and_timer(file: &ResultFile) -> Checked<Pair<'_>> {
    const AVAILABLE: FactName = FactName::TimerHighResolution;
    if file.environment.flag(AVAILABLE) == Some(false) {
        let absent =
            Conclusion::absent("this Windows has no high-resolution waitable timers (they came with Windows 10 1803)");
        return Err(absent.rests_on(AVAILABLE, "no"));
    }
    let (fine, sleep) = side_by_side(file, HIGH_RESOLUTION_TIMER, WINDOWS_SLEEPS[0])?;
    Ok(Pair::new(sleep, fine).citing([fine, sleep]))
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::Tried;

    use crate::testing::{Explained, Sheet};

    fn beside(sleep: i64) -> Sheet {
        let sheet = Sheet::windows().flag(FactName::TimerHighResolution, true).steady("B5/sleep/1ms", sleep);
        sheet.steady("B5/waitable-timer-high-resolution/1ms", 520_000)
    }

    #[test]
    fn it_is_there_and_punctual() {
        let sheet = beside(14_600_000);
        sheet.finds(
            "OVS-W009",
            "a high-resolution timer of 1 ms was 520 µs late: sleep was 14.6 ms late, and the timer needs no request for a timer \
             resolution",
        );
        let tried = &sheet.finding("OVS-W009").advice[0].tried;
        assert!(matches!(
            tried,
            Tried::Measured { before_p50_ns: 14_600_000, after_p50_ns: 520_000, helped: true, .. }
        ));
    }

    #[test]
    fn no_gain_not_there_or_not_measured() {
        beside(600_000)
            .finds_no("OVS-W009", "a high-resolution timer of 1 ms was 520 µs late, hardly less than sleep (600 µs)");
        Sheet::windows().flag(FactName::TimerHighResolution, false).finds_no(
            "OVS-W009",
            "this Windows has no high-resolution waitable timers (they came with Windows 10 1803)",
        );
        Sheet::windows().lacks_data("OVS-W009");
        let wild = Sheet::windows().wild("B5/sleep/1ms", 14_600_000);
        wild.steady("B5/waitable-timer-high-resolution/1ms", 520_000).is_disturbed("OVS-W009");
    }
}
