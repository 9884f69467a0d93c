//! Conditions for the laboratory, from the options.

use oversleep_lab::Laboratory;
use oversleep_lab::catalogue::Kind;
use oversleep_record::Conditions;
use oversleep_record::conditions::Setting;
use oversleep_system::NotASetting;
use oversleep_system::tunables::names as tunables;

use crate::args::ConditionArgs;
use crate::names;
use crate::refusal::Refusal;

/// The tunables that have an option of the same name.
pub const OPTIONS: [&str; 6] = [
    tunables::SLACK,
    tunables::RESOLUTION,
    tunables::POLICY,
    tunables::PIN,
    tunables::LOCK_MEMORY,
    tunables::DMA_LATENCY,
];

/// The requested conditions, validated for this platform.
pub fn conditions(lab: &Laboratory, args: &ConditionArgs) -> Result<Conditions, Refusal> {
    let options = [
        (tunables::SLACK, args.slack.map(Setting::Nanos)),
        (tunables::RESOLUTION, args.resolution.map(Setting::Nanos)),
        (tunables::POLICY, args.policy.clone()),
        (tunables::PIN, args.pin.as_ref().map(|list| Setting::Cpus(list.0.clone()))),
        (tunables::LOCK_MEMORY, args.lock_memory.then_some(Setting::Flag(true))),
        (tunables::DMA_LATENCY, args.dma_latency.map(Setting::Nanos)),
    ];
    let mut conditions = Conditions::as_found();
    for (tunable, setting) in options {
        let Some(setting) = setting else { continue };
        lab.validate(tunable, &setting).map_err(|error| refusal(lab, tunable, &error, &hint(lab, &error)))?;
        conditions = conditions.with(tunable, setting);
    }
    for tuned in &args.tune {
        conditions = with_tuned(lab, conditions, &tuned.name, &tuned.setting)?;
    }
    let kinds = args.load.iter().map(|load| load.kind.clone()).collect();
    names::checked(lab, Kind::Load, kinds)?;
    for load in &args.load {
        let hogs = load.hogs.unwrap_or_else(|| u32::try_from(lab.cpu_count()).unwrap_or(1).max(1));
        conditions = conditions.with_load(&load.kind, hogs);
    }
    Ok(conditions)
}

/// These conditions with one more tunable of the machine.
fn with_tuned(lab: &Laboratory, conditions: Conditions, name: &str, setting: &Setting) -> Result<Conditions, Refusal> {
    let known = names::of(lab, Kind::Tunable);
    if !known.contains(&name) {
        return Err(names::unknown("tunable", name, &known, None));
    }
    if let Some(other) = conditions.setting(name) {
        return Err(Refusal::usage(format!("{name} is given twice, as {other} and as {setting}; give it once")));
    }
    lab.validate(name, setting).map_err(|error| Refusal::usage(format!("can't use --tune {error}")))?;
    Ok(conditions.with(name, setting.clone()))
}

/// Settings of the resolution tunable, without duplicates, validated for this machine.
pub fn resolutions(lab: &Laboratory, settings: Vec<Setting>) -> Result<Vec<Setting>, Refusal> {
    let name = lab.resolution_tunable().map_or(tunables::RESOLUTION, |tunable| tunable.name);
    for setting in &settings {
        lab.validate(name, setting).map_err(|error| refusal(lab, "hold", &error, ""))?;
    }
    Ok(distinct(settings))
}

/// This system's name of the tunable that another calls `slack` or `resolution`.
fn hint(lab: &Laboratory, error: &NotASetting) -> String {
    match lab.resolution_tunable() {
        Some(here)
            if [tunables::SLACK, tunables::RESOLUTION].contains(&error.tunable.as_str())
                && here.name != error.tunable =>
        {
            match OPTIONS.contains(&here.name) {
                true => format!("; on this system, use --{}", here.name),
                false => format!("; on this system, use --tune {}=SETTING", here.name),
            }
        }
        _ => String::new(),
    }
}

/// Why a setting was refused, in terms of the command line.
fn refusal(lab: &Laboratory, option: &str, error: &NotASetting, hint: &str) -> Refusal {
    refusal_on(&lab.platform_id().os, option, error, hint)
}

fn refusal_on(os: &str, option: &str, error: &NotASetting, hint: &str) -> Refusal {
    let NotASetting { tunable, given, problem } = error;
    let shown = given.brief();
    let meant = match given {
        Setting::Policy { policy, .. } => {
            let tunables = oversleep_system::tunables::of(os).iter().filter(|info| info.name == tunable);
            let words: Vec<&str> = tunables.flat_map(|info| info.words).map(|word| word.name).collect();
            if words.contains(&policy.as_str()) { None } else { names::nearest(policy, &words) }
        }
        _ => None,
    };
    Refusal::usage(match meant {
        Some(meant) => format!("can't use --{option} {shown}: did you mean '{meant}'? Otherwise {problem}{hint}"),
        None => format!("can't use --{option} {shown}: {problem}{hint}"),
    })
}

/// Each value once, in the order in which they were typed.
pub(crate) fn distinct<T: PartialEq>(values: Vec<T>) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use oversleep_record::{Nanos, Unavailable};

    use super::*;

    #[test]
    fn an_error_shows_what_would_be_right() {
        let policy = |policy: &str, priority| {
            let given = Setting::Policy { policy: policy.to_owned(), priority };
            refusal_on("linux", "policy", &NotASetting::expecting("policy", &given, "fifo:1 to fifo:99"), "")
                .to_string()
        };
        assert_eq!(policy("fifo", 800), "can't use --policy fifo:800: give fifo:1 to fifo:99");
        assert_eq!(policy("fofo", 0), "can't use --policy fofo: did you mean 'fifo'? Otherwise give fifo:1 to fifo:99");
        let missing = Unavailable::no_hardware("CPU 7");
        let cpu = refusal_on("linux", "pin", &NotASetting::unavailable("pin", &Setting::Cpus(vec![7]), missing), "");
        assert_eq!(cpu.to_string(), "can't use --pin 7: no CPU 7");
    }

    #[test]
    fn each_request_is_measured_once() {
        let ms = Nanos::from_millis(1);
        assert_eq!(distinct(vec![ms, Nanos(300_000), ms]), [ms, Nanos(300_000)]);
    }
}
