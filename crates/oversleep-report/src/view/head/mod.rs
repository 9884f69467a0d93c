//! The head of a report: the machine, the run, the clock behind the figures, and what was not readable.

use oversleep_explain::verdict::lacks_waits;
use oversleep_record::environment::FactValue;
use oversleep_record::file::{Chosen, Completion};
use oversleep_record::series::Status;
use oversleep_record::shared::Shared;
use oversleep_record::{FactName, Nanos, Os, ResultFile, Unavailable};

use super::{limits, observed, select};
use crate::words::{self, counted, grouped};

/// The name of the modelled machine, if it is one.
pub fn modelled(file: &ResultFile) -> Option<&str> {
    file.platform.modelled.as_deref()
}

/// The version of Wine, if the result was taken under it.
pub fn wine(file: &ResultFile) -> Option<&str> {
    file.environment.text(FactName::OsWineVersion)
}

/// The program and the foreign processor, if the result was taken under an emulator.
pub fn emulated(file: &ResultFile) -> Option<String> {
    file.environment.emulated(&file.platform)
}

/// What a result was taken on if that is not a real machine: `modelled: windows-11`, `under Wine 8.0`, `under an
/// emulator`.
pub fn mark(modelled: Option<&str>, wine: Option<&str>, is_emulated: bool) -> Option<String> {
    match (modelled, wine) {
        (Some(profile), _) => Some(format!("modelled: {profile}")),
        (None, Some(version)) => Some(format!("under Wine {version}")),
        (None, None) => is_emulated.then(|| "under an emulator".to_owned()),
    }
}

/// A heading with that mark: no figure may pass for one of a real machine.
pub fn heading(file: &ResultFile, text: &str) -> String {
    match mark(modelled(file), wine(file), emulated(file).is_some()) {
        Some(mark) => format!("{text} ({mark})"),
        None => text.to_owned(),
    }
}

/// `oversleep check`, with the name the user gave the result, or the program that was observed.
pub fn title(file: &ResultFile) -> String {
    let target = file.observation.as_ref().map(|observation| match observation.target.as_str() {
        "" => "all processes",
        target => target,
    });
    let name = file.name.as_deref().or(target).map(|name| format!(": {name}")).unwrap_or_default();
    format!("oversleep {}{name}", file.command)
}

/// The machine: system, kernel, processor, what it runs in.
pub fn machine(file: &ResultFile) -> Vec<String> {
    let facts = &file.environment;
    let os = match file.platform.os.as_str() {
        "linux" => "Linux",
        "windows" => "Windows",
        "macos" => "macOS",
        "unknown" => "a machine that the file doesn't name",
        other => other,
    };
    let arch = match file.platform.arch.as_str() {
        "unknown" => String::new(),
        arch => format!(" {arch}"),
    };
    // Except on Linux, a kernel's release is not the version that people know.
    let release = facts.text(FactName::KernelRelease);
    let name = facts.text(FactName::OsName).filter(|_| !file.platform.is(Os::Linux) || release.is_none());
    let mut parts = vec![match (name, release) {
        (Some(name), _) => format!("{name}{arch}"),
        (None, Some(release)) => format!("{os} {release}{arch}"),
        (None, None) => format!("{os}{arch}"),
    }];
    parts.extend(facts.integer(FactName::OsBuild).map(|build| format!("build {build}")));
    parts.extend(wine(file).map(|version| format!("emulated by Wine {version}")));
    let count = facts.integer(FactName::CpuCount);
    parts.extend(match (count, facts.text(FactName::CpuModel)) {
        (Some(count), Some(model)) => Some(format!("{count} × {}", model.trim())),
        (Some(count), None) => Some(counted(count, "CPU")),
        (None, Some(model)) => Some(model.trim().to_owned()),
        (None, None) => None,
    });
    if let Some(allowed) = facts.integer(FactName::CpuAllowed).filter(|&allowed| Some(allowed) != count) {
        parts.push(format!("{allowed} of them usable"));
    }
    parts.extend(
        facts
            .text(FactName::VirtualisationHypervisor)
            .filter(|&name| name != "none")
            .map(|name| format!("{name} guest")),
    );
    parts.extend(facts.text(FactName::VirtualisationWsl).filter(|&name| name != "none").map(str::to_owned));
    parts.extend(facts.text(FactName::ContainerKind).filter(|&name| name != "none").map(|name| format!("in {name}")));
    parts
}

/// The run: when and for how long.
pub fn run(file: &ResultFile) -> Vec<String> {
    let mut parts = Vec::new();
    // A shared result has only the date.
    let date = if file.shared.is_some() { words::day } else { words::date };
    parts.extend(file.taken_unix_s.and_then(date));
    let virtually = if modelled(file).is_some() { " of virtual time" } else { "" };
    if file.imported.is_none() || file.duration_ns > Nanos(0) {
        parts.push(format!("{}{virtually}", file.duration_ns));
    }
    if let Some(observation) = &file.observation {
        let (by_timer, otherwise) = observed::counts(file);
        match limits::is_of_scheduler(observation) {
            _ if lacks_waits(file) => parts.push("waits not recorded".to_owned()),
            true => parts.push(counted(by_timer, "wake-up")),
            false => {
                parts.push(observed::by_timer(by_timer));
                parts.push(format!("{} for another reason", grouped(otherwise)));
            }
        }
        parts.extend(observation.want_ns.map(|want| format!("the program meant {want}")));
        let unit = observation.resolution_ns.filter(|&ns| ns >= limits::COARSE);
        let unit = unit.map(|unit| format!(", which rounds times to {unit}")).unwrap_or_default();
        parts.extend(observation.recorder.as_ref().map(|recorder| format!("recorded by {recorder}{unit}")));
        return parts;
    }
    parts.extend(file.imported.as_ref().map(|imported| {
        let version = imported.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        format!("measured by {}{version}", imported.program)
    }));
    let values: u64 = file.series.iter().map(|series| series.counts.recorded).fold(0, u64::saturating_add);
    let stopped = stopped_count(file).map(|count| format!(" ({} stopped early)", grouped(count))).unwrap_or_default();
    parts.push(format!("{} in {}{stopped}", counted(values, "value"), counted(file.series.len(), "series")));
    parts
}

/// How many series stopped early because the time was up; `None` if none did.
fn stopped_count(file: &ResultFile) -> Option<usize> {
    let partial = file.series.iter().filter(|series| series.status == Status::Partial).count();
    (partial > 0 && file.completion == Completion::Complete).then_some(partial)
}

/// How reliable a shared result is, and why; `None` for an ordinary result.
pub fn reliability(file: &ResultFile) -> Option<String> {
    Some(format!("Shared result, {}", reliability_in_words(file, file.shared.as_ref()?)))
}

/// How reliable a result is by that note, and why.
pub fn reliability_in_words(file: &ResultFile, shared: &Shared) -> String {
    let share = |permille: u64| words::percent(permille as f64 / 1_000.0);
    let mut parts: Vec<String> = file.depth.map(|depth| format!("{depth} run")).into_iter().collect();
    if file.completion == Completion::Interrupted {
        parts.push("interrupted".to_owned());
    }
    let series = counted(shared.series, "series");
    if shared.rounds_median == 0 {
        parts.push(format!("{series} without rounds that could disagree"));
    } else {
        parts.push(format!("{series} in {} each", counted(shared.rounds_median, "round")));
        if shared.scarce > 0 {
            parts.push(format!("{} with too few values for a conclusion", grouped(shared.scarce)));
        }
        parts.push(match shared.unsteady {
            0 => "no rounds disagree".to_owned(),
            unsteady => format!("rounds disagree in {}", grouped(unsteady)),
        });
    }
    parts.extend(shared.steal_permille.map(|steal| format!("steal {}", share(steal))));
    parts.extend(shared.other_cpu_permille.map(|other| format!("other processes {} of a CPU", share(other))));
    parts.extend(shared.throttled_permille.filter(|&all| all > 0).map(|all| format!("throttled {}", share(all))));
    format!("reliability {}: {}.", shared.reliability, parts.join(", "))
}

/// What was left out of a shared result.
pub fn left_out(file: &ResultFile) -> Option<String> {
    let left = file.shared.as_ref()?.left_out;
    let parts = [(left.samples, "raw sample"), (left.series, "unknown name"), (left.facts, "fact")];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(count, what));
    let texts = "names, paths, texts of errors, the time of day, example values of clocks".to_owned();
    Some(format!("Left out: {}.", parts.chain([texts]).collect::<Vec<_>>().join(", ")))
}

/// What you must know before you read any figure: a model, an emulator, another program's file, an interrupted run.
pub fn warnings(file: &ResultFile) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(profile) = modelled(file) {
        warnings.push(format!("Modelled: these figures come from a model of {profile}, not from a machine."));
    }
    if let Some(version) = wine(file) {
        warnings.push(format!(
            "Measured under Wine {version}: these are Wine's figures on its host. They say nothing about Windows."
        ));
    }
    if let Some(how) = emulated(file).filter(|_| wine(file).is_none()) {
        warnings.push(format!(
            "Measured under an emulator ({how}): the emulator's overhead is in every cost and lateness. These figures say \
             nothing about a real processor of that architecture."
        ));
    }
    if let Some(imported) = &file.imported {
        warnings.push(format!("Measured by {}, not by oversleep: read from {}.", imported.program, imported.format));
        warnings.extend(imported.notes.iter().cloned());
    }
    warnings.extend(limits::of_windows(file));
    warnings.extend(limits::of_scheduler(file));
    warnings.extend(limits::of_programs(file));
    warnings.extend(observed::cut_off(file));
    if file.completion == Completion::Interrupted {
        warnings.push("Interrupted: the run was stopped early. All values measured up to then are valid.".to_owned());
    }
    warnings
}

/// The clock that timestamps were read from, its cost and its resolution.
pub fn timestamps(file: &ResultFile) -> Option<String> {
    let floor = file.floor.as_ref()?;
    let call = file.clock(&floor.clock).map_or(floor.clock.as_str(), |clock| clock.call.as_str());
    // `clock_gettime(CLOCK_MONOTONIC)` is known by its argument.
    let argument = call.split_once('(').map(|(_, argument)| argument.trim_end_matches(')'));
    let clock = argument.filter(|argument| argument.starts_with("CLOCK_")).unwrap_or(call);
    let chosen = match floor.chosen {
        Some(Chosen::ByUser) => " (chosen with --clock)",
        _ => "",
    };
    let (cost, step) = (words::cost(floor.read_cost_ps), floor.step_ns);
    Some(format!("Timestamps: {clock}{chosen}, {cost} per read, {step} resolution (not subtracted from results)."))
}

/// How another clock agreed with the one that timestamps were read from.
pub fn cross_check(file: &ResultFile) -> Option<String> {
    let check = file.floor.as_ref()?.cross_check.as_ref()?;
    let (clock, over) = (&check.clock, check.window_ns);
    let moved = Nanos(check.difference_ns.0.saturating_abs());
    // A difference within the uncertainty of the readings is none.
    Some(if moved <= check.uncertainty_ns {
        format!("Cross-check: {clock} agreed with it to within {} over {over}.", check.uncertainty_ns)
    } else {
        let direction = if check.difference_ns > Nanos::ZERO { "gained" } else { "lost" };
        format!("Cross-check: {clock} {direction} {moved} against it over {over}.")
    })
}

/// Facts of one kind in a line.
pub fn in_a_line(facts: &[String]) -> Option<String> {
    (!facts.is_empty()).then(|| words::capitalised(&facts.join(" · ")))
}

/// That it took longer than its conclusions may need, and why.
pub fn took_longer(file: &ResultFile) -> Option<String> {
    let of = |settled| file.series.iter().filter(|series| series.settled == Some(settled)).count();
    let (restless, all) = (of(false), of(false) + of(true));
    (restless > 0).then(|| {
        format!(
            "{} of {} had no settled median after three rounds, so they were measured for longer: their values are of several \
             kinds, or something else was using the machine.",
            grouped(restless),
            counted(all, "series")
        )
    })
}

/// The validity of series that stopped early.
pub fn stopped_early(file: &ResultFile) -> Option<String> {
    let (partial, all) = (grouped(stopped_count(file)?), counted(file.series.len(), "series"));
    Some(format!("{partial} of {all} stopped early to stay within the time budget; their values are valid."))
}

/// What could not be read and what was refused. A reason is given where you can do something about it.
pub fn missing(file: &ResultFile) -> Vec<String> {
    let is_refusal = |reason: &Unavailable| matches!(reason, Unavailable::NotPermitted { .. });
    let is_of_interest =
        |reason: &Unavailable| !matches!(reason, Unavailable::NotMeasured | Unavailable::NotOnThisPlatform);
    let unknown = || file.environment.unknown();
    let unreadable: Vec<&str> =
        unknown().filter(|(_, reason)| is_of_interest(reason) && !is_refusal(reason)).map(|(name, _)| name).collect();
    let refused: Vec<String> =
        unknown().filter(|(_, reason)| is_refusal(reason)).map(|(name, reason)| format!("{name} ({reason})")).collect();
    let by_the_user = select::set_by_the_user(file);
    let refusals: std::collections::BTreeSet<String> =
        file.series.iter().flat_map(|series| select::refusals(series, |name| by_the_user.contains(name))).collect();
    let refusals: Vec<String> = refusals.into_iter().collect();
    [
        ("Not readable on this machine", unreadable.join(", ")),
        ("Not permitted", refused.join("; ")),
        ("Refused", refusals.join("; ")),
    ]
    .into_iter()
    .filter(|(_, what)| !what.is_empty())
    .map(|(title, what)| format!("{title}: {what}."))
    .collect()
}

/// A fact's value as text; an unknown one is its reason.
pub fn fact_text(name: &str, value: &FactValue) -> String {
    match value {
        FactValue::Integer(number) if name.ends_with("_bytes") => grouped(*number),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
