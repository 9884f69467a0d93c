//! The default tick, and waits that end on it.

use oversleep_record::finding::Severity;
use oversleep_record::{FactName, ResultFile};

use super::super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::super::read::{COMMON_REQUEST, Look, judge, p50, quiet_enough, settle, summary};
use super::{
    default_period, in_effect, is_as_asked, is_default_tick, sleep_with_a_millisecond, tick_sleep_as_found, took,
};

pub(in super::super) const DEFAULT_TICK: FindingEntry = FindingEntry {
    id: "OVS-W001",
    name: "default-tick",
    summary: "At the default timer period every wait ends on a tick of 15.6 ms, however short it was meant to be.",
    applies_to: "Windows, every version; Sleep, waits with a timeout, completion ports, ordinary waitable timers",
    scope: Scope::Os("windows"),
    severity: Severity::Cost,
    explanation: "\
Windows looks at its timers when the clock interrupt arrives, 64 times a second unless something asked for more. A wait \
ends at the first tick after its deadline: Sleep(1) takes up to 15.6 ms, back to back nearly always that long, and \
Sleep(16) up to 31 ms. The scheduler has no part in it; a thread whose object is signalled runs at once where a CPU is \
free.\n\n\
How we know: the plainest sleep is measured with no resolution requested by this process, beside the period the system \
states; where a resolution was tried, the same sleep is measured while it is held.\n\n\
Cure: ask for a finer period while punctual waits matter, or wait on a high-resolution timer, which needs no request.",
    remedies: &["request-timer-resolution", "use-high-resolution-timer", "sleep-with-oversleep", "hybrid-wait"],
    check: |file| settle(default_tick(file)),
};

fn default_tick(file: &ResultFile) -> Look<Conclusion> {
    let series = &tick_sleep_as_found(file)?;
    judge(series)?;
    let (period, whole) = (default_period(file), took(series));
    quiet_enough(file, series, period)?;
    let requested = series.requested_ns.unwrap_or_default();
    let mut statement = Statement::new(format!("{} of {requested} took {whole}", series.subject))
        .rests_on(&series.key, summary(series))
        .rests_on(FactName::TimerPeriodDefault, format!("a default period of {period}"));
    if !is_default_tick(file, whole) {
        statement.sentence.push_str(&format!(": it does not wait for the default tick of {period}"));
        return Ok(Conclusion::Absent(statement));
    }
    statement.sentence.push_str(&format!(", {} of it late: waits here end on a tick of {period}", p50(series)));
    if let Some(held) = sleep_with_a_millisecond(file) {
        let in_effect = match in_effect(held) {
            Some(is) if !is_as_asked(COMMON_REQUEST, is) => format!(" and {is} in effect"),
            _ => String::new(),
        };
        let sentence = format!("; with 1 ms requested by this process{in_effect} it took {}", took(held));
        statement.sentence.push_str(&sentence);
        statement = statement.rests_on(&held.key, summary(held));
    }
    Ok(Conclusion::Found(statement))
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::{Outcome, Setting};
    use oversleep_record::finding::{Tried, Verdict};
    use oversleep_record::{FactName, Nanos};

    use super::super::super::super::testing::{Explained, Sheet, rounds};

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-W001");
        (finding.verdict, finding.sentence)
    }

    fn sleeping(late: i64) -> Sheet {
        Sheet::windows().span(FactName::TimerPeriodDefault, 15_625_000).steady("B5/sleep/1ms", late)
    }

    /// A short run has time for a few waits of 15.6 ms each.
    #[test]
    fn few_values_of_each_call_are_enough_together() {
        let few = |sheet: Sheet, wait: &str| sheet.series(rounds(&format!("B5/{wait}/1ms"), &[14_600_000; 4], 5));
        let sheet = || Sheet::windows().span(FactName::TimerPeriodDefault, 15_625_000);
        assert_eq!(says(&few(sheet(), "sleep")).0, Verdict::NotEnoughData);
        let waits = ["sleep", "sleep-ex", "nt-delay-execution", "wait-for-single-object"];
        assert_eq!(says(&waits.into_iter().fold(sheet(), few)).0, Verdict::Found);
    }

    #[test]
    fn a_millisecond_takes_a_tick() {
        assert_eq!(
            says(&sleeping(14_600_000)),
            (
                Verdict::Found,
                "sleep of 1 ms took 15.6 ms, 14.6 ms of it late: waits here end on a tick of 15.6 ms".into()
            )
        );
        let held = sleeping(14_600_000).steady("C2/sleep/1ms/resolution=1ms", 950_000);
        assert_eq!(
            says(&held).1,
            "sleep of 1 ms took 15.6 ms, 14.6 ms of it late: waits here end on a tick of 15.6 ms; with 1 ms requested by \
             this process it took 1.95 ms"
        );
        let mut finer = held;
        let is = Setting::Nanos(Nanos(500_000));
        let outcomes = &mut finer.file.series[1].conditions.outcomes;
        outcomes.insert("resolution".into(), Outcome::AlreadySo { is });
        let finer = says(&finer).1;
        assert!(finer.ends_with("requested by this process and 500 µs in effect it took 1.95 ms"), "{finer}");
        let tried = sleeping(14_600_000).trial("request-timer-resolution", "sleep", 14_600_000, 950_000);
        let advice = &tried.finding("OVS-W001").advice[0];
        assert!(matches!(advice.tried, Tried::Measured { helped: true, after_p50_ns: 950_000, .. }), "{advice:?}");
    }

    #[test]
    fn a_finer_tick_no_data_or_no_peace() {
        assert_eq!(
            says(&sleeping(950_000)),
            (Verdict::Absent, "sleep of 1 ms took 1.95 ms: it does not wait for the default tick of 15.6 ms".into())
        );
        assert_eq!(says(&Sheet::windows()).0, Verdict::NotEnoughData);
        assert_eq!(says(&Sheet::windows()).1, "B5/sleep/1ms was not measured in this run");
        assert_eq!(says(&Sheet::windows().wild("B5/sleep/1ms", 14_600_000)).0, Verdict::TooDisturbed);
        let held = Sheet::windows().steady("B5/sleep/1ms/resolution=1ms", 950_000);
        assert_eq!(says(&held).0, Verdict::NotEnoughData, "what holds is not what was found");
        let long = Sheet::windows().steady("B5/sleep/16ms", 15_000_000);
        assert_eq!(says(&long).0, Verdict::NotEnoughData);
    }
}
