//! How runtimes round requests: the rule of each wait, early ends, and the meaning of zero.

use oversleep_record::finding::More;
use oversleep_record::series::Pace;
use oversleep_record::words::{counted, list, percent};
use oversleep_record::{Nanos, ResultFile, Series};

use crate::entry::{Checked, Conclusion};
use crate::figures::{is_gain, p50, summary};
use crate::remedies::runtimes::TRIED_THERE;
use crate::runtimes::rule::{Rule, Ruling, Zero};
use crate::runtimes::{RuntimeWait, waits};

fn measured(file: &ResultFile) -> Vec<(RuntimeWait<'_>, Ruling)> {
    waits(file).into_iter().filter_map(|wait| wait.ruling().ok().map(|ruling| (wait, ruling))).collect()
}

fn needs_rules(file: &ResultFile) -> Checked<Vec<(RuntimeWait<'_>, Ruling)>> {
    let all = measured(file);
    if !all.is_empty() {
        return Ok(all);
    }
    Err(Conclusion::lacks(match waits(file).iter().find_map(|wait| Some((wait.runtime, wait.clock_fault?))) {
        Some((runtime, fault)) => {
            format!("the clock of {runtime} {fault}, so the durations that it timed show nothing")
        }
        None => "no wait of a runtime was requested often enough. Run `oversleep runtimes`".to_owned(),
    }))
}

/// `Thread.sleep(ms) of java 17.0.15`.
pub(super) fn named(wait: &RuntimeWait<'_>) -> String {
    format!("{} of {}", wait.name, wait.runtime)
}

/// The request that shows a rule best: of those measured, the one that the rule changes most.
fn clearest<'a>(wait: &RuntimeWait<'a>, rule: Rule) -> Option<&'a Series> {
    let changed = |requested: &Nanos| (rule.rounded(*requested) - *requested).0.abs();
    let with_values =
        wait.requests().into_iter().filter(|&requested| wait.at(requested).is_some_and(Series::has_values));
    wait.at(with_values.max_by_key(changed)?)
}

/// A rule changes a request by a millisecond or so, which is nothing to one that is this long.
const LONG: Nanos = Nanos::from_millis(100);

/// Whether some request that was measured is short enough for a rule to matter, or none was measured.
fn matters(wait: &RuntimeWait<'_>) -> bool {
    let requests = wait.requests();
    requests.is_empty() || requests.iter().any(|requested| *requested < LONG)
}

fn took(series: &Series) -> String {
    let requested = series.requested_ns.unwrap_or_default();
    match series.pace {
        // What is due at a rate has a lateness and no length.
        Some(Pace::Periodic) if p50(series) < Nanos::ZERO => {
            format!("deadlines {requested} apart were {} early", -p50(series))
        }
        Some(Pace::Periodic) => format!("deadlines {requested} apart were {} late", p50(series)),
        _ => format!("{requested} took {}", requested + p50(series)),
    }
}

pub(super) fn of_rule(file: &ResultFile, rules: &[Rule]) -> Checked {
    let all = needs_rules(file)?;
    let of_rules: Vec<_> = all.iter().filter(|(_, ruling)| rules.contains(&ruling.rule)).collect();
    let found: Vec<_> = of_rules.iter().copied().filter(|(wait, _)| matters(wait)).collect();
    let Some((first, ruling)) = found.first() else {
        return Ok(Conclusion::absent(match of_rules.len() {
            0 => format!("none of {} does", counted(all.len(), "wait")),
            _ => format!("every request was {LONG} or longer"),
        }));
    };
    let example = clearest(first, ruling.rule);
    let figure = example.map(|series| format!(": {}", took(series))).unwrap_or_default();
    let exact = all
        .iter()
        .filter(|(wait, _)| wait.is_public())
        .find(|(wait, other)| wait.runtime == first.runtime && other.rule == Rule::Exact && !other.is_early());
    let cure = example.zip(exact).and_then(|(series, (wait, _))| {
        let same = wait.at(series.requested_ns?)?;
        let requested = same.requested_ns.filter(|_| same.pace != Some(Pace::Periodic))?;
        Some(format!("; {} for the same request took {}", wait.name, requested + p50(same)))
    });
    let sentence = format!("{} {}{figure}{}", named(first), ruling.rule, cure.unwrap_or_default());
    let conclusion = Conclusion::found(sentence).and_more(more(&found[1..]));
    let conclusion = advised(conclusion, found.iter().map(|(wait, _)| wait));
    Ok(found
        .iter()
        .filter_map(|(wait, ruling)| clearest(wait, ruling.rule))
        .take(12)
        .fold(conclusion, |all, series| all.rests_on(&series.key, summary(series))))
}

/// With what helps the first of these waits that has a cure, tried on a modelled machine.
fn advised<'a, 'b: 'a>(conclusion: Conclusion, found: impl Iterator<Item = &'a RuntimeWait<'b>>) -> Conclusion {
    let cure = found.filter_map(|wait| Some((wait, wait.helps()?))).next();
    match cure {
        Some((wait, helps)) => {
            let sentence = format!("For {} and 1 ms, tried here: {}", named(wait), helps.replace("; ", ", or "));
            conclusion.advising(&TRIED_THERE, sentence, None)
        }
        None => conclusion,
    }
}

/// A wait whose request was shorter than this, and that is late by more than the second, waited for a tick.
const SHORT: Nanos = Nanos::from_millis(2);
const TICK_MIN: Nanos = Nanos::from_millis(4);

/// The latest of its short requests.
fn latest_short<'a>(wait: &RuntimeWait<'a>) -> Option<&'a Series> {
    let short = wait.requests().into_iter().filter(|&requested| requested < SHORT);
    short.filter_map(|requested| wait.at(requested)).filter(|series| series.has_values()).max_by_key(|one| p50(one))
}

/// Waits that end at a timer interrupt, and the best wait of the same runtime.
pub(super) fn ticks(file: &ResultFile) -> Checked {
    let all = waits(file);
    let infos = oversleep_system::waits::of(&file.platform.os);
    let ends_at_tick = |wait: &RuntimeWait<'_>| {
        infos.iter().any(|info| Some(info.name) == wait.beneath.as_deref() && info.ends_at_tick())
    };
    let found: Vec<(&RuntimeWait<'_>, &Series)> = all
        .iter()
        .filter(|wait| wait.clock_fault.is_none() && ends_at_tick(wait))
        .filter_map(|wait| Some((wait, latest_short(wait)?)))
        .filter(|(_, series)| p50(series) >= TICK_MIN)
        .collect();
    let Some((wait, series)) = found.first() else {
        return match all.is_empty() {
            true => Err(Conclusion::lacks("no wait of a runtime was measured. Run `oversleep runtimes`")),
            false => Ok(Conclusion::absent(format!("none of {} does", counted(all.len(), "wait")))),
        };
    };
    let better = all
        .iter()
        .filter(|other| other.goes_with(wait) && other.clock_fault.is_none() && other.is_public())
        .filter_map(|other| Some((other, other.at(series.requested_ns?).filter(|one| one.has_values())?)))
        .filter(|(_, other)| is_gain(p50(series).0, p50(other).0))
        .min_by_key(|(_, other)| p50(other));
    let better = better.map_or_else(String::new, |(other, with)| {
        let request = with.requested_ns.unwrap_or_default();
        // Another version's call is no cure for a program of this one.
        let version = if other.runtime == wait.runtime { "" } else { &format!(" of {}", other.runtime) };
        format!("; {}{version} for the same request took {}", other.name, request + p50(with))
    });
    // A modelled machine tried what helps there: a setting, too, and a newer version. Its remedy says what.
    let better = if wait.helps().is_some() { String::new() } else { better };
    let others = found.len() - 1;
    let more = if others == 0 { String::new() } else { format!("; {others} more wait so") };
    // The figures come first: a narrow terminal shows no more of a long name than there is room for.
    let sentence = format!("{} in {}, which ends at a timer interrupt{better}{more}", took(series), named(wait));
    let conclusion = advised(Conclusion::found(sentence), found.iter().map(|(wait, _)| *wait));
    Ok(found.iter().take(12).fold(conclusion, |all, (_, series)| all.rests_on(&series.key, summary(series))))
}

/// Waits by runtime.
fn more(found: &[&(RuntimeWait<'_>, Ruling)]) -> Vec<More> {
    let mut all: Vec<More> = Vec::new();
    for (wait, _) in found {
        let runtime = wait.runtime.to_string();
        let name = wait.name.to_owned();
        match all.iter_mut().find(|more| more.runtime == runtime) {
            Some(more) => more.waits.push(name),
            None => all.push(More { runtime, waits: vec![name] }),
        }
    }
    all
}

pub(super) fn early(file: &ResultFile) -> Checked {
    let all = needs_rules(file)?;
    let found: Vec<_> = all.iter().filter(|(_, ruling)| ruling.is_early()).collect();
    let Some((first, ruling)) = found.first() else {
        return Ok(Conclusion::absent(format!("none of {} ended early often", counted(all.len(), "wait"))));
    };
    let (share, earliest) = (percent(ruling.early_share), Nanos(-ruling.earliest.0));
    let sentence = format!("{} ends early: {share} of {} waits, by up to {earliest}", named(first), ruling.count);
    Ok(Conclusion::found(sentence).and_more(more(&found[1..])))
}

pub(super) fn zero(file: &ResultFile) -> Checked {
    let all = waits(file);
    let told: Vec<_> = all.iter().filter_map(|wait| Some((wait, wait.zero()?))).collect();
    if told.is_empty() {
        return Err(Conclusion::lacks("no wait of a runtime was requested for 0. Run `oversleep runtimes`"));
    }
    let forever: Vec<String> =
        told.iter().filter(|(_, zero)| *zero == Zero::Forever).map(|(wait, _)| named(wait)).collect();
    match forever.is_empty() {
        true => Ok(Conclusion::absent(format!("{} returned from a request of 0", counted(told.len(), "wait")))),
        false => Ok(Conclusion::found(format!("a request of 0 never returns with some calls: {}", list(&forever)))),
    }
}
