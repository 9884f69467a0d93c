//! The default tick, and waits that end on it.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, Os, ResultFile};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{duration, p50};
use crate::finding::{Check, FindingEntry};
use crate::read::windows::{
    default_period, is_default_tick, other_in_effect, sleep_with_a_millisecond, tick_sleep_as_found, took,
};
use crate::read::{COMMON_REQUEST, quiet_enough, sound};
use crate::remedies::program::{HYBRID_WAIT, SLEEP_WITH_OVERSLEEP};
use crate::remedies::windows::{REQUEST_TIMER_RESOLUTION, USE_HIGH_RESOLUTION_TIMER};

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-W001",
    name: "default-tick",
    summary: "At the default timer resolution every wait ends on a tick of 15.6 ms, however short the request.",
    applies_to: "Windows, every version; Sleep, waits with a timeout, completion ports, ordinary waitable timers",
    scope: Scope::Os(Os::Windows),
    severity: Severity::Cost,
    meaning: "Windows checks its timers when the clock interrupt arrives: 64 times a second unless a process requested \
              more. A wait ends at the first tick after its deadline. Sleep(1) takes up to 15.6 ms, and nearly always \
              that long when called back to back; Sleep(16) takes up to 31 ms. The scheduler plays no part in it: a \
              thread whose object is signalled runs at once if a CPU is free.",
    how_we_know: "oversleep measures a plain sleep without requesting a resolution, and reads the period that the \
                  system reports. If it tried a resolution, it measures the same sleep while it holds the request.",
    what_to_do: "Request a finer timer resolution while waits must end on time, or wait on a high-resolution timer, \
                 which needs no request.",
    sources: &["https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep"],
    remedies: &[&REQUEST_TIMER_RESOLUTION, &USE_HIGH_RESOLUTION_TIMER, &SLEEP_WITH_OVERSLEEP, &HYBRID_WAIT],
    check: Check::Rule(default_tick),
}];

fn default_tick(file: &ResultFile) -> Checked {
    let series = &tick_sleep_as_found(file)?;
    sound(series)?;
    let period = default_period(file);
    quiet_enough(file, series, period)?;
    let resting = |conclusion: Conclusion| {
        let says = format!("a default period of {period}");
        conclusion.rests_on_series([series]).rests_on(FactName::TimerPeriodDefault, says)
    };
    let took_so_long = took(series);
    if !is_default_tick(file, duration(series)) {
        let sentence = format!("{took_so_long}: it does not wait for the default tick of {period}");
        return Ok(resting(Conclusion::absent(sentence)));
    }
    let found = resting(Conclusion::found(format!(
        "{took_so_long}: waits here end on a tick of {period}, and it was {} late",
        p50(series)
    )));
    Ok(match sleep_with_a_millisecond(file) {
        Some(held) => {
            let in_effect = other_in_effect(COMMON_REQUEST, held);
            let in_effect = in_effect.map(|is| format!(" ({is} in effect)")).unwrap_or_default();
            let took = duration(held);
            found
                .and(format!("; while this process held a 1 ms timer resolution{in_effect} it took {took}"))
                .rests_on_series([held])
        }
        None => found,
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::{Outcome, Setting};
    use oversleep_record::finding::{Tried, Verdict};
    use oversleep_record::{FactName, Nanos};

    use crate::testing::{Explained, Sheet, rounds};

    fn sleeping(late: i64) -> Sheet {
        Sheet::windows().span(FactName::TimerPeriodDefault, 15_625_000).steady("B5/sleep/1ms", late)
    }

    /// A short run has time for a few waits of 15.6 ms each.
    #[test]
    fn few_values_of_each_call_are_enough_together() {
        let few = |sheet: Sheet, wait: &str| sheet.series(rounds(format!("B5/{wait}/1ms"), &[14_600_000; 4], 5));
        let sheet = || Sheet::windows().span(FactName::TimerPeriodDefault, 15_625_000);
        few(sheet(), "sleep").lacks_data("OVS-W001");
        let waits = ["sleep", "sleep-ex", "nt-delay-execution", "wait-for-single-object"];
        assert_eq!(waits.into_iter().fold(sheet(), few).verdict("OVS-W001"), Verdict::Found);
    }

    #[test]
    fn a_millisecond_takes_a_tick() {
        const ALONE: &str = "a 1 ms sleep took 15.6 ms: waits here end on a tick of 15.6 ms, and it was 14.6 ms late";
        sleeping(14_600_000).finds("OVS-W001", ALONE);
        let mut held = sleeping(14_600_000).steady("C2/sleep/1ms/resolution=1ms", 950_000);
        let with = "; while this process held a 1 ms timer resolution it took 1.95 ms";
        held.finds("OVS-W001", &format!("{ALONE}{with}"));
        let is = Setting::Nanos(Nanos(500_000));
        let outcomes = &mut held.file.series[1].conditions.outcomes;
        outcomes.insert("resolution".into(), Outcome::AlreadySo { is });
        let finer = held.says("OVS-W001").1;
        assert!(finer.ends_with("held a 1 ms timer resolution (500 µs in effect) it took 1.95 ms"), "{finer}");
        let tried = sleeping(14_600_000).trial("request-timer-resolution", "sleep", 14_600_000, 950_000);
        let advice = &tried.finding("OVS-W001").advice[0];
        assert!(matches!(advice.tried, Tried::Measured { helped: true, after_p50_ns: 950_000, .. }), "{advice:?}");
    }

    #[test]
    fn a_finer_tick_no_data_or_no_peace() {
        sleeping(950_000)
            .finds_no("OVS-W001", "a 1 ms sleep took 1.95 ms: it does not wait for the default tick of 15.6 ms");
        Sheet::windows().lacks("OVS-W001", "B5/sleep/1ms was not measured. Run `oversleep check --only B5`");
        Sheet::windows().wild("B5/sleep/1ms", 14_600_000).is_disturbed("OVS-W001");
        // A resolution that this process holds is not the one that was found.
        Sheet::windows().steady("B5/sleep/1ms/resolution=1ms", 950_000).lacks_data("OVS-W001");
        Sheet::windows().steady("B5/sleep/16ms", 15_000_000).lacks_data("OVS-W001");
    }
}
