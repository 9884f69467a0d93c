//! Unused room in a program's own code: the padding that compilers insert between two functions. Whether NOPs are that, or
//! the entry of the next function, their bytes don't tell ([`super::functions`]).

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic};

/// The reach of a two-byte jump.
const REACH: u64 = 127;
/// Room for a five-byte jump.
pub const ROOM: usize = 5;

/// Finds room in the code that follows `place`, which begins with an instruction. Instructions are decoded from there on, so
/// that no operand byte is mistaken for an instruction. Padding counts only after an instruction that never falls through.
pub fn behind(place: u64, code: &[u8]) -> Option<u64> {
    let mut decoder = Decoder::with_ip(64, code, place, DecoderOptions::NONE);
    let (mut instruction, mut targets) = (Instruction::default(), Vec::new());
    let (mut begin, mut found) = (None, None);
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() || instruction.ip() > place + REACH {
            break;
        }
        targets.push(instruction.near_branch_target());
        begin = match instruction.mnemonic() {
            Mnemonic::Nop | Mnemonic::Int3 => begin,
            Mnemonic::Ret | Mnemonic::Jmp | Mnemonic::Ud2 | Mnemonic::Hlt => Some(instruction.next_ip()),
            _ => None,
        };
        if let Some(begin) = begin
            && begin <= place + REACH
            && instruction.next_ip() >= begin + ROOM as u64
        {
            found = found.or(Some(begin));
        }
    }
    found.filter(|&room| !targets.iter().any(|target| (room..room + ROOM as u64).contains(target)))
}

/// Whether NOPs at that address are those of an assembler that aligns the next function: long ones, up to a multiple of 16
/// bytes. One of five bytes alone may be the entry of a function that is aligned by chance.
pub fn aligns(at: u64, code: &[u8]) -> bool {
    const ALIGNMENT: u64 = 16;
    let length = (ALIGNMENT - at % ALIGNMENT) as usize;
    if at.is_multiple_of(ALIGNMENT) || length <= ROOM || code.len() < length {
        return false;
    }
    let mut decoder = Decoder::with_ip(64, &code[..length], at, DecoderOptions::NONE);
    let is_long_nop = |one: Instruction| one.mnemonic() == Mnemonic::Nop && one.len() > 1;
    std::iter::from_fn(|| decoder.can_decode().then(|| decoder.decode())).all(is_long_nop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a C library has after a call that waits.
    const RETURNS: [u8; 3] = [0xf7, 0xd8, 0xc3];

    fn room(parts: &[&[u8]]) -> Option<u64> {
        let mut code = parts.concat();
        code.resize(200, 0x55);
        behind(0x1000, &code)
    }

    #[test]
    fn filling_behind_a_return_is_room() {
        let nops = [0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0];
        assert_eq!(room(&[&RETURNS, &nops]), Some(0x1003));
        assert_eq!(room(&[&RETURNS, &[0xcc; 8]]), Some(0x1003), "as Go has it");
        assert_eq!(room(&[&RETURNS, &[0x0f, 0x1f, 0x40, 0]]), None, "four bytes");
        assert_eq!(room(&[&[0xeb, 0x10], &nops]), Some(0x1002), "behind a jump");
    }

    #[test]
    fn filling_that_is_run_through_is_none() {
        let nops = [0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0];
        assert_eq!(room(&[&[0xf7, 0xd8], &nops, &[0xc3]]), None);
        // `mov rax, rbx` ends with the opcode of a return.
        assert_eq!(room(&[&[0x48, 0x89, 0xc3], &nops, &[0xc3]]), None);
        // A jump back into the padding: `jmp` to 0x1003.
        assert_eq!(room(&[&RETURNS, &nops, &[0xeb, 0xf4]]), None);
        assert_eq!(room(&[&[0x90; 126], &[0xc3], &nops]), Some(0x107f));
        assert_eq!(room(&[&[0x90; 128], &[0xc3], &nops]), None, "too far");
    }

    #[test]
    fn only_long_nops_up_to_an_alignment_are_padding_by_themselves() {
        let long = [0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x0f, 0x1f, 0x44, 0, 0];
        assert!(aligns(0x1006, &long), "ten bytes, and then an entry");
        assert!(aligns(0x1001, &long), "fifteen");
        assert!(!aligns(0x1000, &long), "an entry");
        assert!(!aligns(0x1004, &long), "it goes on beyond");
        assert!(!aligns(0x100b, &long[10..]), "five bytes");
        assert!(!aligns(0x1008, &[0x90; 16]), "an entry that others patch");
    }
}
