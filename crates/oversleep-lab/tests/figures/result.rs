//! A result as parts: the head, the facts, the clocks, their verdicts, and the parts from `series` and `findings`.
//!
//! Each type of the record is destructured with all its fields, so that a new field doesn't compile until it is a token
//! or is ignored by name. An unknown value is not a token: a field that no model fills changes nothing.

use std::collections::BTreeMap;

use oversleep_explain::verdicts::{ClockVerdict, clock_table};
use oversleep_record::clock::{Difference, Drift, Steps};
use oversleep_record::environment::{FactValue, PlatformId};
use oversleep_record::file::{CrossCheck, Floor};
use oversleep_record::{ClockResult, ResultFile};

use crate::stream::{Part, Stream};
use crate::{findings, series, words};

/// The series by key: each one's experiment and its index in that experiment. Keys are not tokens, since their spelling
/// may change.
pub type Places<'a> = BTreeMap<&'a str, String>;

/// All parts of a result, without empty ones.
pub fn parts(file: &ResultFile) -> Vec<Part> {
    let groups = series::groups(file);
    let mut places = Places::new();
    for (experiment, group) in &groups {
        for (place, series) in group.iter().enumerate() {
            places.insert(series.key.as_str(), format!("{experiment}/{place}"));
        }
    }
    let mut parts = vec![head(file, &groups), facts(file), clocks(file, &places), verdicts(file)];
    parts.extend(groups.iter().map(|(experiment, group)| series::part(*experiment, group)));
    parts.extend([series::trials(file, &places), findings::findings(file), findings::evidence(file, &places)]);
    parts.retain(|part| part.count > 0);
    parts
}

fn head(file: &ResultFile, groups: &[series::Group]) -> Part {
    let ResultFile {
        schema: _,
        tool: _,
        taken_unix_s,
        duration_ns,
        completion,
        command: _,
        depth: _,
        shared: _,
        name: _,
        platform,
        environment: _,
        floor,
        clocks: _,
        series: _,
        changes: _,
        changes_beyond: _,
        trials: _,
        // No model has programs to follow or files of others.
        observation: _,
        imported: _,
        findings: _,
    } = file;
    let PlatformId { os, arch, modelled } = platform;
    let mut stream = Stream::default();
    stream.line("platform").put(os).put(arch).some("modelled", modelled.as_ref());
    stream.line("run").put(duration_ns.0).put(words::completion(*completion)).some("taken", *taken_unix_s);
    if let Some(Floor { clock, read_cost_ps, step_ns, chosen, cross_check }) = floor {
        stream.line("floor").put(clock).put(read_cost_ps).put(step_ns.0).some("chosen", chosen.map(words::chosen));
        if let Some(CrossCheck { clock, difference_ns, uncertainty_ns, window_ns }) = cross_check {
            stream.line("witness").put(clock).all([difference_ns.0, uncertainty_ns.0, window_ns.0]);
        }
    }
    for (experiment, group) in groups {
        stream.line("experiment").put(experiment).put(group.len());
    }
    Part::new("head", stream, groups.len(), "experiments")
}

/// Names, numbers and single words. The source of a fact and values of several words are prose.
fn facts(file: &ResultFile) -> Part {
    let facts = &file.environment.facts;
    let mut stream = Stream::default();
    for (name, fact) in facts {
        let line = stream.line("fact").put(name);
        match &fact.value {
            FactValue::Text(text) => line.all(name_like(text)),
            FactValue::Integer(number) => line.put(number),
            FactValue::Real(ratio) => line.put(ratio),
            FactValue::Nanos(span) => line.put(span.0).put("ns"),
            FactValue::Flag(flag) => line.put(flag),
            FactValue::List(items) => line.all(items.iter().flat_map(|item| name_like(item))),
            FactValue::Unknown(reason) => line.put("unknown").put(words::unavailable(reason)),
        };
    }
    Part::new("facts", stream, facts.len(), "facts")
}

fn name_like(text: &str) -> Option<&str> {
    (!text.contains(char::is_whitespace)).then_some(text)
}

fn clocks(file: &ResultFile, places: &Places) -> Part {
    let mut stream = Stream::default();
    for clock in &file.clocks {
        let ClockResult {
            name,
            runtime: _,
            call: _,
            counts,
            epoch,
            unit,
            across_suspend,
            wraps_after_ns,
            unavailable,
            cost_series,
            example_raw,
            frequency_hz,
            stated_step_ns,
            differences,
            steps,
            drift,
        } = clock;
        stream.line("clock").put(name).put(words::counts(*counts)).put(words::epoch(*epoch)).put(unit);
        stream.put(words::across_suspend(*across_suspend)).some("wraps", wraps_after_ns.map(|span| span.0));
        stream.some("unavailable", unavailable.as_ref().map(words::unavailable));
        stream.some("cost", cost_series.as_ref().map(|key| &places[key.as_str()]));
        stream.some("raw", *example_raw).some("frequency", *frequency_hz);
        stream.some("stated", stated_step_ns.map(|span| span.0));
        for &Difference { reference_ns, indicated_ns } in differences {
            stream.line("  difference").all([reference_ns.0, indicated_ns.0]);
        }
        steps.iter().for_each(|steps| tell_steps(&mut stream, steps));
        if let Some(Drift { ppm, window_ns, uncertainty_ppm }) = drift {
            stream.line("  drift").put(ppm).put(window_ns.0).put(uncertainty_ppm);
        }
    }
    Part::new("clocks", stream, file.clocks.len(), "clocks")
}

fn tell_steps(stream: &mut Stream, steps: &Steps) {
    let Steps {
        reads,
        smallest_ns,
        median_ns,
        changes_per_second,
        backward_on_one_thread,
        backward_on_one_thread_ns,
        cross_cpu_reads,
        backward_across_cpus,
        backward_across_cpus_ns,
    } = *steps;
    stream.line("  steps").put(reads).some("least", smallest_ns.map(|span| span.0));
    stream.some("median", median_ns.map(|span| span.0)).some("per-second", changes_per_second);
    stream.put("backward").put(backward_on_one_thread).some("by", backward_on_one_thread_ns.map(|span| span.0));
    stream.put("across").all([cross_cpu_reads, backward_across_cpus]);
    stream.some("by", backward_across_cpus_ns.map(|span| span.0));
}

/// The table of clocks: which are valid, in its order.
fn verdicts(file: &ResultFile) -> Part {
    let table = clock_table(file);
    let mut stream = Stream::default();
    for row in &table.rows {
        let ClockVerdict {
            name,
            call: _,
            validity,
            reasons: _,
            caution: _,
            unavailable: _,
            cost_ps,
            ratio_to_fastest,
            step_ns,
            stated_step_ns: _,
            indicated_ratio,
            drift_ppm,
            counts: _,
            epoch: _,
            unit: _,
            wraps_after_ns: _,
            across_suspend: _,
        } = row;
        stream.line("clock").put(name).some("is", validity.map(words::validity)).some("cost", *cost_ps);
        stream.some("ratio", *ratio_to_fastest).some("step", step_ns.map(|span| span.0));
        stream.some("shows", *indicated_ratio).some("drift", *drift_ppm);
    }
    stream.line("fastest-valid").all(&table.fastest_valid);
    Part::new("verdicts", stream, table.rows.len(), "clocks")
}
