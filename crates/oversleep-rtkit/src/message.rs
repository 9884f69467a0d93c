//! D-Bus messages, as far as the two calls need them. <https://dbus.freedesktop.org/doc/dbus-specification.html>

use std::io::{self, Read};

/// A call.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub destination: &'a str,
    pub path: &'a str,
    pub interface: &'a str,
    pub member: &'a str,
    pub signature: &'a str,
    pub body: &'a [u8],
}

/// The answer to a call.
#[derive(Debug, PartialEq)]
pub enum Reply {
    /// Its body.
    Return(Vec<u8>),
    /// The error's name.
    Error(String),
}

const CALL: u8 = 1;
const RETURN: u8 = 2;
const ERROR: u8 = 3;
/// Fields of a header.
const PATH: u8 = 1;
const INTERFACE: u8 = 2;
const MEMBER: u8 = 3;
const ERROR_NAME: u8 = 4;
const REPLY_SERIAL: u8 = 5;
const DESTINATION: u8 = 6;
const SIGNATURE: u8 = 8;
/// Longer than any answer to these calls.
const LONGEST: usize = 1 << 16;

impl Call<'_> {
    pub const NONE: Call<'static> =
        Call { destination: "", path: "", interface: "", member: "", signature: "", body: &[] };

    /// The message, in little-endian order.
    pub fn encode(&self, serial: u32) -> Vec<u8> {
        let mut fields = Vec::new();
        let texts = [
            (PATH, b'o', self.path),
            (INTERFACE, b's', self.interface),
            (MEMBER, b's', self.member),
            (DESTINATION, b's', self.destination),
        ];
        for (field, kind, text) in texts {
            pad(&mut fields, 8);
            fields.extend([field, 1, kind, 0]);
            string(&mut fields, text);
        }
        if !self.signature.is_empty() {
            pad(&mut fields, 8);
            fields.extend([SIGNATURE, 1, b'g', 0, self.signature.len() as u8]);
            fields.extend(self.signature.bytes().chain([0]));
        }
        let mut message = vec![b'l', CALL, 0, 1];
        for number in [self.body.len() as u32, serial, fields.len() as u32] {
            message.extend(number.to_le_bytes());
        }
        // The fields begin at a multiple of eight, so their own padding holds in the message too.
        message.extend(fields);
        pad(&mut message, 8);
        message.extend(self.body);
        message
    }
}

/// A body of strings.
pub fn strings(texts: &[&str]) -> Vec<u8> {
    let mut body = Vec::new();
    for text in texts {
        string(&mut body, text);
    }
    body
}

fn string(to: &mut Vec<u8>, text: &str) {
    pad(to, 4);
    to.extend((text.len() as u32).to_le_bytes());
    to.extend(text.bytes().chain([0]));
}

fn pad(to: &mut Vec<u8>, multiple: usize) {
    to.resize(to.len().next_multiple_of(multiple), 0);
}

/// The 32-bit number in a body that is a variant. The daemon runs on the same machine, so the byte order is native.
pub fn variant_number(body: &[u8]) -> Option<i32> {
    match body {
        [1, b'i', 0, 0, number @ ..] => Some(i32::from_ne_bytes(number.get(..4)?.try_into().ok()?)),
        _ => None,
    }
}

/// Reads the next message. `None` if it isn't the answer to the call with this serial.
pub fn read(from: &mut impl Read, serial: u32) -> io::Result<Option<Reply>> {
    let mut start = [0; 16];
    from.read_exact(&mut start)?;
    let number: fn([u8; 4]) -> u32 = match start[0] {
        b'l' => u32::from_le_bytes,
        b'B' => u32::from_be_bytes,
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    let [body, _, fields] =
        [4, 8, 12].map(|at| number([start[at], start[at + 1], start[at + 2], start[at + 3]]) as usize);
    if body > LONGEST || fields > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut rest = vec![0; fields.next_multiple_of(8) + body];
    from.read_exact(&mut rest)?;
    let body = rest.split_off(fields.next_multiple_of(8));
    rest.truncate(fields);
    let fields = Fields { bytes: &rest, at: 0, number };
    let (mut reply_to, mut error) = (None, String::new());
    for (field, value) in fields {
        match (field, value) {
            (REPLY_SERIAL, Value::Number(number)) => reply_to = Some(number),
            (ERROR_NAME, Value::Text(name)) => error = name,
            _ => {}
        }
    }
    Ok(match start[1] {
        RETURN if reply_to == Some(serial) => Some(Reply::Return(body)),
        ERROR if reply_to == Some(serial) => Some(Reply::Error(error)),
        _ => None,
    })
}

enum Value {
    Number(u32),
    Text(String),
}

/// The fields of a header. Ends at the first malformed one.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    number: fn([u8; 4]) -> u32,
}

impl Fields<'_> {
    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        self.at = self.at.next_multiple_of(4);
        let number = self.number;
        Some(number(self.take(4)?.try_into().ok()?))
    }
}

impl Iterator for Fields<'_> {
    type Item = (u8, Value);

    fn next(&mut self) -> Option<(u8, Value)> {
        self.at = self.at.next_multiple_of(8);
        let &[field, 1, kind, 0] = self.take(4)? else { return None };
        let value = match kind {
            b'u' => Value::Number(self.number()?),
            b's' | b'o' => {
                let length = self.number()? as usize;
                let text = String::from_utf8_lossy(self.take(length)?).into_owned();
                self.take(1)?;
                Value::Text(text)
            }
            b'g' => {
                let length = usize::from(*self.take(1)?.first()?);
                self.take(length + 1)?;
                Value::Text(String::new())
            }
            _ => return None,
        };
        Some((field, value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_call_is_laid_out_as_the_specification_says() {
        let call =
            Call { destination: "a.b", path: "/a", interface: "a.b", member: "M", signature: "u", body: &[7, 0, 0, 0] };
        let message = call.encode(3);
        assert_eq!(message[..16], [b'l', 1, 0, 1, 4, 0, 0, 0, 3, 0, 0, 0, 71, 0, 0, 0]);
        assert_eq!(message[16..32], *b"\x01\x01o\0\x02\0\0\0/a\0\0\0\0\0\0");
        // 16 + 71, rounded up to a multiple of eight, and the body.
        assert_eq!((message.len(), &message[80..88]), (92, &b"\x08\x01g\0\x01u\0\0"[..]));
    }

    #[test]
    fn a_number_in_a_variant() {
        let body = [&[1, b'i', 0, 0][..], &20_i32.to_ne_bytes()].concat();
        assert_eq!(variant_number(&body), Some(20));
        assert_eq!((variant_number(&body[..6]), variant_number(&[1, b'u', 0, 0, 20, 0, 0, 0])), (None, None));
    }

    proptest! {
        /// Whatever a bus sends, reading it ends.
        #[test]
        fn nothing_that_arrives_can_panic(
            start in proptest::collection::vec(any::<u8>(), 12..13),
            lengths in (0_u8..64, 0_u8..64),
            rest in proptest::collection::vec(prop_oneof![0_u8..10, Just(b's'), Just(b'u'), any::<u8>()], 0..200),
        ) {
            let mut message = [b"l\x02\x00\x01", &start[..]].concat();
            (message[4..8]).copy_from_slice(&[lengths.0, 0, 0, 0]);
            (message[12..16]).copy_from_slice(&[lengths.1, 0, 0, 0]);
            message.extend(rest);
            let _ = read(&mut &message[..], 1);
        }
    }
}
