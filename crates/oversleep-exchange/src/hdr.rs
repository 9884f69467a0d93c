//! Files of HdrHistogram: interval logs (`hlog`), as jHiccup and many load generators write them, and percentile tables
//! (`hgrm`). <https://github.com/HdrHistogram/HdrHistogram>

use std::collections::BTreeMap;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use oversleep_record::series::{Quantity, Round, Unit};
use oversleep_record::{ExperimentId, Nanos, Series, SeriesKey, hdr_log, label};

use crate::draft::{Draft, EXPERIMENT, Values, lateness};
use crate::text::{Text, number, span_ns};
use crate::{Fault, Format};

/// The longest histogram that is unpacked: nine bytes for each bucket of the finest one, rounded up.
const PLAIN_BYTES_MAX: u64 = 64 << 20;
/// Bytes before the counts: cookie, their length, and more.
const HEADER_BYTES: usize = 40;
/// The first bytes of a compressed histogram of version 2, before its length.
const COMPRESSED_V2: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];
/// Fewest intervals that say how much the values vary, and the most that are kept as rounds, each of several then.
const ROUNDS: std::ops::RangeInclusive<usize> = 10..=4_096;

pub const LOG: Format = Format {
    name: "HdrHistogram log",
    knows: |text| {
        text.lines().take(64).any(|(_, line)| {
            line.starts_with("#[Histogram log format version")
                || line.starts_with("\"StartTimestamp\",\"Interval_Length\"")
        })
    },
    read: log,
};

/// The values of a tag, and its intervals in the order of the file.
#[derive(Default)]
struct Tagged {
    all: Values,
    rounds: Vec<Round>,
    open: Values,
    /// Intervals in `open`, when they begin and end, and when the last of them begins.
    taken: usize,
    begin_ns: i64,
    end_ns: i64,
    last_ns: i64,
}

impl Tagged {
    /// Begins a row; so many intervals are a round. The values below zero of an interval have a row of their own.
    fn row(&mut self, start_ns: i64, length_ns: i64, together: usize) {
        if self.taken == 0 || start_ns != self.last_ns {
            if self.taken == together {
                self.close();
            }
            if self.taken == 0 {
                (self.begin_ns, self.end_ns) = (start_ns, start_ns);
            }
            (self.taken, self.last_ns) = (self.taken + 1, start_ns);
        }
        self.end_ns = self.end_ns.max(start_ns.saturating_add(length_ns));
    }

    fn close(&mut self) {
        let window_ns = Nanos(self.end_ns.saturating_sub(self.begin_ns));
        self.rounds.push(std::mem::take(&mut self.open).round(Nanos(self.begin_ns), window_ns));
        self.taken = 0;
    }

    fn record(&mut self, line: usize, value: i64, count: u64) -> Result<(), Fault> {
        self.all.record(line, value, count)?;
        self.open.record(line, value, count)
    }

    /// The rounds, whose times begin at the origin.
    fn rounds(&mut self, origin_ns: i64) -> Vec<Round> {
        if self.taken > 0 {
            self.close();
        }
        let mut rounds = std::mem::take(&mut self.rounds);
        if !ROUNDS.contains(&rounds.len()) {
            return Vec::new();
        }
        rounds.iter_mut().for_each(|round| round.start_ns.0 -= origin_ns);
        rounds.sort_by_key(|round| round.start_ns);
        rounds
    }
}

/// `Tag=A,start,length,max,HISTF…`, the tag only where there is one.
fn log(text: &Text<'_>, mut draft: Draft) -> Result<Draft, Fault> {
    let is_row = |row: &str| !row.starts_with(['#', '"']);
    let together = text.lines().filter(|(_, row)| is_row(row)).count().div_ceil(*ROUNDS.end());
    let mut all: BTreeMap<String, Tagged> = BTreeMap::new();
    let (mut hiccups, mut quantities) = (false, BTreeMap::new());
    let (mut first_ns, mut last_ns) = (i64::MAX, i64::MIN);
    for (line, row) in text.lines() {
        if let Some(comment) = row.strip_prefix("#[") {
            let comment = comment.trim_end_matches(']');
            if let Some(version) = comment.strip_prefix("Logged with jHiccup version ") {
                hiccups = true;
                draft.imported.program = "jHiccup".to_owned();
                draft.imported.version = Some(version.trim().to_owned());
            }
            if let Some((tag, quantity)) = hdr_log::stated_quantity(comment) {
                let quantity = quantity.ok_or_else(|| Fault::Line(line, "its quantity is not known".to_owned()))?;
                quantities.insert(tag.to_owned(), quantity);
            }
            if let Some(start) = comment.strip_prefix("StartTime: ") {
                let start: f64 = number(line, start.split(' ').next().unwrap_or_default(), "a time in seconds")?;
                draft.taken_unix_s = Some(span_ns(line, start, 1.0)?);
            }
            continue;
        }
        if !is_row(row) {
            continue;
        }
        let (tag, rest) = match row.strip_prefix("Tag=") {
            Some(rest) => {
                rest.split_once(',').ok_or_else(|| Fault::Line(line, "nothing follows its tag".to_owned()))?
            }
            None => ("", row),
        };
        let fields: Vec<&str> = rest.split(',').collect();
        let [start, length, max, payload] = fields.as_slice() else {
            return Err(Fault::Line(line, "it doesn't have a start, a length, a maximum and a histogram".to_owned()));
        };
        let (start, length): (f64, f64) = (number(line, start, "a time")?, number(line, length, "a span")?);
        let (start_ns, length_ns) = (moment_ns(line, start)?, span_ns(line, length, 1e9)?);
        first_ns = first_ns.min(start_ns);
        last_ns = last_ns.max(start_ns.saturating_add(length_ns));
        let histogram = decoded(line, payload)?;
        // The log has it in ms, mostly more finely than the histogram.
        let stated = number::<f64>(line, max, "a maximum").map_or(0.0, |ms| (ms * 1e6).round().clamp(0.0, 1e18)) as u64;
        let is_max = histogram.equivalent(stated, histogram.max());
        let max = if is_max { stated } else { histogram.max() };
        let (name, is_early) = hdr_log::of_tag(tag);
        let values = all.entry(name.to_owned()).or_default();
        values.row(start_ns, length_ns, together);
        for step in histogram.iter_recorded() {
            let value = histogram.highest_equivalent(step.value_iterated_to()).min(max);
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            values.record(line, if is_early { -value } else { value }, step.count_since_last_iteration())?;
        }
    }
    if last_ns > first_ns {
        draft.duration_ns = last_ns.saturating_sub(first_ns);
        let first_s = first_ns / 1_000_000_000;
        draft.taken_unix_s = draft.taken_unix_s.or_else(|| (first_s > 1_000_000_000).then_some(first_s));
    }
    draft.note("Its values are nanoseconds, each within the precision of its histogram.");
    if hiccups {
        draft.note(
            "jHiccup adds the waits that a schedule would have seen during a long one, so its counts are larger than its waits.",
        );
    }
    for (tag, mut values) in all {
        let mut series = if hiccups { hiccup(&tag) } else { tagged(&tag) };
        series.quantity = quantities.get(&tag).copied().unwrap_or(series.quantity);
        series.rounds = values.rounds(first_ns);
        draft.add(series, values.all);
    }
    Ok(draft)
}

/// A time of the log in ns: since the Epoch, or since its own start.
fn moment_ns(line: usize, seconds: f64) -> Result<i64, Fault> {
    let ns = (seconds * 1e9).round();
    let is_time = (0.0..9e18).contains(&ns);
    if is_time { Ok(ns as i64) } else { Err(Fault::Line(line, format!("{seconds} is no time"))) }
}

fn hiccup(tag: &str) -> Series {
    let mut series = lateness(ExperimentId::B5, "jhiccup", None);
    if !tag.is_empty() {
        series.key = series.key.text("tag", tag);
        series.labels.set(label::VARIANT, tag.to_owned());
    }
    series
}

/// The series of a tag: a key of a result, or any word.
fn tagged(tag: &str) -> Series {
    let mut parts = tag.split('/');
    let experiment = parts.next().and_then(|id| id.parse::<ExperimentId>().ok());
    if experiment == Some(ExperimentId::TRIAL) {
        // The remedy.
        parts.next();
    }
    match (experiment, parts.next()) {
        (Some(experiment), Some(subject)) if !subject.is_empty() => {
            let mut series = lateness(experiment, subject, None);
            series.key = SeriesKey::from(tag);
            series.requested_ns = parts.next().and_then(|request| request.parse().ok());
            series
        }
        _ => {
            let mut series = Series::new(EXPERIMENT, "values", Quantity::Duration, Unit::Ns);
            if !tag.is_empty() {
                series.key = series.key.text("tag", tag);
                series.labels.set(label::VARIANT, tag.to_owned());
            }
            series
        }
    }
}

/// Unpacks a histogram of any precision. The lengths that it states take no memory: they are compared with its bytes first.
fn decoded(line: usize, payload: &str) -> Result<Histogram<u64>, Fault> {
    let fault = |what: &str| Fault::Line(line, format!("its histogram {what}"));
    let bytes = STANDARD.decode(payload.trim()).map_err(|_| fault("isn't base64"))?;
    let packed = bytes.strip_prefix(&COMPRESSED_V2).and_then(<[u8]>::split_first_chunk::<4>);
    let (length, compressed) = packed.ok_or_else(|| fault("isn't one of version 2, compressed"))?;
    if usize::try_from(u32::from_be_bytes(*length)) != Ok(compressed.len()) {
        return Err(fault("is damaged"));
    }
    let mut plain = Vec::new();
    ZlibDecoder::new(compressed).take(PLAIN_BYTES_MAX).read_to_end(&mut plain).map_err(|_| fault("is damaged"))?;
    let stated = plain.get(4..8).and_then(|length| length.try_into().ok()).map(u32::from_be_bytes);
    if stated.and_then(|length| usize::try_from(length).ok()) != plain.len().checked_sub(HEADER_BYTES) {
        return Err(fault("is damaged"));
    }
    Deserializer::new().deserialize(&mut plain.as_slice()).map_err(|_| fault("is damaged"))
}

pub const PERCENTILES: Format = Format {
    name: "HdrHistogram percentiles",
    knows: |text| text.lines().find(|(_, line)| !line.starts_with('#')).is_some_and(|(_, line)| is_head(line)),
    read: percentiles,
};

fn is_head(line: &str) -> bool {
    line.split_whitespace().eq(["Value", "Percentile", "TotalCount", "1/(1-Percentile)"])
}

/// One table, or several, each after the key of its series.
fn percentiles(text: &Text<'_>, mut draft: Draft) -> Result<Draft, Fault> {
    let mut tables: Vec<(String, Values)> = Vec::new();
    let (mut key, mut before, mut highest) = (String::new(), 0_u64, f64::NEG_INFINITY);
    for (line, row) in text.lines() {
        if let Some(comment) = row.strip_prefix('#') {
            if let Some(named) = comment.strip_prefix("[Series = ") {
                named.trim_end_matches(']').clone_into(&mut key);
            }
            continue;
        }
        if is_head(row) {
            tables.push((std::mem::take(&mut key), Values::default()));
            (before, highest) = (0, f64::NEG_INFINITY);
            continue;
        }
        // `0.071 0.750000000000       7530           4.00`
        let words: Vec<&str> = row.split_whitespace().collect();
        let ([value, _, count, ..], Some((_, values))) = (words.as_slice(), tables.last_mut()) else {
            return Err(Fault::Line(line, "it has too few columns".to_owned()));
        };
        let (value, count): (f64, u64) = (number(line, value, "a value")?, number(line, count, "a count")?);
        let further = count.checked_sub(before).filter(|_| value >= highest);
        let further = further.ok_or_else(|| Fault::Line(line, "it is below the line before it".to_owned()))?;
        values.record(line, span_ns(line, value, 1e6)?, further)?;
        (before, highest) = (count, value);
    }
    draft.note(
        "The file doesn't state its unit: milliseconds are assumed, as jHiccup and HistogramLogProcessor print them.",
    );
    draft.note("Values between two of its lines count as the higher one.");
    for (key, values) in tables {
        let series = tagged(&key);
        if draft.series.iter().any(|known| known.key == series.key) {
            return Err(Fault::Line(0, "two of its tables have one name".to_owned()));
        }
        draft.add(series, values);
    }
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_of_ours_names_a_wait_and_its_request() {
        for tag in ["B5/sleep/1ms", "B5/sleep/1ms/resolution=1ms", "trial/request-timer-resolution/sleep/1ms/before"] {
            let series = tagged(tag);
            assert_eq!((series.subject.as_str(), series.requested_ns), ("sleep", Some(Nanos::from_millis(1))), "{tag}");
            assert_eq!(series.key.as_str(), tag);
        }
        assert_eq!(tagged("read").subject, "values");
    }
}
