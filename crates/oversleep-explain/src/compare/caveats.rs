//! What may not be concluded from a result: it is a model's, Wine's, an emulator's, an interrupted or a busy machine's.

use oversleep_record::comparison::{Caveat, CaveatKind};
use oversleep_record::file::Completion;
use oversleep_record::series::distinct_rounds;
use oversleep_record::{Disturbance, FactName, Nanos, ResultFile};

use super::place;

/// Share of a machine's CPU time used by others from which its figures may be theirs.
pub(super) const BUSY_SHARE: f64 = 0.25;
/// Share of a machine's CPU time stolen by its hypervisor from which its figures may be the host's.
const STEAL_SHARE: f64 = 0.05;

/// The version of Wine a result was taken under.
pub(super) fn wine(file: &ResultFile) -> Option<&str> {
    file.environment.text(FactName::OsWineVersion)
}

/// Why the processor is an emulator's.
pub(super) fn emulated(file: &ResultFile) -> Option<String> {
    file.environment.emulated(&file.platform)
}

/// All caveats, result by result.
pub(super) fn all(results: &[ResultFile]) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let base_clock = results.first().and_then(|base| Some((&base.platform.os, base.floor.as_ref()?.clock.as_str())));
    for (index, file) in results.iter().enumerate() {
        let mut add = |kind, sentence: String| caveats.push(Caveat { result: place(index), kind, sentence });
        if let Some(profile) = &file.platform.modelled {
            add(
                CaveatKind::Modelled,
                format!(
                    "the figures of a model of {profile}, not of a machine: a difference is one of the model's rules, and \
                     how many values there are proves nothing about a real one"
                ),
            );
        }
        if let Some(version) = wine(file).filter(|_| file.platform.modelled.is_none()) {
            add(
                CaveatKind::Wine,
                format!(
                    "measured under Wine {version}: these are Wine's figures on its host; nothing about Windows follows from \
                     them or from what they differ in"
                ),
            );
        }
        if let Some(how) = emulated(file) {
            add(
                CaveatKind::Emulated,
                format!(
                    "measured under an emulator ({how}): what calls and clocks cost is the emulator's, and what waits add \
                     holds its overhead; nothing about a processor of that architecture follows"
                ),
            );
        }
        if file.completion == Completion::Interrupted {
            add(CaveatKind::Interrupted, "the run was stopped before its end; what it holds is good".to_owned());
        }
        if let Some(says) = busy(file) {
            add(CaveatKind::Busy, says);
        }
        if let (Some((os, base)), Some(floor)) = (base_clock, &file.floor)
            && *os == file.platform.os
            && base != floor.clock
        {
            let says = format!(
                "stamped by {}, the base by {base}: cost and step of the clock are part of every figure",
                floor.clock
            );
            add(CaveatKind::OtherClock, says);
        }
    }
    caveats
}

/// What kept the machine busy besides the measurement.
fn busy(file: &ResultFile) -> Option<String> {
    let cpus = file.environment.integer(FactName::CpuCount).filter(|&cpus| cpus > 0)? as f64;
    let own = file.series.iter().filter(|series| series.conditions.load.is_empty());
    let share = |counter: fn(&Disturbance) -> Option<Nanos>| {
        let rounds = distinct_rounds(own.clone()).into_iter().map(|round| &round.disturbance);
        let seen = rounds.filter_map(|meanwhile| Some((counter(meanwhile)?, meanwhile.window_ns)));
        let (part, whole) = seen.fold((Nanos::ZERO, Nanos::ZERO), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (whole >= Disturbance::TELLS_CPU_TIME_FROM).then(|| part.0 as f64 / whole.0 as f64 / cpus)
    };
    let others = share(|meanwhile| meanwhile.other_cpu_ns).filter(|&share| share >= BUSY_SHARE);
    let stolen = share(|meanwhile| meanwhile.steal_ns).filter(|&share| share >= STEAL_SHARE);
    let mut parts = Vec::new();
    parts.extend(others.map(|share| format!("other programs used {:.0} % of its CPU time", share * 100.0)));
    parts.extend(stolen.map(|share| format!("its hypervisor took {:.0} %", share * 100.0)));
    (!parts.is_empty()).then(|| format!("{} meanwhile: a difference may be theirs", parts.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sheet, load, waits};
    use super::*;

    fn kinds(files: &[ResultFile]) -> Vec<(u32, CaveatKind)> {
        all(files).iter().map(|caveat| (caveat.result, caveat.kind)).collect()
    }

    #[test]
    fn a_machine_that_is_none_is_said_to_be_none() {
        let mut model = Sheet::windows().file;
        model.platform.modelled = Some("windows-11".into());
        let wine = Sheet::windows().text(FactName::OsWineVersion, "8.0").file;
        let mut arm =
            Sheet::linux().text(FactName::CpuVendor, "AuthenticAMD").text(FactName::CpuModel, "AMD EPYC").file;
        arm.platform.arch = "aarch64".into();
        let mut stopped = Sheet::linux().text(FactName::CpuModel, "AMD EPYC").file;
        stopped.completion = Completion::Interrupted;
        assert_eq!(
            kinds(&[model, wine, arm.clone(), stopped]),
            [(0, CaveatKind::Modelled), (1, CaveatKind::Wine), (2, CaveatKind::Emulated), (3, CaveatKind::Interrupted)]
        );
        assert_eq!(emulated(&arm).unwrap(), "a program for aarch64 on AMD EPYC");
        arm.environment = Sheet::linux().text(FactName::CpuModel, "Cortex-A76").file.environment;
        assert_eq!(emulated(&arm), None);
    }

    #[test]
    fn a_busy_machine_is_said_to_be_busy() {
        let busy_with = |other: i64, loaded: bool| {
            let mut series = waits("B5/nanosleep/1ms", &[66_000; 4]);
            for round in &mut series.rounds {
                round.disturbance.other_cpu_ns = Some(Nanos(other));
            }
            series.conditions.load = if loaded { load() } else { Vec::new() };
            Sheet::linux().integer(FactName::CpuCount, 2).series(series).file
        };
        // Windows of 20 ms on two CPUs: 10 ms are a quarter.
        assert_eq!(kinds(&[busy_with(9_900_000, false)]), []);
        assert_eq!(kinds(&[busy_with(10_000_000, false)]), [(0, CaveatKind::Busy)]);
        assert_eq!(
            all(&[busy_with(30_000_000, false)])[0].sentence,
            "other programs used 75 % of its CPU time meanwhile: a difference may be theirs"
        );
        assert_eq!(kinds(&[busy_with(30_000_000, true)]), [], "a load of our own is what was asked for");
    }

    #[test]
    fn another_clock_is_told() {
        let base = Sheet::linux().floor("monotonic").file;
        let other = Sheet::linux().floor("oversleep-ordered").file;
        assert_eq!(kinds(&[base.clone(), base.clone()]), []);
        assert_eq!(kinds(&[base.clone(), other]), [(1, CaveatKind::OtherClock)]);
        assert_eq!(kinds(&[base, Sheet::windows().floor("qpc").file]), [], "another system has other clocks anyway");
    }
}
