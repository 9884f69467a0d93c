//! What must not be concluded from a result: a result of a model, of Wine, of an emulator, of an interrupted run or of
//! a busy machine.

use oversleep_record::comparison::{Caveat, CaveatKind};
use oversleep_record::file::Completion;
use oversleep_record::label;
use oversleep_record::observed::Observation;
use oversleep_record::part::Part;
use oversleep_record::words::{counted, list, percent};
use oversleep_record::{Depth, Disturbance, Identity, Nanos, ResultFile};

use super::one_run;
use crate::figures::{cpus, observed};
use crate::read::wine_version;

/// If other programs use this share of a machine's CPU time, its figures may be due to them.
pub(super) const BUSY_SHARE: f64 = 0.25;
/// Recorders of one run agree about each part of nearly every wait within this (`cargo prove why-truth recorders`).
pub(super) const RECORDERS_WITHIN_NS: i64 = 2_000;
/// If the hypervisor steals this share of a machine's CPU time, its figures may be due to the host.
const STEAL_SHARE: f64 = 0.05;

/// The caveats of a result.
pub(super) fn of(result: u32, base: &ResultFile, file: &ResultFile) -> impl Iterator<Item = Caveat> + use<> {
    let caveats = [
        (CaveatKind::Modelled, modelled(file)),
        (CaveatKind::Wine, under_wine(file)),
        (CaveatKind::Emulated, emulated(file)),
        (CaveatKind::Imported, imported(file)),
        (CaveatKind::Interrupted, interrupted(file)),
        (CaveatKind::Quick, quick(file)),
        (CaveatKind::Busy, busy(file)),
        (CaveatKind::OtherClock, other_clock(base, file)),
        (CaveatKind::OtherFollower, nameless(base, file)),
        (CaveatKind::OtherFollower, other_events(base, file)),
        (CaveatKind::OtherFollower, other_follower(base, file).or_else(|| other_recorder(base, file))),
        (CaveatKind::OtherCpus, other_cpus(base, file)),
    ];
    caveats.into_iter().filter_map(move |(kind, sentence)| Some(Caveat { result, kind, sentence: sentence? }))
}

fn modelled(file: &ResultFile) -> Option<String> {
    file.platform.modelled.as_ref()?;
    Some(
        "these are the figures of a model, not of a machine: a difference shows what the model's rules say, and the number \
         of values proves nothing about a real machine"
            .to_owned(),
    )
}

fn under_wine(file: &ResultFile) -> Option<String> {
    let version = wine_version(file).filter(|_| file.platform.modelled.is_none())?;
    Some(format!(
        "this was measured under Wine {version}: the figures are those of Wine on its host, and neither they nor their \
         differences say anything about Windows"
    ))
}

fn emulated(file: &ResultFile) -> Option<String> {
    let how = file.environment.emulated(&file.platform)?;
    Some(format!(
        "this was measured under an emulator ({how}): calls and clocks cost what they cost the emulator, waits include its \
         overhead, and nothing follows for a processor of that architecture"
    ))
}

fn imported(file: &ResultFile) -> Option<String> {
    let program = &file.imported.as_ref()?.program;
    Some(format!(
        "{program} measured this, in its own way and not in rounds: how far the machine drifted meanwhile isn't known, so a \
         small difference proves nothing"
    ))
}

fn interrupted(file: &ResultFile) -> Option<String> {
    (file.completion == Completion::Interrupted)
        .then(|| "the run was stopped before its end; its values are valid".to_owned())
}

fn quick(file: &ResultFile) -> Option<String> {
    (file.depth == Some(Depth::Quick))
        .then(|| "this run took few values. To decide small differences, measure without --quick".to_owned())
}

/// What kept the machine busy apart from the measurement.
fn busy(file: &ResultFile) -> Option<String> {
    let cpus = cpus(file)? as f64;
    let own = file.series.iter().filter(|series| series.conditions.load.is_empty());
    let share = |counter: fn(&Disturbance) -> Option<Nanos>| {
        let (part, whole) = observed(own.clone(), counter)?;
        (whole >= Disturbance::TELLS_CPU_TIME_FROM).then(|| part.0 as f64 / whole.0 as f64 / cpus)
    };
    let others = share(|meanwhile| meanwhile.other_cpu_ns).filter(|&share| share >= BUSY_SHARE);
    let stolen = share(|meanwhile| meanwhile.steal_ns).filter(|&share| share >= STEAL_SHARE);
    let parts: Vec<String> = [
        others.map(|share| format!("other programs used {} of this machine's CPU time", percent(share))),
        stolen.map(|share| format!("its hypervisor took {}", percent(share))),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "during this run {}, so a difference may be theirs. Measure again on a quieter machine",
            parts.join(" and ")
        )
    })
}

fn other_clock(base: &ResultFile, file: &ResultFile) -> Option<String> {
    let (theirs, own) = (&base.floor.as_ref()?.clock, &file.floor.as_ref()?.clock);
    (base.platform.os == file.platform.os && theirs != own).then(|| {
        format!("timed with {own}, the base with {theirs}: the cost and the step of the clock are part of every figure")
    })
}

fn other_follower(base: &ResultFile, file: &ResultFile) -> Option<String> {
    let (theirs, own) = (base.observation.as_ref()?.by, file.observation.as_ref()?.by);
    (!theirs.sees_as(own)).then(|| {
        "these results were taken in different ways, so their parts can't be compared, and the lateness of one includes more of \
         what following costs. Take both in the same way (--by supervisor)"
            .to_owned()
    })
}

/// Copies for others have numbers instead of names.
fn nameless(base: &ResultFile, file: &ResultFile) -> Option<String> {
    let is_copy = |file: &ResultFile| file.shared.is_some() && file.observation.is_some();
    let who = match (is_copy(base), is_copy(file)) {
        _ if std::ptr::eq(base, file) => return None,
        (false, false) => return None,
        (true, true) => "neither copy has",
        (false, true) => "this copy doesn't have",
        (true, false) => "the base, a copy, doesn't have",
    };
    Some(format!(
        "{who} the names of programs and threads, and their numbers mean nothing elsewhere. So only waits are compared that \
         make the same call with the same request about as often, where each result has one such kind; the others can't be \
         paired"
    ))
}

/// What only one of two recordings shows.
fn other_events(base: &ResultFile, file: &ResultFile) -> Option<String> {
    let (theirs, own) = (base.observation.as_ref()?, file.observation.as_ref()?);
    let of_wake_ups = |file: &ResultFile| {
        let mut waits = file.series.iter().filter_map(Identity::of).map(|of| of.is_wake_up());
        waits.next().map(|first| first && waits.all(|is_wake_up| is_wake_up))
    };
    let lacks = |observation: &Observation| match observation.losses.missing.is_empty() {
        true => String::new(),
        false => format!(". It lacks {}", observation.losses.missing.join(", ")),
    };
    let only =
        "the scheduler's events alone, and so how long threads waited for a CPU after waking up, whatever woke them";
    let none = "no waits at all, so there is nothing to compare";
    match (of_wake_ups(base), of_wake_ups(file)) {
        (None, None) => return None,
        (_, None) => return Some(format!("this recording has {none}{}", lacks(own))),
        (None, _) => return Some(format!("the base has {none}{}", lacks(theirs))),
        (Some(false), Some(true)) => {
            let lacks = lacks(own);
            return Some(format!("this recording has {only}; the base has waits for a time, which are others{lacks}"));
        }
        (Some(true), Some(false)) => {
            let lacks = lacks(theirs);
            return Some(format!("the base has {only}; this result has waits for a time, which are others{lacks}"));
        }
        _ => {}
    }
    let missing = |of: &Observation, other: &Observation| -> Vec<String> {
        // What shows the timer's parts has no figure for all of them together.
        let is_split = |part: Part| part == Part::Timer && !of.unseen.contains(&Part::Slack);
        let only = of.unseen.iter().filter(|part| !other.unseen.contains(part) && !is_split(**part));
        only.map(|part| part.about().to_owned()).collect()
    };
    let is_alike = theirs.by.sees_as(own.by);
    match (missing(own, theirs), missing(theirs, own)) {
        _ if !is_alike => None,
        (here, there) if here.is_empty() && there.is_empty() => None,
        (here, there) if there.is_empty() => Some(format!("this recording doesn't show {}: not compared", list(&here))),
        (here, there) if here.is_empty() => Some(format!("the base doesn't show {}: not compared", list(&there))),
        (here, there) => Some(format!(
            "this recording doesn't show {}, and the base doesn't show {}: not compared",
            list(&here),
            list(&there)
        )),
    }
}

/// The recorders of two results, if they are two tools; versions of one tool don't count.
pub(super) fn recorders<'a>(base: &'a ResultFile, file: &'a ResultFile) -> Option<[&'a str; 2]> {
    let recorder = |file: &'a ResultFile| {
        let observation = file.observation.as_ref()?;
        observation.recorder.as_deref().or_else(|| observation.by.is_kernel().then_some("oversleep"))
    };
    let both = [recorder(base)?, recorder(file)?];
    let [theirs, own] = both.map(|name| name.split(' ').next());
    (theirs != own).then_some(both)
}

fn other_recorder(base: &ResultFile, file: &ResultFile) -> Option<String> {
    let [theirs, own] = recorders(base, file)?;
    let within = Nanos(RECORDERS_WITHIN_NS);
    let cost = format!("both cost time in every part, so less than {within} is no difference");
    Some(match one_run::is_of_both(base, file) {
        true => {
            format!("{own} recorded the run that {theirs} recorded for the base, so the waits are the same: {cost}")
        }
        false => format!("recorded by {own}, the base by {theirs}: {cost}"),
    })
}

/// Threads that all find a CPU on one machine and share CPUs on the other.
fn other_cpus(base: &ResultFile, file: &ResultFile) -> Option<String> {
    let (theirs, own) = (cpus(base)?, cpus(file)?);
    let threads = |file: &ResultFile| file.series.iter().filter_map(|series| series.label(label::THREADS)).max();
    let threads = threads(base)?.min(threads(file)?);
    let fewest = theirs.min(own);
    (theirs != own && i64::try_from(threads).is_ok_and(|threads| threads > fewest)).then(|| {
        let model = match file.platform.modelled {
            Some(_) => " Give both models as many CPUs (--set cpus.count), or use",
            None => " Use",
        };
        format!(
            "{threads} threads have {} here and {theirs} on the base, so their durations differ by that, whatever the \
             systems do.{model} --threads {fewest}",
            counted(own as u64, "CPU")
        )
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::FactName;

    use super::*;
    use crate::compare::testing::{Sheet, load, waits};

    #[test]
    fn a_quick_run_says_what_decides_more() {
        let mut file = Sheet::linux().file;
        file.depth = Some(Depth::Normal);
        assert!(all(&[file.clone()]).is_empty());
        file.depth = Some(Depth::Quick);
        assert_eq!(
            all(&[file])[0].sentence,
            "this run took few values. To decide small differences, measure without --quick"
        );
    }

    fn all(files: &[ResultFile]) -> Vec<Caveat> {
        (0..).zip(files).flat_map(|(result, file)| of(result, &files[0], file)).collect()
    }

    fn kinds(files: &[ResultFile]) -> Vec<(u32, CaveatKind)> {
        all(files).iter().map(|caveat| (caveat.result, caveat.kind)).collect()
    }

    #[test]
    fn a_machine_that_is_none_is_called_none() {
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
        assert!(emulated(&arm).unwrap().contains("(a program for aarch64 on AMD EPYC)"));
        arm.environment = Sheet::linux().text(FactName::CpuModel, "Cortex-A76").file.environment;
        assert_eq!(emulated(&arm), None);
    }

    #[test]
    fn a_busy_machine_is_called_busy() {
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
            "during this run other programs used 75 % of this machine's CPU time, so a difference may be theirs. Measure \
             again on a quieter machine"
        );
        assert_eq!(kinds(&[busy_with(30_000_000, true)]), [], "a load of our own was requested");
    }

    #[test]
    fn threads_that_share_cpus_on_one_machine_only_are_named() {
        let with =
            |cpus: i64| Sheet::linux().integer(FactName::CpuCount, cpus).steady("D1/blocked/precise", 19_300_000).file;
        assert_eq!(kinds(&[with(16), with(4)]), [(1, CaveatKind::OtherCpus)]);
        assert_eq!(
            all(&[with(16), with(4)])[0].sentence,
            "8 threads have 4 CPUs here and 16 on the base, so their durations differ by that, whatever the systems do. Use \
             --threads 4"
        );
        assert_eq!(kinds(&[with(16), with(8)]), [], "all have one");
        assert_eq!(kinds(&[with(4), with(4)]), [], "like with like");
    }

    #[test]
    fn another_clock_is_named() {
        let base = Sheet::linux().floor("monotonic").file;
        let other = Sheet::linux().floor("oversleep-ordered").file;
        assert_eq!(kinds(&[base.clone(), base.clone()]), []);
        assert_eq!(kinds(&[base.clone(), other]), [(1, CaveatKind::OtherClock)]);
        assert_eq!(kinds(&[base, Sheet::windows().floor("qpc").file]), [], "another system has other clocks anyway");
    }
}
