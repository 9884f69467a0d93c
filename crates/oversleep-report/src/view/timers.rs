//! What a report says about the machine's timers: their settings, and those that the user held while measuring.

use std::collections::BTreeMap;

use oversleep_explain::is_clock_a_system_call;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series};
use oversleep_system::tunables::names;

use super::select::distinct;

/// What the system states about its timers (C1): first what decides how late waits end, then the rest.
pub fn stated(file: &ResultFile) -> (Vec<String>, Vec<String>) {
    let facts = &file.environment;
    let setting = |name: &str, tunable, fact, default| {
        let found = facts.nanos(fact)?;
        let default = facts.nanos(default);
        let held = held_by_the_user(file, tunable);
        let now = match held {
            Some(held) => format!("{name} {held} while measuring"),
            None => format!("{name} {found}"),
        };
        let as_found = held.filter(|_| default != Some(found)).map(|_| format!("as found {found}"));
        let default = default.filter(|&default| held.is_some() || default != found);
        let default = default.map(|default| format!("default {default}"));
        let beside = as_found.into_iter().chain(default).collect::<Vec<_>>().join(", ");
        Some(if beside.is_empty() { now } else { format!("{now} ({beside})") })
    };
    let clocksource = facts.text(FactName::ClocksourceCurrent).map(|name| match is_clock_a_system_call(file) {
        Some(false) => format!("clocksource {name} (no system call)"),
        Some(true) => format!("clocksource {name} (by system call)"),
        None => format!("clocksource {name}"),
    });
    let high_resolution = facts.flag(FactName::TimerHighResolution).map(|is_on| if is_on { "" } else { "no " });
    let policy = facts.text(FactName::SchedPolicy).map(|policy| match facts.integer(FactName::SchedNice) {
        Some(nice) if nice != 0 => format!("policy {policy}, nice {nice}"),
        _ => format!("policy {policy}"),
    });
    let deciding = [
        setting("timer slack", names::SLACK, FactName::TimerSlack, FactName::TimerDefaultSlack),
        setting("timer resolution", names::RESOLUTION, FactName::TimerPeriodNow, FactName::TimerPeriodDefault),
        facts.integer(FactName::TimerHz).map(|hz| format!("HZ {hz}")),
        clocksource,
    ];
    let rest = [
        high_resolution.map(|no| format!("{no}high-resolution timers")),
        facts.text(FactName::KernelPreemption).map(|model| format!("preemption {model}")),
        policy,
    ];
    (deciding.into_iter().flatten().collect(), rest.into_iter().flatten().collect())
}

/// The span of a tunable that the user held while everything was measured. Experiments that hold several settings of it in
/// turn don't count.
fn held_by_the_user(file: &ResultFile, tunable: &str) -> Option<Nanos> {
    let mut by_experiment: BTreeMap<ExperimentId, Vec<&Series>> = BTreeMap::new();
    file.series.iter().for_each(|series| by_experiment.entry(series.experiment).or_default().push(series));
    by_experiment.retain(|_, series| distinct(series.iter().map(|one| one.conditions.setting(tunable))).len() == 1);
    let all = || by_experiment.values().flatten().map(|series| &series.conditions);
    let [Some(_)] = distinct(all().map(|conditions| conditions.setting(tunable)))[..] else { return None };
    let outcomes = all().filter_map(|conditions| conditions.outcomes.get(tunable));
    match distinct(outcomes)[..] {
        [Outcome::Applied { now: Setting::Nanos(now), .. }] => Some(*now),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Unavailable;
    use oversleep_record::conditions::Conditions;
    use oversleep_record::testing::{Sheet, rounds};

    use super::*;

    #[test]
    fn the_period_stands_beside_the_default() {
        let raised =
            Sheet::windows().span(FactName::TimerPeriodDefault, 15_625_000).span(FactName::TimerPeriodNow, 1_000_000);
        assert_eq!(stated(&raised.file).0, ["timer resolution 1 ms (default 15.6 ms)"]);
    }

    /// By what a read costs; the kernel's own statement counts where nothing was measured.
    #[test]
    fn a_clock_source_by_system_call_is_called_that() {
        let sheet = || Sheet::linux().text(FactName::ClocksourceCurrent, "hpet").flag(FactName::ClocksourceVdso, true);
        assert_eq!(stated(&sheet().file).0, ["clocksource hpet (no system call)"]);
        let measured = sheet().steady("A1/monotonic", 900_000).steady("A1/monotonic-syscall", 930_000);
        assert_eq!(stated(&measured.file).0, ["clocksource hpet (by system call)"]);
    }

    #[test]
    fn a_setting_that_the_user_held_stands_before_the_one_found() {
        let series = |key: &str, held_ns: i64, now_ns: i64| {
            let mut series = rounds(key, &[60_000; 4], 20);
            let setting = |ns| Setting::Nanos(Nanos(ns));
            series.conditions = Conditions::as_found().with("resolution", setting(held_ns));
            let outcome = Outcome::Applied { was: Some(setting(15_625_000)), now: setting(now_ns) };
            series.conditions.outcomes.insert("resolution".to_owned(), outcome);
            series
        };
        let sheet = || {
            Sheet::windows().span(FactName::TimerPeriodDefault, 15_625_000).span(FactName::TimerPeriodNow, 15_625_000)
        };
        let of_settings = || {
            sheet().series(series("C2/sleep/1ms", 500_000, 496_000)).series(series("C2/sleep/1ms", 1_000_000, 997_300))
        };
        let of_waits = |sheet: Sheet| sheet.series(series("B5/sleep/1ms", 1_000_000, 997_300));
        let held = ["timer resolution 997 µs while measuring (default 15.6 ms)"];
        assert_eq!(stated(&of_waits(sheet()).file).0, held);
        assert_eq!(stated(&of_waits(of_settings()).file).0, held, "an experiment tried others as well");
        let busy = of_waits(sheet().span(FactName::TimerPeriodNow, 2_000_000));
        let beside = ["timer resolution 997 µs while measuring (as found 2 ms, default 15.6 ms)"];
        assert_eq!(stated(&busy.file).0, beside);

        let as_found = ["timer resolution 15.6 ms"];
        assert_eq!(stated(&of_settings().file).0, as_found, "only an experiment held some");
        let plain = of_waits(sheet()).series(rounds("B1/sleep/1ms", &[60_000; 4], 20));
        assert_eq!(stated(&plain.file).0, as_found, "some series were measured without it");
        let mut refused = of_waits(sheet()).file;
        let why = Unavailable::missing("a privilege");
        refused.series[0].conditions.outcomes.insert("resolution".to_owned(), Outcome::Denied { why });
        assert_eq!(stated(&refused).0, as_found);
    }
}
