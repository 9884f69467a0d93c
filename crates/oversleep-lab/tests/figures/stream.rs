//! A part of a command's result: its tokens as text, a line for each item, and the digest of that text.

use std::fmt::{Display, Write};

/// Tokens, separated by spaces; lines begin with a word that says what follows.
#[derive(Debug, Default)]
pub struct Stream {
    text: String,
}

impl Stream {
    /// Begins a line. The word is defined by this test, whatever the name in the record.
    pub fn line(&mut self, word: &str) -> &mut Stream {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(word);
        self
    }

    /// Adds a token: a number or a name. Fractions are written with all their digits.
    pub fn put(&mut self, token: impl Display) -> &mut Stream {
        write!(self.text, " {token}").expect("writing to memory does not fail");
        self
    }

    /// Adds a word and its token, or neither if the token is unknown.
    pub fn some(&mut self, word: &str, token: Option<impl Display>) -> &mut Stream {
        match token {
            Some(token) => self.put(word).put(token),
            None => self,
        }
    }

    /// Adds all of them.
    pub fn all(&mut self, tokens: impl IntoIterator<Item = impl Display>) -> &mut Stream {
        tokens.into_iter().for_each(|token| _ = self.put(token));
        self
    }
}

/// A part with its own digest, so that a change can be located.
#[derive(Debug)]
pub struct Part {
    /// `facts`, `series/B5`.
    pub name: String,
    /// All its tokens.
    pub text: String,
    /// The number of its items.
    pub count: usize,
    /// The kind of its items: `series`.
    what: &'static str,
}

impl Part {
    /// What was written, as a part.
    pub fn new(name: &str, stream: Stream, count: usize, what: &'static str) -> Part {
        Part { name: name.to_owned(), text: stream.text + "\n", count, what }
    }

    /// Its digest as `figures.golden` has it: `c932e66067b77f48 (96 series)`.
    pub fn digest(&self) -> String {
        format!("{:016x} ({} {})", fnv_1a(self.text.as_bytes()), self.count, self.what)
    }
}

/// FNV-1a with 64 bits: for each byte, exclusive or, then times the prime. It is the same on every system, and no other
/// crate can change it.
fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn the_digest_is_the_one_that_others_publish() {
    // From the test vectors of its authors.
    for (text, digest) in
        [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8_u64)]
    {
        assert_eq!(fnv_1a(text.as_bytes()), digest, "{text}");
    }
}
