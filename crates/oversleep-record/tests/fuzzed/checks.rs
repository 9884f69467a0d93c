//! Invariants for any bytes. The fuzz targets and the ordinary test beside this file call the same functions.
//!
//! Each returns whether the reader accepted the bytes, so that a run can count how many it did. A fuzz target makes one
//! check of each input, chosen by its bytes: three times as many inputs find more than all checks of each input.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use oversleep_record::stats::{median, share_of_rounds_lower, steadiness};
use oversleep_record::testing::{altered, damaged_text, made};
use oversleep_record::{Distribution, Nanos, ResultFile, Series, label};
use serde_json::Value;

/// What a target does with an input; whether the input got past parsing.
pub type Target = fn(&[u8], Checks) -> bool;

/// A target and its name.
pub const ALL: [(&str, Target); 4] =
    [("result_file", result_file), ("made", made_and_damaged), ("histogram", histogram), ("duration", duration)];

/// Which checks are made of an input.
#[derive(Clone, Copy, Debug)]
pub enum Checks {
    /// All of them.
    All,
    /// One, by its number.
    One(u8),
}

impl Checks {
    /// One that the bytes choose.
    pub fn chosen_by(bytes: &[u8]) -> Checks {
        Checks::One(bytes.iter().fold(bytes.len() as u8, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte)))
    }

    /// Whether the check of that number is made; there are `count`.
    fn include(self, number: u8, count: u8) -> bool {
        match self {
            Checks::All => true,
            Checks::One(chosen) => chosen % count == number,
        }
    }
}

/// Any bytes as a result file.
pub fn result_file(bytes: &[u8], checks: Checks) -> bool {
    match ResultFile::read(bytes) {
        Ok(file) => {
            holds(bytes, &file, checks);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// A result made and altered by the bytes is written and read back unchanged; or its text is damaged.
pub fn made_and_damaged(bytes: &[u8], checks: Checks) -> bool {
    let (making, changes) = bytes.split_at(bytes.len() / 2);
    let good = made(making);
    // One input in four: with more than an edit or two, the reader accepts hardly any.
    let damage =
        if bytes.first().is_some_and(|first| first % 4 == 3) { &changes[..changes.len().min(10)] } else { &[] };
    if !damage.is_empty() {
        return result_file(&damaged_text(good.write(), damage), checks);
    }
    let Some(file) = altered(good, changes) else { return false };
    let text = file.write();
    if checks.include(0, 2) {
        let read = ResultFile::read(&text).unwrap_or_else(|error| panic!("what was written is refused: {error}"));
        assert!(read.write() == text, "what was written is read as something else");
    }
    if checks.include(1, 2) {
        assert!(result_file(&text, checks), "what was written is refused");
    }
    true
}

/// Invariants for a file that was accepted.
fn holds(text: &[u8], file: &ResultFile, checks: Checks) {
    if checks.include(0, 3) {
        let written = file.write();
        let again = ResultFile::read(&written).unwrap_or_else(|error| panic!("what was written is refused: {error}"));
        // The first reading rounds a mean to a sum in whole units, so only later readings are equal.
        let twice = again.write();
        assert!(ResultFile::read(&twice).expect("as before").write() == twice);
    }
    if checks.include(1, 3) {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let document: Value = serde_json::from_slice(text).expect("it was read as JSON");
        for (place, series) in file.series.iter().enumerate() {
            let stated = &document["series"][place];
            is_of_payload(&series.distribution, &stated["distribution"]);
            if let Some(calls) = &series.calls_only {
                is_of_payload(calls, &stated["calls_only"]);
            }
        }
    }
    if checks.include(2, 3) {
        file.series.iter().for_each(report);
        for trial in &file.trials {
            for pair in &trial.pairs {
                let of = |key| file.series(key).expect("the reader checked it");
                let _ = share_of_rounds_lower(of(&pair.before), of(&pair.after));
            }
        }
    }
}

/// Every figure of a distribution is in its payload, as another implementation reads it.
fn is_of_payload(values: &Distribution, stated: &Value) {
    let positive = reference(stated.get("hdr_v2").or(stated.get("late_hdr_v2")));
    let negative = reference(stated.get("negative_hdr_v2").or(stated.get("early_hdr_v2")));
    let len = |histogram: &Option<Histogram<u64>>| histogram.as_ref().map_or(0, Histogram::len);
    assert_eq!(values.count(), len(&positive) + len(&negative));
    assert_eq!(values.early_count(), len(&negative));
    let held = |value: i64| {
        let histogram = if value < 0 { &negative } else { &positive };
        let magnitude = value.unsigned_abs();
        // Longer values count in the bucket of an hour.
        let magnitude = if magnitude >> 42 > 0 { 3_600_000_000_000 } else { magnitude };
        histogram.as_ref().is_some_and(|histogram| histogram.count_at(magnitude) > 0)
    };
    let shown = [values.min(), values.max(), values.p50(), values.p99(), values.quantile(0.999)];
    for value in shown.into_iter().flatten() {
        assert!(held(value), "{value} is shown and not in the payload");
    }
    // With the same total, equal counts in each of this crate's buckets prove equality. Iterating over the other
    // implementation's buckets takes a hundred times as long.
    for (value, count) in values.buckets() {
        let theirs = if value < 0 { &negative } else { &positive };
        assert_eq!(theirs.as_ref().map(|theirs| theirs.count_at(value.unsigned_abs())), Some(count), "{value}");
    }
}

fn reference(payload: Option<&Value>) -> Option<Histogram<u64>> {
    let bytes = STANDARD.decode(payload?.as_str()?).expect("it was read");
    Some(Deserializer::new().deserialize(&mut bytes.as_slice()).expect("it was read"))
}

/// Everything that a report reads from a series.
fn report(series: &Series) {
    let corrected = series.corrected();
    for values in [&series.distribution, series.calls()].into_iter().chain(&corrected) {
        for quantile in [0.0, 0.5, 0.99, 1.0] {
            let value = values.quantile(quantile);
            assert!(value >= values.min() && value <= values.max());
        }
        assert!(values.mean().is_none_or(f64::is_finite));
        assert!(values.count_above(0) <= values.count() && values.buckets().is_sorted());
    }
    let disturbance = series.disturbance();
    assert!(disturbance.share(disturbance.steal_ns).is_none_or(f64::is_finite));
    let samples: Vec<i64> = series.samples.value.iter().collect();
    for [first, length] in series.samples.missed_runs.iter() {
        assert_eq!(samples[first as usize..][..length as usize].len() as u64, length);
    }
    let _ = (steadiness(series), share_of_rounds_lower(series, series), median(&mut samples.clone()));
    let spans = [series.requested_ns, series.rounded_ns].into_iter().flatten();
    let _: String = spans.map(|span| format!("{span:>9} {span:.3} {}", span.round_up_to(span))).collect();
    let _ = (series.conditions.to_string(), series.label(label::WAY), series.has_values());
}

/// Counts as HdrHistogram V2 codes them, in a sound envelope with figures of its own: read as another implementation reads
/// them, or refused.
pub fn histogram(bytes: &[u8], checks: Checks) -> bool {
    let Some((&[kind, figure], counts)) = bytes.split_first_chunk() else { return false };
    let mut plain = 0x1c84_9313_u32.to_be_bytes().to_vec();
    let length = counts.len() as u32;
    plain.extend(if kind == 255 { length.wrapping_add(u32::from(figure)) } else { length }.to_be_bytes());
    plain.extend([0_u32, 3].map(u32::to_be_bytes).concat());
    plain.extend([1_u64, 3_600_000_000_000].map(u64::to_be_bytes).concat());
    plain.extend(1.0_f64.to_be_bytes());
    plain.extend(counts);
    // The other implementation trusts the stated length, and overflows on sums of counts beyond 2^63.
    let is_right = kind != 255 || figure == 0;
    let is_safe = is_right && !counts.windows(6).any(|bytes| bytes.iter().all(|&byte| byte >= 0x80));
    let theirs: Option<Histogram<u64>> =
        is_safe.then(|| Deserializer::new().deserialize(&mut plain.as_slice()).ok()).flatten();
    let compressed = flate2_stored(&plain);
    let mut payload = 0x1c84_9314_u32.to_be_bytes().to_vec();
    payload.extend((compressed.len() as u32).to_be_bytes());
    payload.extend(compressed);
    let mut form = serde_json::json!({ "count": 0, "hdr_v2": STANDARD.encode(payload) });
    if let Some(theirs) = theirs.as_ref().filter(|theirs| !theirs.is_empty()) {
        let steps: Vec<(u64, u64)> =
            theirs.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        let least = steps.first().map_or(0, |&(value, _)| theirs.lowest_equivalent(value));
        form["count"] = theirs.len().into();
        form["min"] = least.into();
        form["max"] = theirs.highest_equivalent(theirs.max()).into();
        // Its own mean overflows where counts are large.
        let sum: f64 = steps.iter().map(|&(value, count)| value as f64 * count as f64).sum();
        form["mean"] = (sum / theirs.len() as f64).min(theirs.max() as f64).into();
        form["p50"] = theirs.value_at_quantile(0.5).into();
    }
    let changed = ["min", "max", "p50", "mean", "count"].get(usize::from(kind));
    if let Some(name) = changed {
        form[*name] = (i64::from(figure) - 128).into();
    }
    let Ok(distribution) = serde_json::from_value::<Distribution>(form.clone()) else { return false };
    if checks.include(0, 3) {
        is_of_payload(&distribution, &form);
    }
    if checks.include(1, 3) {
        let mut sum = distribution.clone();
        sum.merge(&distribution);
        sum.record(i64::MAX);
        sum.record(i64::MIN);
        let _ = distribution.corrected_for_omission(100_000_000_000).map(|filled| (filled.p99(), filled.mean()));
    }
    // An empty histogram need not agree with the other implementation.
    let Some(theirs) = theirs.filter(|_| checks.include(2, 3)) else { return true };
    let written = serde_json::to_value(&distribution).expect("plain data is written");
    let mut bytes = Vec::new();
    let mut copy = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).expect("constant bounds");
    copy.add(theirs).expect("the same bounds");
    V2DeflateSerializer::new().serialize(&copy, &mut bytes).expect("writing to memory");
    assert_eq!(written["hdr_v2"].as_str(), Some(STANDARD.encode(bytes).as_str()));
    let back: Distribution = serde_json::from_value(written).expect("what was written is read");
    assert!(back == distribution || back.mean() != distribution.mean());
    true
}

/// The zlib form of bytes that are stored uncompressed.
fn flate2_stored(plain: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::none());
    zlib.write_all(plain).and_then(|()| zlib.finish()).expect("writing to memory")
}

/// Any text as a duration: it is read or refused, and a duration that was read prints as one again.
pub fn duration(bytes: &[u8], _: Checks) -> bool {
    let text = match bytes {
        // Random text hardly ever begins like this, and random letters are hardly ever a duration, so these bytes choose its
        // parts.
        [0x80..=0xff, parts @ ..] | [parts @ .., 0x80..=0xff] => composed(parts),
        _ => match str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return false,
        },
    };
    match text.parse::<Nanos>() {
        Ok(span) => {
            assert_eq!(format!("{}ns", span.0).parse(), Ok(span), "{text:?}");
            // Printing rounds to three digits; the printed form must still be readable.
            let printed = span.to_string();
            assert!(printed.parse::<Nanos>().is_ok() || span.0.unsigned_abs() > 1 << 62, "{text:?} → {printed:?}");
            let _ = (format!("{span:>12.2}"), span.round_up_to(Nanos(15_625_000)), span.to_std());
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// A text composed of the parts of a duration.
fn composed(bytes: &[u8]) -> String {
    let mut bytes = bytes.iter().copied();
    let mut below = |count: u8| usize::from(bytes.next().unwrap_or(0) % count);
    let mut text = ["", "-", "+", " "][below(4)].to_owned();
    let (whole, fraction) = (below(14), below(16).saturating_sub(9));
    text.extend((0..whole).map(|_| char::from(b"0123456789_"[below(11)])));
    text.push_str(if fraction > 0 { "." } else { "" });
    text.extend((0..fraction).map(|_| char::from(b"0123456789_"[below(11)])));
    text + ["ns", "us", "µs", "μs", "ms", "s", "m", "min", "h", " ms", "", "d"][below(12)]
}
