//! The text of a file: UTF-8 or UTF-16 with or without its mark, lines that end in LF, CRLF or CR.

use std::borrow::Cow;

use crate::Fault;

/// A file's contents.
pub struct Text<'a> {
    /// The bytes as they are, for formats that aren't text.
    pub bytes: &'a [u8],
    text: Cow<'a, str>,
}

impl<'a> Text<'a> {
    /// Decodes bytes. What isn't text becomes U+FFFD.
    pub fn of(bytes: &'a [u8]) -> Text<'a> {
        let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
            // Letter by letter, because a log may be large.
            let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
            let mut text = String::with_capacity(bytes.len() / 2);
            text.extend(char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)));
            Cow::Owned(text)
        };
        let text = match bytes {
            [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
            [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
            [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
            // What Windows' tools write when their output is redirected may lack the mark.
            [first, 0, ..] if is_of_text(*first) => wide(bytes, u16::from_le_bytes),
            [0, first, ..] if is_of_text(*first) => wide(bytes, u16::from_be_bytes),
            bytes => String::from_utf8_lossy(bytes),
        };
        Text { bytes, text: with_line_feeds(text) }
    }

    /// Whether some of it isn't text.
    pub fn is_lossy(&self) -> bool {
        self.text.contains(char::REPLACEMENT_CHARACTER)
    }

    /// All of it.
    pub fn all(&self) -> &str {
        &self.text
    }

    /// Lines that aren't blank, without blanks around them, each with its number from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        lines.filter(|(_, line)| !line.is_empty())
    }

    /// The first line that isn't blank.
    pub fn first(&self) -> &str {
        self.lines().next().map_or("", |(_, line)| line)
    }
}

/// Whether a text may begin with that letter.
fn is_of_text(first: u8) -> bool {
    first.is_ascii_graphic() || first.is_ascii_whitespace()
}

/// The text with a line feed where a carriage return alone ends a line.
fn with_line_feeds(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_alone = |text: &str, at: usize| !text[at + 1..].starts_with('\n');
    if !text.match_indices('\r').any(|(at, _)| is_alone(&text, at)) {
        return text;
    }
    let mut text = text.into_owned();
    let mut from = 0;
    while let Some(at) = text[from..].find('\r').map(|at| from + at) {
        if is_alone(&text, at) {
            text.replace_range(at..=at, "\n");
        }
        from = at + 1;
    }
    Cow::Owned(text)
}

/// Parses a word of a line.
pub fn number<T: std::str::FromStr>(line: usize, word: &str, what: &str) -> Result<T, Fault> {
    let shown: String = word.chars().filter(|letter| !letter.is_control()).take(40).collect();
    word.trim().parse().map_err(|_| Fault::Line(line, format!("'{shown}' is not {what}")))
}

/// A span in ns of that many units, each of so many ns.
pub fn span_ns(line: usize, units: f64, unit_ns: f64) -> Result<i64, Fault> {
    let ns = (units * unit_ns).round();
    // A third of a century: no program waits longer, and sums of such spans still fit.
    if ns.is_finite() && ns.abs() < 1e18 {
        Ok(ns as i64)
    } else {
        Err(Fault::Line(line, format!("{units} is no time")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_texts_are_read_as_others() {
        let wide = |mark: &[u8], unit: fn(u16) -> [u8; 2]| {
            [mark.to_vec(), "a µ\r\n\r\n b\r\n".encode_utf16().flat_map(unit).collect()].concat()
        };
        for bytes in [
            wide(&[0xff, 0xfe], u16::to_le_bytes),
            wide(&[0xfe, 0xff], u16::to_be_bytes),
            wide(&[], u16::to_le_bytes),
            wide(&[], u16::to_be_bytes),
            "\u{feff}a µ\r\n\r\n b".as_bytes().to_vec(),
            "a µ\r\r b\r".as_bytes().to_vec(),
        ] {
            assert_eq!(Text::of(&bytes).lines().collect::<Vec<_>>(), [(1, "a µ"), (3, "b")]);
        }
    }

    #[test]
    fn a_time_must_be_one() {
        assert_eq!(span_ns(1, 1.4967, 1e6), Ok(1_496_700));
        for units in [f64::NAN, f64::INFINITY, 1e300] {
            assert!(span_ns(1, units, 1e6).is_err());
        }
    }
}
