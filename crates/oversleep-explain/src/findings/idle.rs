//! Processors that save power: idle states that take long to leave, frequencies that are low when the timer fires.

use oversleep_record::finding::Severity;
use oversleep_record::processor::{rate, rates};
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, FactName, Nanos, ProcessorState, ResultFile};

use super::super::advice::{helped, trial_pair};
use super::super::entry::{Conclusion, FindingEntry, Scope, Statement};
use super::super::read::{Look, judge, p50, quiet_enough, settle, summary};

/// Exit latency from which a state can be told from the grain of a wake-up.
const EXIT_WORTH: Nanos = Nanos(10_000);

pub(super) const DEEP_IDLE: FindingEntry = FindingEntry {
    id: "OVS-L015",
    name: "deep-idle-states",
    summary: "A processor in a deep idle state needs tens of microseconds to leave it before it can handle the timer.",
    applies_to: "Linux with a cpuidle driver, mostly on bare metal; in a guest the host's states count",
    scope: Scope::Os("linux"),
    severity: Severity::Cost,
    explanation: "\
When nothing is runnable the processor enters an idle state. The deeper it is, the less power it takes and the longer \
it takes to leave: 1 to 2 µs for a halt, 100 µs and more for the deepest. The governor chooses by how long it expects to \
be idle, so a sleep of some milliseconds on an idle machine meets the deepest states, and a busy machine can be more \
punctual than an idle one.\n\n\
How we know: the enabled states and their exit latencies are read from sysfs, and the same sleep is measured with and \
without a bound of 0 µs in /dev/cpu_dma_latency, round by round in turn. In a guest that bound reaches the guest's own \
idle loop only.\n\n\
Cure: hold /dev/cpu_dma_latency open with the longest latency that is acceptable while it matters. It needs write \
permission for the device and costs power and heat.",
    remedies: &["forbid-deep-idle"],
    check: |file| settle(deep_idle(file)),
};

pub(super) const POWER_SAVING_GOVERNOR: FindingEntry = FindingEntry {
    id: "OVS-L016",
    name: "power-saving-governor",
    summary: "The frequency governor lets an idle processor slow down, so a wake-up begins at a low frequency.",
    applies_to: "Linux with a cpufreq driver",
    scope: Scope::Os("linux"),
    severity: Severity::Note,
    explanation: "\
A thread that mostly sleeps looks like an idle processor to the frequency governor. When the timer fires, the interrupt, \
the scheduler and the first of the thread's own work run at a low frequency; the governor raises it only after a sample \
or two. Everything after the timer stretches in proportion. The name powersave has two meanings: with acpi-cpufreq it is \
the lowest frequency, always; with intel_pstate and amd-pstate in active mode it is the ordinary balance.\n\n\
How we know: the governor and its driver are read from sysfs, and so is the clock rate around each round. What it costs here is not measured: changing it concerns \
the whole machine.\n\n\
Cure: the performance governor while it matters, or a lower bound for the frequency.",
    remedies: &["performance-governor"],
    check: |file| settle(power_saving_governor(file)),
};

fn deep_idle(file: &ResultFile) -> Look<Conclusion> {
    let environment = &file.environment;
    let deepest = environment.nanos(FactName::CpuidleDeepestExitLatency);
    let states = environment.list(FactName::CpuidleStates);
    let rests = |statement: Statement| {
        let statement = match deepest {
            Some(latency) => statement.rests_on(FactName::CpuidleDeepestExitLatency, latency.to_string()),
            None => statement,
        };
        match states {
            Some(states) => statement.rests_on(FactName::CpuidleStates, states.join(", ")),
            None => statement,
        }
    };
    if let Some((before, after)) = trial_pair(file, "forbid-deep-idle") {
        judge(before)?;
        judge(after)?;
        quiet_enough(file, before, deepest.unwrap_or(EXIT_WORTH))?;
        let up_to = deepest.map(|latency| format!(" with exit latencies up to {latency}")).unwrap_or_default();
        let statement = |sentence: String| {
            rests(Statement::new(sentence).rests_on(&before.key, summary(before)).rests_on(&after.key, summary(after)))
        };
        return Ok(if helped(before, after) {
            Conclusion::Found(statement(format!(
                "idle states{up_to} delay wake-ups: with /dev/cpu_dma_latency at 0 {} was {} late instead of {}",
                before.subject,
                p50(after),
                p50(before)
            )))
        } else {
            Conclusion::Absent(statement(format!(
                "forbidding idle states did not shorten {} here ({} late instead of {})",
                before.subject,
                p50(after),
                p50(before)
            )))
        });
    }
    if states.is_some_and(<[String]>::is_empty) {
        return Ok(Conclusion::Absent(rests(Statement::new("the kernel has no idle states to choose from here"))));
    }
    let deepest = deepest.ok_or_else(|| {
        Conclusion::lacks("idle states can't be seen here (cpuidle.deepest_exit_latency_ns), nor was the remedy tried")
    })?;
    if deepest < EXIT_WORTH {
        let sentence = format!("no enabled idle state takes longer than {deepest} to leave");
        return Ok(Conclusion::Absent(rests(Statement::new(sentence))));
    }
    Ok(Conclusion::Found(rests(
        Statement::new(format!(
            "idle states that take up to {deepest} to leave are enabled; what they cost here was not measured"
        ))
        .matters(Severity::Note),
    )))
}

fn power_saving_governor(file: &ResultFile) -> Look<Conclusion> {
    let environment = &file.environment;
    let governor = environment
        .text(FactName::CpufreqGovernor)
        .ok_or_else(|| Conclusion::lacks("the frequency governor can't be seen here (cpufreq.governor)"))?;
    let driver = environment.text(FactName::CpufreqDriver).unwrap_or("unknown");
    let names = || governor.split(',').map(str::trim);
    let clock = clock_beside_sleeps(file);
    let rests = |sentence: String| {
        let rests = Statement::new(sentence)
            .rests_on(FactName::CpufreqGovernor, governor)
            .rests_on(FactName::CpufreqDriver, driver);
        match &clock {
            Some(clock) => rests.rests_on("clock rate beside the sleeps", clock),
            None => rests,
        }
    };
    // In active mode these drivers know two governors, and powersave is the balanced one.
    let is_balanced = driver == "intel_pstate" || driver == "amd-pstate-epp";
    if names().any(|name| name == "powersave") && !is_balanced {
        return Ok(Conclusion::Found(
            rests(format!("the powersave governor ({driver}) keeps the processor at its lowest frequency"))
                .matters(Severity::Cost),
        ));
    }
    let follows_load = |name: &str| matches!(name, "powersave" | "ondemand" | "conservative" | "schedutil");
    match names().find(|&name| follows_load(name)) {
        Some(name) => Ok(Conclusion::Found(rests(format!(
            "the {name} governor ({driver}) lowers the frequency of a processor whose threads mostly sleep"
        )))),
        None => Ok(Conclusion::Absent(rests(format!("the {governor} governor ({driver}) does not follow the load")))),
    }
}

/// The clock rates read around sleeps as found, and the highest there is.
fn clock_beside_sleeps(file: &ResultFile) -> Option<String> {
    let sleeps =
        file.series.iter().filter(|series| series.quantity == Quantity::Lateness && series.conditions.is_as_found());
    // A wait that spins keeps its processor awake.
    let sleeps = sleeps.filter(|series| series.experiment != ExperimentId::B12);
    let states = sleeps.map(|series| series.disturbance().processor);
    let seen = states.fold(ProcessorState::default(), |all, state| all.extremes(&state));
    let rates = rates(seen.clock_min_hz?, seen.clock_max_hz?);
    let highest = file.environment.integer(FactName::CpufreqMaxHz).and_then(|hz| u64::try_from(hz).ok());
    Some(highest.map_or_else(|| rates.clone(), |highest| format!("{rates}, where {} is the highest", rate(highest))))
}

#[cfg(test)]
mod tests {
    use oversleep_record::Unavailable;
    use oversleep_record::conditions::Outcome;
    use oversleep_record::finding::{Tried, Verdict};

    use super::super::super::testing::{Explained, Sheet, rounds};
    use super::*;

    fn says(sheet: &Sheet, id: &str) -> (Verdict, Severity, String) {
        let finding = sheet.finding(id);
        (finding.verdict, finding.severity, finding.sentence)
    }

    fn with_states() -> Sheet {
        Sheet::linux()
            .list(FactName::CpuidleStates, &["C1 2us", "C6 133us"])
            .span(FactName::CpuidleDeepestExitLatency, 133_000)
    }

    #[test]
    fn idle_states_proved_by_trial() {
        assert_eq!(
            says(&with_states().trial("forbid-deep-idle", "nanosleep", 152_000, 58_000), "OVS-L015"),
            (
                Verdict::Found,
                Severity::Cost,
                "idle states with exit latencies up to 133 µs delay wake-ups: with /dev/cpu_dma_latency at 0 nanosleep \
                 was 58 µs late instead of 152 µs"
                    .into()
            )
        );
        assert_eq!(
            says(&with_states().trial("forbid-deep-idle", "nanosleep", 66_000, 65_800), "OVS-L015").2,
            "forbidding idle states did not shorten nanosleep here (65.8 µs late instead of 66 µs)"
        );
    }

    #[test]
    fn idle_states_refused_absent_or_unknown() {
        let mut refused = with_states().trial("forbid-deep-idle", "nanosleep", 152_000, 151_000);
        let why = Unavailable::not_permitted("/dev/cpu_dma_latency", "write permission");
        let after = refused.file.series.last_mut().unwrap();
        after.conditions.outcomes.insert("dma-latency".into(), Outcome::Denied { why });
        let finding = refused.finding("OVS-L015");
        assert_eq!(
            (finding.verdict, finding.severity, finding.sentence.as_str()),
            (
                Verdict::Found,
                Severity::Note,
                "idle states that take up to 133 µs to leave are enabled; what they cost here was not measured"
            )
        );
        assert!(matches!(finding.advice[0].tried, Tried::Refused { .. }));
        assert_eq!(says(&Sheet::linux().list(FactName::CpuidleStates, &[]), "OVS-L015").0, Verdict::Absent);
        let shallow = Sheet::linux().span(FactName::CpuidleDeepestExitLatency, 2_000);
        assert_eq!(says(&shallow, "OVS-L015").2, "no enabled idle state takes longer than 2 µs to leave");
        assert_eq!(says(&Sheet::linux(), "OVS-L015").0, Verdict::NotEnoughData);
        let mut wild = with_states().trial("forbid-deep-idle", "nanosleep", 152_000, 58_000);
        let before = &mut wild.file.series[0];
        before
            .rounds
            .iter_mut()
            .zip([9_000, 900_000, 30_000, 400_000])
            .for_each(|(round, median)| round.median = Some(median));
        assert_eq!(says(&wild, "OVS-L015").0, Verdict::TooDisturbed);
    }

    #[test]
    fn the_governor_is_shown_with_the_clock_rate_it_chose() {
        let mut sleep = rounds("B5/nanosleep/1ms", &[66_000; 2], 20);
        let mut spin = rounds("B12/spin/1ms", &[1_000; 2], 20);
        for (series, hz) in [(&mut sleep, [800_000_000, 1_200_000_000]), (&mut spin, [3_600_000_000; 2])] {
            for (round, hz) in series.rounds.iter_mut().zip(hz) {
                (round.disturbance.processor.clock_min_hz, round.disturbance.processor.clock_max_hz) =
                    (Some(hz), Some(hz));
            }
        }
        let sheet = Sheet::linux()
            .text(FactName::CpufreqGovernor, "schedutil")
            .text(FactName::CpufreqDriver, "intel_cpufreq")
            .integer(FactName::CpufreqMaxHz, 4_800_000_000)
            .series(sleep)
            .series(spin);
        let evidence = sheet.finding("OVS-L016").evidence;
        assert_eq!(evidence[2].source, "clock rate beside the sleeps");
        assert_eq!(evidence[2].says, "800 MHz to 1.2 GHz, where 4.8 GHz is the highest");
    }

    #[test]
    fn governors() {
        let governor = |name: &str, driver: &str| {
            Sheet::linux().text(FactName::CpufreqGovernor, name).text(FactName::CpufreqDriver, driver)
        };
        assert_eq!(
            says(&governor("powersave", "acpi-cpufreq"), "OVS-L016"),
            (
                Verdict::Found,
                Severity::Cost,
                "the powersave governor (acpi-cpufreq) keeps the processor at its lowest frequency".into()
            )
        );
        assert_eq!(
            says(&governor("performance,powersave", "intel_pstate"), "OVS-L016"),
            (
                Verdict::Found,
                Severity::Note,
                "the powersave governor (intel_pstate) lowers the frequency of a processor whose threads mostly sleep"
                    .into()
            )
        );
        assert_eq!(
            says(&governor("performance", "intel_pstate"), "OVS-L016").2,
            "the performance governor (intel_pstate) does not follow the load"
        );
        assert_eq!(says(&Sheet::linux(), "OVS-L016").0, Verdict::NotEnoughData);
    }
}
