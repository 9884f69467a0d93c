//! The cost of a fine timer resolution in wake-ups.

use oversleep_record::finding::Severity;
use oversleep_record::series::Quantity;
use oversleep_record::words::grouped;
use oversleep_record::{ExperimentId, FactName, Os, ResultFile, Series, label};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::median_of;
use crate::finding::{Check, FindingEntry, Pair, PairCheck};
use crate::read::not_measured;
use crate::read::windows::{other_in_effect, requested_resolution};
use crate::remedies::windows::{RELEASE_TIMER_RESOLUTION, USE_HIGH_RESOLUTION_TIMER};

/// The fewest counting windows that must agree. Each lasts for hundreds of milliseconds, so a few are enough.
const WINDOWS_MIN: u64 = 2;
/// If the rate rises by this factor, the request is the cause.
const RISE_MIN: f64 = 1.5;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-W011",
    name: "resolution-power",
    summary: "Holding a fine timer resolution wakes the processor hundreds of times a second even when nothing waits.",
    applies_to: "Windows, every version; laptops on battery most of all",
    scope: Scope::Os(Os::Windows),
    severity: Severity::Note,
    meaning: "While any process holds a timer resolution of 1 ms or 0.5 ms, the clock interrupt comes 1,000 or 2,000 \
              times a second instead of 64, on an idle machine too, and on every processor that receives it. Each \
              interrupt takes a processor out of its idle state, so it hardly ever reaches the deepest states, which \
              take long to enter. The machine pays the price, not the process that made the request.",
    how_we_know: "oversleep does nothing and counts the interrupts of all processors, alternately with the resolution \
                  held and released. Windows counts interrupts of every kind together; the difference is the timer's.",
    what_to_do: "Hold the request only while you need it, and never for the whole life of a program. A high-resolution timer \
                 raises the rate for its own expiry only.",
    sources: &["https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod"],
    remedies: &[&RELEASE_TIMER_RESOLUTION, &USE_HIGH_RESOLUTION_TIMER],
    check: Check::Pair(PairCheck {
        find: with_and_without,
        enough: enough_windows,
        effect: None,
        // Every window with the request is above every window without it.
        differs: |_, pair| {
            let least = pair.worse.distribution.min().unwrap_or_default() as f64;
            let most = pair.better.distribution.max().unwrap_or_default() as f64;
            least >= most * RISE_MIN
        },
        found: |file, pair| {
            let battery =
                if file.environment.flag(FactName::PowerOnBattery) == Some(true) { ", on battery" } else { "" };
            Conclusion::found(format!(
                "holding {} costs power: it causes {} {} per second{} instead of {} while nothing waits{battery}",
                held_in_words(&pair.worse),
                grouped(median_of(&pair.worse)),
                interrupts(&pair.worse),
                on_cpus(file),
                grouped(median_of(&pair.better))
            ))
        },
        absent: |file, pair| {
            format!(
                "holding {} did not clearly raise the {}: {} per second{} instead of {}",
                held_in_words(&pair.worse),
                interrupts(&pair.worse),
                grouped(median_of(&pair.worse)),
                on_cpus(file),
                grouped(median_of(&pair.better))
            )
        },
    }),
}];

fn with_and_without(file: &ResultFile) -> Checked<Pair<'_>> {
    let idle = || {
        file.experiment(ExperimentId::C5).filter(|series| {
            series.quantity == Quantity::WakeupsPerSecond
                && series.has_values()
                && series.label(label::COUNTED) == Some(label::Counted::Interrupts)
                && series.label(label::ACTIVITY) == Some(label::Activity::Idle)
        })
    };
    let missing =
        || not_measured(file, ExperimentId::C5, "the rate of interrupts with a timer resolution held and without");
    let without = idle().find(|series| requested_resolution(series).is_none()).ok_or_else(missing)?;
    let with = idle()
        .filter(|series| requested_resolution(series).is_some() && series.conditions.all_held())
        .min_by_key(|series| requested_resolution(series))
        .ok_or_else(missing)?;
    Ok(Pair::new(with, without))
}

fn enough_windows(_: &ResultFile, pair: &Pair<'_>) -> Checked<()> {
    match [&pair.better, &pair.worse].into_iter().find(|series| series.distribution.count() < WINDOWS_MIN) {
        Some(series) => Err(Conclusion::lacks(format!(
            "{} was counted in one window and a conclusion needs {WINDOWS_MIN}. Use --thorough",
            series.key
        ))),
        None => Ok(()),
    }
}

fn held_in_words(series: &Series) -> String {
    let held = requested_resolution(series).unwrap_or_default();
    match other_in_effect(held, series) {
        Some(is) => format!("a timer resolution of {held} ({is} in effect)"),
        None => format!("a timer resolution of {held}"),
    }
}

fn interrupts(series: &Series) -> &'static str {
    if series.label(label::INTERRUPT_KIND) == Some(label::InterruptKind::AllKinds) {
        "interrupts"
    } else {
        "timer interrupts"
    }
}

/// Each CPU has its own interrupts; their rates are not divided, since a processor that idles may be spared.
fn on_cpus(file: &ResultFile) -> String {
    match file.environment.integer(FactName::CpuCount) {
        Some(count @ 2..) => format!(" on {count} CPUs together"),
        Some(1) => String::new(),
        _ => " on all CPUs together".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;
    use oversleep_record::conditions::{Outcome, Setting};

    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

    fn counted(held: &str, rates: &[i64]) -> Series {
        let mut series = rounds(format!("C5/sleep/interrupts/idle/resolution={held}"), rates, 1);
        series.labels.set(label::HELD, held.parse().expect("a setting"));
        series
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
        const COSTS: &str = "holding a timer resolution of 500 µs costs power: it causes 2,000 timer interrupts per second instead of 64 while nothing waits";
        counts(&[2_000, 2_003], &[64, 66]).finds("OVS-W011", COSTS);
        let on_battery = counts(&[2_000, 2_003], &[64, 66]).flag(FactName::PowerOnBattery, true);
        on_battery.finds("OVS-W011", &format!("{COSTS}, on battery"));
        counts(&[2_000, 2_003], &[64, 1_900]).finds_no(
            "OVS-W011",
            "holding a timer resolution of 500 µs did not clearly raise the timer interrupts: 2,000 per second instead of 64",
        );
    }

    #[test]
    fn the_cost_is_that_of_what_was_in_effect() {
        let mut sheet = counts(&[1_000, 1_003], &[64, 66]);
        for series in &mut sheet.file.series {
            let is = Setting::Nanos(Nanos::from_millis(1));
            series.conditions.outcomes.insert("resolution".into(), Outcome::AlreadySo { is });
        }
        let says = sheet.says("OVS-W011").1;
        let begins = "holding a timer resolution of 500 µs (1 ms in effect) costs power: it causes 1,000 timer interrupts per second";
        assert!(says.starts_with(begins), "{says}");
    }

    #[test]
    fn interrupts_counted_with_others_are_not_called_the_timers() {
        let of_all = |held: &str, rates: &[i64]| {
            let mut series = counted(held, rates);
            series.labels.set(label::INTERRUPT_KIND, label::InterruptKind::AllKinds);
            series
        };
        let sheet = Sheet::windows().integer(FactName::CpuCount, 1).series(of_all("as-found", &[64, 66]));
        sheet.series(of_all("500us", &[2_000, 2_003])).finds(
            "OVS-W011",
            "holding a timer resolution of 500 µs costs power: it causes 2,000 interrupts per second instead of 64 while nothing waits",
        );
    }

    #[test]
    fn a_sum_says_what_it_sums() {
        on_cpus(16, &[32_052, 32_052], &[1_024, 1_024]).finds(
            "OVS-W011",
            "holding a timer resolution of 500 µs costs power: it causes 32,052 timer interrupts per second on 16 CPUs together instead of \
             1,024 while nothing waits",
        );
        let unknown = Sheet::windows().series(counted("as-found", &[64; 2])).series(counted("500us", &[65; 2]));
        assert!(unknown.says("OVS-W011").1.ends_with(": 65 per second on all CPUs together instead of 64"));
    }

    #[test]
    fn one_window_is_not_enough() {
        counts(&[2_000], &[64, 66]).lacks(
            "OVS-W011",
            "C5/sleep/interrupts/idle/resolution=500us was counted in one window and a conclusion needs 2. Use --thorough",
        );
        Sheet::windows().lacks_data("OVS-W011");
    }
}
