//! A module in streams: packed, code is 9 % shorter if operands of a kind stand together, because what follows an opcode
//! says little about the next opcode, and an operand much about the next of its kind. streams.js puts them together again.

const STREAMS: usize = 5;
const ALL_ELSE: usize = 0;
/// The functions that are called.
const CALLS: usize = 1;
const LOCALS: usize = 2;
/// Offsets in memory.
const OFFSETS: usize = 3;
const CONSTANTS: usize = 4;

/// The section of a module that holds the code.
const CODE: u8 = 10;

/// The lengths of all streams but the last, 4 bytes each, then the streams.
///
/// # Errors
/// An instruction that isn't known here, and where it is.
pub fn split(module: &[u8]) -> Result<Vec<u8>, String> {
    let mut reader = Reader { module, at: 0, streams: Default::default() };
    reader.bytes(8)?;
    while reader.at < module.len() {
        let section = reader.byte()?;
        let length = reader.number(ALL_ELSE)?;
        if section != CODE {
            reader.bytes(length)?;
            continue;
        }
        for _ in 0..reader.number(ALL_ELSE)? {
            reader.function()?;
        }
    }
    let heads = reader.streams[..STREAMS - 1].iter().map(|stream| (stream.len() as u32).to_le_bytes().to_vec());
    Ok(heads.chain(reader.streams.iter().cloned()).flatten().collect())
}

struct Reader<'a> {
    module: &'a [u8],
    at: usize,
    streams: [Vec<u8>; STREAMS],
}

impl Reader<'_> {
    fn function(&mut self) -> Result<(), String> {
        let length = self.number(ALL_ELSE)?;
        let end = self.at + length;
        for _ in 0..self.number(ALL_ELSE)? {
            self.number(ALL_ELSE)?;
            self.byte()?;
        }
        while self.at < end {
            self.instruction()?;
        }
        if self.at == end { Ok(()) } else { Err(format!("an instruction passes the end of its function, {end}")) }
    }

    fn instruction(&mut self) -> Result<(), String> {
        let opcode = self.byte()?;
        match opcode {
            0x00 | 0x01 | 0x05 | 0x0b | 0x0f | 0x1a | 0x1b | 0x45..=0xc4 => {}
            0x02..=0x04 | 0x0c | 0x0d | 0x23..=0x26 | 0x3f | 0x40 | 0x42 => _ = self.number(ALL_ELSE)?,
            0x0e => {
                for _ in 0..=self.number(ALL_ELSE)? {
                    self.number(ALL_ELSE)?;
                }
            }
            0x10 => _ = self.number(CALLS)?,
            0x11 => {
                self.number(ALL_ELSE)?;
                self.number(ALL_ELSE)?;
            }
            0x1c => {
                let count = self.number(ALL_ELSE)?;
                self.bytes(count)?;
            }
            0x20..=0x22 => _ = self.number(LOCALS)?,
            0x28..=0x3e => {
                self.number(ALL_ELSE)?;
                self.number(OFFSETS)?;
            }
            0x41 => _ = self.number(CONSTANTS)?,
            0x43 => self.bytes(4)?,
            0x44 => self.bytes(8)?,
            0xfc => {
                let operands = match self.number(ALL_ELSE)? {
                    0..=7 => 0,
                    8 | 10 | 12 | 14 => 2,
                    _ => 1,
                };
                for _ in 0..operands {
                    self.number(ALL_ELSE)?;
                }
            }
            _ => {
                return Err(format!("streams.rs and streams.js don't know the instruction {opcode:#x} at {}", self.at));
            }
        }
        Ok(())
    }

    fn byte(&mut self) -> Result<u8, String> {
        let byte = *self.module.get(self.at).ok_or("the module ends early")?;
        self.at += 1;
        self.streams[ALL_ELSE].push(byte);
        Ok(byte)
    }

    fn bytes(&mut self, count: usize) -> Result<(), String> {
        (0..count).try_for_each(|_| self.byte().map(drop))
    }

    /// A number in LEB128. Only numbers that count something are used.
    fn number(&mut self, stream: usize) -> Result<usize, String> {
        let (mut number, mut bits) = (0, 0);
        loop {
            let byte = *self.module.get(self.at).ok_or("the module ends early")?;
            self.at += 1;
            self.streams[stream].push(byte);
            number |= usize::from(byte & 0x7f).checked_shl(bits).unwrap_or(0);
            bits += 7;
            if byte < 0x80 {
                return Ok(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with an empty section and one function, which has no local variables.
    fn module(instructions: &[u8]) -> Vec<u8> {
        let mut module = b"\0asm\x01\0\0\0\x07\x01\0".to_vec();
        let length = instructions.len() as u8;
        module.extend([CODE, length + 3, 1, length + 1, 0]);
        module.extend(instructions);
        module
    }

    #[test]
    fn operands_stand_with_their_like_and_nothing_is_lost() {
        // local.get 5, i32.load align 2 offset 300, i32.const -2, call 7, br_table of two, f64.const, memory.copy, end.
        let text: &[&[u8]] =
            &[&[0x20, 5, 0x28, 2, 0xac, 2, 0x41, 0x7e, 0x10, 7, 0x0e, 1, 0, 1, 0x44], &[9; 8], &[0xfc, 10, 0, 0, 0x0b]];
        let module = module(&text.concat());
        let split = split(&module).unwrap();
        assert_eq!(split.len(), 16 + module.len());
        assert_eq!(split[split.len() - 5..], [7, 5, 0xac, 2, 0x7e]);
        assert_eq!(split[..16], [[module.len() as u8 - 5, 1, 1, 2].map(|length| [length, 0, 0, 0])].concat().concat());
    }

    #[test]
    fn an_unknown_instruction_and_an_early_end_are_errors() {
        assert!(split(&module(&[0x06, 0x0b])).unwrap_err().contains("0x6"));
        assert!(split(&module(&[0x44, 1])).unwrap_err().contains("early"));
        assert!(split(&module(&[0x0b])[..9]).unwrap_err().contains("early"));
    }
}
