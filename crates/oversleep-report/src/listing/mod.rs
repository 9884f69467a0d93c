//! Texts that are not reports: lists of entries, one entry explained, what a machine allows. Each is a file with its
//! JSON document beside its text.

pub mod doctor;
pub mod entries;
pub mod experiments;
pub mod explain;
pub mod first_look;
pub mod machines;
pub mod resolution;
pub mod verify;

use anstyle::{AnsiColor, Style};
use oversleep_record::{Environment, FactName};
use serde_json::Value;

use crate::terminal::text::broken;

/// Headings and names.
pub const STRONG: Style = Style::new().bold();
/// Secondary.
pub const FAINT: Style = Style::new().dimmed();
/// Available.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Not available.
pub const MISSING: Style = AnsiColor::Yellow.on_default();

/// The warning that Wine gives these answers instead of Windows.
fn wine_answers(environment: &Environment) -> Option<String> {
    let version = environment.text(FactName::OsWineVersion)?;
    Some(format!("Under Wine {version}: these are Wine's answers on its host, not Windows'."))
}

/// A list of what exists: entries of a registry, abilities, figures of a model.
pub struct Listing<'a> {
    /// What is listed.
    pub title: String,
    /// As text of that many columns.
    pub text: Box<dyn Fn(usize) -> String + 'a>,
    /// All data.
    pub data: Value,
    /// The rows of its table.
    pub rows: Rows,
    /// The fields of a row that are columns.
    pub columns: &'static [&'static str],
}

/// The rows of a listing's table: objects, whose fields are columns.
pub enum Rows {
    /// A list that is at this place in the data, or one object there; empty if it is the data.
    In(&'static str),
    /// These.
    These(Vec<Value>),
}

impl Listing<'_> {
    /// The objects of its rows.
    pub fn objects(&self) -> &[Value] {
        match &self.rows {
            Rows::These(rows) => rows,
            Rows::In(place) => match self.data.pointer(place) {
                Some(Value::Array(rows)) => rows,
                Some(row @ Value::Object(_)) => std::slice::from_ref(row),
                _ => &[],
            },
        }
    }
}

/// A page being written.
#[derive(Debug)]
pub struct Page {
    text: String,
    width: usize,
}

impl Page {
    /// An empty one.
    pub fn new(width: usize) -> Page {
        Page { text: String::new(), width }
    }

    /// The text.
    pub fn finish(self) -> String {
        self.text
    }

    /// An empty line, unless one is there.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A heading, set apart.
    pub fn heading(&mut self, text: &str) {
        self.gap();
        self.line(&format!("{STRONG}{text}{STRONG:#}"));
    }

    /// A line as it is.
    pub fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Wraps words into indented lines; writes nothing without words.
    pub fn paragraph(&mut self, indent: usize, text: &str) {
        if text.is_empty() {
            return;
        }
        self.hanging(&" ".repeat(indent), indent, text);
    }

    /// Wraps words into lines: the first begins with `head`, the others are indented. A head longer than the indent has
    /// its own line.
    pub fn hanging(&mut self, head: &str, indent: usize, text: &str) {
        let head_chars = visible(head);
        let room = self.width.saturating_sub(indent).max(20);
        let mut lines = broken(text, room).into_iter();
        if head_chars > indent {
            self.line(head.trim_end());
        } else if let Some(first) = lines.next() {
            self.line(format!("{head}{:1$}{first}", "", indent - head_chars).trim_end());
        } else {
            self.line(head.trim_end());
        }
        for line in lines {
            self.line(&format!("{:indent$}{line}", ""));
        }
    }

    /// Code or a command: its lines as they are, indented.
    pub fn code(&mut self, indent: usize, text: &str) {
        for line in text.lines() {
            self.line(format!("{:indent$}{line}", "").trim_end());
        }
    }
}

/// The number of visible characters; colours have none.
fn visible(text: &str) -> usize {
    let mut in_colour = false;
    let takes_room = |letter: &char| {
        let is_colour = in_colour || *letter == '\u{1b}';
        in_colour = is_colour && *letter != 'm';
        !is_colour
    };
    text.chars().filter(takes_room).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_never_cut() {
        assert_eq!(broken("one two three", 7), ["one two", "three"]);
        assert_eq!(broken("µµµ µµµ", 7), ["µµµ µµµ"]);
        assert_eq!(broken("incomprehensible words", 5), ["incomprehensible", "words"]);
        assert_eq!(broken("a Create(HIGH) b", 10), ["a Create(", "HIGH) b"]);
        assert!(broken(" ", 5).is_empty());
    }

    #[test]
    fn colours_take_no_room() {
        let mut page = Page::new(40);
        page.hanging(&format!("  {FAINT}ab{FAINT:#}"), 6, "text");
        assert_eq!(page.finish(), format!("  {FAINT}ab{FAINT:#}  text\n"));
    }

    #[test]
    fn lists_hang_from_their_heads() {
        let mut page = Page::new(40);
        page.hanging("  a", 6, "one two three four five six seven eight");
        page.hanging("  a long head", 6, "text");
        page.gap();
        page.gap();
        page.paragraph(2, "x");
        assert_eq!(
            page.finish(),
            "  a   one two three four five six seven\n      eight\n  a long head\n      text\n\n  x\n"
        );
    }
}
