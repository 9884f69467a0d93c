//! Compressed pieces of recordings, and whole recordings that were compressed: by gzip, as traces of browsers and archived
//! ones are, or by Android's atrace. What comes out of a piece is bounded by its own size.

use std::io::Read;

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::FrameDecoder;

/// The most that a byte may become.
pub(crate) const RATIO_MAX: usize = 64;

/// The most that a piece of so many bytes may become.
pub(crate) fn bound(packed: usize) -> usize {
    packed.saturating_mul(RATIO_MAX).max(1 << 16)
}

/// The largest window: perf and trace-cmd use at most 8 MB.
pub(crate) const WINDOW_MAX: u64 = 16 << 20;
/// The most that a file becomes: it is held in memory.
const FILE_MAX: usize = 1 << 30;

const GZIP: &[u8] = &[0x1f, 0x8b, 8];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// What `atrace -z` prints before a stream of zlib.
const ATRACE: &[u8] = b"TRACE:\n";

/// Whether a file that begins like this is compressed.
pub fn is_packed(head: &[u8]) -> bool {
    head.starts_with(GZIP) || of_atrace(head).is_some()
}

/// The stream in what `atrace -z` wrote. Its second byte makes the first two a multiple of 31 (RFC 1950), which no text is.
fn of_atrace(file: &[u8]) -> Option<&[u8]> {
    let head = &file[..file.len().min(4_096)];
    let at = head.windows(ATRACE.len()).position(|window| window == ATRACE)?;
    let stream = &file[at + ATRACE.len()..];
    (*stream.first()? == 0x78 && (0x7800 + u16::from(*stream.get(1)?)) % 31 == 0).then_some(stream)
}

/// What is in a file.
///
/// # Errors
/// It is damaged, cut off, or larger than a recording can be.
pub fn unpack(file: &[u8]) -> Result<Vec<u8>, &'static str> {
    match of_atrace(file) {
        Some(stream) => taken(ZlibDecoder::new(stream), file.len(), FILE_MAX)
            .ok_or("it is compressed by atrace, and is cut off or damaged"),
        // It may have members behind each other.
        None => taken(MultiGzDecoder::new(file), file.len(), FILE_MAX)
            .ok_or("it is compressed by gzip, and is cut off or damaged; `gzip -t` tells"),
    }
}

/// A whole stream of zlib that becomes at most so much; `None` if it is damaged.
pub(crate) fn zlib(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    taken(ZlibDecoder::new(packed), packed.len(), most)
}

fn taken(stream: impl Read, packed: usize, most: usize) -> Option<Vec<u8>> {
    let most = bound(packed).min(most);
    let mut out = Vec::new();
    stream.take(most as u64 + 1).read_to_end(&mut out).ok()?;
    (out.len() <= most).then_some(out)
}

/// A frame of zstd or a stream of zlib; `None` if it is damaged, or larger than a recording's can be.
pub(crate) fn piece(packed: &[u8], stated: usize) -> Option<Vec<u8>> {
    if !packed.starts_with(ZSTD) {
        return zlib(packed, stated);
    }
    let mut out = Vec::with_capacity(stated.min(bound(packed.len())));
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(WINDOW_MAX);
    decoder.decode_all_to_vec(packed, &mut out).ok()?;
    Some(out)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    /// `printf 'events\n' | gzip -n`.
    const PLAIN: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x2d\x4b\xcd\x2b\x29\xe6\x02\0\x4a\x29\x8d\xa4\x07\0\0\0";

    fn unpacked(file: &[u8]) -> Option<String> {
        unpack(file).ok().map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_file_is_unpacked_whatever_its_head_has_and_with_all_its_members() {
        assert!(is_packed(PLAIN) && !is_packed(b"PERFILE2"));
        assert_eq!(unpacked(PLAIN).as_deref(), Some("events\n"));
        let mut named = PLAIN.to_vec();
        // A name and something else (RFC 1952).
        named[3] = 1 << 3 | 1 << 2;
        named.splice(10..10, *b"\x02\0xxa.txt\0");
        assert_eq!(unpacked(&[PLAIN, &named].concat()).as_deref(), Some("events\nevents\n"));
    }

    #[test]
    fn one_that_is_cut_off_or_damaged_is_refused() {
        (0..PLAIN.len()).for_each(|size| assert!(unpack(&PLAIN[..size]).is_err(), "{size}"));
        // Its checksum and its size are the last 8 bytes.
        for at in 20..PLAIN.len() {
            let mut bad = PLAIN.to_vec();
            bad[at] ^= 1;
            assert!(unpack(&bad).is_err(), "{at}");
        }
    }

    #[test]
    fn what_atrace_compressed_is_unpacked() {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
        packed.write_all(b"# tracer: nop\n").unwrap();
        let packed = packed.finish().unwrap();
        for before in ["", "capturing trace... done\n"] {
            let file = [before.as_bytes(), ATRACE, &packed].concat();
            assert!(is_packed(&file));
            assert_eq!(unpacked(&file).as_deref(), Some("# tracer: nop\n"));
            assert!(unpack(&file[..file.len() - 3]).unwrap_err().contains("atrace"));
        }
        assert!(!is_packed(b"TRACE:\n# tracer: nop\n") && !is_packed(b"TRACE:\nxx") && !is_packed(b"TRACE"));
        assert_eq!(piece(&packed, 1 << 16).as_deref(), Some(&b"# tracer: nop\n"[..]));
        assert_eq!(zlib(&packed[1..], 1 << 16), None);
    }
}
