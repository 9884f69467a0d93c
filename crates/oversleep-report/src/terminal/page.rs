//! A page of terminal text being written: headings, prose and tables, none wider than the page.

use oversleep_record::{ExperimentId, ResultFile};

use super::style::paint;
use super::{grid, text};
use crate::view::head;
use crate::view::table::{Table, Tone};
use crate::words::list;

/// Narrowest and widest page, in columns.
const WIDTH_MIN: usize = 40;
const WIDTH_MAX: usize = 160;
/// Widest line of prose: longer ones are hard to follow back.
const PROSE_MAX: usize = 110;

/// The text so far, and how wide it may be.
pub struct Page {
    out: String,
    pub width: usize,
    /// Experiments whose published figures are shown already.
    pub published: Vec<ExperimentId>,
}

impl Page {
    /// An empty page.
    pub fn new(width: usize) -> Page {
        Page { out: String::new(), width: width.clamp(WIDTH_MIN, WIDTH_MAX), published: Vec::new() }
    }

    /// The text.
    pub fn finish(self) -> String {
        self.out
    }

    /// How many lines it has up to now.
    pub fn lines(&self) -> usize {
        self.out.lines().count()
    }

    /// A line as it is.
    pub fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// An empty line, unless the page is empty.
    pub fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Words, wrapped, each line indented and in one tone.
    pub fn prose(&mut self, text: &str, indent: usize, tone: Tone) {
        for line in text::wrapped(&text::clean(text), self.prose_width(indent)) {
            let line = format!("{:indent$}{}", "", paint(tone, &line));
            self.line(&line);
        }
    }

    /// A line that begins like that, and words behind it, wrapped beneath one another.
    pub fn hanging(&mut self, begin: &str, words: &str) {
        let indent = text::columns(begin) + 2;
        if self.width < indent + 20 {
            self.line(begin);
            return self.prose(words, 4, Tone::Soft);
        }
        for (index, line) in text::wrapped(&text::clean(words), self.prose_width(indent)).iter().enumerate() {
            let begin = if index == 0 { begin } else { "" };
            self.line(&format!("{begin:<width$}{}", paint(Tone::Soft, line), width = indent));
        }
    }

    /// Columns of prose beside an indent.
    pub fn prose_width(&self, indent: usize) -> usize {
        self.width.min(PROSE_MAX).saturating_sub(indent).max(20)
    }

    /// A strong line.
    pub fn title(&mut self, text: &str) {
        for line in text::wrapped(&text::clean(text), self.width) {
            self.line(&paint(Tone::Strong, &line));
        }
    }

    /// A heading, set apart, with a soft tail behind it, or beneath it if there is no room.
    pub fn heading(&mut self, file: &ResultFile, text: &str, tail: &str) {
        self.gap();
        let heading = head::heading(file, text);
        self.title(&heading);
        let (heading, clean) = (text::clean(&heading), text::clean(tail));
        if !tail.is_empty() && text::columns(&heading) + 2 + text::columns(&clean) <= self.width {
            self.out.pop();
            self.line(&format!("  {}", paint(Tone::Soft, &clean)));
        } else {
            self.prose(tail, 0, Tone::Soft);
        }
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        for line in grid::lines(table, self.width) {
            self.line(&line);
        }
    }

    /// A table, with columns that have no room beneath it.
    pub fn whole_table(&mut self, table: &Table) {
        for line in grid::whole(table, self.width) {
            self.line(&line);
        }
    }

    /// The columns of a table for which the page is too narrow, in tables beneath it.
    pub fn rest_of(&mut self, table: &Table) {
        for part in grid::rest(table, self.width) {
            self.gap();
            self.table(&part.table);
        }
    }

    /// Which columns of these tables the page is too narrow for, and how to see them.
    pub fn left_out<'t>(&mut self, tables: impl IntoIterator<Item = &'t Table>) {
        let (mut heads, mut is_in_full): (Vec<String>, bool) = (Vec::new(), false);
        for table in tables {
            let parts = grid::rest(table, self.width);
            is_in_full |= table.needs_all && !parts.is_empty();
            let left: Vec<&str> = parts.first().map_or_else(Vec::new, |part| part.heads());
            // A ratio of what is shown may stand there for another figure, too.
            let is_seen = |head: &str| {
                let all = table.columns.iter().filter(|column| column.head == head).count();
                all > left.iter().filter(|other| **other == head).count()
            };
            for head in left.iter().filter(|head| !is_seen(head)) {
                if !heads.iter().any(|known| known == head) {
                    heads.push((*head).to_owned());
                }
            }
        }
        if !heads.is_empty() {
            let where_else = if is_in_full {
                "a wider terminal shows more, --full all"
            } else {
                "a wider terminal or --html shows more"
            };
            self.prose(&format!("No room here for {}: {where_else}.", list(&heads)), 0, Tone::Soft);
        }
    }
}
