//! Results that no run would produce: a valid one with edits chosen by bytes. The same bytes make the same edits, so a
//! fuzzer can search for relevant ones, and an ordinary test can repeat them.
//!
//! The reader refuses nearly every file with flipped bytes. These edits preserve the form of the file, so that they
//! reach the code that works with results.

use serde_json::{Value, json};

use super::rounds_keeping;
use crate::series::{Pace, Series, Status};
use crate::{Nanos, ResultFile, SeriesKey, Unavailable};

/// The most series that are kept: few are enough to trigger a fault, and few are fast.
const SERIES_MAX: usize = 24;
/// The most raw samples of a series that is made from scratch.
const SAMPLES_MAX: usize = 40;
/// The most edits of one result.
const EDITS_MAX: usize = 12;

/// The limits of arithmetic, and typical measured numbers.
const NUMBERS: [i64; 16] = [
    0,
    1,
    -1,
    2,
    64,
    1_000,
    50_000,
    1_000_000,
    15_625_000,
    1_000_000_000,
    3_600_000_000_000,
    1 << 53,
    i64::MAX - 1,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];

/// Texts that might be interpreted as more than text, and words by which results are found.
const TEXTS: [&str; 20] = [
    "",
    " ",
    "-",
    "/",
    "a\nb\r\tc",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "&amp;'`",
    "\u{202e}turned\u{2066}",
    "e\u{301}\u{200b}日本語🕰",
    "NaN",
    "1e999",
    "-9223372036854775808",
    "18446744073709551616",
    "1ms",
    "nanosleep",
    "sleep",
    "monotonic",
    "fifo:80",
];

/// The source of edits; after its end, every byte is zero.
pub(super) struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    pub fn next(&mut self) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first.into()
    }

    pub fn below(&mut self, count: usize) -> usize {
        if count > 256 { (self.next() << 8 | self.next()) % count } else { self.next() % count.max(1) }
    }

    pub fn number(&mut self) -> i64 {
        let kind = self.next();
        match kind {
            0..128 => NUMBERS[kind % NUMBERS.len()],
            128..192 => NUMBERS[kind % NUMBERS.len()].wrapping_add(self.next() as i64 - 128),
            _ => (0..8).fold(0, |number, _| number << 8 | self.next() as i64) >> (kind % 64),
        }
    }

    pub fn text(&mut self) -> String {
        match self.next() {
            255 => "long ".repeat(400),
            choice => TEXTS[choice % TEXTS.len()].to_owned(),
        }
    }
}

/// A result made from some series of `good` with the edits in `bytes`; `None` if the reader refuses it.
pub fn damaged(good: &ResultFile, bytes: &[u8]) -> Option<ResultFile> {
    let mut bytes = Bytes(bytes);
    let mut file = ResultFile { series: some(&good.series, &mut bytes), ..without_series(good) };
    for _ in 0..bytes.next() % 4 {
        let count = file.series.len();
        if let Some(series) = file.series.get_mut(bytes.below(count)) {
            change(series, &mut bytes);
        }
    }
    let kept = |key: &SeriesKey| file.series.iter().any(|series| series.key == *key);
    file.trials.retain(|trial| trial.pairs.iter().all(|pair| kept(&pair.before) && kept(&pair.after)));
    let mut document = serde_json::to_value(&file).ok()?;
    for _ in 0..EDITS_MAX {
        if bytes.0.is_empty() {
            break;
        }
        edit(&mut document, &mut bytes);
    }
    ResultFile::read(&serde_json::to_vec(&document).ok()?).ok()
}

/// The result without its series, and without copying them.
fn without_series(good: &ResultFile) -> ResultFile {
    ResultFile {
        schema: good.schema.clone(),
        tool: good.tool.clone(),
        command: good.command.clone(),
        changes: good.changes.clone(),
        name: good.name.clone(),
        platform: good.platform.clone(),
        environment: good.environment.clone(),
        floor: good.floor.clone(),
        clocks: good.clocks.clone(),
        series: Vec::new(),
        trials: good.trials.clone(),
        observation: good.observation.clone(),
        imported: good.imported.clone(),
        findings: good.findings.clone(),
        ..*good
    }
}

/// Neighbouring series, because what is read together was measured together.
fn some(all: &[Series], bytes: &mut Bytes<'_>) -> Vec<Series> {
    let first = bytes.below(all.len());
    let (count, step) = (1 + bytes.below(SERIES_MAX), 1 + bytes.next() % 3);
    all.iter().cycle().skip(first).step_by(step).take(count.min(all.len() / step)).cloned().collect()
}

/// Changes that the reader would refuse in the document, because values have to fit their counts.
pub(super) fn change(series: &mut Series, bytes: &mut Bytes<'_>) {
    match bytes.next() % 6 {
        0 => series.status = Status::Unavailable { reason: Unavailable::missing(bytes.text()) },
        1 => series.requested_ns = Some(Nanos(bytes.number())),
        2 => series.rounded_ns = Some(Nanos(bytes.number())),
        3 => {
            series.pace =
                [None, Some(Pace::BackToBack), Some(Pace::Periodic), Some(Pace::RandomPhase)][bytes.next() % 4]
        }
        _ => {
            let values: Vec<i64> = (0..bytes.next() % 8).map(|_| bytes.number()).collect();
            let count = [0, 1, 2, 20, 200][bytes.next() % 5];
            let made = rounds_keeping("B5/any/1ms", &values, count, SAMPLES_MAX);
            series.distribution = made.distribution;
            series.samples = made.samples;
            series.rounds = made.rounds;
            series.calls_only = None;
            series.counts.recorded = made.counts.recorded;
            series.counts.early = made.counts.early;
        }
    }
}

/// One edit at a random place.
fn edit(document: &mut Value, bytes: &mut Bytes<'_>) {
    let place = somewhere(document, bytes);
    match place {
        Value::Null => *place = json!(bytes.number()),
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(number) if number.is_f64() => *place = json!(bytes.number() as f64),
        Value::Number(_) => *place = json!(bytes.number()),
        Value::String(text) => *text = bytes.text(),
        Value::Array(items) => edit_list(items, bytes),
        Value::Object(fields) => {
            let Some(name) = fields.keys().nth(bytes.below(fields.len())).cloned() else { return };
            let value = fields.remove(&name).unwrap_or_default();
            if bytes.next().is_multiple_of(2) {
                fields.insert(bytes.text(), value);
            }
        }
    }
}

/// Walks down the document to a random place.
fn somewhere<'a>(document: &'a mut Value, bytes: &mut Bytes<'_>) -> &'a mut Value {
    let mut place = document;
    loop {
        let inside = match place {
            Value::Array(items) => items.len(),
            Value::Object(fields) => fields.len(),
            _ => 0,
        };
        if inside == 0 || bytes.next().is_multiple_of(16) {
            return place;
        }
        let index = bytes.below(inside);
        place = match place {
            Value::Array(items) => &mut items[index],
            Value::Object(fields) => fields.values_mut().nth(index).expect("below their number"),
            _ => unreachable!("nothing is inside"),
        };
    }
}

fn edit_list(items: &mut Vec<Value>, bytes: &mut Bytes<'_>) {
    let (from, to) = (bytes.below(items.len()), bytes.below(items.len()));
    match bytes.next() % 5 {
        0 => items.clear(),
        1 => items.truncate(from),
        2 => items.reverse(),
        _ if items.is_empty() => {}
        3 => _ = items.remove(from),
        _ => {
            // A copy of an item under another's name, so that the name and the contents disagree.
            let mut copy = items[from].clone();
            for name in ["key", "name"] {
                if let Some(own) = items[to].get(name) {
                    copy[name] = own.clone();
                }
            }
            items[to] = copy;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sheet;
    use super::*;
    use crate::FactName;

    fn good() -> ResultFile {
        let keys = ["B5/nanosleep/1ms", "B5/poll/1ms", "B5/select/5ms", "C2/nanosleep/1ms/slack=1ns"];
        keys.iter().fold(Sheet::linux().text(FactName::CpuModel, "any"), |sheet, key| sheet.steady(key, 66_000)).file
    }

    #[test]
    fn without_bytes_nothing_is_damaged() {
        let good = good();
        let first = ResultFile { series: vec![good.series[0].clone()], ..good.clone() };
        assert_eq!(damaged(&good, &[]), Some(first));
    }

    #[test]
    fn most_edits_are_read_and_the_same_bytes_make_the_same() {
        let good = good();
        let mut state = 1_u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let (mut read, mut other) = (0, 0);
        for _ in 0..100 {
            let bytes: Vec<u8> = (0..24).map(|_| byte()).collect();
            let file = damaged(&good, &bytes);
            assert_eq!(file, damaged(&good, &bytes));
            read += u32::from(file.is_some());
            other += u32::from(file.is_some_and(|file| file.series.iter().any(|series| !good.series.contains(series))));
        }
        assert!(read >= 30 && other >= 15, "{read} of 100 are read, {other} with other series");
    }
}
