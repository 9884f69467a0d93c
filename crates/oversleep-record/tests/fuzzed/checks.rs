//! What holds of any bytes. The fuzz targets and the ordinary test beside this call the same functions.
//!
//! Each returns whether the bytes came past the reader, so that a run can count how many did.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use oversleep_record::stats::{median, share_of_rounds_lower, steadiness};
use oversleep_record::testing::{damaged_text, made};
use oversleep_record::{Distribution, Nanos, ResultFile, Series, label};
use serde_json::Value;

/// What a target does with an input; whether the input got past parsing.
pub type Target = fn(&[u8]) -> bool;

/// A target and its name.
pub const ALL: [(&str, Target); 4] =
    [("result_file", result_file), ("made", made_and_damaged), ("histogram", histogram), ("duration", duration)];

/// Any bytes as a result file.
pub fn result_file(bytes: &[u8]) -> bool {
    match ResultFile::read(bytes) {
        Ok(file) => {
            holds(bytes, &file);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// A result that bytes make is written and read back as the same; then its text is damaged.
pub fn made_and_damaged(bytes: &[u8]) -> bool {
    let (making, damage) = bytes.split_at(bytes.len() * 3 / 4);
    let file = made(making);
    let text = file.write();
    let read = ResultFile::read(&text).unwrap_or_else(|error| panic!("what was written is refused: {error}"));
    assert!(read.write() == text, "what was written is read as something else");
    // Half of them stay whole, and the others get an edit or two: with more, next to none comes past the reader.
    let edits = if bytes.first().is_some_and(|first| first % 2 == 1) { damage.len().min(10) } else { 0 };
    let text = damaged_text(text, &damage[..edits]);
    result_file(&text)
}

/// What holds of a file that was read.
fn holds(text: &[u8], file: &ResultFile) {
    let written = file.write();
    let again = ResultFile::read(&written).unwrap_or_else(|error| panic!("what was written is refused: {error}"));
    // The first reading rounds a mean to a sum in whole units, so only later ones are equal.
    assert!(ResultFile::read(&again.write()).expect("as before").write() == again.write());
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let document: Value = serde_json::from_slice(text).expect("it was read as JSON");
    for (place, series) in file.series.iter().enumerate() {
        let stated = &document["series"][place];
        is_of_payload(&series.distribution, &stated["distribution"]);
        if let Some(calls) = &series.calls_only {
            is_of_payload(calls, &stated["calls_only"]);
        }
        report(series);
    }
    for trial in &file.trials {
        for pair in &trial.pairs {
            let of = |key| file.series(key).expect("the reader checked it");
            let _ = share_of_rounds_lower(of(&pair.before), of(&pair.after));
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
    let buckets = |histogram: &Option<Histogram<u64>>| -> u64 {
        histogram.as_ref().map_or(0, |histogram| histogram.iter_recorded().count() as u64)
    };
    assert_eq!(values.buckets().count() as u64, buckets(&positive) + buckets(&negative));
}

fn reference(payload: Option<&Value>) -> Option<Histogram<u64>> {
    let bytes = STANDARD.decode(payload?.as_str()?).expect("it was read");
    Some(Deserializer::new().deserialize(&mut bytes.as_slice()).expect("it was read"))
}

/// Everything that a report asks of a series.
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
pub fn histogram(bytes: &[u8]) -> bool {
    let Some((&[kind, figure], counts)) = bytes.split_first_chunk() else { return false };
    let mut plain = 0x1c84_9313_u32.to_be_bytes().to_vec();
    let length = counts.len() as u32;
    plain.extend(if kind == 255 { length.wrapping_add(u32::from(figure)) } else { length }.to_be_bytes());
    plain.extend([0_u32, 3].map(u32::to_be_bytes).concat());
    plain.extend([1_u64, 3_600_000_000_000].map(u64::to_be_bytes).concat());
    plain.extend(1.0_f64.to_be_bytes());
    plain.extend(counts);
    // The other implementation takes a length at its word, and sums of counts beyond 2^63 make it overflow.
    let is_safe = kind != 255 && !counts.windows(6).any(|bytes| bytes.iter().all(|&byte| byte >= 0x80));
    let theirs: Option<Histogram<u64>> =
        is_safe.then(|| Deserializer::new().deserialize(&mut plain.as_slice()).ok()).flatten();
    let compressed = flate2_stored(&plain);
    let mut payload = 0x1c84_9314_u32.to_be_bytes().to_vec();
    payload.extend((compressed.len() as u32).to_be_bytes());
    payload.extend(compressed);
    let mut form = serde_json::json!({ "count": 0, "hdr_v2": STANDARD.encode(payload) });
    if let Some(theirs) = theirs.as_ref().filter(|theirs| !theirs.is_empty()) {
        let least = theirs.iter_recorded().next().map_or(0, |step| theirs.lowest_equivalent(step.value_iterated_to()));
        form["count"] = theirs.len().into();
        form["min"] = least.into();
        form["max"] = theirs.highest_equivalent(theirs.max()).into();
        // Its own mean overflows where counts are large.
        let sum = theirs.iter_recorded().map(|step| step.value_iterated_to() as f64 * step.count_at_value() as f64);
        form["mean"] = (sum.sum::<f64>() / theirs.len() as f64).min(theirs.max() as f64).into();
        form["p50"] = theirs.value_at_quantile(0.5).into();
    }
    let changed = ["min", "max", "p50", "mean", "count"].get(usize::from(kind));
    if let Some(name) = changed {
        form[*name] = (i64::from(figure) - 128).into();
    }
    let Ok(distribution) = serde_json::from_value::<Distribution>(form.clone()) else { return false };
    is_of_payload(&distribution, &form);
    let mut sum = distribution.clone();
    sum.merge(&distribution);
    sum.record(i64::MAX);
    sum.record(i64::MIN);
    let _ = distribution.corrected_for_omission(1_000_000_000).map(|corrected| (corrected.p99(), corrected.mean()));
    let written = serde_json::to_value(&distribution).expect("plain data is written");
    let back: Distribution = serde_json::from_value(written).expect("what was written is read");
    assert!(back == distribution || back.mean() != distribution.mean());
    let mut bytes = Vec::new();
    let mut copy = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).expect("constant bounds");
    copy.add(theirs.expect("it was read")).expect("the same bounds");
    V2DeflateSerializer::new().serialize(&copy, &mut bytes).expect("writing to memory");
    let ours = serde_json::to_value(&distribution).expect("plain data");
    assert_eq!(ours["hdr_v2"].as_str(), Some(STANDARD.encode(bytes).as_str()));
    true
}

/// What zlib makes of bytes that it doesn't compress.
fn flate2_stored(plain: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::none());
    zlib.write_all(plain).and_then(|()| zlib.finish()).expect("writing to memory")
}

/// Any text as a duration: it is read or refused, and a duration that was read prints as one again.
pub fn duration(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
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
