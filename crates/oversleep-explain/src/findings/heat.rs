//! Heat: processors that slowed down for it while something was measured.

use oversleep_record::finding::Severity;
use oversleep_record::processor::{ThermalPressure, degrees};
use oversleep_record::series::distinct_rounds;
use oversleep_record::{Nanos, ProcessorState, ResultFile, Series};

use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, observed, settle, wine_version};
use super::super::text::{counted, percent};

pub(super) const THERMAL_THROTTLING: FindingEntry = FindingEntry {
    id: "OVS-G010",
    name: "thermal-throttling",
    summary: "The processor slowed down for heat while something was measured, so part of the figures is of a slower machine.",
    applies_to: "Linux on Intel's processors (counters of throttling) and wherever the kernel bounds the clock rate; \
                 Windows; macOS",
    scope: Scope::Anywhere,
    severity: Severity::Cost,
    explanation: "\
A processor that reaches its temperature limit lowers its clock rate or leaves out clock cycles until it is cooler. \
Everything that is computed takes longer meanwhile: the interrupt, the scheduler, a wake-up, a clock read and the work of \
the program. Timers fire no later for it. Rounds taken hot and rounds taken cool are rounds of two machines.\n\n\
How we know: Linux counts for each core and each package of Intel's processors how often and how long it slowed down, \
read around each round; the time is counted when a stretch ends. Where the kernel bounds the clock rate, for heat or by \
somebody's wish, a bound that changes during the run is seen on any processor, and Windows states a bound that its \
vendor calls the thermal throttle limit. macOS announces thermal pressure; at its higher levels, says Apple, the system \
reduces performance. Where the firmware slows the processor down and tells nobody, nothing is seen.\n\n\
Cure: cool the machine, let it idle before measuring, or measure fewer things at once; in a thin laptop, hold the clock \
rate below what it can't sustain.",
    remedies: &["cooler-machine"],
    check: |file| settle(heat(file)),
};

fn heat(file: &ResultFile) -> Look<Conclusion> {
    let rounds = distinct_rounds(&file.series);
    let states = || rounds.iter().map(|round| &round.disturbance.processor);
    let gauges = states().fold(ProcessorState::default(), |all, state| all.extremes(state));
    let throttles = states().filter_map(|state| state.thermal_throttles).reduce(u64::saturating_add);
    let slowed = observed(file.series.iter(), |meanwhile| meanwhile.processor.thermal_throttled_ns);
    let window: Nanos = rounds.iter().map(|round| round.disturbance.window_ns).sum();
    let with_temperature = |statement: Statement| match gauges.temperature_max_millicelsius {
        Some(most) => statement.rests_on("temperature", format!("up to {}", degrees(most))),
        None => statement,
    };

    let slowed_for = slowed.map(|(time, _)| time).filter(|&time| time > Nanos::ZERO);
    if throttles.is_some_and(|count| count > 0) || slowed_for.is_some() {
        let times = throttles.filter(|&count| count > 0).map(|count| counted(count, "time"));
        let span = slowed_for.map(|time| format!("for {time}, every core and package counted"));
        let amount: Vec<String> = times.into_iter().chain(span).collect();
        let of = |series: &Series| series.disturbance().processor;
        let worst =
            file.series.iter().max_by_key(|series| (of(series).thermal_throttles, of(series).thermal_throttled_ns));
        let mut found = Statement::new(format!(
            "the processor slowed down because it was too hot while this was measured: {}",
            amount.join(", ")
        ));
        if let Some((series, count)) = worst.and_then(|series| Some((series, of(series).thermal_throttles?))) {
            found = found.rests_on(&series.key, format!("slowed down {} meanwhile", counted(count, "time")));
        }
        return Ok(Conclusion::Found(with_temperature(found)));
    }
    if let Some(pressure) = gauges.thermal_pressure.filter(|&pressure| pressure > ThermalPressure::Nominal) {
        let severity = if pressure >= ThermalPressure::Heavy { Severity::Cost } else { Severity::Note };
        let found = format!("the system announced {} thermal pressure while this was measured", pressure.name());
        return Ok(Conclusion::Found(Statement::new(found).matters(severity)));
    }
    if let (Some(lowest), Some(highest)) = (gauges.limit_min_permille, gauges.limit_max_permille) {
        let share = |permille: u64| percent(permille as f64 / 1e3);
        let worst = file
            .series
            .iter()
            .filter(|series| !series.rounds.is_empty())
            .min_by_key(|series| series.disturbance().processor.limit_min_permille.unwrap_or(u64::MAX));
        let rests = |statement: Statement| match worst {
            Some(series) => {
                statement.rests_on(&series.key, format!("clock rate bounded to {} of its highest", share(lowest)))
            }
            None => statement,
        };
        if lowest < highest {
            let found = format!(
                "the bound of the clock rate changed while this was measured, between {} and {} of its highest: rounds \
                 are of a slower and a faster machine",
                share(lowest),
                share(highest)
            );
            return Ok(Conclusion::Found(with_temperature(rests(Statement::new(found)))));
        }
        // What Wine calls the bound is its host's setting.
        if lowest < 1_000 && file.platform.os == "windows" && wine_version(file).is_none() {
            let found = format!(
                "Windows bounded the clock rate to {} of its rating for all that was measured, its thermal throttle limit",
                share(lowest)
            );
            return Ok(Conclusion::Found(rests(Statement::new(found).matters(Severity::Note))));
        }
    }
    let told = throttles.is_some() || gauges.thermal_pressure.is_some() || gauges.limit_min_permille.is_some();
    if !told {
        return Err(Conclusion::lacks(
            "nothing here tells of heat that slows the processor down, or no series was measured",
        ));
    }
    Ok(Conclusion::Absent(with_temperature(Statement::new(format!(
        "nothing told of a processor that slowed down for heat in {window}"
    )))))
}

#[cfg(test)]
mod tests {
    use oversleep_record::finding::{Finding, Verdict};

    use super::super::super::testing::{Explained, Sheet, rounds};
    use super::*;
    use oversleep_record::FactName;

    /// A sleep in two rounds of 20 ms, with the processor in these states.
    fn heated(on: Sheet, states: [ProcessorState; 2]) -> Finding {
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 2], 20);
        for (round, state) in series.rounds.iter_mut().zip(states) {
            round.disturbance.processor = state;
        }
        on.series(series).finding("OVS-G010")
    }

    fn throttled(count: u64, ms: i64) -> ProcessorState {
        ProcessorState {
            thermal_throttles: Some(count),
            thermal_throttled_ns: Some(Nanos::from_millis(ms)),
            temperature_max_millicelsius: Some(90_000 + 1_000 * count as i64),
            ..ProcessorState::default()
        }
    }

    fn bounded(permille: u64) -> ProcessorState {
        ProcessorState {
            limit_min_permille: Some(permille),
            limit_max_permille: Some(permille),
            ..ProcessorState::default()
        }
    }

    #[test]
    fn a_processor_that_was_too_hot() {
        let finding = heated(Sheet::linux(), [throttled(0, 0), throttled(3, 45)]);
        assert_eq!(
            finding.sentence,
            "the processor slowed down because it was too hot while this was measured: 3 times, for 45 ms, every core and \
             package counted"
        );
        assert_eq!((finding.verdict, finding.severity), (Verdict::Found, Severity::Cost));
        let evidence: Vec<(&str, &str)> =
            finding.evidence.iter().map(|evidence| (evidence.source.as_str(), evidence.says.as_str())).collect();
        assert_eq!(evidence, [("B5/nanosleep/1ms", "slowed down 3 times meanwhile"), ("temperature", "up to 93 °C")]);
        let old = ProcessorState { thermal_throttled_ns: None, ..throttled(1, 0) };
        let sentence = heated(Sheet::linux(), [old, old]).sentence;
        assert!(sentence.ends_with("measured: 2 times"), "Linux before 5.6 tells no time: {sentence}");
        let begun_before = heated(Sheet::linux(), [throttled(0, 0), throttled(0, 45)]).sentence;
        assert!(begun_before.ends_with("measured: for 45 ms, every core and package counted"), "{begun_before}");
    }

    #[test]
    fn a_processor_that_was_cool_and_one_that_is_not_seen() {
        let cool = heated(Sheet::linux(), [throttled(0, 0); 2]);
        assert_eq!(cool.verdict, Verdict::Absent);
        assert_eq!(cool.sentence, "nothing told of a processor that slowed down for heat in 40 ms");
        assert_eq!(cool.evidence[0].says, "up to 90 °C");
        let warm = ProcessorState { temperature_max_millicelsius: Some(99_000), ..ProcessorState::default() };
        for unseen in [ProcessorState::default(), warm] {
            assert_eq!(
                heated(Sheet::linux(), [unseen; 2]).verdict,
                Verdict::NotEnoughData,
                "a temperature is no limit"
            );
        }
    }

    #[test]
    fn a_bound_that_changes_is_told_one_that_stays_only_of_windows() {
        let fell = heated(Sheet::linux(), [bounded(1_000), bounded(500)]);
        assert_eq!(
            fell.sentence,
            "the bound of the clock rate changed while this was measured, between 50 % and 100 % of its highest: rounds are \
             of a slower and a faster machine"
        );
        assert_eq!((fell.verdict, fell.severity), (Verdict::Found, Severity::Cost));
        assert_eq!(heated(Sheet::linux(), [bounded(500); 2]).verdict, Verdict::Absent, "somebody's wish");
        assert_eq!(heated(Sheet::windows(), [bounded(1_000); 2]).verdict, Verdict::Absent);
        let wine = Sheet::windows().text(FactName::OsWineVersion, "8.0");
        assert_eq!(heated(wine, [bounded(333); 2]).verdict, Verdict::Absent, "a setting of Wine's host");
        let held = heated(Sheet::windows(), [bounded(333); 2]);
        assert_eq!((held.verdict, held.severity), (Verdict::Found, Severity::Note));
        assert_eq!(
            held.sentence,
            "Windows bounded the clock rate to 33 % of its rating for all that was measured, its thermal throttle limit"
        );
    }

    #[test]
    fn pressure_that_macos_announces() {
        let under = |pressure| ProcessorState { thermal_pressure: Some(pressure), ..ProcessorState::default() };
        let told = |pressure| heated(Sheet::macos(), [under(ThermalPressure::Nominal), under(pressure)]);
        assert_eq!(told(ThermalPressure::Nominal).verdict, Verdict::Absent);
        assert_eq!(told(ThermalPressure::Moderate).severity, Severity::Note);
        let heavy = told(ThermalPressure::Heavy);
        assert_eq!((heavy.verdict, heavy.severity), (Verdict::Found, Severity::Cost));
        assert_eq!(heavy.sentence, "the system announced heavy thermal pressure while this was measured");
    }
}
