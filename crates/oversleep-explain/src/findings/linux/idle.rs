//! Processors that save power: idle states that take long to leave, clock rates that are low when the timer fires.

use oversleep_record::finding::Severity;
use oversleep_record::processor::{rate, rates};
use oversleep_record::{FactName, Nanos, Os, ProcessorState, ResultFile};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{helped, p50};
use crate::finding::{Check, FindingEntry};
use crate::read::{known, quiet_enough, sound, trial_pair, waits_as_found};
use crate::remedies::linux::FORBID_DEEP_IDLE;
use crate::remedies::machine::PERFORMANCE_GOVERNOR;

/// The exit latency from which a state is distinguishable from the noise of a wake-up.
const EXIT_MIN: Nanos = Nanos(10_000);

const DEEPEST: FactName = FactName::CpuidleDeepestExitLatency;
const STATES: FactName = FactName::CpuidleStates;
const GOVERNOR: FactName = FactName::CpufreqGovernor;
const DRIVER: FactName = FactName::CpufreqDriver;

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-L015",
        name: "deep-idle-states",
        summary: "A processor in a deep idle state takes tens of microseconds to leave it before it can handle the timer.",
        applies_to: "Linux with a cpuidle driver, mostly on bare metal; in a guest the host's states matter",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Cost,
        meaning: "When nothing is runnable the processor enters an idle state, one of its C-states. The deeper the \
                  state, the less power it takes and the longer it takes to leave: 1 to 2 µs for a halt, 100 µs and \
                  more for the deepest. The governor chooses by how long it expects to be idle. A sleep of a few \
                  milliseconds on an idle machine therefore runs into the deepest states, and waits can end later on \
                  an idle machine than on a busy one.",
        how_we_know: "oversleep reads the enabled states and their exit latencies from sysfs. To see what they cost, \
                      compare a normal run with one under --dma-latency 0. In a guest that limit reaches only the \
                      guest's own idle loop.",
        what_to_do: "Hold /dev/cpu_dma_latency open with the longest latency you accept, for as long as it matters. \
                     You need write permission for the device, and it costs power and heat.",
        sources: &[
            "https://docs.kernel.org/admin-guide/pm/cpuidle.html",
            "https://docs.kernel.org/power/pm_qos_interface.html",
        ],
        remedies: &[&FORBID_DEEP_IDLE],
        check: Check::Rule(deep_idle),
    },
    FindingEntry {
        id: "OVS-L016",
        name: "power-saving-governor",
        summary: "The frequency governor lets an idle processor slow down, so a wake-up begins at a low frequency.",
        applies_to: "Linux with a cpufreq driver",
        scope: Scope::Os(Os::Linux),
        severity: Severity::Note,
        meaning: "A thread that mostly sleeps looks like an idle processor to the frequency governor. When the timer \
                  fires, the interrupt, the scheduler and the first of the thread's own work run at a low frequency; \
                  the governor raises it only after a sample or two. Everything after the timer takes proportionally \
                  longer. The name powersave has two meanings: with acpi-cpufreq it always means the lowest frequency; \
                  with intel_pstate and amd-pstate in active mode it means the ordinary balance of speed and power.",
        how_we_know: "oversleep reads the governor and its driver from sysfs, and the clock rate before and after each \
                      round. It does not measure what the governor costs here, because changing it affects the whole \
                      machine.",
        what_to_do: "Choose the performance governor while it matters, or set a lower limit for the frequency.",
        sources: &["https://docs.kernel.org/admin-guide/pm/cpufreq.html"],
        remedies: &[&PERFORMANCE_GOVERNOR],
        check: Check::Rule(power_saving_governor),
    },
];

fn deep_idle(file: &ResultFile) -> Checked {
    let deepest = file.environment.nanos(DEEPEST);
    let states = file.environment.list(STATES);
    let resting_on_states = |conclusion: Conclusion| {
        conclusion.rests_on_fact(DEEPEST, deepest).rests_on_fact(STATES, states.map(|states| states.join(", ")))
    };
    if let Some((before, after)) = trial_pair(file, FORBID_DEEP_IDLE.id) {
        sound(before)?;
        sound(after)?;
        quiet_enough(file, before, deepest.unwrap_or(EXIT_MIN))?;
        let up_to = deepest.map(|latency| format!(" with exit latencies up to {latency}")).unwrap_or_default();
        let late = format!("{} was {} late instead of {}", before.subject, p50(after), p50(before));
        let conclusion = if helped(before, after) {
            Conclusion::found(format!("idle states{up_to} delay wake-ups: with /dev/cpu_dma_latency at 0, {late}"))
        } else {
            Conclusion::absent(format!("forbidding idle states gained nothing here: {late}"))
        };
        return Ok(resting_on_states(conclusion.rests_on_series([before, after])));
    }
    if states.is_some_and(<[String]>::is_empty) {
        return Ok(resting_on_states(Conclusion::absent("the kernel has no idle states to choose from here")));
    }
    let deepest = known(file, DEEPEST, "the exit latency of idle states", deepest)?;
    Ok(resting_on_states(if deepest < EXIT_MIN {
        Conclusion::absent(format!("no enabled idle state takes longer than {deepest} to leave"))
    } else {
        Conclusion::found(format!(
            "idle states that take up to {deepest} to leave are enabled; this run did not measure what they cost"
        ))
        .matters(Severity::Note)
    }))
}

fn power_saving_governor(file: &ResultFile) -> Checked {
    let governor = known(file, GOVERNOR, "the frequency governor", file.environment.text(GOVERNOR))?;
    let driver = file.environment.text(DRIVER).unwrap_or("unknown");
    let mut names = governor.split(',').map(str::trim);
    // In active mode these drivers know two governors, and powersave is the balanced one.
    let is_balanced = driver == "intel_pstate" || driver == "amd-pstate-epp";
    let follows_load = |name: &&str| matches!(*name, "powersave" | "ondemand" | "conservative" | "schedutil");
    let conclusion = if names.clone().any(|name| name == "powersave") && !is_balanced {
        let sentence = format!("the powersave governor keeps the frequency low: with {driver} it is always the lowest");
        Conclusion::found(sentence).matters(Severity::Cost)
    } else if let Some(name) = names.find(follows_load) {
        Conclusion::found(format!(
            "the {name} governor lowers the frequency of an idle processor: a thread that mostly sleeps wakes up on a slow one ({driver})"
        ))
    } else {
        Conclusion::absent(format!("the {governor} governor ({driver}) does not follow the load"))
    };
    let conclusion = conclusion.rests_on(GOVERNOR, governor).rests_on(DRIVER, driver);
    Ok(conclusion.rests_on_fact("clock rate alongside the sleeps", clock_beside_sleeps(file)))
}

/// The clock rates read around sleeps as found, and the highest there is.
fn clock_beside_sleeps(file: &ResultFile) -> Option<String> {
    let states = waits_as_found(file).map(|series| series.disturbance().processor);
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

    use super::*;
    use crate::testing::{Explained, Sheet, rounds};

    fn with_states() -> Sheet {
        Sheet::linux().list(STATES, &["C1 2us", "C6 133us"]).span(DEEPEST, 133_000)
    }

    #[test]
    fn idle_states_proved_by_trial() {
        let proved = with_states().trial("forbid-deep-idle", "nanosleep", 152_000, 58_000);
        proved.finds(
            "OVS-L015",
            "idle states with exit latencies up to 133 µs delay wake-ups: with /dev/cpu_dma_latency at 0, nanosleep was \
             58 µs late instead of 152 µs",
        );
        assert_eq!(proved.finding("OVS-L015").severity, Severity::Cost);
        with_states().trial("forbid-deep-idle", "nanosleep", 66_000, 65_800).finds_no(
            "OVS-L015",
            "forbidding idle states gained nothing here: nanosleep was 65.8 µs late instead of 66 µs",
        );
    }

    #[test]
    fn idle_states_refused_absent_or_unknown() {
        let mut refused = with_states().trial("forbid-deep-idle", "nanosleep", 152_000, 151_000);
        let why = Unavailable::not_permitted("/dev/cpu_dma_latency", "write permission");
        let after = refused.file.series.last_mut().unwrap();
        after.conditions.outcomes.insert("dma-latency".into(), Outcome::Denied { why });
        refused.finds(
            "OVS-L015",
            "idle states that take up to 133 µs to leave are enabled; this run did not measure what they cost",
        );
        let finding = refused.finding("OVS-L015");
        assert!(finding.severity == Severity::Note && matches!(finding.advice[0].tried, Tried::Refused { .. }));
        assert_eq!(Sheet::linux().list(STATES, &[]).verdict("OVS-L015"), Verdict::NotFound);
        Sheet::linux()
            .span(DEEPEST, 2_000)
            .finds_no("OVS-L015", "no enabled idle state takes longer than 2 µs to leave");
        Sheet::linux().lacks_data("OVS-L015");
        let mut wild = with_states().trial("forbid-deep-idle", "nanosleep", 152_000, 58_000);
        let rounds = wild.file.series[0].rounds.iter_mut();
        rounds.zip([9_000, 900_000, 30_000, 400_000]).for_each(|(round, median)| round.median = Some(median));
        wild.is_disturbed("OVS-L015");
    }

    #[test]
    fn the_governor_is_shown_with_the_clock_rate_it_chose() {
        let mut sleep = rounds("B5/nanosleep/1ms", &[66_000; 2], 20);
        let mut spin = rounds("B12/spin/1ms", &[1_000; 2], 20);
        for (series, hz) in [(&mut sleep, [800_000_000, 1_200_000_000]), (&mut spin, [3_600_000_000; 2])] {
            for (round, hz) in series.rounds.iter_mut().zip(hz) {
                let processor = &mut round.disturbance.processor;
                (processor.clock_min_hz, processor.clock_max_hz) = (Some(hz), Some(hz));
            }
        }
        let sheet = Sheet::linux()
            .text(GOVERNOR, "schedutil")
            .text(DRIVER, "intel_cpufreq")
            .integer(FactName::CpufreqMaxHz, 4_800_000_000)
            .series(sleep)
            .series(spin);
        let evidence = sheet.finding("OVS-L016").evidence;
        assert_eq!(evidence[2].source, "clock rate alongside the sleeps");
        assert_eq!(evidence[2].text, "800 MHz to 1.2 GHz, where 4.8 GHz is the highest");
    }

    #[test]
    fn governors() {
        let governor = |name: &str, driver: &str| Sheet::linux().text(GOVERNOR, name).text(DRIVER, driver);
        let lowest = governor("powersave", "acpi-cpufreq");
        lowest.finds(
            "OVS-L016",
            "the powersave governor keeps the frequency low: with acpi-cpufreq it is always the lowest",
        );
        assert_eq!(lowest.finding("OVS-L016").severity, Severity::Cost);
        let balanced = governor("performance,powersave", "intel_pstate");
        balanced.finds(
            "OVS-L016",
            "the powersave governor lowers the frequency of an idle processor: a thread that mostly sleeps wakes up on a slow \
             one (intel_pstate)",
        );
        assert_eq!(balanced.finding("OVS-L016").severity, Severity::Note);
        governor("performance", "intel_pstate")
            .finds_no("OVS-L016", "the performance governor (intel_pstate) does not follow the load");
        Sheet::linux().lacks_data("OVS-L016");
    }
}
