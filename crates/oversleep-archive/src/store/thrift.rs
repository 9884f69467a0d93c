//! Thrift's compact protocol, as far as it takes to look at a file's lists and heads before the library believes them.
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>

use std::io::Read;

/// What is wrong with a file.
pub type Fault = String;

/// Parquet's structs and lists are six deep; one in another for ever would end the stack.
const DEPTH_MAX: usize = 12;

/// What stands at a place, which is given as the numbers of the fields that lead there.
#[derive(Clone, Copy, Debug)]
pub enum Met {
    /// A whole number.
    Number(i64),
    /// A list or a set of so many, before they are read.
    List(u64),
}

/// Bytes, counted.
pub struct Compact<'a, R> {
    reader: &'a mut R,
    /// How many were read.
    pub read: usize,
    most: usize,
    depth: usize,
    /// What they are, for messages.
    what: &'static str,
}

/// Takes what stands at a place: the numbers of the fields that lead there.
pub type Meet<'a> = &'a mut dyn FnMut(&[i64], Met) -> Result<(), Fault>;

impl<'a, R: Read> Compact<'a, R> {
    /// At most so many bytes of this.
    pub fn of(reader: &'a mut R, most: usize, what: &'static str) -> Compact<'a, R> {
        Compact { reader, read: 0, most, depth: 0, what }
    }

    fn fault(&self, is: &str) -> Fault {
        format!("{} {is}", self.what)
    }

    fn next(&mut self) -> Result<u8, Fault> {
        let mut byte = [0];
        self.read += 1;
        if self.read > self.most {
            return Err(self.fault("is longer than those of an archive"));
        }
        self.reader.read_exact(&mut byte).map_err(|_| self.fault("is cut off"))?;
        Ok(byte[0])
    }

    fn skip(&mut self, bytes: u64) -> Result<(), Fault> {
        (0..bytes).try_for_each(|_| self.next().map(drop))
    }

    fn number(&mut self) -> Result<u64, Fault> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.next()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.fault("has a number that doesn't end"))
    }

    fn signed(&mut self) -> Result<i64, Fault> {
        let zig_zag = self.number()?;
        Ok((zig_zag >> 1).cast_signed() ^ -(zig_zag & 1).cast_signed())
    }

    /// Reads a struct. `meet` gets what stands at each place, and may refuse it.
    pub fn structure(&mut self, meet: Meet<'_>) -> Result<(), Fault> {
        self.fields(&mut Vec::new(), meet)
    }

    fn fields(&mut self, path: &mut Vec<i64>, meet: Meet<'_>) -> Result<(), Fault> {
        let mut field = 0_i64;
        loop {
            let byte = self.next()?;
            let (delta, kind) = (byte >> 4, byte & 0x0f);
            if kind == 0 {
                return Ok(());
            }
            field = if delta == 0 { self.signed()? } else { field.saturating_add(i64::from(delta)) };
            path.push(field);
            // Yes and no of a field are in its kind.
            if !matches!(kind, 1 | 2) {
                self.value(kind, path, meet)?;
            }
            path.pop();
        }
    }

    fn value(&mut self, kind: u8, path: &mut Vec<i64>, meet: Meet<'_>) -> Result<(), Fault> {
        if self.depth > DEPTH_MAX {
            return Err(self.fault("is deeper than those of an archive"));
        }
        self.depth += 1;
        self.below(kind, path, meet)?;
        self.depth -= 1;
        Ok(())
    }

    fn below(&mut self, kind: u8, path: &mut Vec<i64>, meet: Meet<'_>) -> Result<(), Fault> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => {
                let number = self.signed()?;
                meet(path, Met::Number(number))
            }
            7 => self.skip(8),
            8 => {
                let length = self.number()?;
                self.skip(length)
            }
            9 | 10 => {
                let byte = self.next()?;
                let size = if byte >> 4 == 15 { self.number()? } else { u64::from(byte >> 4) };
                meet(path, Met::List(size))?;
                (0..size).try_for_each(|_| self.value(byte & 0x0f, path, meet))
            }
            12 => self.fields(path, meet),
            _ => Err(self.fault("has a form that those of an archive haven't")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(bytes: &[u8]) -> Result<Vec<String>, Fault> {
        let mut all = Vec::new();
        Compact::of(&mut &bytes[..], 1_000, "it").structure(&mut |path, met| {
            all.push(format!("{path:?} {met:?}"));
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn numbers_lists_and_structs_are_met_at_their_places() {
        // Field 1: -3; field 3: a list of two structs with field 1; field 4: a text of two letters, and the end.
        let bytes = [0x15, 5, 0x29, 0x2c, 0x15, 2, 0, 0x15, 4, 0, 0x18, 2, b'a', b'b', 0];
        assert_eq!(met(&bytes).unwrap(), ["[1] Number(-3)", "[3] List(2)", "[3, 1] Number(1)", "[3, 1] Number(2)"]);
        for length in 0..bytes.len() {
            assert_eq!(met(&bytes[..length]), Err("it is cut off".to_owned()), "{length}");
        }
    }

    #[test]
    fn what_would_end_the_stack_or_never_end_is_refused() {
        for kind in [0x1c, 0x19] {
            assert_eq!(met(&[kind; 900]), Err("it is deeper than those of an archive".to_owned()));
        }
        assert_eq!(met(&[0x15; 2]), Err("it is cut off".to_owned()));
        let endless = [&[0x16][..], &[0xff; 11]].concat();
        assert_eq!(met(&endless), Err("it has a number that doesn't end".to_owned()));
        let long = [&[0x18][..], &[0xff; 8], &[0x7f]].concat();
        assert!(met(&[long, vec![0; 2_000]].concat()).unwrap_err().contains("longer than those"));
    }
}
