//! What stands before every table: which machine, which run, the floor under the figures, and what was not to be seen.

use oversleep_record::environment::FactValue;
use oversleep_record::file::{Chosen, Completion};
use oversleep_record::series::Status;
use oversleep_record::{FactName, Nanos, ResultFile, Unavailable};

use super::{select, words};

/// The name of the modelled machine, where it is one.
pub fn modelled(file: &ResultFile) -> Option<&str> {
    file.platform.modelled.as_deref()
}

/// The version of Wine the result was taken under, where it was.
pub fn wine(file: &ResultFile) -> Option<&str> {
    file.environment.text(FactName::OsWineVersion)
}

/// Which program ran on which foreign processor, where the result was taken under an emulator.
pub fn emulated(file: &ResultFile) -> Option<String> {
    file.environment.emulated(&file.platform)
}

/// A heading, with `modelled …` where the machine is a model, `under Wine …` where the system is one, `under an emulator`
/// where the processor is one: no figure may pass for one of the real thing.
pub fn heading(file: &ResultFile, text: &str) -> String {
    match (modelled(file), wine(file)) {
        (Some(profile), _) => format!("{text} (modelled: {profile})"),
        (None, Some(version)) => format!("{text} (under Wine {version})"),
        (None, None) if emulated(file).is_some() => format!("{text} (under an emulator)"),
        (None, None) => text.to_owned(),
    }
}

/// `oversleep check`, with the name the user gave the result.
pub fn title(file: &ResultFile) -> String {
    let name = file.name.as_ref().map(|name| format!(": {name}")).unwrap_or_default();
    format!("oversleep {}{name}", file.command)
}

/// The machine: system, kernel, processor, what it runs in.
pub fn machine(file: &ResultFile) -> Vec<String> {
    let facts = &file.environment;
    let os = match file.platform.os.as_str() {
        "linux" => "Linux",
        "windows" => "Windows",
        "macos" => "macOS",
        other => other,
    };
    // Elsewhere than on Linux a kernel's release is not the version people know.
    let release = facts.text(FactName::KernelRelease);
    let name = facts.text(FactName::OsName).filter(|_| file.platform.os != "linux" || release.is_none());
    let mut parts = vec![match (name, release) {
        (Some(name), _) => format!("{name} {}", file.platform.arch),
        (None, Some(release)) => format!("{os} {release} {}", file.platform.arch),
        (None, None) => format!("{os} {}", file.platform.arch),
    }];
    parts.extend(facts.integer(FactName::OsBuild).map(|build| format!("build {build}")));
    parts.extend(wine(file).map(|version| format!("played by Wine {version}")));
    let count = facts.integer(FactName::CpuCount);
    parts.extend(match (count, facts.text(FactName::CpuModel)) {
        (Some(count), Some(model)) => Some(format!("{count} × {}", model.trim())),
        (Some(count), None) => Some(words::counted(count.unsigned_abs(), "CPU")),
        (None, Some(model)) => Some(model.trim().to_owned()),
        (None, None) => None,
    });
    if let Some(allowed) = facts.integer(FactName::CpuAllowed).filter(|&allowed| Some(allowed) != count) {
        parts.push(format!("{allowed} of them allowed"));
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
    parts.extend(file.taken_unix_s.and_then(words::date));
    let took = if modelled(file).is_some() { "in virtual time" } else { "long" };
    parts.push(format!("{} {took}", file.duration_ns));
    let values: u64 = file.series.iter().map(|series| series.counts.recorded).sum();
    parts.push(format!("{} in {}", words::counted(values, "value"), words::counted_series(file.series.len())));
    parts
}

/// What must be known before any figure is read: an interrupted run, a model.
pub fn warnings(file: &ResultFile) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(profile) = modelled(file) {
        warnings.push(format!(
            "Modelled: these are the figures of a model of {profile} in virtual time, not of a machine."
        ));
    }
    if let Some(version) = wine(file) {
        warnings.push(format!(
            "Measured under Wine {version}: these are Wine's figures on its host, not Windows'. Nothing is concluded about \
             Windows."
        ));
    }
    if let Some(how) = emulated(file).filter(|_| wine(file).is_none()) {
        warnings.push(format!(
            "Measured under an emulator ({how}): what calls and clocks cost is the emulator's, and what waits add holds its \
             overhead. Nothing follows about a processor of that architecture."
        ));
    }
    if file.completion == Completion::Interrupted {
        warnings.push(
            "Interrupted: the run was stopped before its end. What was measured until then is all here.".to_owned(),
        );
    }
    warnings
}

/// The floor under every figure.
pub fn floor(file: &ResultFile) -> Option<String> {
    let floor = file.floor.as_ref()?;
    let chosen = match floor.chosen {
        Some(Chosen::DeadlineClock) => ", the clock that deadlines are on",
        Some(Chosen::Requested) => ", as asked for",
        None => "",
    };
    let witness = floor.cross_check.as_ref().map(|witness| {
        let difference_ns = Nanos(witness.difference_ns.0.saturating_abs());
        // What the readings leave open is not a movement.
        let moved = if difference_ns <= witness.uncertainty_ns {
            format!("kept to it within {}", witness.uncertainty_ns)
        } else if witness.difference_ns > Nanos::ZERO {
            format!("went {difference_ns} further")
        } else {
            format!("fell {difference_ns} behind it")
        };
        format!(" Over {} {} {moved}.", witness.window_ns, witness.clock)
    });
    Some(format!(
        "Stamps ({}{chosen}) cost {} and step {}; never subtracted.{}",
        floor.clock,
        words::cost(floor.read_cost_ps),
        floor.step_ns,
        witness.unwrap_or_default()
    ))
}

/// What the system states about its timers (C1).
pub fn timers(file: &ResultFile) -> Option<String> {
    let facts = &file.environment;
    let mut parts = Vec::new();
    if let Some(slack) = facts.nanos(FactName::TimerSlack) {
        let default = facts.nanos(FactName::TimerDefaultSlack).filter(|&default| default != slack);
        parts.push(format!(
            "timer slack {slack}{}",
            default.map(|default| format!(" (default {default})")).unwrap_or_default()
        ));
    }
    if let Some(period) = facts.nanos(FactName::TimerPeriodNow) {
        let default = facts.nanos(FactName::TimerPeriodDefault).filter(|&default| default != period);
        let default = default.map(|default| format!(" (default {default})")).unwrap_or_default();
        parts.push(format!("timer period {period}{default}"));
    }
    parts.extend(facts.integer(FactName::TimerHz).map(|hz| format!("HZ {hz}")));
    parts.extend(
        facts
            .flag(FactName::TimerHighResolution)
            .map(|on| if on { "high-resolution timers".to_owned() } else { "no high-resolution timers".to_owned() }),
    );
    parts.extend(facts.text(FactName::ClocksourceCurrent).map(|name| match facts.flag(FactName::ClocksourceVdso) {
        Some(true) => format!("clocksource {name} (no system call)"),
        Some(false) => format!("clocksource {name} (by system call)"),
        None => format!("clocksource {name}"),
    }));
    parts.extend(facts.text(FactName::KernelPreemption).map(|model| format!("preemption {model}")));
    parts.extend(facts.text(FactName::SchedPolicy).map(|policy| match facts.integer(FactName::SchedNice) {
        Some(nice) if nice != 0 => format!("policy {policy}, nice {nice}"),
        _ => format!("policy {policy}"),
    }));
    (!parts.is_empty()).then(|| words::sentence(&parts.join(" · ")))
}

/// What could not be seen and what was refused, in sentences. A reason is given where something can be done about it.
pub fn missing(file: &ResultFile) -> Vec<String> {
    let mut sentences = Vec::new();
    let is_refusal = |reason: &Unavailable| matches!(reason, Unavailable::NotPermitted { .. });
    let of_interest =
        |reason: &Unavailable| !matches!(reason, Unavailable::NotMeasured | Unavailable::NotOnThisPlatform);
    let plain: Vec<&str> = file
        .environment
        .unknown()
        .filter(|(_, reason)| of_interest(reason) && !is_refusal(reason))
        .map(|(name, _)| name)
        .collect();
    if !plain.is_empty() {
        sentences.push(format!("Not to be seen here: {}.", plain.join(", ")));
    }
    let refused: Vec<String> = file
        .environment
        .unknown()
        .filter(|(_, reason)| is_refusal(reason))
        .map(|(name, reason)| format!("{name} ({reason})"))
        .collect();
    if !refused.is_empty() {
        sentences.push(format!("Not permitted to see: {}.", refused.join("; ")));
    }
    let partial = file.series.iter().filter(|series| series.status == Status::Partial).count();
    if partial > 0 && file.completion == Completion::Complete {
        sentences.push(format!(
            "Cut short when the time was up: {} of {}; what they hold is good.",
            words::grouped(partial as i64),
            words::counted_series(file.series.len())
        ));
    }
    let denials = select::denials(file);
    if !denials.is_empty() {
        sentences.push(format!("Refused: {}.", denials.join("; ")));
    }
    sentences
}

/// A fact's value as text; an unknown one is its reason.
pub fn fact_text(name: &str, value: &FactValue) -> String {
    match value {
        FactValue::Text(text) if text.is_empty() => "(empty)".to_owned(),
        FactValue::Text(text) => text.clone(),
        FactValue::Integer(number) if name.ends_with("_bytes") => words::grouped(*number),
        FactValue::Integer(number) => number.to_string(),
        FactValue::Real(number) => number.to_string(),
        FactValue::Nanos(Nanos(0)) => "0 ns".to_owned(),
        FactValue::Nanos(span) => span.to_string(),
        FactValue::Flag(true) => "yes".to_owned(),
        FactValue::Flag(false) => "no".to_owned(),
        FactValue::List(items) if items.is_empty() => "none".to_owned(),
        FactValue::List(items) => items.join(", "),
        FactValue::Unknown(reason) => format!("unknown: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_record::file::{CrossCheck, Floor};
    use oversleep_record::testing::Sheet;

    #[test]
    fn names_the_machine() {
        let sheet = Sheet::linux()
            .text(FactName::KernelRelease, "6.18.5")
            .integer(FactName::CpuCount, 2)
            .text(FactName::CpuModel, "AMD EPYC ")
            .integer(FactName::CpuAllowed, 1)
            .text(FactName::VirtualisationHypervisor, "kvm")
            .text(FactName::ContainerKind, "none");
        assert_eq!(machine(&sheet.file), ["Linux 6.18.5 x86_64", "2 × AMD EPYC", "1 of them allowed", "kvm guest"]);
        assert_eq!(machine(&Sheet::linux().file), ["Linux x86_64"]);
    }

    #[test]
    fn an_emulator_is_said_wherever_its_processor_is() {
        let mut arm = Sheet::linux().text(FactName::ClocksourceCurrent, "arch_sys_counter");
        arm.file.platform.arch = "aarch64".into();
        assert_eq!(heading(&arm.file, "Clocks"), "Clocks");
        assert!(warnings(&arm.file).is_empty());
        let qemu = arm.text(FactName::ClocksourceCurrent, "tsc");
        assert_eq!(heading(&qemu.file, "Clocks"), "Clocks (under an emulator)");
        let [warning] = &warnings(&qemu.file)[..] else { panic!("one warning") };
        assert!(warning.starts_with("Measured under an emulator (a program for aarch64 on a kernel"), "{warning}");
    }

    #[test]
    fn wine_is_said_wherever_windows_is() {
        let windows = Sheet::windows().text(FactName::OsName, "Windows 11").integer(FactName::OsBuild, 22_631);
        assert_eq!(machine(&windows.file), ["Windows 11 x86_64", "build 22631"]);
        assert!(warnings(&windows.file).is_empty());
        let wine = windows.text(FactName::OsWineVersion, "8.0");
        assert_eq!(machine(&wine.file), ["Windows 11 x86_64", "build 22631", "played by Wine 8.0"]);
        assert_eq!(heading(&wine.file, "Clocks"), "Clocks (under Wine 8.0)");
        assert_eq!(
            warnings(&wine.file),
            [
                "Measured under Wine 8.0: these are Wine's figures on its host, not Windows'. Nothing is concluded about \
              Windows."
            ]
        );
    }

    #[test]
    fn the_floor_says_why_that_clock_stamps_and_how_another_saw_it() {
        let said = |chosen, difference_ns| {
            let witness = CrossCheck {
                clock: "oversleep-ordered".to_owned(),
                difference_ns: Nanos(difference_ns),
                uncertainty_ns: Nanos(40),
                window_ns: Nanos::from_secs(17),
            };
            let mut sheet = Sheet::linux();
            sheet.file.floor = Some(Floor {
                clock: "monotonic".to_owned(),
                read_cost_ps: 24_000,
                step_ns: Nanos(1),
                chosen: Some(chosen),
                cross_check: Some(witness),
            });
            floor(&sheet.file).expect("there is one")
        };
        assert_eq!(
            said(Chosen::DeadlineClock, -7),
            "Stamps (monotonic, the clock that deadlines are on) cost 24 ns and step 1 ns; never subtracted. Over 17 s \
             oversleep-ordered kept to it within 40 ns."
        );
        let asked_for = said(Chosen::Requested, 41);
        assert!(asked_for.starts_with("Stamps (monotonic, as asked for) cost"), "{asked_for}");
        assert!(asked_for.ends_with("Over 17 s oversleep-ordered went 41 ns further."), "{asked_for}");
        assert!(said(Chosen::Requested, -2_000).ends_with("fell 2 µs behind it."));
    }

    #[test]
    fn the_period_stands_beside_the_default() {
        let raised =
            Sheet::windows().span(FactName::TimerPeriodDefault, 15_625_000).span(FactName::TimerPeriodNow, 1_000_000);
        assert_eq!(timers(&raised.file).unwrap(), "Timer period 1 ms (default 15.6 ms)");
    }

    #[test]
    fn names_what_is_missing() {
        let missing_file = || FactValue::Unknown(Unavailable::missing("/sys/devices"));
        let sheet = Sheet::linux()
            .fact(FactName::CpufreqDriver, missing_file())
            .fact(FactName::CpufreqGovernor, missing_file())
            .fact(FactName::CpuTscHz, FactValue::Unknown(Unavailable::NotOnThisPlatform));
        assert_eq!(missing(&sheet.file), ["Not to be seen here: cpufreq.driver, cpufreq.governor."]);
    }

    #[test]
    fn a_model_and_an_interruption_are_said_first() {
        let mut file = Sheet::linux().file;
        assert!(warnings(&file).is_empty());
        assert_eq!(heading(&file, "Clocks"), "Clocks");
        file.platform.modelled = Some("windows-10-2004".into());
        file.completion = Completion::Interrupted;
        assert_eq!(warnings(&file).len(), 2);
        assert_eq!(heading(&file, "Clocks"), "Clocks (modelled: windows-10-2004)");
        assert!(run(&file).contains(&"18 s in virtual time".to_owned()));
    }
}
