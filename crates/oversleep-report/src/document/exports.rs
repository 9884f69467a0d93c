//! Values in the forms that other programs read: logs and tables of HdrHistogram, buckets as CSV, and Bencher's figures.
//! They are written from the series of a result, so other subjects have none of them.

use std::io::{self, Write};

use oversleep_record::quantile_interval::of_quantile;
use oversleep_record::series::{Quantity, Unit};
use oversleep_record::words::counted;
use oversleep_record::{Distribution, Series, hdr_log};
use serde_json::{Map, Value, json};

use super::{Entry, Subject};
use crate::view::sheet::word;

/// The formats.
pub const EXPORTS: &[&Entry] = &[&HLOG, &HGRM, &BUCKETS, &BENCHER];

/// Nanoseconds in the unit of HdrHistogram's tables and of the maxima of its logs.
const MS_NS: f64 = 1e6;

/// An interval log, version 1.3. <https://github.com/HdrHistogram/HdrHistogram>
pub const HLOG: Entry = Entry {
    name: "hlog",
    extension: "hlog",
    media_type: "text/x-hdrhistogram-log",
    option: Some("a log of HdrHistogram, for its own programs and for whatever reads jHiccup's"),
    is_for_pipes: true,
    write: |subject, _, out| {
        let (series, others) = spans(subject)?;
        writeln!(out, "#[Written by oversleep {}]", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "#[Histogram log format version 1.3]")?;
        if series.is_empty() {
            writeln!(out, "#[{}]", nothing(others))?;
        } else if others > 0 {
            writeln!(out, "#[{} in other units than nanoseconds left out]", counted(others, "series"))?;
        }
        writeln!(out, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"")?;
        for series in series {
            let values = &series.distribution;
            let (start, end) = times(series);
            let (late, early) = values.payloads();
            let tag = hdr_log::tag(&series.key);
            let max = |of: Option<i64>| of.unwrap_or(0).max(0) as f64 / MS_NS;
            if series.quantity != Quantity::Lateness {
                writeln!(out, "#[{}]", hdr_log::quantity(&tag, series.quantity))?;
            }
            if let Some(beyond) = series.beyond {
                writeln!(
                    out,
                    "#[{} values of {tag}, of {} ns or more, have no known size and are not in it]",
                    beyond.count, beyond.from
                )?;
            }
            if values.count() > values.early_count() {
                writeln!(out, "Tag={tag},{start:.3},{end:.3},{:.6},{late}", max(values.recorded_max()))?;
            }
            if let Some(early) = early {
                let (tag, max) = (hdr_log::early_tag(&tag), max(values.min().map(|min| -min)));
                writeln!(out, "Tag={tag},{start:.3},{end:.3},{max:.6},{early}")?;
            }
        }
        Ok(())
    },
};

/// When a series began and how long it took, in seconds of the run.
fn times(series: &Series) -> (f64, f64) {
    let start = series.rounds.first().map_or(0.0, |round| round.start_ns.as_secs_f64());
    let last = series.rounds.last().map_or(0.0, |round| round.start_ns.as_secs_f64());
    (start, last - start)
}

/// The table that HdrHistogram's plotters read, one for each series: the value in ms up to each share of values.
pub const HGRM: Entry = Entry {
    name: "hgrm",
    extension: "hgrm",
    media_type: "text/x-hdrhistogram-percentiles",
    option: Some("tables of percentiles in ms, for plotters of HdrHistogram"),
    is_for_pipes: true,
    write: |subject, _, out| {
        let (series, others) = spans(subject)?;
        // A table without a line would look as if it had failed.
        if series.is_empty() {
            writeln!(out, "#[{}]", nothing(others))?;
        }
        for (at, series) in series.into_iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            percentiles(series, out)?;
        }
        Ok(())
    },
};

/// Why there is nothing to export.
fn nothing(others: usize) -> String {
    match others {
        0 => "The result has no values".to_owned(),
        others => format!("The result has values in other units than nanoseconds only: {}", counted(others, "series")),
    }
}

fn percentiles(series: &Series, out: &mut dyn Write) -> io::Result<()> {
    let values = &series.distribution;
    writeln!(out, "#[Series = {}]", series.key)?;
    writeln!(out, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    let total = values.count() + values.beyond().map_or(0, |beyond| beyond.count);
    let mut before = 0;
    for (value, count) in values.buckets() {
        before += count;
        let value = value.min(values.recorded_max().unwrap_or(value)) as f64 / MS_NS;
        write!(out, "{value:>12.6} {:>14.12} {before:>10}", before as f64 / total as f64)?;
        match total - before {
            0 => writeln!(out)?,
            rest => writeln!(out, " {:>14.2}", total as f64 / rest as f64)?,
        }
    }
    let figure = |found: Option<f64>| found.map_or_else(|| "unknown".to_owned(), |ns| format!("{:.6}", ns / MS_NS));
    writeln!(out, "#[Mean    = {:>12}]", figure(values.mean()))?;
    writeln!(out, "#[Max     = {:>12}, Total count    = {total:>12}]", figure(values.max().map(|max| max as f64)))
}

/// A line for each bucket of each series.
pub const BUCKETS: Entry = Entry {
    name: "buckets",
    extension: "buckets.csv",
    media_type: "text/csv",
    option: Some("CSV with a line for each bucket of values: its series, unit, highest value and count"),
    is_for_pipes: true,
    write: |subject, _, out| {
        write!(out, "key,unit,highest_value,count\r\n")?;
        for series in all(subject)? {
            let key = super::csv::quoted(series.key.as_str());
            let max = series.distribution.recorded_max();
            for (value, count) in series.distribution.buckets() {
                let value = max.map_or(value, |max| value.min(max));
                write!(out, "{key},{},{value},{count}\r\n", word(&series.unit))?;
            }
            if let Some(beyond) = series.beyond {
                let max = beyond.max.map(|max| max.to_string()).unwrap_or_default();
                write!(out, "{key},{},{max},{}\r\n", word(&series.unit), beyond.count)?;
            }
        }
        Ok(())
    },
};

/// Bencher's metric format: figures with their 99 % intervals. <https://bencher.dev/docs/reference/bencher-metric-format/>
pub const BENCHER: Entry = Entry {
    name: "bencher",
    extension: "bmf.json",
    media_type: "application/json",
    option: Some("figures with their intervals as Bencher reads them (its metric format)"),
    is_for_pipes: true,
    write: |subject, _, out| {
        let mut benchmarks = Map::new();
        for series in all(subject)? {
            let mut measures = Map::new();
            for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
                if let Some(measure) = measure(&series.distribution, share) {
                    measures.insert(format!("{}-{name}", word(&series.quantity).replace('_', "-")), measure);
                }
            }
            if !measures.is_empty() {
                benchmarks.insert(series.key.to_string(), Value::Object(measures));
            }
        }
        serde_json::to_writer_pretty(&mut *out, &benchmarks)?;
        writeln!(out)
    },
};

fn measure(values: &Distribution, share: f64) -> Option<Value> {
    let value = values.safe_quantile(share)?;
    Some(match of_quantile(values, share, 0) {
        Some(interval) => json!({ "value": value, "lower_value": interval.low, "upper_value": interval.high }),
        None => json!({ "value": value }),
    })
}

const NO_VALUES: &str = "only a result has values to export; `oversleep export RESULT --to FORMAT=FILE` writes those of one that was measured";

/// The series of a result that have values, of known size or not.
fn all(subject: &dyn Subject) -> io::Result<Vec<&Series>> {
    let none = || io::Error::new(io::ErrorKind::InvalidInput, NO_VALUES);
    let series = subject.series().ok_or_else(none)?;
    let has_values = |series: &&Series| !series.distribution.is_empty() || series.beyond.is_some();
    Ok(series.iter().filter(has_values).collect())
}

/// Those in nanoseconds, and how many others there are: these formats have no unit.
fn spans(subject: &dyn Subject) -> io::Result<(Vec<&Series>, usize)> {
    let (spans, others): (Vec<_>, Vec<_>) = all(subject)?.into_iter().partition(|series| series.unit == Unit::Ns);
    Ok((spans, others.len()))
}
