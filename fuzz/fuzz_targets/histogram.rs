//! Any counts in a well-formed envelope as a distribution. The target makes the envelope (bounds, compression, base64,
//! the total), so that the fuzzer reaches the code behind the checks on it. It reads one input in eight as the payload's
//! text instead.

#![no_main]

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use libfuzzer_sys::fuzz_target;
use oversleep_record::Distribution;

fuzz_target!(|input: (u8, i64, i64, f64, &[u8], Option<&[u8]>)| {
    let (kind, min, max, mean, late, early) = input;
    if kind % 8 == 0 {
        let text = String::from_utf8_lossy(late);
        read(&serde_json::json!({ "count": 0, "late_hdr_v2": text }));
        return;
    }
    let (late, late_count) = envelope(late);
    let early = early.map(envelope);
    let count = late_count.saturating_add(early.as_ref().map_or(0, |(_, count)| *count));
    let mut form = serde_json::json!({ "count": count, "late_hdr_v2": late });
    if let Some((early, _)) = early {
        form["early_hdr_v2"] = early.into();
    }
    if count > 0 {
        form["min"] = min.min(max).into();
        form["max"] = max.max(min).into();
        form["mean"] = mean.into();
    }
    read(&form);
});

/// `counts` as HdrHistogram V2 writes them, after a header with the schema's bounds; and their total.
fn envelope(counts: &[u8]) -> (String, u64) {
    let mut plain = Vec::new();
    plain.extend(0x1c84_9313_u32.to_be_bytes());
    plain.extend((counts.len() as u32).to_be_bytes());
    plain.extend(0_u32.to_be_bytes());
    plain.extend(3_u32.to_be_bytes());
    plain.extend(1_u64.to_be_bytes());
    plain.extend(3_600_000_000_000_u64.to_be_bytes());
    plain.extend(1.0_f64.to_be_bytes());
    plain.extend(counts);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(&plain).expect("writing to memory");
    let compressed = zlib.finish().expect("writing to memory");
    let mut payload = Vec::new();
    payload.extend(0x1c84_9314_u32.to_be_bytes());
    payload.extend((compressed.len() as u32).to_be_bytes());
    payload.extend(compressed);
    (STANDARD.encode(payload), total(counts))
}

/// The sum of the counts: LEB128 numbers of at most nine bytes, zig-zag coded, where a negative one is a run of zeros.
fn total(counts: &[u8]) -> u64 {
    let mut bytes = counts.iter();
    let mut sum = 0_u64;
    loop {
        let mut coded = 0_u64;
        for place in 0..9 {
            let Some(&byte) = bytes.next() else { return sum };
            if place == 8 {
                coded |= u64::from(byte) << 56;
                break;
            }
            coded |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                break;
            }
        }
        if coded & 1 == 0 {
            sum = sum.saturating_add(coded >> 1);
        }
    }
}

/// Reads the form, calls everything that a distribution offers, and reads back what it writes.
fn read(form: &serde_json::Value) {
    let Ok(distribution) = serde_json::from_value::<Distribution>(form.clone()) else { return };
    for quantile in [f64::NAN, -1.0, 0.0, 0.5, 0.99, 0.9999, 1.0, 2.0] {
        let value = distribution.quantile(quantile);
        assert_eq!(value.is_none(), distribution.is_empty());
        let _ = distribution.safe_quantile(quantile);
    }
    let held: u128 = distribution.buckets().map(|(_, count)| u128::from(count)).sum();
    assert_eq!(held, u128::from(distribution.count()));
    let _ = (distribution.mean(), distribution.count_above(0), distribution.early_count());
    let mut sum = distribution.clone();
    sum.merge(&distribution);
    sum.record(i64::MAX);
    sum.record(i64::MIN);
    // An hour in steps of a second: the correction may add a few thousand values, no more.
    let _ = distribution.corrected_for_omission(1_000_000_000).map(|corrected| (corrected.p99(), corrected.mean()));
    let written = serde_json::to_value(&distribution).expect("plain data is written");
    let back: Distribution = serde_json::from_value(written).expect("what was written is read");
    assert_eq!(back.count(), distribution.count());
    assert_eq!((back.min(), back.max()), (distribution.min(), distribution.max()));
}
