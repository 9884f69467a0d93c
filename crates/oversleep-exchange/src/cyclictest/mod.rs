//! cyclictest of rt-tests: `--json`, the histograms of `-h`, and the summaries of `-q`. All are in whole microseconds,
//! rounded down, unless `-N` is given. <https://wiki.linuxfoundation.org/realtime/documentation/howto/tools/cyclictest/start>

mod options;

use std::collections::BTreeMap;

use oversleep_record::environment::FactValue;
use oversleep_record::fact::FactName;
use oversleep_record::label;
use oversleep_record::series::Pace;
use oversleep_record::{ExperimentId, Nanos};
use serde::Deserialize;

use crate::draft::{Draft, Values, lateness};
use crate::text::{Text, number, span_ns};
use crate::{Fault, Format};
use options::Options;

const MICROSECOND_NS: i64 = 1_000;
const NOTE_UNIT: &str =
    "Its values are whole microseconds, rounded down: each counts as the largest value that it may have been.";
const NOTE_MISSED: &str = "cyclictest begins the next interval when a wake-up was later than a whole interval, so deadlines missed \
                           meanwhile are not among its values.";
const NOTE_INTERVAL: &str =
    "Nor does it state the interval, so only such files can be compared with it; `cyclictest --json` states both.";
const NOTE_CALL: &str = "The file doesn't state the command line, so cyclictest's default wait is assumed: clock_nanosleep with an \
                         absolute deadline on CLOCK_MONOTONIC.";

pub const JSON: Format = Format {
    name: "cyclictest JSON",
    knows: |text| {
        text.first().starts_with('{')
            && text.all().contains("\"rt_test_version:\"")
            && text.all().contains("cyclictest")
    },
    read: json,
};

#[derive(Deserialize)]
struct File {
    #[serde(rename = "cmdline:")]
    command_line: String,
    #[serde(rename = "rt_test_version:")]
    version: String,
    #[serde(default)]
    sysinfo: Option<System>,
    #[serde(default)]
    resolution_in_ns: u8,
    thread: BTreeMap<u32, Thread>,
}

#[derive(Deserialize)]
struct System {
    sysname: String,
    release: String,
    machine: String,
    #[serde(default)]
    realtime: u8,
}

#[derive(Deserialize)]
struct Thread {
    #[serde(default)]
    histogram: BTreeMap<i64, u64>,
    cycles: u64,
    min: i64,
    max: i64,
}

fn json(text: &Text<'_>, mut draft: Draft) -> Result<Draft, Fault> {
    let file: File = serde_json::from_str(text.all()).map_err(|error| Fault::Line(error.line(), error.to_string()))?;
    let options = Options::of(&file.command_line);
    draft.imported.version = Some(file.version);
    if let Some(system) = file.sysinfo {
        const PLACE: &str = "sysinfo";
        if system.sysname == "Linux" {
            draft.os = "linux";
        }
        draft.fact(FactName::KernelRelease, FactValue::Text(system.release), PLACE);
        draft.arch = system.machine;
        if system.realtime == 1 {
            draft.fact(FactName::KernelPreemption, FactValue::Text("rt".to_owned()), PLACE);
        }
    }
    let unit = Unit::in_ns(file.resolution_in_ns != 0);
    let mut threads = Vec::new();
    for thread in file.thread.values() {
        let mut values = Values::default();
        for (&value, &count) in &thread.histogram {
            values.record(0, unit.largest(0, value)?, count)?;
        }
        let rest = thread.cycles.checked_sub(values.count());
        let rest =
            rest.ok_or_else(|| Fault::Line(0, "a histogram holds more values than the thread has cycles".to_owned()))?;
        // Where there is no histogram, only the least value bounds the others.
        let from = if thread.histogram.is_empty() { thread.min } else { options.histogram.unwrap_or(thread.min) };
        values.beyond(0, rest, unit.least(0, from)?, Some(unit.largest(0, thread.max)?))?;
        threads.push(values);
    }
    state(draft, &options, unit, &threads)
}

/// The unit of a file's values.
#[derive(Clone, Copy)]
struct Unit {
    ns: i64,
}

impl Unit {
    fn in_ns(is_ns: bool) -> Unit {
        Unit { ns: if is_ns { 1 } else { MICROSECOND_NS } }
    }

    fn least(self, line: usize, value: i64) -> Result<i64, Fault> {
        span_ns(line, value as f64, self.ns as f64)
    }

    fn largest(self, line: usize, value: i64) -> Result<i64, Fault> {
        self.least(line, value).map(|least| least + self.ns - 1)
    }
}

pub const HISTOGRAM: Format = Format {
    name: "cyclictest histogram",
    knows: |text| {
        let mut lines = text.lines().skip_while(|(_, line)| line.starts_with('#') && *line != "# Histogram");
        lines.next().is_some_and(|(_, line)| line == "# Histogram")
            && lines.next().is_some_and(|(_, line)| is_row(line))
    },
    read: histogram,
};

/// `000013 000168 000009`.
fn is_row(line: &str) -> bool {
    let is_number = |word: &str| word.len() >= 6 && word.bytes().all(|byte| byte.is_ascii_digit());
    line.split_whitespace().count() >= 2 && line.split_whitespace().all(is_number)
}

fn histogram(text: &Text<'_>, draft: Draft) -> Result<Draft, Fault> {
    let mut threads: Vec<Values> = Vec::new();
    let (mut beyond, mut maxima, mut end): (Option<Vec<u64>>, Vec<i64>, i64) = (None, Vec::new(), 0);
    for (line, row) in text.lines() {
        if let Some(comment) = row.strip_prefix('#') {
            let Some((name, values)) = comment.split_once(':') else { continue };
            match name.trim() {
                "Histogram Overflows" => beyond = Some(numbers(line, values)?),
                "Max Latencies" => maxima = numbers(line, values)?,
                _ => {}
            }
            continue;
        }
        let mut words = row.split_whitespace();
        let value: i64 = number(line, words.next().unwrap_or_default(), "a number of microseconds")?;
        for (at, word) in words.enumerate() {
            if threads.len() == at {
                threads.push(Values::default());
            }
            let unit = Unit::in_ns(false);
            threads[at].record(line, unit.largest(line, value)?, number(line, word, "a number of values")?)?;
        }
        end = end.max(value + 1);
    }
    let Some(beyond) = beyond else {
        let what = "its end is missing: the line `# Histogram Overflows` says how many values lie beyond its last row";
        return Err(Fault::Line(0, what.to_owned()));
    };
    // The last column of `-H` is the sum of the others, and has no maximum.
    if !maxima.is_empty() {
        threads.truncate(maxima.len());
    }
    for (at, values) in threads.iter_mut().enumerate() {
        let max = maxima.get(at).map(|&max| Unit::in_ns(false).largest(0, max)).transpose()?;
        values.beyond(0, beyond.get(at).copied().unwrap_or(0), Unit::in_ns(false).least(0, end)?, max)?;
    }
    state(draft, &Options::unstated(), Unit::in_ns(false), &threads)
}

/// `00000 00001`.
fn numbers<T: std::str::FromStr>(line: usize, words: &str) -> Result<Vec<T>, Fault> {
    words.split_whitespace().map(|word| number(line, word, "a number")).collect()
}

pub const SUMMARY: Format = Format {
    name: "cyclictest summary",
    knows: |text| {
        let mut lines = text.lines().filter(|(_, line)| !line.starts_with('#') && !line.starts_with("policy:"));
        lines.next().is_some_and(|(_, line)| line.starts_with("T:") && line.contains(" C:") && line.contains("Max:"))
    },
    read: summary,
};

/// `T: 0 (1001) P:80 I:1000 C:   2000 Min:     10 Act:   22 Avg:   29 Max:     764`
fn summary(text: &Text<'_>, mut draft: Draft) -> Result<Draft, Fault> {
    // While it runs, cyclictest prints the same lines again and again: the last of a thread counts.
    let mut threads: BTreeMap<i64, (Options, Values)> = BTreeMap::new();
    let mut summaries = BTreeMap::new();
    for (line, row) in text.lines().filter(|(_, row)| row.starts_with("T:")) {
        let value = |name: &str| {
            let (_, rest) = row.split_once(name)?;
            rest.split_whitespace().next()
        };
        let field = |name: &str| -> Result<i64, Fault> {
            let word = value(name).ok_or_else(|| Fault::Line(line, format!("{name} is missing")))?;
            number(line, word, "a number")
        };
        let (unit, mut options) = (Unit::in_ns(false), Options::unstated());
        options.priority = field(" P:")?;
        options.interval_us = Some(field(" I:")?);
        let mut values = Values::default();
        let count = u64::try_from(field(" C:")?).map_err(|_| Fault::Line(line, "a count is negative".to_owned()))?;
        let (min, max, thread) = (field("Min:")?, field("Max:")?, field("T:")?);
        values.beyond(line, count, unit.least(line, min)?, Some(unit.largest(line, max)?))?;
        summaries.insert(
            thread,
            format!("Thread {thread}: {count} waits, {min} to {max} µs late, {} on average.", field("Avg:")?),
        );
        threads.insert(thread, (options, values));
    }
    draft.imported.notes.extend(summaries.into_values());
    draft.note("It has the extremes of each thread and no percentile; `-h 400` or `--json` records those.");
    let mut by_options: Vec<(Options, Vec<Values>)> = Vec::new();
    for (options, values) in threads.into_values() {
        match by_options.iter_mut().find(|(known, _)| known.interval_us == options.interval_us) {
            Some((_, all)) => all.push(values),
            None => by_options.push((options, vec![values])),
        }
    }
    by_options.iter().try_fold(draft, |draft, (options, values)| state(draft, options, Unit::in_ns(false), values))
}

/// Adds the series: one of all threads with the same interval, and one of each thread if there are several.
fn state(mut draft: Draft, options: &Options, unit: Unit, threads: &[Values]) -> Result<Draft, Fault> {
    draft.os = "linux";
    options.state(&mut draft);
    let notes = [
        (unit.ns > 1).then_some(NOTE_UNIT),
        Some(NOTE_MISSED),
        (!options.is_stated).then_some(NOTE_CALL),
        (!options.is_stated && options.interval_us.is_none()).then_some(NOTE_INTERVAL),
    ];
    notes.into_iter().flatten().for_each(|note| draft.note(note));
    let distance_us = options.distance_us();
    let request = |thread: i64| {
        let us = options.interval_us.map(|us| us.saturating_add(distance_us.saturating_mul(thread)));
        us.map(|us| span_ns(0, us as f64, 1e3).map(Nanos)).transpose()
    };
    let series = |request: Option<Nanos>| {
        let mut series = lateness(ExperimentId::B5, options.subject(), request);
        series.pace = Some(if options.is_relative() { Pace::BackToBack } else { Pace::Periodic });
        series.clock = options.clock().to_owned();
        series
    };
    let (mut all, first) = (Values::default(), draft.series.len());
    for (at, values) in (0..).zip(threads) {
        all.add(values);
        if threads.len() > 1 {
            let mut one = series(request(at)?);
            one.key = one.key.named("thread", at);
            one.labels.set(label::THREAD, at.to_string());
            draft.add(one, values.clone());
        }
    }
    if distance_us == 0 || threads.len() == 1 {
        draft.add(series(request(0)?), all);
        draft.series[first..].rotate_right(1);
    }
    Ok(draft)
}
