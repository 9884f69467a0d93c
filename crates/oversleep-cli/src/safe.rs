//! Untrusted text (arguments, paths, fields of a result file, messages of the system), which must not control the
//! terminal. Everything that is printed passes through one of these functions.

use std::borrow::Cow;
use std::io::{self, Write};

use oversleep_record::words::counted;
use oversleep_report::terminal::{clean, is_obeyed};

/// The most characters of a message: an argument or a field may be of any length.
const LINE_MAX: usize = 2_000;

/// One line of a message. A long one keeps its beginning, which states the problem, and its end, which states what to do.
pub fn line(text: &str) -> String {
    let letters = text.chars().count();
    let Some(left_out) = letters.checked_sub(LINE_MAX).filter(|&left_out| left_out > 0) else { return clean(text) };
    let begins: String = text.chars().take(LINE_MAX / 2).collect();
    let ends: String = text.chars().skip(LINE_MAX / 2 + left_out).collect();
    format!("{} … ({} more) … {}", clean(&begins), counted(left_out, "letter"), clean(&ends))
}

/// Text that keeps oversleep's styles and line ends, and nothing else that a terminal would obey.
pub fn styled(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|letter| letter != '\n' && is_obeyed(letter)) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = style_length(rest).unwrap_or(letter.len_utf8());
        match letter {
            '\n' => safe.push(letter),
            _ if length > letter.len_utf8() => safe.push_str(&rest[..length]),
            _ => safe.push_str(&clean(&rest[..length])),
        }
        rest = &rest[length..];
    }
    safe.into()
}

/// The length of the style that the text begins with: `ESC [ figures m`.
fn style_length(text: &str) -> Option<usize> {
    let figures = text.strip_prefix("\u{1b}[")?;
    let end = figures.find(|letter: char| !letter.is_ascii_digit() && letter != ';')?;
    figures[end..].starts_with('m').then_some(2 + end + 1)
}

/// An equivalent JSON document: characters that a terminal would obey occur only within its strings, and are escaped.
pub fn json(text: &str) -> Cow<'_, str> {
    let is_blank = |letter| matches!(letter, '\n' | '\r' | '\t');
    if !text.chars().any(|letter| is_obeyed(letter) && !is_blank(letter)) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_obeyed(letter) && !is_blank(letter) {
            // All of them are in the Basic Multilingual Plane, where one escape suffices.
            true => safe.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => safe.push(letter),
        }
    }
    safe.into()
}

/// Writes a JSON document in the form of [`json`], piece by piece.
pub struct JsonWriter<W> {
    out: W,
    /// The beginning of a character that the next piece completes.
    rest: Vec<u8>,
}

impl<W: Write> JsonWriter<W> {
    /// Writes to this writer.
    pub fn new(out: W) -> JsonWriter<W> {
        JsonWriter { out, rest: Vec::new() }
    }
}

impl<W: Write> Write for JsonWriter<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(piece);
        let whole = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_some() => return Err(io::ErrorKind::InvalidData.into()),
            Err(error) => error.valid_up_to(),
            Ok(text) => text.len(),
        };
        self.out.write_all(json(&String::from_utf8_lossy(&self.rest[..whole])).as_bytes())?;
        self.rest.drain(..whole);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_styles_and_line_ends_pass() {
        assert_eq!(styled("\u{1b}[1;31ma\u{1b}[0m\nb"), "\u{1b}[1;31ma\u{1b}[0m\nb");
        let hostile = "a\u{1b}[2Jb\u{1b}]0;title\u{7}\rc\u{9b}31md\u{202e}e\u{1b}[31";
        assert_eq!(styled(hostile), "a\u{fffd}[2Jb\u{fffd}]0;title\u{fffd} c\u{fffd}31md\u{fffd}e\u{fffd}[31");
        assert!(matches!(styled("plain\ntext"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_message_has_a_length_that_somebody_reads() {
        let long = line(&format!("can't use '{}': no number; write 1ms", "x\u{1b}".repeat(10_000_000)));
        assert!(long.chars().count() < LINE_MAX + 50, "{}", long.len());
        assert!(long.starts_with("can't use 'x") && long.ends_with("x\u{fffd}': no number; write 1ms"), "{long}");
        assert_eq!(line(&"é".repeat(LINE_MAX)), "é".repeat(LINE_MAX));
    }

    #[test]
    fn json_says_the_same() {
        let value = serde_json::json!({ "name": "a\u{9b}2J\u{7f}\u{202e}\u{1b}é\n" });
        for text in [format!("{value}"), format!("{value:#}\n")] {
            let safe = json(&text);
            assert!(!safe.chars().any(|letter| letter != '\n' && is_obeyed(letter)), "{safe}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
            for length in 1..5 {
                let mut writer = JsonWriter::new(Vec::new());
                text.as_bytes().chunks(length).for_each(|piece| writer.write_all(piece).unwrap());
                assert_eq!(writer.out, safe.as_bytes(), "in pieces of {length} bytes");
            }
        }
    }
}
