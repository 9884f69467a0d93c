//! Idle workers: which strategy suits this machine, and how much throughput a park costs.

use oversleep_record::finding::Severity;
use oversleep_record::queue_labels;
use oversleep_record::words::{grouped, list, percent};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::{observed, p50};
use crate::finding::{Check, FindingEntry};
use crate::idle::{ParkRule, Strategy, cores, fit, held_out, mean_park, off_in_words, rates, runs, strategies};
use crate::read::{BY_CHANCE, not_measured, sound};
use crate::remedies::linux::LOWER_TIMER_SLACK;
use crate::remedies::program::{BLOCK_INSTEAD_OF_PARKING, TIME_THE_PARKS};
use crate::remedies::windows::{REQUEST_TIMER_RESOLUTION, USE_HIGH_RESOLUTION_TIMER};

/// A strategy has collapsed if the fastest one passes this many times as many items.
const COLLAPSE_FACTOR: f64 = 3.0;
/// The largest share of a CPU that an idle worker should use.
const CORES_MAX: f64 = 0.25;
/// The share of the best throughput that a strategy must reach to be recommended.
const RATE_SHARE_MIN: f64 = 1.0 / COLLAPSE_FACTOR;
/// The rule is confirmed if half of the runs are within this factor.
const RULE_HOLDS_WITHIN: f64 = 1.3;
/// Rounds of a rate may differ by this factor: where both sides wake at one tick, it is random whether a queue passes
/// in one park or in two.
const ROUNDS_WITHIN: f64 = 3.0;

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-G012",
        name: "park-collapse",
        summary: "A back-off that parks loses most of its throughput where a park takes longer than a queue of work.",
        applies_to: "every operating system; worst on Windows, where a park ends at a timer interrupt",
        scope: Scope::Where(has_strategies),
        severity: Severity::Cost,
        meaning: "A worker that finds its queue empty, or full, parks for a microsecond or so. If that park takes longer than \
                  the other side needs to fill or empty the queue, both wait for each other in turn, and at most a queue of \
                  items passes in each park: throughput is Q / park, however fast the CPU is. A streaming engine that passed \
                  40 million items in 10 s on Windows with a timer resolution of 1 ms passed 20 million without it (J. \
                  Hamala, 2019).",
        how_we_know: "oversleep passes items through a bounded queue with each idle strategy and counts them, along with \
                      the parks and how long each took. A strategy that doesn't park shows what the CPU can do.",
        what_to_do: "Block on a condition variable, spin for longer than an item takes before you park, or time your \
                     parks and don't park where they take too long. A longer queue helps as much as a shorter park. On \
                     Windows, request a timer resolution of 1 ms while the pipeline is busy.",
        sources: &[
            "https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/util/concurrent/locks/LockSupport.html",
        ],
        remedies: &[
            &BLOCK_INSTEAD_OF_PARKING,
            &TIME_THE_PARKS,
            &REQUEST_TIMER_RESOLUTION,
            &USE_HIGH_RESOLUTION_TIMER,
            &LOWER_TIMER_SLACK,
        ],
        check: Check::Rule(collapse),
    },
    FindingEntry {
        id: "OVS-G013",
        name: "throughput-by-park",
        summary: "The throughput of a queue whose sides park is the smaller of the CPU's rate and Q / park.",
        applies_to: "every operating system",
        scope: Scope::Where(|file| !runs(file).is_empty()),
        severity: Severity::Note,
        meaning: "With short parks or a long queue, the CPU decides: so many items per second. With longer parks the \
                  queue runs empty, or full, before the other side wakes, and then each park passes one queue of items. \
                  Where both sides wake at the same tick, it is chance which one looks first. A worker that is first \
                  finds nothing, and its park was in vain, so a queue passes in one to two parks, and Q counts only for \
                  the parks that were not in vain. Where a queue's work takes about as long as a park, both limits \
                  matter, and the rule doesn't apply. What was published of a streaming engine (65 million items per 10 s \
                  on Linux, 20 million on a Windows machine, 40 million there with a timer resolution of 1 ms) implies an \
                  effective Q of 23 to 32 of its queues of 1,024 items. With parks of 1.7 ms that Q allows 14 million per \
                  second or more, so the 4 million were the CPU rate of the Windows machine.",
        how_we_know: "oversleep runs a back-off that parks at once with several sizes of the queue, and with parks as this \
                      machine makes them and put off to grids of 1 ms and 15.625 ms. It counts the parks in vain, and fits the \
                      CPU rate and the effective Q to what it measured. It also takes both figures from two runs alone and predicts the others.",
        what_to_do: "Work out the queue that you need: the CPU rate times the longest park on the machines you ship to. With \
                     4 million items per second and parks of 15.6 ms that is 62,000 items; with a resolution of 1 ms, 8,000.",
        sources: &[],
        remedies: &[],
        check: Check::Rule(throughput_rule),
    },
    FindingEntry {
        id: "OVS-G014",
        name: "idle-strategy",
        summary: "One idle strategy suits this machine best: it hands items over soon, takes little CPU time and costs no \
                  throughput.",
        applies_to: "every operating system",
        scope: Scope::Where(has_strategies),
        severity: Severity::Note,
        meaning: "A worker that waits for items trades latency for CPU time. Spinning hands an item over within a microsecond and \
                  takes a whole CPU. Parking takes next to none and adds the machine's shortest wait. A back-off spins, then \
                  yields, then parks, so what it does depends on how often items come. Blocking costs a system call on each side \
                  and no timer.",
        how_we_know: "oversleep sends items at fixed rates, counts each item's latency from when it was due, and reads the \
                      workers' CPU time. It recommends the strategy with the lowest p99 latency at the lowest rate among those \
                      that take at most a quarter of a CPU there and keep a third of the best throughput; where there are \
                      too few values for p99, it compares p90.",
        what_to_do: "Use the recommended strategy unless latency matters more than a CPU. Measure again on each kind of machine \
                     that you ship to: the best strategy on Linux can be the worst on Windows.",
        sources: &[],
        remedies: &[],
        check: Check::Rule(recommendation),
    },
];

fn has_strategies(file: &ResultFile) -> bool {
    file.experiment(ExperimentId::E1).next().is_some()
}

/// A rate of items in words: `3.9 million items/s`, `65,500 items/s`.
fn items(rate: f64) -> String {
    if rate >= 1e6 {
        format!("{:.1} million items/s", rate / 1e6)
    } else {
        format!("{} items/s", grouped(three_digits(rate)))
    }
}

fn three_digits(value: f64) -> i64 {
    let scale = 10_f64.powf((value.max(1.0).log10().floor() - 2.0).max(0.0));
    ((value / scale).round() * scale) as i64
}

/// Refuses a rate whose rounds disagree.
fn steady(file: &ResultFile, series: &Series) -> Checked<f64> {
    let medians: Vec<i64> = series.rounds.iter().filter_map(|round| round.median).filter(|&rate| rate > 0).collect();
    let (least, most) = (medians.iter().min(), medians.iter().max());
    let (Some(&least), Some(&most), Some(rate)) = (least, most, series.distribution.p50()) else {
        return Err(Conclusion::lacks(format!("{} has no rates. Use --thorough", series.key)));
    };
    if most as f64 > least as f64 * ROUNDS_WITHIN {
        let why = match file.platform.modelled {
            Some(_) => format!("{BY_CHANCE}. Use --thorough, or longer rounds with --for"),
            None => "so something else was using the machine. Close other programs or use --thorough".to_owned(),
        };
        return Err(Conclusion::disturbed(format!(
            "the rounds of {} disagree ({} to {}), {why}",
            series.key,
            items(least as f64),
            items(most as f64)
        ))
        .rests_on(&series.key, format!("{} to {}", items(least as f64), items(most as f64))));
    }
    Ok(rate as f64)
}

fn collapse(file: &ResultFile) -> Checked {
    let all = strategies(file);
    let flat_out: Vec<(&str, &Series)> = all.iter().filter_map(|one| Some((one.name, one.flat_out?))).collect();
    let rate = |series: &Series| series.distribution.p50().unwrap_or_default();
    let best = flat_out.iter().max_by_key(|(_, series)| rate(series));
    let parked = flat_out.iter().filter(|(_, series)| mean_park(series).is_some());
    let (Some((best, fastest)), Some((worst, slowest))) = (best, parked.clone().min_by_key(|(_, series)| rate(series)))
    else {
        return Err(not_measured(file, ExperimentId::E1, "a strategy that parks, flat out,"));
    };
    let (most, least) = (steady(file, fastest)?, steady(file, slowest)?);
    let park = mean_park(slowest).unwrap_or_default();
    let conclusion = if best != worst && most >= least * COLLAPSE_FACTOR {
        let others: Vec<&str> = parked
            .filter(|(name, series)| name != worst && rate(series) as f64 * COLLAPSE_FACTOR <= most)
            .map(|(name, _)| *name)
            .collect();
        let others = if others.is_empty() { String::new() } else { format!("; {} collapsed too", list(&others)) };
        Conclusion::found(format!(
            "parks of {park} cost {worst} {} of the throughput: it passed {}, and {best} {}{others}",
            percent(1.0 - least / most),
            items(least),
            items(most)
        ))
    } else {
        Conclusion::absent(format!(
            "no idle strategy loses its throughput here: {worst} passed {} with parks of {park}, and {best} {}",
            items(least),
            items(most)
        ))
    };
    Ok(conclusion.rests_on_series([*fastest, *slowest]).rests_on(&slowest.key, format!("mean park {park}")))
}

/// `min(4.0 million/s, 0.70 · Q / park)`.
fn in_words(rule: &ParkRule) -> String {
    let by_parks = rule.queue_share.map(|share| format!("{share:.2} · Q / park"));
    match (rule.cpu_rate.map(|rate| items(rate).replace(" items", "")), by_parks) {
        (Some(rate), Some(by_parks)) => format!("min({rate}, {by_parks})"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => "unknown".to_owned(),
    }
}

fn throughput_rule(file: &ResultFile) -> Checked {
    let runs = runs(file);
    for run in &runs {
        steady(file, run.series)?;
    }
    let rule = fit(&runs).ok_or_else(|| not_measured(file, ExperimentId::E2, "enough sizes of the queue"))?;
    let Some(left) = rule.residual(&runs) else {
        return Err(not_measured(file, ExperimentId::E2, "enough sizes of the queue"));
    };
    let rule_in_words = in_words(&rule);
    let conclusion = if left.median <= RULE_HOLDS_WITHIN {
        let held = held_out(&runs).map(|(_, _, held)| {
            format!("; from two of the runs alone it predicts the others within {}", off_in_words(held.worst))
        });
        Conclusion::found(format!(
            "throughput is {rule_in_words}: of {} runs, half are within {} of it, and all within {}{}",
            runs.len(),
            off_in_words(left.median),
            off_in_words(left.worst),
            held.unwrap_or_default()
        ))
    } else {
        Conclusion::absent(format!(
            "throughput does not follow {rule_in_words}, which fits best: half of {} runs are {} off it or more",
            runs.len(),
            off_in_words(left.median)
        ))
    };
    Ok(runs.iter().fold(conclusion, |all, run| {
        let park = run.park.map_or("no parks".to_owned(), |park| format!("parks of {park}"));
        all.rests_on(&run.series.key, format!("{}, {park}", items(run.rate)))
    }))
}

/// The highest percentile of a series that is supported by enough values.
fn tail(series: &Series) -> Option<(&'static str, i64)> {
    let at = |(name, share): (&'static str, f64)| Some((name, series.distribution.safe_quantile(share)?));
    [("p99", 0.99), ("p90", 0.9)].into_iter().find_map(at)
}

fn recommendation(file: &ResultFile) -> Checked {
    let all = strategies(file);
    let Some(&rate) = rates(&all).first() else {
        return Err(not_measured(file, ExperimentId::E1, "a strategy at a fixed rate"));
    };
    let item = all.iter().find_map(|one| one.at(rate)?.label(queue_labels::ITEM)).unwrap_or_default();
    let work = rate as f64 * item.as_secs_f64();
    if work >= 1.0 {
        return Err(Conclusion::lacks(format!(
            "no strategy can keep up with {} items/s of {item} of work each: a worker would need {} of a CPU. Use a lower \
             --rate or a shorter --item",
            grouped(rate),
            percent(work)
        )));
    }
    let best_rate = all.iter().filter_map(Strategy::rate).max();
    let keeps_up = |one: &&Strategy| match (one.rate(), best_rate) {
        (Some(rate), Some(best)) => rate as f64 >= best as f64 * RATE_SHARE_MIN,
        _ => true,
    };
    let tail = |series: &Series| tail(series).map_or_else(|| series.distribution.max(), |(_, value)| Some(value));
    let mut paced: Vec<(&Strategy, &Series, f64)> = all
        .iter()
        .filter(keeps_up)
        .filter_map(|one| Some((one, one.at(rate)?)))
        .filter_map(|(one, series)| Some((one, series, cores(series)?)))
        .collect();
    paced.sort_by_key(|(_, series, _)| tail(series));
    let Some(&(fastest, soonest, most)) = paced.first() else {
        return Err(not_measured(file, ExperimentId::E1, "the workers' CPU time"));
    };
    let thrifty = paced.iter().find(|(_, _, cores)| *cores <= CORES_MAX);
    let pressure = pressure(file);
    let again = if pressure.is_some() { "; measure it again while nothing else runs" } else { "" };
    let told = |series: &Series, cores: f64| {
        let tail = self::tail(series).map(|(name, value)| format!(" ({name} {})", Nanos(value)));
        format!("{}{} with {} of a CPU", p50(series), tail.unwrap_or_default(), percent(cores))
    };
    let Some(&(chosen, series, share)) = thrifty else {
        sound(soonest)?;
        let here = if pressure.is_some() { "on a machine as busy as this one" } else { "here" };
        let conclusion = Conclusion::found(format!(
            "only {} keeps up {here}{}, and it takes {} of a CPU: at {} items/s it hands an item over in {}{again}",
            fastest.name,
            in_brackets(pressure.as_deref()),
            percent(most),
            grouped(rate),
            told(soonest, most)
        ));
        return Ok(conclusion.rests_on_series([soonest]));
    };
    sound(series)?;
    let faster = match fastest.name == chosen.name {
        true => String::new(),
        false => format!("; {} takes {}", fastest.name, told(soonest, most)),
    };
    // A short report shows what stands before the colon.
    let machine = if pressure.is_some() { "a machine as busy as this one" } else { "this machine" };
    let conclusion = Conclusion::found(format!(
        "{} is the idle strategy for {machine}{}: at {} items/s it hands an item over in {}{faster}{again}",
        chosen.name,
        in_brackets(pressure.as_deref()),
        grouped(rate),
        told(series, share)
    ));
    let cited = [Some(series), (fastest.name != chosen.name).then_some(soonest), chosen.flat_out];
    Ok(conclusion.rests_on_series(cited.into_iter().flatten()))
}

/// From this share of the time with a waiting task on, a recommendation is for a busy machine.
const PRESSURE_MIN: f64 = 0.05;

/// How busy other programs kept the machine while strategies were measured: a recommendation holds for a machine as busy as
/// that.
fn pressure(file: &ResultFile) -> Option<String> {
    let idling = || file.experiment(ExperimentId::E1);
    let (pressed, window) = observed(idling(), |meanwhile| meanwhile.cpu_pressure_ns)?;
    let share = pressed.0 as f64 / (window.0 as f64).max(1.0);
    // The workers themselves wait for a CPU if there are more of them than CPUs.
    let others = observed(idling(), |meanwhile| meanwhile.other_cpu_ns).map(|(used, _)| used);
    let is_busy = share >= PRESSURE_MIN && others.is_none_or(|used| used * 2 >= pressed);
    is_busy.then(|| format!("{} CPU pressure", percent(share)))
}

fn in_brackets(words: Option<&str>) -> String {
    words.map(|words| format!(" ({words})")).unwrap_or_default()
}

#[cfg(test)]
mod tests;
