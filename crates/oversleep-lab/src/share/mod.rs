//! A copy of a result for others: figures of the machine, and nothing that identifies a person or a host.
//!
//! [`share`] builds a new result from an allowlist (in `words`). Everything unknown is left out: names that users gave,
//! paths, command lines, error messages, serial numbers, exact times, raw readings of clocks.

mod observed;
mod reliability;
mod series;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use oversleep_record::environment::{Environment, Fact, FactValue, PlatformId};
use oversleep_record::file::{CrossCheck, Floor, Imported, SCHEMA, Tool};
use oversleep_record::shared::{LeftOut, Shared};
use oversleep_record::trial::{Trial, TrialPair};
use oversleep_record::{ClockResult, FactName, ResultFile, SeriesKey, Unavailable};

use observed::Observed;

/// The date suffices to distinguish results; an exact time could be matched with a log.
const DAY_S: i64 = 86_400;
/// The replacement for a text that is left out.
const LEFT_OUT: &str = "left out";

/// The copy for others. It can be read like any result, and its readers compute findings again.
pub fn share(file: &ResultFile) -> ResultFile {
    // Series of observed programs have the names of these in their keys, and so have those of their trials.
    let own = file.series.iter().filter(|_| file.observation.is_none());
    let mut series: Vec<_> = own.filter_map(series::shared).collect();
    let Observed { series: observed, observation, keys: renamed } = observed::shared(file);
    series.extend(observed);
    let clocks: Vec<ClockResult> = file.clocks.iter().filter_map(|seen| clock(&file.platform.os, seen)).collect();
    let environment = environment(&file.environment);
    let keys: BTreeSet<&SeriesKey> = series.iter().map(|series| &series.key).collect();
    let trials = file.trials.iter().filter_map(|trial| self::trial(trial, &renamed, &keys)).collect();
    let earlier = file.shared.map(|shared| shared.left_out).unwrap_or_default();
    let left_out = LeftOut {
        samples: file
            .series
            .iter()
            .fold(earlier.samples, |sum, series| sum.saturating_add(series.samples.len() as u64)),
        series: earlier
            .series
            .saturating_add((file.series.len() - series.len() + file.clocks.len() - clocks.len()) as u64),
        facts: earlier.facts.saturating_add((file.environment.facts.len() - environment.facts.len()) as u64),
    };
    ResultFile {
        schema: SCHEMA.to_owned(),
        tool: Tool {
            name: "oversleep".to_owned(),
            version: words::version(&file.tool.version).unwrap_or_else(|| "0".to_owned()),
        },
        taken_unix_s: file.taken_unix_s.map(|taken| taken.saturating_sub(taken.rem_euclid(DAY_S))),
        duration_ns: file.duration_ns,
        completion: file.completion,
        command: words::command(&file.command),
        depth: file.depth,
        shared: Some(Shared { left_out, ..reliability::of(file) }),
        name: None,
        platform: PlatformId {
            os: words::system(&file.platform.os),
            arch: words::system(&file.platform.arch),
            modelled: file.platform.modelled.as_deref().map(words::model),
        },
        environment,
        floor: file.floor.as_ref().and_then(floor),
        clocks,
        series,
        changes: Vec::new(),
        changes_beyond: 0,
        trials,
        observation,
        imported: file.imported.as_ref().and_then(imported),
        findings: Vec::new(),
    }
}

/// How reliable a result is: the note in a shared copy.
pub fn note(file: &ResultFile) -> Shared {
    reliability::of(file)
}

/// The listed facts, each reduced to its known words: what an archive keeps of a machine.
pub fn environment(all: &Environment) -> Environment {
    let mut kept = Environment::default();
    for (name, fact) in &all.facts {
        let Some(name) = FactName::find(name) else { continue };
        if let Some(value) = fact_value(name, &fact.value) {
            kept.facts.insert(name.into(), Fact { value, source: LEFT_OUT.to_owned() });
        }
    }
    kept
}

fn fact_value(name: FactName, value: &FactValue) -> Option<FactValue> {
    Some(match value {
        FactValue::Text(text) => FactValue::Text(words::of_fact(name, text)?),
        FactValue::List(items) => {
            let kept: Vec<String> = items.iter().filter_map(|item| words::of_fact(name, item)).collect();
            if kept.is_empty() && !items.is_empty() {
                return None;
            }
            FactValue::List(kept)
        }
        FactValue::Unknown(reason) => FactValue::Unknown(self::reason(reason)),
        FactValue::Integer(_) | FactValue::Real(_) | FactValue::Nanos(_) | FactValue::Flag(_) => value.clone(),
    })
}

/// The kind of a reason, because its text may name a file, a group or a program.
fn reason(reason: &Unavailable) -> Unavailable {
    match reason {
        Unavailable::NotOnThisPlatform | Unavailable::NotMeasured => reason.clone(),
        Unavailable::TooOld { .. } => Unavailable::TooOld { needs: "a later version".to_owned() },
        Unavailable::NotPermitted { .. } => {
            Unavailable::not_permitted("it", "the shared result leaves out what allows it")
        }
        Unavailable::NoHardware { .. } => Unavailable::no_hardware("such hardware"),
        Unavailable::Missing { .. } => Unavailable::missing("what it needs"),
        Unavailable::Failed { .. } => Unavailable::failed("a call", "it failed; the shared result leaves out why"),
        Unavailable::Nonsense { .. } => Unavailable::Nonsense { what: LEFT_OUT.to_owned() },
    }
}

/// The program that measured, if oversleep knows it.
fn imported(imported: &Imported) -> Option<Imported> {
    Imported::PROGRAMS.contains(&imported.program.as_str()).then(|| Imported {
        program: imported.program.clone(),
        version: imported.version.as_deref().and_then(words::version),
        format: imported.program.clone(),
        notes: Vec::new(),
    })
}

fn floor(floor: &Floor) -> Option<Floor> {
    let is_known = |clock: &&CrossCheck| words::is_name(&clock.clock);
    words::is_name(&floor.clock)
        .then(|| Floor { cross_check: floor.cross_check.as_ref().filter(is_known).cloned(), ..floor.clone() })
}

/// A clock of a system or a runtime, without its example value, which reveals when the machine was booted.
fn clock(os: &str, clock: &ClockResult) -> Option<ClockResult> {
    let mut described = oversleep_system::clocks::of(os).iter().filter(|_| clock.runtime.is_none());
    let described = described.find(|described| described.name == clock.name)?;
    Some(ClockResult {
        name: described.name.to_owned(),
        runtime: None,
        call: described.call.to_owned(),
        unit: described.unit.name().to_owned(),
        unavailable: clock.unavailable.as_ref().map(reason),
        cost_series: clock.cost_series.clone().filter(series::is_key),
        example_raw: None,
        ..clock.clone()
    })
}

/// A trial of a known remedy, if all of its series are present.
fn trial(trial: &Trial, renamed: &BTreeMap<&SeriesKey, SeriesKey>, keys: &BTreeSet<&SeriesKey>) -> Option<Trial> {
    oversleep_explain::remedy(&trial.remedy)?;
    let key = |own: &SeriesKey| {
        let key = renamed.get(own).unwrap_or(own);
        keys.contains(key).then(|| key.clone())
    };
    let pair = |pair: &TrialPair| Some(TrialPair { before: key(&pair.before)?, after: key(&pair.after)? });
    let pairs = trial.pairs.iter().map(pair).collect::<Option<_>>()?;
    Some(Trial { remedy: trial.remedy.clone(), conditions: series::conditions(&trial.conditions)?, pairs })
}
