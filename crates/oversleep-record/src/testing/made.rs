//! Small results made from bytes, and damage to their text. A fuzzer that edits the bytes thereby edits results: most
//! of them are accepted, and each takes a few microseconds.

use super::damage::{Bytes, change};
use super::{Sheet, rounds_keeping};
use crate::environment::FactValue;
use crate::file::Completion;
use crate::{FactName, Nanos, ResultFile, Unavailable};

/// Keys of real experiments, so that findings and sections recognise the series.
pub(super) const KEYS: [&str; 40] = [
    "B5/nanosleep/1ms",
    "B5/poll/1ms",
    "B5/select/5ms",
    "C2/nanosleep/1ms/slack=1ns",
    "C2/nanosleep/1ms/slack=50us",
    "B5/sleep/1ms",
    "B5/timerfd/1ms",
    "A1/monotonic",
    "A1/tsc",
    "A1/std-instant",
    "B1/nanosleep/1ms/coarse",
    "B1/nanosleep/1ms/precise",
    "B2/nanosleep/1ms",
    "B3/monotonic-coarse",
    "B3/get-tick-count-64",
    "B4/usleep/1ms",
    "B5/futex/1ms",
    "B5/io-uring/1ms",
    "B5/so-rcvtimeo/1ms",
    "B5/waitable-timer-high-resolution/1ms",
    "B6/nanosleep/1ms/random",
    "B7/sched-yield/idle",
    "B8/nanosleep/1ms/policy=other",
    "B8/nanosleep/1ms/policy=fifo:1",
    "B9/nanosleep/1ms/load=spin:2",
    "B12/hybrid/1ms",
    "B12/spin/1ms",
    "C2/sleep/1ms/resolution=500us",
    "C2/sleep/1ms/resolution=1ms",
    "C3/sleep/1ms/neighbour=none",
    "C3/sleep/1ms/neighbour=1ms",
    "C3/resolution/stated/neighbour=1ms",
    "C5/nanosleep/wakeups/idle/slack=1ns",
    "C5/nanosleep/wakeups/sleeping/slack=1ns",
    "C6/waitable-timer-tolerant/tolerance=32ms/wakeups",
    "D1/blocked/coarse",
    "D1/blocked/precise",
    "D3/blocked/100us",
    "D4/futex/one-way",
    "D4/futex/ping-pong",
];

/// The most raw samples of a series: more would dominate its text without testing anything else.
const SAMPLES_MAX: usize = 6;

/// The result that these bytes make: up to four series of few values, and some facts. The reader accepts it.
pub fn made(bytes: &[u8]) -> ResultFile {
    let bytes = &mut Bytes(bytes);
    let mut sheet = Sheet::on(["linux", "windows", "macos", "plan9"][bytes.below(4)]);
    for _ in 0..bytes.below(4) {
        let name = FactName::ALL[bytes.below(FactName::ALL.len())];
        sheet = sheet.fact(name, value(bytes));
    }
    for _ in 0..bytes.below(5) {
        let key = KEYS[bytes.below(KEYS.len())];
        let values: Vec<i64> = (0..bytes.below(5)).map(|_| bytes.number()).collect();
        let mut series = rounds_keeping(key, &values, [1, 3, 20, 2_000][bytes.below(4)], SAMPLES_MAX);
        if bytes.below(4) == 0 {
            change(&mut series, bytes);
        }
        if bytes.below(4) == 0 {
            series.calls_only = Some(series.distribution.clone());
        }
        if sheet.file.series.iter().all(|other| other.key != series.key) {
            sheet = sheet.series(series);
        }
    }
    if bytes.below(4) == 1 {
        sheet.file.name = Some(bytes.text());
        sheet.file.completion = Completion::Interrupted;
    }
    sheet.file
}

/// The value of a fact.
pub(super) fn value(bytes: &mut Bytes<'_>) -> FactValue {
    match bytes.below(7) {
        0 => FactValue::Text(bytes.text()),
        1 => FactValue::Integer(bytes.number()),
        2 => FactValue::Real(bytes.number() as f64 / 7.0),
        3 => FactValue::Nanos(Nanos(bytes.number())),
        4 => FactValue::Flag(bytes.below(2) == 0),
        5 => FactValue::List((0..bytes.below(3)).map(|_| bytes.text()).collect()),
        _ => FactValue::Unknown(Unavailable::missing(bytes.text())),
    }
}

/// Damages a text: each edit consists of a place and an action. Without bytes the text stays as it is.
pub fn damaged_text(mut text: Vec<u8>, bytes: &[u8]) -> Vec<u8> {
    let bytes = &mut Bytes(bytes);
    while !bytes.0.is_empty() && !text.is_empty() {
        let (kind, place) = (bytes.next(), (bytes.next() << 8 | bytes.next()) % text.len());
        let end = (place + 1 + bytes.below(32)).min(text.len());
        match kind % 8 {
            0 => text[place] = bytes.next() as u8,
            1 => drop(text.drain(place..end)),
            2 => {
                let twice = text[place..end].to_vec();
                text.splice(place..place, twice);
            }
            3 => text.truncate(place),
            4 => {
                let twice = entry(&text, place).to_vec();
                text.splice(place..place, twice);
            }
            _ => {
                let number = bytes.number().to_string();
                let digits = digits_from(&text, place);
                text.splice(digits, number.into_bytes());
            }
        }
    }
    text
}

/// The first number at or after a position.
fn digits_from(text: &[u8], place: usize) -> std::ops::Range<usize> {
    let start = text[place..].iter().position(u8::is_ascii_digit).map_or(text.len(), |found| place + found);
    let end = text[start..].iter().position(|byte| !byte.is_ascii_digit()).map_or(text.len(), |found| start + found);
    start..end
}

/// The text up to and including the next comma.
fn entry(text: &[u8], place: usize) -> &[u8] {
    let end = text[place..].iter().position(|&byte| byte == b',').map_or(text.len(), |found| place + found + 1);
    &text[place..end]
}
