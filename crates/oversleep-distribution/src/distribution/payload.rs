//! HdrHistogram's V2 compressed payload in base64, the form other tools read and write.
//!
//! Every length is checked against the data, and decompression stops at the size of the largest possible histogram, so
//! a file can't make the reader take more memory than that.

use std::cell::RefCell;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Decompress, FlushDecompress, Status};

use super::buckets::{BUCKETS, HIGHEST, SIGNIFICANT_DIGITS};
use super::codec;

/// First bytes of an uncompressed V2 histogram.
const COOKIE_V2: u32 = 0x1c84_9313;
/// First bytes of a compressed one.
const COOKIE_V2_COMPRESSED: u32 = 0x1c84_9314;
/// Cookie, length of the counts, normalizing offset, significant digits, lowest and highest value, ratio.
const HEADER_BYTES: usize = 40;
/// The longest uncompressed histogram: nine bytes for each bucket.
const PLAIN_BYTES_MAX: usize = HEADER_BYTES + 9 * BUCKETS;

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

/// The payload of coded counts.
pub(super) fn encode(counts: &[u8]) -> String {
    let mut plain = Vec::with_capacity(HEADER_BYTES + counts.len());
    plain.extend(COOKIE_V2.to_be_bytes());
    plain.extend((counts.len() as u32).to_be_bytes());
    plain.extend(0_u32.to_be_bytes());
    plain.extend(u32::from(SIGNIFICANT_DIGITS).to_be_bytes());
    plain.extend(1_u64.to_be_bytes());
    plain.extend(HIGHEST.to_be_bytes());
    plain.extend(1.0_f64.to_be_bytes());
    plain.extend(counts);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    let compressed = zlib.write_all(&plain).and_then(|()| zlib.finish()).expect("writing to memory does not fail");
    let mut bytes = COOKIE_V2_COMPRESSED.to_be_bytes().to_vec();
    bytes.extend((compressed.len() as u32).to_be_bytes());
    bytes.extend(compressed);
    STANDARD.encode(bytes)
}

/// The contents of a payload.
pub(super) struct Decoded {
    /// The coded counts, which `codec::check` accepted.
    pub counts: Vec<u8>,
    /// Their sum.
    pub total: u64,
    /// The compressed form of header and counts.
    pub compressed: Vec<u8>,
}

/// Decodes a payload.
///
/// # Errors
/// The fault in the payload.
pub(super) fn decode(text: &str) -> Result<Decoded, PayloadError> {
    let mut bytes = STANDARD.decode(text)?;
    if be_u32(&bytes, 0) != Some(COOKIE_V2_COMPRESSED) {
        return Err(PayloadError::NotV2);
    }
    let compressed = bytes.get(8..).ok_or(PayloadError::NotV2)?;
    if be_u32(&bytes, 4) != u32::try_from(compressed.len()).ok() {
        return Err(damaged(format_args!("its length isn't that of its {} bytes", compressed.len())));
    }
    let plain = decompressed(compressed).map_err(damaged)?;
    let header = plain.get(..HEADER_BYTES).ok_or(PayloadError::NotV2)?;
    if be_u32(header, 0) != Some(COOKIE_V2) {
        return Err(PayloadError::NotV2);
    }
    let ratio = be_u64(header, 32).map(f64::from_bits);
    if be_u32(header, 8) != Some(0)
        || be_u32(header, 12) != Some(u32::from(SIGNIFICANT_DIGITS))
        || be_u64(header, 16) != Some(1)
        || be_u64(header, 24) != Some(HIGHEST)
        || ratio != Some(1.0)
    {
        return Err(PayloadError::OtherBounds);
    }
    let counts = plain[HEADER_BYTES..].to_vec();
    if be_u32(header, 4) != u32::try_from(counts.len()).ok() {
        return Err(damaged(format_args!("the length of its counts isn't that of their {} bytes", counts.len())));
    }
    let total = codec::check(&counts).map_err(damaged)?;
    bytes.drain(..8);
    Ok(Decoded { counts, total, compressed: bytes })
}

/// The coded counts of compressed data that was accepted before.
pub(super) fn decompressed_counts(compressed: &[u8]) -> Vec<u8> {
    let mut plain = decompressed(compressed).expect("it was decompressed before");
    plain.drain(..HEADER_BYTES);
    plain
}

thread_local! {
    /// A decoder has 43 KB, which took longer to prepare than most payloads take to decode.
    static DECODER: RefCell<Decompress> = RefCell::new(Decompress::new(true));
}

/// Decompresses data, if the result isn't longer than the longest histogram and nothing follows it.
fn decompressed(compressed: &[u8]) -> Result<Vec<u8>, String> {
    DECODER.with_borrow_mut(|decoder| {
        decoder.reset(true);
        let mut plain = Vec::new();
        loop {
            plain.reserve(plain.len().max(128));
            let rest = &compressed[decoder.total_in() as usize..];
            let status = decoder.decompress_vec(rest, &mut plain, FlushDecompress::None);
            let has_ended = status.map_err(|error| error.to_string())? == Status::StreamEnd;
            if plain.len() > PLAIN_BYTES_MAX {
                return Err("it is longer than any histogram".to_owned());
            }
            match (has_ended, decoder.total_in() as usize == compressed.len()) {
                (true, true) => return Ok(plain),
                (true, false) => return Err("something follows its end".to_owned()),
                (false, true) if plain.len() < plain.capacity() => return Err("it ends too early".to_owned()),
                (false, _) => {}
            }
        }
    })
}

fn damaged(what: impl std::fmt::Display) -> PayloadError {
    PayloadError::Damaged(what.to_string())
}

fn be_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn be_u64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

    use super::super::histogram::Histogram;
    use super::*;

    /// The payload of a plain histogram, with the right length outside.
    fn compressed(plain: &[u8]) -> String {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(plain).unwrap();
        let deflated = zlib.finish().unwrap();
        let mut bytes = COOKIE_V2_COMPRESSED.to_be_bytes().to_vec();
        bytes.extend(u32::try_from(deflated.len()).unwrap().to_be_bytes());
        bytes.extend(deflated);
        STANDARD.encode(bytes)
    }

    /// A plain histogram of these coded counts, which states their length as `length` bytes.
    fn plain(length: u32, counts: &[u8]) -> Vec<u8> {
        let mut plain = COOKIE_V2.to_be_bytes().to_vec();
        plain.extend(length.to_be_bytes());
        plain.extend(0_u32.to_be_bytes());
        plain.extend(3_u32.to_be_bytes());
        plain.extend(1_u64.to_be_bytes());
        plain.extend(HIGHEST.to_be_bytes());
        plain.extend(1.0_f64.to_be_bytes());
        plain.extend(counts);
        plain
    }

    fn refusal(text: &str) -> String {
        Histogram::decoded(text).map(|(histogram, _)| histogram.len()).expect_err("it is damaged").to_string()
    }

    #[test]
    fn begins_as_other_tools_expect() {
        // Every compressed V2 payload in base64 begins with these characters; log viewers look for them.
        assert!(Histogram::ready().encoded().starts_with("HISTFAAA"));
    }

    #[test]
    fn refuses_foreign_bounds_and_damage() {
        let wide = hdrhistogram::Histogram::<u64>::new_with_bounds(1, u64::MAX / 2, 5).unwrap();
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&wide, &mut bytes).unwrap();
        assert!(matches!(Histogram::decoded(&STANDARD.encode(bytes)), Err(PayloadError::OtherBounds)));
        assert!(matches!(Histogram::decoded("AAAA"), Err(PayloadError::NotV2)));
        assert!(matches!(Histogram::decoded("%"), Err(PayloadError::Base64(_))));
        let mut short = STANDARD.decode(Histogram::ready().encoded()).unwrap();
        short.truncate(20);
        assert!(matches!(Histogram::decoded(&STANDARD.encode(short)), Err(PayloadError::Damaged(_))));
    }

    #[test]
    fn a_length_is_believed_only_if_so_much_is_there() {
        assert_eq!(Histogram::decoded(&compressed(&plain(1, &[2]))).unwrap().0.len(), 1);
        for length in [u32::MAX, 1 << 30, 2, 0] {
            assert!(refusal(&compressed(&plain(length, &[2]))).contains("the length of its counts"), "{length}");
        }
        for outside in [u32::MAX, 0, 1] {
            let mut bytes = STANDARD.decode(compressed(&plain(1, &[2]))).unwrap();
            bytes[4..8].copy_from_slice(&outside.to_be_bytes());
            assert!(refusal(&STANDARD.encode(bytes)).contains("its length isn't"), "{outside}");
        }
        let mut longer = STANDARD.decode(compressed(&plain(1, &[2]))).unwrap();
        longer.push(0);
        let length = u32::try_from(longer.len() - 8).unwrap();
        longer[4..8].copy_from_slice(&length.to_be_bytes());
        assert!(refusal(&STANDARD.encode(longer)).contains("something follows its end"));
    }

    #[test]
    fn what_is_compressed_is_no_longer_than_a_histogram() {
        let bomb = compressed(&plain(8 << 20, &vec![0; 8 << 20]));
        assert!(bomb.len() < 12_000, "{} bytes", bomb.len());
        assert!(refusal(&bomb).contains("longer than any histogram"));
    }

    #[test]
    fn full_histograms_stay_compressed_in_memory() {
        let (mut bomb, compressed) =
            Histogram::decoded(&compressed(&plain(BUCKETS as u32, &vec![2; BUCKETS]))).unwrap();
        bomb.hold(compressed);
        assert_eq!((bomb.len(), bomb.filled().count()), (BUCKETS as u64, BUCKETS));
        assert!(bomb.encoded().len() < 300);
    }

    proptest::proptest! {
        /// hdrhistogram reads this crate's payloads as the same values, and the other way round; even the bytes are the
        /// same.
        #[test]
        fn other_tools_read_it(values in proptest::collection::vec((0_u32..64, proptest::prelude::any::<u64>()), 0..60)) {
            let mut ours = Histogram::ready();
            let mut theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST, SIGNIFICANT_DIGITS).unwrap();
            for (shift, value) in values {
                ours.record(value >> shift, 1);
                theirs.saturating_record(value >> shift);
            }
            let mut bytes = Vec::new();
            V2DeflateSerializer::new().serialize(&theirs, &mut bytes).unwrap();
            let text = ours.encoded();
            proptest::prop_assert_eq!(&text, &STANDARD.encode(&bytes));
            proptest::prop_assert!(Histogram::decoded(&text).unwrap().0 == ours);
            let read: hdrhistogram::Histogram<u64> =
                Deserializer::new().deserialize(&mut STANDARD.decode(&text).unwrap().as_slice()).unwrap();
            proptest::prop_assert!(read == theirs);
        }
    }
}
