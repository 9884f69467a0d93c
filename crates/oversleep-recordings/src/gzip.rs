//! Files that were compressed by gzip, as traces of browsers and archived ones are.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::cursor::Bytes;
use crate::zstd::RATIO_MAX;

/// The most that a file becomes: it is held in memory.
const MOST: usize = 1 << 30;
/// Parts of the head, by their bits.
const HAS_CHECKSUM: u8 = 1 << 1;
const HAS_MORE: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;

/// Whether a file that begins like this is compressed.
pub fn is_packed(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b, 8])
}

/// What is in it; `None` if it is damaged, cut off, or larger than a recording can be.
pub fn unpack(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = Bytes(bytes);
    let flags = rest.take(10)?[3];
    if flags & HAS_MORE != 0 {
        let size = usize::from(rest.u16()?);
        rest.take(size)?;
    }
    for _ in [HAS_NAME, HAS_COMMENT].iter().filter(|&&bit| flags & bit != 0) {
        rest.text()?;
    }
    if flags & HAS_CHECKSUM != 0 {
        rest.u16()?;
    }
    let most = bytes.len().saturating_mul(RATIO_MAX).clamp(1 << 16, MOST);
    decompress_to_vec_with_limit(rest.0, most).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf 'events\n' | gzip -n`, and the same with a name.
    const PLAIN: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x2d\x4b\xcd\x2b\x29\xe6\x02\0\x4a\x29\x8d\xa4\x07\0\0\0";

    #[test]
    fn a_file_is_unpacked_whatever_its_head_has() {
        assert!(is_packed(PLAIN) && !is_packed(b"PERFILE2"));
        assert_eq!(unpack(PLAIN).as_deref(), Some(&b"events\n"[..]));
        let mut named = PLAIN.to_vec();
        named[3] = HAS_NAME | HAS_MORE;
        named.splice(10..10, *b"\x02\0xxa.txt\0");
        assert_eq!(unpack(&named).as_deref(), Some(&b"events\n"[..]));
    }

    #[test]
    fn one_that_is_cut_off_or_too_large_is_refused() {
        (0..18).for_each(|size| assert!(unpack(&PLAIN[..size]).is_none(), "{size}"));
    }
}
