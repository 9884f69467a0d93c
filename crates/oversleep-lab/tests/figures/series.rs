//! Series and trials: the requests, the conditions, and every resulting number.

use oversleep_record::conditions::{LoadSpec, Outcome};
use oversleep_record::series::{Counts, Round};
use oversleep_record::split::LatenessSplit;
use oversleep_record::trial::{Trial, TrialPair};
use oversleep_record::{
    Conditions, Distribution, Disturbance, ExperimentId, Idling, ProcessorState, ResultFile, Series,
};

use crate::result::Places;
use crate::stream::{Part, Stream};
use crate::words;

/// An experiment's id and its series in their order.
pub type Group<'a> = (ExperimentId, Vec<&'a Series>);

/// The series of each experiment, in the order in which the experiments begin.
pub fn groups(file: &ResultFile) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for series in &file.series {
        match groups.iter_mut().find(|(experiment, _)| *experiment == series.experiment) {
            Some((_, group)) => group.push(series),
            None => groups.push((series.experiment, vec![series])),
        }
    }
    groups
}

/// All of an experiment's series.
pub fn part(experiment: ExperimentId, group: &[&Series]) -> Part {
    let mut stream = Stream::default();
    for (place, series) in group.iter().enumerate() {
        tell(&mut stream, place, series);
    }
    Part::new(&format!("series/{experiment}"), stream, group.len(), "series")
}

fn tell(stream: &mut Stream, place: usize, series: &Series) {
    let Series {
        key: _,
        experiment,
        subject,
        runtime: _,
        quantity,
        unit,
        requested_ns,
        rounded_ns,
        pace,
        clock,
        conditions,
        labels,
        status,
        // The rounds show it.
        settled: _,
        company,
        counts,
        distribution,
        calls_only,
        samples,
        rounds,
        split,
        // No model has a kernel to follow.
        why: _,
        observed: _,
        beyond: _,
        idling,
    } = series;
    stream
        .line("series")
        .put(place)
        .put(experiment)
        .put(subject)
        .put(words::quantity(*quantity))
        .put(words::unit(*unit));
    stream.some("requested", requested_ns.map(|span| span.0)).some("asked", rounded_ns.map(|span| span.0));
    stream.some("pace", pace.map(words::pace)).put("clock").put(clock).put(words::status(status));
    if let Some(company) = company {
        stream.line("  company").put(company);
    }
    tell_conditions(stream, conditions);
    // The values of labels distinguish series; their names, and therefore their order, may change.
    let mut labels: Vec<&str> = labels.iter().map(|(_, value)| value).collect();
    labels.sort();
    stream.line("  labels").all(labels);
    let Counts { expected, recorded, missed, early, backward, interrupted } = *counts;
    stream.line("  counts").some("expected", expected).all([recorded, missed, early, backward, interrupted]);
    tell_distribution(stream, "all", distribution);
    if let Some(calls) = calls_only {
        tell_distribution(stream, "calls", calls);
    }
    stream.line("  starts").all(&samples.start_ns);
    stream.line("  values").all(&samples.value);
    stream.line("  missed").all(samples.missed_runs.iter().flatten()).put("beyond").put(samples.beyond_cap);
    for Round { start_ns, count, median, p90: _, p99: _, disturbance } in rounds {
        stream.line("  round").put(start_ns.0).put(count).some("median", *median);
        tell_disturbance(stream, disturbance);
    }
    if let Some(split) = split {
        tell_split(stream, split);
    }
    if let Some(idling) = idling {
        tell_idling(stream, idling);
    }
}

fn tell_conditions(stream: &mut Stream, conditions: &Conditions) {
    let Conditions { requested, outcomes, load } = conditions;
    for (name, setting) in requested {
        let stream = stream.line("  condition").put(name).put(words::setting(setting));
        match outcomes.get(name) {
            Some(Outcome::Applied { was, now }) => {
                stream.put("held").put(words::setting(now)).some("was", was.as_ref().map(words::setting))
            }
            Some(Outcome::AlreadySo { is }) => stream.put("already").put(words::setting(is)),
            Some(Outcome::Denied { why }) => stream.put("denied").put(words::unavailable(why)),
            None => stream,
        };
    }
    for LoadSpec { kind, hogs } in load {
        stream.line("  load").put(kind).put(hogs);
    }
}

fn tell_distribution(stream: &mut Stream, word: &str, distribution: &Distribution) {
    stream.line("  distribution").put(word).put(distribution.count()).put(distribution.early_count());
    stream.some("min", distribution.min()).some("max", distribution.max()).some("mean", distribution.mean());
    stream.some("p50", distribution.p50()).some("p99", distribution.p99());
    stream.line("  buckets");
    for (value, count) in distribution.buckets() {
        stream.put(value).put(count);
    }
}

fn tell_disturbance(stream: &mut Stream, disturbance: &Disturbance) {
    let Disturbance {
        window_ns,
        steal_ns,
        cpu_pressure_ns,
        other_cpu_ns,
        run_delay_ns,
        voluntary_switches,
        involuntary_switches,
        minor_faults,
        major_faults,
        throttled_ns,
        throttled_periods,
        timer_interrupts,
        all_interrupts,
        own_cpu_ns,
        // These follow from the other figures.
        stalled_ns: _,
        suspended_ns: _,
        processor,
    } = *disturbance;
    stream.put("window").put(window_ns.0);
    for (word, span) in [
        ("steal", steal_ns),
        ("pressure", cpu_pressure_ns),
        ("others", other_cpu_ns),
        ("delay", run_delay_ns),
        ("throttled", throttled_ns),
        ("own", own_cpu_ns),
    ] {
        stream.some(word, span.map(|span| span.0));
    }
    for (word, count) in [
        ("voluntary", voluntary_switches),
        ("involuntary", involuntary_switches),
        ("minor", minor_faults),
        ("major", major_faults),
        ("throttles", throttled_periods),
        ("timer", timer_interrupts),
        ("interrupts", all_interrupts),
    ] {
        stream.some(word, count);
    }
    tell_processor(stream, &processor);
}

fn tell_processor(stream: &mut Stream, processor: &ProcessorState) {
    let ProcessorState {
        clock_min_hz,
        clock_max_hz,
        limit_min_permille,
        limit_max_permille,
        temperature_max_millicelsius,
        thermal_pressure,
        thermal_throttles,
        thermal_throttled_ns,
    } = *processor;
    stream.some("rate-min", clock_min_hz).some("rate-max", clock_max_hz);
    stream.some("limit-min", limit_min_permille).some("limit-max", limit_max_permille);
    stream.some("heat", temperature_max_millicelsius).some("heat-is", thermal_pressure.map(words::pressure));
    stream.some("heat-throttles", thermal_throttles);
    stream.some("heat-throttled", thermal_throttled_ns.map(|span| span.0));
}

fn tell_split(stream: &mut Stream, split: &LatenessSplit) {
    let LatenessSplit {
        attributed_count,
        unattributed_count,
        total,
        timer,
        run_queue,
        wake_return,
        awake_before,
        method: _,
    } = split;
    stream.line("  split").put(attributed_count).put(unattributed_count);
    for (word, distribution) in
        [("total", total), ("timer", timer), ("run-queue", run_queue), ("return", wake_return), ("awake", awake_before)]
    {
        tell_distribution(stream, word, distribution);
    }
}

fn tell_idling(stream: &mut Stream, idling: &Idling) {
    let Idling { window_ns, items, cpu_ns, spins, yields, blocks, parked_ns, vain_parks, park_overshoot } = idling;
    stream.line("  idling").put(window_ns.0).put(items).some("cpu", cpu_ns.map(|span| span.0));
    stream.all([spins, yields, blocks]).put(parked_ns.0).some("vain", *vain_parks);
    tell_distribution(stream, "parks", park_overshoot);
}

/// Remedies tried, and on which series.
pub fn trials(file: &ResultFile, places: &Places) -> Part {
    let mut stream = Stream::default();
    for Trial { remedy, conditions, pairs } in &file.trials {
        stream.line("trial").put(remedy);
        tell_conditions(&mut stream, conditions);
        for TrialPair { before, after } in pairs {
            stream.line("  pair").put(&places[before.as_str()]).put(&places[after.as_str()]);
        }
    }
    Part::new("trials", stream, file.trials.len(), "trials")
}
