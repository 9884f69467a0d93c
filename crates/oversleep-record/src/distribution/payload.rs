//! HdrHistogram's V2 compressed payload in base64, the form other tools read and write.
//!
//! Reading checks the header before a histogram is allocated: a file can't make the reader take more memory than a
//! histogram of our own would.

use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use super::{HIGHEST, SIGNIFICANT_DIGITS, empty_histogram};

/// First bytes of an uncompressed V2 histogram.
const COOKIE_V2: u32 = 0x1c84_9313;
/// First bytes of a compressed one.
const COOKIE_V2_COMPRESSED: u32 = 0x1c84_9314;
/// Longest V2 header plus counts of a histogram with our bounds: 9 bytes at most per bucket.
const UNCOMPRESSED_MAX: u64 = 1 << 20;

/// Why a payload can't be read.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// Not base64.
    #[error("histogram payload is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// It doesn't begin like a compressed V2 histogram.
    #[error("histogram payload is not HdrHistogram V2 (compressed)")]
    NotV2,
    /// Its bounds differ from those this schema uses.
    #[error("histogram payload has other bounds than 1 to 3.6e12 at 3 significant digits")]
    OtherBounds,
    /// The compressed data is damaged.
    #[error("histogram payload is damaged: {0}")]
    Damaged(String),
}

pub(super) fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("writing to memory does not fail");
    STANDARD.encode(bytes)
}

pub(super) fn decode(text: &str) -> Result<Histogram<u64>, PayloadError> {
    let bytes = STANDARD.decode(text)?;
    let compressed = bytes.get(8..).ok_or(PayloadError::NotV2)?;
    if be_u32(&bytes, 0) != Some(COOKIE_V2_COMPRESSED) {
        return Err(PayloadError::NotV2);
    }
    let mut plain = Vec::new();
    ZlibDecoder::new(compressed)
        .take(UNCOMPRESSED_MAX)
        .read_to_end(&mut plain)
        .map_err(|error| PayloadError::Damaged(error.to_string()))?;
    // Header: cookie, payload length, normalizing offset, significant digits, lowest and highest value, ratio.
    let digits = be_u32(&plain, 12).ok_or(PayloadError::NotV2)?;
    let lowest = be_u64(&plain, 16).ok_or(PayloadError::NotV2)?;
    let highest = be_u64(&plain, 24).ok_or(PayloadError::NotV2)?;
    if be_u32(&plain, 0) != Some(COOKIE_V2) {
        return Err(PayloadError::NotV2);
    }
    if digits != u32::from(SIGNIFICANT_DIGITS) || lowest != 1 || highest != HIGHEST {
        return Err(PayloadError::OtherBounds);
    }
    if has_impossible_run(plain.get(40..).unwrap_or_default()) {
        return Err(PayloadError::Damaged("a run of zeros longer than any histogram".to_owned()));
    }
    let read: Histogram<u64> = Deserializer::new()
        .deserialize(&mut plain.as_slice())
        .map_err(|error| PayloadError::Damaged(format!("{error:?}")))?;
    let mut histogram = empty_histogram();
    let total = read.iter_recorded().try_fold(0_u64, |sum, step| sum.checked_add(step.count_at_value()));
    if total.is_none() {
        return Err(PayloadError::Damaged("more values than can be counted".to_owned()));
    }
    histogram.add(&read).map_err(|error| PayloadError::Damaged(error.to_string()))?;
    Ok(histogram)
}

/// Whether the counts hold a run of `i64::MIN` zeros, nine bytes of ones: the decoder negates it, which overflows.
/// No count of a histogram is coded so, since it would be the count 2^63 of a negative value.
fn has_impossible_run(counts: &[u8]) -> bool {
    counts.windows(9).any(|bytes| bytes.iter().all(|&byte| byte == 0xff))
}

fn be_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn be_u64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn compressed(plain: &[u8]) -> String {
        let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        deflated.write_all(plain).unwrap();
        let deflated = deflated.finish().unwrap();
        let mut bytes = COOKIE_V2_COMPRESSED.to_be_bytes().to_vec();
        bytes.extend(u32::try_from(deflated.len()).unwrap().to_be_bytes());
        bytes.extend(deflated);
        STANDARD.encode(bytes)
    }

    #[test]
    fn begins_as_other_tools_expect() {
        // Every compressed V2 payload in base64 begins with these characters; log viewers look for them.
        assert!(encode(&empty_histogram()).starts_with("HISTFAAA"));
    }

    #[test]
    fn refuses_foreign_bounds_and_damage() {
        let wide: Histogram<u64> = Histogram::new_with_bounds(1, u64::MAX / 2, 5).unwrap();
        assert!(matches!(decode(&encode(&wide)), Err(PayloadError::OtherBounds)));
        assert!(matches!(decode("AAAA"), Err(PayloadError::NotV2)));
        assert!(matches!(decode("%"), Err(PayloadError::Base64(_))));
        let mut bytes = STANDARD.decode(encode(&empty_histogram())).unwrap();
        let mut overlong = vec![0_u8; 40];
        overlong[..4].copy_from_slice(&COOKIE_V2.to_be_bytes());
        overlong[4..8].copy_from_slice(&9_u32.to_be_bytes());
        overlong[12..16].copy_from_slice(&3_u32.to_be_bytes());
        overlong[16..24].copy_from_slice(&1_u64.to_be_bytes());
        overlong[24..32].copy_from_slice(&HIGHEST.to_be_bytes());
        overlong[32..40].copy_from_slice(&1.0_f64.to_be_bytes());
        overlong.extend([0xff; 9]);
        assert!(matches!(decode(&compressed(&overlong)), Err(PayloadError::Damaged(_))));
        bytes.truncate(20);
        assert!(matches!(decode(&STANDARD.encode(bytes)), Err(PayloadError::Damaged(_) | PayloadError::NotV2)));
    }
}
