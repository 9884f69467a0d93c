//! Sections of version 7, and their compressed pieces.

use super::HEAD_MAX;
use crate::cursor::{Bytes, Cursor};
use crate::source::Source;
use crate::{Fault, packed as pieces};

/// A compressed piece: its two sizes and itself. `None` if it is damaged.
pub fn chunk(cursor: &mut Cursor<'_>) -> Result<Option<Vec<u8>>, Fault> {
    let Some(mut sizes) = cursor.peek(8)?.map(Bytes) else { return Ok(None) };
    let (Some(packed), Some(whole)) = (sizes.u32(), sizes.u32()) else { return Ok(None) };
    cursor.pass(8);
    let packed = packed as usize;
    let Some(bytes) = (if packed <= HEAD_MAX { cursor.peek(packed)? } else { None }) else { return Ok(None) };
    let whole = pieces::piece(bytes, (whole as usize).min(HEAD_MAX));
    cursor.pass(packed);
    Ok(whole)
}

/// The content of a section.
pub fn section(source: &dyn Source, at: u64) -> Result<Vec<u8>, Fault> {
    let mut cursor = Cursor::new(source, at);
    let mut head = Bytes(cursor.peek(16)?.ok_or(Fault::CutOff)?);
    let (_, flags, _) = (head.u16(), head.u16().unwrap_or(0), head.u32());
    let size = head.u64().ok_or(Fault::CutOff)?;
    cursor.pass(16);
    if flags & 1 != 0 {
        return chunk(&mut cursor)?.ok_or(Fault::CutOff);
    }
    let size = usize::try_from(size).ok().filter(|&size| size <= HEAD_MAX).ok_or(Fault::CutOff)?;
    Ok(cursor.peek(size)?.ok_or(Fault::CutOff)?.to_vec())
}
