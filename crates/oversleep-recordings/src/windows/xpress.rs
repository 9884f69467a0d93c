//! Plain LZ77 of Microsoft's XPRESS, as [MS-XCA] 2.4 describes it. Windows compresses the buffers of merged traces with it.
//!
//! [MS-XCA]: https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-xca/a8b7cb0a-92a6-4187-a23b-5e14273b96f8

use crate::cursor::Bytes;

/// The shortest match.
const MATCH_MIN: usize = 3;

/// Unpacks as many bytes as there should be; `None` if they are fewer, or if a match begins before them.
pub fn unpack(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut input = Bytes(packed);
    let mut out = Vec::with_capacity(size.min(packed.len().saturating_mul(8)));
    let (mut flags, mut left) = (0_u32, 0);
    // The length of every second match shares a byte with the one before.
    let mut half: Option<u8> = None;
    while out.len() < size {
        if left == 0 {
            (flags, left) = (input.u32()?, 32);
        }
        left -= 1;
        if flags >> left & 1 == 0 {
            out.push(input.take(1)?[0]);
            continue;
        }
        let word = usize::from(input.u16()?);
        let (back, mut length) = ((word >> 3) + 1, word & 7);
        if length == 7 {
            length += match half.take() {
                Some(byte) => usize::from(byte >> 4),
                None => usize::from(*half.insert(input.take(1)?[0]) & 15),
            };
            if length == 7 + 15 {
                length = longer(&mut input, length)?;
            }
        }
        let from = out.len().checked_sub(back)?;
        let length = (length + MATCH_MIN).min(size - out.len());
        // A match may overlap what it makes.
        for at in from..from + length {
            out.push(out[at]);
        }
    }
    Some(out)
}

/// The length of a match, where four bits don't suffice.
fn longer(input: &mut Bytes<'_>, length: usize) -> Option<usize> {
    let byte = usize::from(input.take(1)?[0]);
    if byte != 255 {
        return Some(length + byte);
    }
    let whole = match usize::from(input.u16()?) {
        0 => input.u32()? as usize,
        whole => whole,
    };
    Some(whole).filter(|&whole| whole >= length)
}

#[cfg(test)]
mod tests {
    use super::unpack;

    #[test]
    fn the_examples_of_the_specification() {
        let letters = b"\x3f\0\0\0abcdefghijklmnopqrstuvwxyz";
        assert_eq!(unpack(letters, 26).unwrap(), b"abcdefghijklmnopqrstuvwxyz");
        let repeated = b"\xff\xff\xff\x1fabc\x17\x00\x0f\xff\x26\x01";
        assert_eq!(unpack(repeated, 300).unwrap(), b"abc".repeat(100));
    }

    #[test]
    fn what_is_cut_off_or_reaches_back_too_far_is_refused() {
        let repeated = b"\xff\xff\xff\x1fabc\x17\x00\x0f\xff\x26\x01";
        for end in 0..repeated.len() {
            assert_eq!(unpack(&repeated[..end], 300), None);
        }
        assert_eq!(unpack(b"\xff\xff\xff\xff\x17\x00\x00\x00", 300), None);
        assert_eq!(unpack(b"", 0), Some(Vec::new()));
    }
}
