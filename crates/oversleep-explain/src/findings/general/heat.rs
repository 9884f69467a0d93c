//! Heat: processors that slowed down because of it during a measurement.

use oversleep_record::distinct_rounds;
use oversleep_record::finding::Severity;
use oversleep_record::processor::{ThermalPressure, degrees};
use oversleep_record::words::{counted, percent};
use oversleep_record::{Nanos, Os, ProcessorState, ResultFile, Series};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::observed;
use crate::finding::{Check, FindingEntry};
use crate::read::wine_version;
use crate::remedies::machine::COOLER_MACHINE;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-G010",
    name: "thermal-throttling",
    summary: "The processor slowed down because of heat during the run, so some of the figures describe a slower \
              machine.",
    applies_to: "Linux on Intel's processors (counters of throttling) and wherever the kernel limits the clock rate; \
                 Windows; macOS",
    scope: Scope::Anywhere,
    severity: Severity::Cost,
    meaning: "A processor that reaches its temperature limit lowers its clock rate or skips clock cycles until it is \
              cooler. All computation takes longer meanwhile: the interrupt, the scheduler, a wake-up, a clock read \
              and the work of the program. Timers still fire on time. Hot rounds and cool rounds are in effect \
              measured on two different machines.",
    how_we_know: "For each core and each package of Intel's processors, Linux counts how often and for how long it \
                  slowed down; oversleep reads that around each round. The kernel counts the time of a slow stretch \
                  only when it ends. If the kernel limits the clock rate, for heat or because a user set a limit, a \
                  limit that changes during the run shows on any processor. Windows reports a limit that Microsoft \
                  calls the thermal throttle limit. macOS announces thermal pressure; at its higher levels, Apple \
                  says, the system reduces performance. If the firmware slows the processor down and does not \
                  report it, nothing shows.",
    what_to_do: "Cool the machine, let it idle before you measure, or measure fewer things at once. In a thin laptop, \
                 limit the clock rate to what it can sustain.",
    sources: &["https://www.kernel.org/doc/Documentation/ABI/testing/sysfs-devices-system-cpu"],
    remedies: &[&COOLER_MACHINE],
    check: Check::Rule(heat),
}];

fn heat(file: &ResultFile) -> Checked {
    let rounds = distinct_rounds(&file.series);
    let states = || rounds.iter().map(|round| &round.disturbance.processor);
    let gauges = states().fold(ProcessorState::default(), |all, state| all.extremes(state));
    let with_temperature = |conclusion: Conclusion| {
        let most = gauges.temperature_max_millicelsius;
        conclusion.rests_on_fact("temperature", most.map(|most| format!("up to {}", degrees(most))))
    };
    let throttles = states().filter_map(|state| state.thermal_throttles).reduce(u64::saturating_add);
    let slowed = observed(&file.series, |meanwhile| meanwhile.processor.thermal_throttled_ns).map(|(time, _)| time);
    if let Some(found) = slowed_down(file, throttles, slowed) {
        return Ok(with_temperature(found));
    }
    if let Some(pressure) = gauges.thermal_pressure.filter(|&pressure| pressure > ThermalPressure::Nominal) {
        let severity = if pressure >= ThermalPressure::Heavy { Severity::Cost } else { Severity::Note };
        let sentence = format!("the system announced {} thermal pressure during this run", pressure.name());
        return Ok(Conclusion::found(sentence).matters(severity));
    }
    if let (Some(lowest), Some(highest)) = (gauges.limit_min_permille, gauges.limit_max_permille) {
        if lowest < highest {
            let found = Conclusion::found(format!(
                "the limit of the clock rate changed during this run: it was between {} and {} of the highest rate, so the rounds \
                 are those of a slower and a faster machine",
                of_rate(lowest),
                of_rate(highest)
            ));
            return Ok(with_temperature(resting_on_limit(file, lowest, found)));
        }
        // What Wine reports as the limit is its host's setting.
        if lowest < 1_000 && file.platform.is(Os::Windows) && wine_version(file).is_none() {
            let found = Conclusion::found(format!(
                "Windows limited the clock rate to {} of its rating: its thermal throttle limit held during the whole run",
                of_rate(lowest)
            ));
            return Ok(resting_on_limit(file, lowest, found.matters(Severity::Note)));
        }
    }
    if throttles.is_none() && gauges.thermal_pressure.is_none() && gauges.limit_min_permille.is_none() {
        return Err(Conclusion::lacks(
            "whether heat slows the processor down is not available here. `oversleep doctor` says what can be read",
        ));
    }
    let window: Nanos = rounds.iter().map(|round| round.disturbance.window_ns).sum();
    Ok(with_temperature(Conclusion::absent(format!(
        "nothing reported that heat slowed the processor down in {window}"
    ))))
}

/// What the throttling counters show, if anything.
fn slowed_down(file: &ResultFile, throttles: Option<u64>, slowed: Option<Nanos>) -> Option<Conclusion> {
    let times = throttles.filter(|&count| count > 0).map(|count| counted(count, "time"));
    let span = slowed.filter(|&time| time > Nanos::ZERO);
    let span = span.map(|time| format!("for {time}, every core and package counted"));
    let amount: Vec<String> = times.into_iter().chain(span).collect();
    if amount.is_empty() {
        return None;
    }
    let found =
        Conclusion::found(format!("the processor was too hot and slowed down during this run: {}", amount.join(", ")));
    let of = |series: &Series| series.disturbance().processor;
    let worst = file.series.iter().max_by_key(|series| (of(series).thermal_throttles, of(series).thermal_throttled_ns));
    Some(match worst.and_then(|series| Some((series, of(series).thermal_throttles?))) {
        Some((series, count)) => {
            found.rests_on(&series.key, format!("slowed down {} meanwhile", counted(count, "time")))
        }
        None => found,
    })
}

fn of_rate(permille: u64) -> String {
    percent(permille as f64 / 1e3)
}

fn resting_on_limit(file: &ResultFile, lowest: u64, conclusion: Conclusion) -> Conclusion {
    let limit = |series: &&Series| series.disturbance().processor.limit_min_permille.unwrap_or(u64::MAX);
    match file.series.iter().filter(|series| !series.rounds.is_empty()).min_by_key(limit) {
        Some(series) => {
            conclusion.rests_on(&series.key, format!("clock rate limited to {} of the highest", of_rate(lowest)))
        }
        None => conclusion,
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;
    use oversleep_record::finding::{Finding, Verdict};

    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

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

    fn limited(permille: u64) -> ProcessorState {
        let limit = Some(permille);
        ProcessorState { limit_min_permille: limit, limit_max_permille: limit, ..ProcessorState::default() }
    }

    #[test]
    fn a_processor_that_was_too_hot() {
        let finding = heated(Sheet::linux(), [throttled(0, 0), throttled(3, 45)]);
        assert_eq!(
            finding.sentence,
            "the processor was too hot and slowed down during this run: 3 times, for 45 ms, every core and package counted"
        );
        assert_eq!((finding.verdict, finding.severity), (Verdict::Found, Severity::Cost));
        let evidence: Vec<(&str, &str)> =
            finding.evidence.iter().map(|evidence| (evidence.source.as_str(), evidence.text.as_str())).collect();
        assert_eq!(evidence, [("B5/nanosleep/1ms", "slowed down 3 times meanwhile"), ("temperature", "up to 93 °C")]);
        let old = ProcessorState { thermal_throttled_ns: None, ..throttled(1, 0) };
        let sentence = heated(Sheet::linux(), [old, old]).sentence;
        assert!(sentence.ends_with("run: 2 times"), "Linux before 5.6 counts no time: {sentence}");
        let begun_before = heated(Sheet::linux(), [throttled(0, 0), throttled(0, 45)]).sentence;
        assert!(begun_before.ends_with("run: for 45 ms, every core and package counted"), "{begun_before}");
    }

    #[test]
    fn a_processor_that_was_cool_and_one_that_reports_nothing() {
        let cool = heated(Sheet::linux(), [throttled(0, 0); 2]);
        assert_eq!(cool.verdict, Verdict::NotFound);
        assert_eq!(cool.sentence, "nothing reported that heat slowed the processor down in 40 ms");
        assert_eq!(cool.evidence[0].text, "up to 90 °C");
        let warm = ProcessorState { temperature_max_millicelsius: Some(99_000), ..ProcessorState::default() };
        for silent in [ProcessorState::default(), warm] {
            let verdict = heated(Sheet::linux(), [silent; 2]).verdict;
            assert_eq!(verdict, Verdict::NotEnoughData, "a temperature is no limit");
        }
    }

    #[test]
    fn a_limit_that_changes_is_found_one_that_stays_only_on_windows() {
        let fell = heated(Sheet::linux(), [limited(1_000), limited(500)]);
        assert_eq!(
            fell.sentence,
            "the limit of the clock rate changed during this run: it was between 50 % and 100 % of the highest rate, so the rounds \
             are those of a slower and a faster machine"
        );
        assert_eq!((fell.verdict, fell.severity), (Verdict::Found, Severity::Cost));
        assert_eq!(heated(Sheet::linux(), [limited(500); 2]).verdict, Verdict::NotFound, "a user set it");
        assert_eq!(heated(Sheet::windows(), [limited(1_000); 2]).verdict, Verdict::NotFound);
        let wine = Sheet::windows().text(FactName::OsWineVersion, "8.0");
        assert_eq!(heated(wine, [limited(333); 2]).verdict, Verdict::NotFound, "a setting of Wine's host");
        let held = heated(Sheet::windows(), [limited(333); 2]);
        assert_eq!((held.verdict, held.severity), (Verdict::Found, Severity::Note));
        assert_eq!(
            held.sentence,
            "Windows limited the clock rate to 33 % of its rating: its thermal throttle limit held during the whole run"
        );
    }

    #[test]
    fn pressure_that_macos_announces() {
        let under = |pressure| ProcessorState { thermal_pressure: Some(pressure), ..ProcessorState::default() };
        let after = |pressure| heated(Sheet::macos(), [under(ThermalPressure::Nominal), under(pressure)]);
        assert_eq!(after(ThermalPressure::Nominal).verdict, Verdict::NotFound);
        assert_eq!(after(ThermalPressure::Moderate).severity, Severity::Note);
        let heavy = after(ThermalPressure::Heavy);
        assert_eq!((heavy.verdict, heavy.severity), (Verdict::Found, Severity::Cost));
        assert_eq!(heavy.sentence, "the system announced heavy thermal pressure during this run");
    }
}
