//! What a modelled machine tells of itself.

use oversleep_record::Nanos;
use oversleep_record::environment::{Environment, FactValue};

use super::{Figures, lacks_high_resolution};
use crate::machines::MachineError;
use crate::machines::value::Value;
use crate::sim::{Reach, Timing};

/// Facts as the profile states them, and those that follow from its figures.
pub(super) fn stated(
    figures: &Figures<'_>,
    timing: &Timing,
    cpu_count: i64,
    seed: u64,
) -> Result<Environment, MachineError> {
    let mut facts = Environment::default();
    for (path, stated) in &figures.0.stated {
        let Some(name) = path.strip_prefix("facts.") else { continue };
        facts.set(name, fact(name, &stated.text).map_err(|why| figures.wrong(path, why))?, "model");
    }
    let mut set = |name: &str, value| facts.set(name, value, "model");
    // With these the run can be repeated from its file.
    set("model.name", FactValue::Text(figures.0.name.clone()));
    set("model.seed", i64::try_from(seed).map_or_else(|_| FactValue::Text(seed.to_string()), FactValue::Integer));
    if !figures.0.changes.is_empty() {
        set("model.set", FactValue::List(figures.0.changes.clone()));
    }
    set("cpu.count", FactValue::Integer(cpu_count));
    set("cpu.allowed", FactValue::Integer(cpu_count));
    match &timing.tick {
        Some(tick) => {
            set("timer.period_default_ns", FactValue::Nanos(tick.default_ns));
            set("timer.period_min_ns", FactValue::Nanos(tick.shortest_ns));
            set("timer.period_now_ns", FactValue::Nanos(tick.default_ns));
            if tick.is_hidden {
                set("timer.window_hidden", FactValue::Flag(true));
            }
            set("timer.requests_per_process", FactValue::Flag(tick.reach == Reach::Asker));
            let has_it = figures.missing("waitable-timer-high-resolution").is_none();
            set("timer.high_resolution", FactValue::Flag(has_it));
            set("qpc.frequency_hz", FactValue::Integer(figures.integer("frequencies.qpc")));
        }
        None if timing.wheel_ns > Nanos::ZERO => {
            let is_real_time = matches!(figures.value("scheduler.policy"),
                Some(Value::Policy(name, _)) if name == "fifo" || name == "rr");
            let slack = if is_real_time { Nanos::ZERO } else { timing.default_slack_ns };
            set("timer.slack_ns", FactValue::Nanos(slack));
            set("timer.default_slack_ns", FactValue::Nanos(timing.default_slack_ns));
            set("timer.hz", FactValue::Integer(figures.integer("timers.hz")));
            set("timer.high_resolution", FactValue::Flag(!lacks_high_resolution(figures, timing)));
            set("timer.coarse_step_ns", FactValue::Nanos(timing.wheel_ns));
            set("sched.policy", FactValue::Text(policy_name(figures)));
            set("sched.nice", FactValue::Integer(0));
            set("sched.rt_permitted", FactValue::Flag(true));
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

/// A fact of the kind its name and its text say.
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
