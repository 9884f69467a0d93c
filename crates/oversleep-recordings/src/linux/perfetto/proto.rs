//! Fields of a protobuf message, one after another.

use crate::cursor::Bytes;

/// What a field has.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub fn number(self) -> u64 {
        match self {
            Value::Number(number) => number,
            Value::Bytes(_) => 0,
        }
    }

    pub fn bytes(self) -> &'a [u8] {
        match self {
            Value::Number(_) => &[],
            Value::Bytes(bytes) => bytes,
        }
    }
}

/// A message; it ends where it is damaged.
#[derive(Clone, Debug)]
pub struct Message<'a>(pub Bytes<'a>);

impl<'a> Message<'a> {
    pub fn new(bytes: &'a [u8]) -> Message<'a> {
        Message(Bytes(bytes))
    }

    /// The first field of that number.
    pub fn field(&self, number: u32) -> Option<Value<'a>> {
        self.clone().find(|(of, _)| *of == number).map(|(_, value)| value)
    }
}

impl<'a> Iterator for Message<'a> {
    type Item = (u32, Value<'a>);

    fn next(&mut self) -> Option<(u32, Value<'a>)> {
        let bytes = &mut self.0;
        let tag = bytes.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(bytes.varint()?),
            1 => Value::Number(bytes.u64()?),
            2 => {
                let size = usize::try_from(bytes.varint()?).ok()?;
                Value::Bytes(bytes.take(size)?)
            }
            5 => Value::Number(bytes.u32()?.into()),
            _ => return None,
        };
        Some((u32::try_from(tag >> 3).ok()?, value))
    }
}

/// Numbers of a packed field.
pub fn packed(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut bytes = Bytes(bytes);
    std::iter::from_fn(move || bytes.varint())
}
