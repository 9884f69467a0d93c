//! The facts of a modelled machine.

use oversleep_record::environment::{Environment, FactValue};
use oversleep_record::{FactName, Nanos};

use super::{Figures, lacks_high_resolution};
use crate::machines::MachineError;
use crate::machines::value::Value;
use crate::sim::{Reach, Timing};

/// Facts that the profile states, and those that follow from its figures.
pub(super) fn stated(
    figures: &Figures<'_>,
    timing: &Timing,
    cpu_count: i64,
    seed: u64,
) -> Result<Environment, MachineError> {
    let mut facts = Environment::default();
    for path in figures.0.stated.keys() {
        let Some(name) = path.strip_prefix("facts.") else { continue };
        let known = FactName::find(name).ok_or_else(|| figures.wrong(path, format!("no fact is called {name}")))?;
        facts.set(known, fact(name, figures.text(path)).map_err(|why| figures.wrong(path, why))?, "model");
    }
    let mut set = |name, value| facts.set(name, value, "model");
    // With these, the run can be repeated from its file.
    set(FactName::ModelName, FactValue::Text(figures.0.name.clone()));
    set(
        FactName::ModelSeed,
        i64::try_from(seed).map_or_else(|_| FactValue::Text(seed.to_string()), FactValue::Integer),
    );
    if !figures.0.changes.is_empty() {
        set(FactName::ModelSet, FactValue::List(figures.0.changes.clone()));
    }
    set(FactName::CpuCount, FactValue::Integer(cpu_count));
    set(FactName::CpuAllowed, FactValue::Integer(cpu_count));
    match &timing.tick {
        Some(tick) => {
            set(FactName::TimerPeriodDefault, FactValue::Nanos(tick.default_ns));
            set(FactName::TimerPeriodMin, FactValue::Nanos(tick.shortest_ns));
            set(FactName::TimerPeriodNow, FactValue::Nanos(tick.default_ns));
            if tick.is_hidden {
                set(FactName::TimerWindowHidden, FactValue::Flag(true));
            }
            set(FactName::TimerRequestsPerProcess, FactValue::Flag(tick.reach == Reach::Requesters));
            let has_it = figures.missing("waitable-timer-high-resolution", "").is_none();
            set(FactName::TimerHighResolution, FactValue::Flag(has_it));
            set(FactName::QpcFrequencyHz, FactValue::Integer(figures.integer("frequencies.qpc")));
        }
        None if timing.wheel_ns > Nanos::ZERO => {
            let is_real_time = matches!(figures.value("scheduler.policy"),
                Some(Value::Policy(name, _)) if name == "fifo" || name == "rr");
            let slack = if is_real_time { Nanos::ZERO } else { timing.default_slack_ns };
            set(FactName::TimerSlack, FactValue::Nanos(slack));
            set(FactName::TimerDefaultSlack, FactValue::Nanos(timing.default_slack_ns));
            set(FactName::TimerHz, FactValue::Integer(figures.integer("timers.hz")));
            set(FactName::TimerHighResolution, FactValue::Flag(!lacks_high_resolution(figures, timing)));
            set(FactName::TimerCoarseStep, FactValue::Nanos(timing.wheel_ns));
            set(FactName::SchedPolicy, FactValue::Text(policy_name(figures)));
            set(FactName::SchedNice, FactValue::Integer(0));
            set(FactName::SchedRtPermitted, FactValue::Flag(true));
        }
        None => {}
    }
    Ok(facts)
}

fn policy_name(figures: &Figures<'_>) -> String {
    match figures.value("scheduler.policy") {
        Some(Value::Policy(name, _)) => name.clone(),
        _ => "other".to_owned(),
    }
}

/// A fact, whose kind follows from its name and text.
fn fact(name: &str, text: &str) -> Result<FactValue, String> {
    if name.ends_with("_ns") {
        return text.parse::<Nanos>().map(FactValue::Nanos).map_err(|error| error.to_string());
    }
    Ok(match (text, text.parse::<i64>()) {
        ("true", _) => FactValue::Flag(true),
        ("false", _) => FactValue::Flag(false),
        (_, Ok(number)) => FactValue::Integer(number),
        _ => FactValue::Text(text.to_owned()),
    })
}
