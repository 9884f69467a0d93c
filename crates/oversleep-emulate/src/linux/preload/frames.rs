//! How the stack is unwound from the library's code, where a thread is cancelled, as `.eh_frame` has it. Each function
//! begins with the same frame, and all that it leads to leaves `rbp` alone, so one description holds everywhere else.
//! <https://refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/ehframechpt.html>

/// Encodings of addresses: from where they are, in 4 bytes; and none.
const FROM_HERE: u8 = 0x1b;
const NONE: u8 = 0xff;
/// DWARF's numbers of registers.
const RBP: u8 = 6;
const RSP: u8 = 7;
const RETURNS: u8 = 16;
/// Instructions.
const ADVANCE_4: u8 = 0x04;
const SAME_VALUE: u8 = 0x08;
const FRAME_AT: u8 = 0x0c;
const FRAME_OFFSET: u8 = 0x0e;
const SAVED: u8 = 0x80;
/// The caller's stack ends there, and has in words below what it saved.
const IN_FRAME: [u8; 5] = [FRAME_AT, RBP, 16, SAVED | RBP, 2];
const OUTSIDE: [u8; 5] = [FRAME_AT, RSP, 8, SAME_VALUE, RBP];
const PUSHED: [u8; 4] = [FRAME_OFFSET, 16, SAVED | RBP, 2];
/// The lengths of `push rbp`, `mov rbp, rsp` and `ret`.
const PUSH: u64 = 1;
const MOVE: u64 = 3;
const RETURN: u64 = 1;

/// `.eh_frame_hdr` and `.eh_frame` right behind code of that length, whose functions begin and return there.
pub fn frames(length: u64, starts: &[u64], ends: &[u64]) -> Vec<u8> {
    let rows =
        starts.iter().flat_map(|&at| [(at, &OUTSIDE[..]), (at + PUSH, &PUSHED[..]), (at + PUSH + MOVE, &IN_FRAME[..])]);
    let mut rows: Vec<(u64, &[u8])> =
        rows.chain(ends.iter().flat_map(|&at| [(at, &OUTSIDE[..]), (at + RETURN, &IN_FRAME[..])])).collect();
    rows.sort_unstable();
    let mut changes = Vec::new();
    let mut before = 0;
    for (at, row) in rows {
        changes.push(ADVANCE_4);
        changes.extend(number(at - before));
        changes.extend(row);
        before = at;
    }
    // Version 1; what follows the header; no table. Words of 8 bytes, downwards.
    let mut all = vec![1, FROM_HERE, NONE, NONE, 4, 0, 0, 0];
    let common =
        entry(&[&[0; 4], &[1, b'z', b'R', 0, 1, 0x78, RETURNS, 1, FROM_HERE], &IN_FRAME, &[SAVED | RETURNS, 1]]);
    let (to_common, from_here) = (common.len() as u64 + 4, all.len() as u64 + common.len() as u64 + 8);
    all.extend(common);
    let begin = number((length + from_here).wrapping_neg());
    all.extend(entry(&[&number(to_common), &begin, &number(length), &[0], &changes]));
    all.extend([0; 4]);
    all
}

/// An entry with its length, filled up with what changes nothing.
fn entry(parts: &[&[u8]]) -> Vec<u8> {
    let mut body = parts.concat();
    body.resize((body.len() + 4).next_multiple_of(8) - 4, 0);
    [number(body.len() as u64).to_vec(), body].concat()
}

fn number(of: u64) -> [u8; 4] {
    (of as u32).to_le_bytes()
}
