//! What holding a fine resolution costs in wake-ups.

use oversleep_record::conditions::Setting;
use oversleep_record::finding::Severity;
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series, label};

use super::super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::super::read::{Look, not_measured, p50, settle, summary};
use super::{in_effect, is_as_asked};

/// Windows of counting that must agree. Each counts for hundreds of milliseconds, so few do.
const WINDOWS_MIN: u64 = 2;
/// Factor by which the rate must rise to be the request's doing.
const RISE_MIN: f64 = 1.5;

pub(in super::super) const RESOLUTION_POWER: FindingEntry = FindingEntry {
    id: "OVS-W011",
    name: "resolution-power",
    summary: "Holding a fine timer resolution wakes the processor hundreds of times a second though nothing waits.",
    applies_to: "Windows, every version; laptops on battery most of all",
    scope: Scope::Os("windows"),
    severity: Severity::Note,
    explanation: "\
While any process holds a period of 1 ms or 0.5 ms the clock interrupt comes 1,000 or 2,000 times a second instead of \
64, on an idle machine too, and on as many processors as take it. Each interrupt takes a processor out of its idle state, and the deepest states, which take \
long to enter, are hardly reached any more. The price is paid by the machine, not by the process that asked.\n\n\
How we know: the interrupts of all processors are counted while the resolution is held and nothing else is done, and \
while it is not held, in turn. Windows counts those of every kind together; the timer's are the difference.\n\n\
Cure: hold the request only while it is needed, and never for the whole life of a program; a high-resolution timer \
raises the rate for its own expiry only.",
    remedies: &["release-timer-resolution", "use-high-resolution-timer"],
    check: |file| settle(resolution_power(file)),
};

fn held(series: &Series) -> Option<Nanos> {
    match series.conditions.setting("resolution")? {
        Setting::Nanos(span) => Some(*span),
        _ => None,
    }
}

fn resolution_power(file: &ResultFile) -> Look<Conclusion> {
    let idle = || {
        file.experiment(ExperimentId::C5).filter(|series| {
            series.quantity == Quantity::WakeupsPerSecond
                && series.has_values()
                && series.label(label::COUNTED) == Some(label::Counted::Interrupts)
                && series.label(label::ACTIVITY) == Some(label::Activity::Idle)
        })
    };
    let missing = || not_measured(file, "interrupts per second with a resolution held and without (C5)");
    let without = idle().find(|series| held(series).is_none()).ok_or_else(missing)?;
    let with = idle()
        .filter(|series| held(series).is_some() && series.conditions.all_held())
        .min_by_key(|series| held(series))
        .ok_or_else(missing)?;
    for series in [without, with] {
        if series.distribution.count() < WINDOWS_MIN {
            return Err(Conclusion::lacks(format!(
                "{} was counted in one window; a conclusion needs {WINDOWS_MIN}",
                series.key
            )));
        }
    }
    let rate = |series: &Series| p50(series).0;
    let held = held(with).unwrap_or_default();
    let span = match in_effect(with) {
        Some(is) if !is_as_asked(held, is) => format!("a request for {held}, with {is} in effect,"),
        _ => held.to_string(),
    };
    let kind = if with.label(label::COUNTED_OF) == Some(label::InterruptKind::AllKinds) {
        "interrupts"
    } else {
        "timer interrupts"
    };
    // Each has its own; their rates are not divided, since a processor that idles may be spared.
    let cpus = match file.environment.integer(FactName::CpuCount) {
        Some(count @ 2..) => format!(" on {count} CPUs together"),
        Some(1) => String::new(),
        _ => " on all CPUs together".to_owned(),
    };
    let rests = |sentence: String| {
        Statement::new(sentence).rests_on(&with.key, summary(with)).rests_on(&without.key, summary(without))
    };
    // Every window with the request above every window without it.
    let least = with.distribution.min().unwrap_or_default() as f64;
    let most = without.distribution.max().unwrap_or_default() as f64;
    Ok(if least >= most * RISE_MIN {
        let battery = match file.environment.flag(FactName::PowerOnBattery) {
            Some(true) => ", on battery",
            _ => "",
        };
        Conclusion::Found(rests(format!(
            "holding {span} costs {} {kind} per second{cpus} instead of {} while nothing waits{battery}",
            rate(with),
            rate(without)
        )))
    } else {
        Conclusion::Absent(rests(format!(
            "holding {span} did not raise the {kind} clearly: {} per second{cpus} instead of {}",
            rate(with),
            rate(without)
        )))
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Outcome;
    use oversleep_record::finding::Verdict;

    use super::super::super::super::testing::{Explained, Sheet, rounds};
    use super::*;

    fn counted(held: &str, rates: &[i64]) -> Series {
        let mut series = rounds(&format!("C5/sleep/interrupts/idle/resolution={held}"), rates, 1);
        series.labels.set(label::HELD, held.parse().expect("a setting"));
        series
    }

    fn says(sheet: &Sheet) -> (Verdict, String) {
        let finding = sheet.finding("OVS-W011");
        (finding.verdict, finding.sentence)
    }

    fn counts(with: &[i64], without: &[i64]) -> Sheet {
        on_cpus(1, with, without)
    }

    fn on_cpus(count: i64, with: &[i64], without: &[i64]) -> Sheet {
        let sheet = Sheet::windows().integer(FactName::CpuCount, count).series(counted("as-found", without));
        sheet.series(counted("1ms", &[1_000; 2])).series(counted("500us", with))
    }

    #[test]
    fn holding_costs_interrupts() {
        assert_eq!(
            says(&counts(&[2_000, 2_003], &[64, 66])),
            (
                Verdict::Found,
                "holding 500 µs costs 2000 timer interrupts per second instead of 64 while nothing waits".into()
            )
        );
        let on_battery = counts(&[2_000, 2_003], &[64, 66]).flag(FactName::PowerOnBattery, true);
        assert!(says(&on_battery).1.ends_with(" while nothing waits, on battery"));
        assert_eq!(
            says(&counts(&[2_000, 2_003], &[64, 1_900])),
            (
                Verdict::Absent,
                "holding 500 µs did not raise the timer interrupts clearly: 2000 per second instead of 64".into()
            )
        );
    }

    #[test]
    fn the_cost_is_that_of_what_was_in_effect() {
        let mut sheet = counts(&[1_000, 1_003], &[64, 66]);
        for series in &mut sheet.file.series {
            let is = Setting::Nanos(Nanos::from_millis(1));
            series.conditions.outcomes.insert("resolution".into(), Outcome::AlreadySo { is });
        }
        let says = says(&sheet).1;
        let begins = "holding a request for 500 µs, with 1 ms in effect, costs 1000 timer interrupts per second";
        assert!(says.starts_with(begins), "{says}");
    }

    #[test]
    fn what_is_counted_with_others_is_not_called_the_timers() {
        let of_all = |held: &str, rates: &[i64]| {
            let mut series = counted(held, rates);
            series.labels.set(label::COUNTED_OF, label::InterruptKind::AllKinds);
            series
        };
        let sheet = Sheet::windows()
            .integer(FactName::CpuCount, 1)
            .series(of_all("as-found", &[64, 66]))
            .series(of_all("500us", &[2_000, 2_003]));
        assert_eq!(
            says(&sheet),
            (
                Verdict::Found,
                "holding 500 µs costs 2000 interrupts per second instead of 64 while nothing waits".into()
            )
        );
    }

    #[test]
    fn what_is_a_sum_says_of_what() {
        assert_eq!(
            says(&on_cpus(16, &[32_052, 32_052], &[1_024, 1_024])).1,
            "holding 500 µs costs 32052 timer interrupts per second on 16 CPUs together instead of 1024 while nothing waits"
        );
        let unknown = Sheet::windows().series(counted("as-found", &[64; 2])).series(counted("500us", &[65; 2]));
        assert!(says(&unknown).1.ends_with("clearly: 65 per second on all CPUs together instead of 64"));
    }

    #[test]
    fn one_window_is_not_enough() {
        assert_eq!(
            says(&counts(&[2_000], &[64, 66])),
            (
                Verdict::NotEnoughData,
                "C5/sleep/interrupts/idle/resolution=500us was counted in one window; a conclusion needs 2".into()
            )
        );
        assert_eq!(says(&Sheet::windows()).0, Verdict::NotEnoughData);
    }
}
