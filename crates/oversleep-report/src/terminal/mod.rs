//! The report as text for a terminal: a heading, tables, and what they mean in sentences at the end.
//!
//! Pure: a result and a width go in, a string with ANSI styles comes out; whoever prints it decides whether the styles
//! stay. No line is wider than asked. Every text of the result passes through [`text::clean`], since a result file from
//! elsewhere must not be able to speak to the terminal.

mod comparison;
mod findings;
mod grid;
mod style;
mod text;

use oversleep_record::{ExperimentId, ResultFile};

pub use comparison::comparison;

use crate::view::head;
use crate::view::sections;
use crate::view::table::{Section, Tone};
use style::paint;

/// Narrowest and widest report, in columns.
const WIDTH_MIN: usize = 40;
const WIDTH_MAX: usize = 160;
/// Widest line of prose: longer ones are hard to follow back.
const PROSE_MAX: usize = 110;

/// Sections a brief report shows; the others are named, and stand in the page and in the full report.
const BRIEF_SECTIONS: [&str; 3] = ["clocks", "waits", "unavailable"];
/// Most sections for which a report is shown in full unasked.
const SECTIONS_AT_ONCE: usize = 10;

/// How much of a result is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// What fits a reader's patience: of a result with many sections the main tables and the findings in short.
    #[default]
    Brief,
    /// Every table, all code.
    Full,
}

/// The report, with ANSI styles, at most `width` columns wide.
pub fn report(file: &ResultFile, width: usize, detail: Detail) -> String {
    let width = width.clamp(WIDTH_MIN, WIDTH_MAX);
    let mut page = Page { out: String::new(), width, prose: width.min(PROSE_MAX), published: Vec::new() };
    page.head(file);
    let sections = sections::all(file);
    let detail = if sections.len() > SECTIONS_AT_ONCE { detail } else { Detail::Full };
    let is_shown = |section: &Section| detail == Detail::Full || BRIEF_SECTIONS.contains(&section.id);
    for section in sections.iter().filter(|section| is_shown(section)) {
        page.section(file, section);
    }
    let others: Vec<String> =
        sections.iter().filter(|section| !is_shown(section)).map(|section| uncapitalised(section.title)).collect();
    if !others.is_empty() {
        page.gap();
        page.prose(&format!("Measured too, on the page and with --full: {}.", others.join("; ")), 0, Tone::Soft);
    }
    findings::tell(&mut page, file, detail);
    page.out
}

/// A title inside a sentence.
fn uncapitalised(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// The text so far, and how wide it may be.
struct Page {
    out: String,
    width: usize,
    prose: usize,
    /// Experiments whose published figures stand above already.
    published: Vec<ExperimentId>,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn gap(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    /// Words, wrapped, each line indented and in one tone.
    fn prose(&mut self, text: &str, indent: usize, tone: Tone) {
        for line in text::wrapped(&text::clean(text), self.prose.saturating_sub(indent).max(20)) {
            let line = format!("{:indent$}{}", "", paint(tone, &line));
            self.line(&line);
        }
    }

    fn heading(&mut self, file: &ResultFile, text: &str, tail: &str) {
        self.gap();
        let heading = text::clean(&head::heading(file, text));
        for line in text::wrapped(&heading, self.width) {
            self.line(&paint(Tone::Strong, &line));
        }
        let tail = text::clean(tail);
        let used = text::columns(heading.as_str());
        if !tail.is_empty() && used + 2 + text::columns(&tail) <= self.width {
            self.out.pop();
            self.line(&format!("  {}", paint(Tone::Soft, &tail)));
        }
    }

    fn head(&mut self, file: &ResultFile) {
        let title = text::clean(&head::heading(file, &head::title(file)));
        for line in text::wrapped(&title, self.width) {
            self.line(&paint(Tone::Strong, &line));
        }
        for parts in [head::machine(file), head::run(file)] {
            self.prose(&parts.join(" · "), 0, Tone::Plain);
        }
        for warning in head::warnings(file) {
            self.prose(&warning, 0, Tone::Warn);
        }
        for sentence in head::floor(file).into_iter().chain(head::timers(file)).chain(head::missing(file)) {
            self.prose(&sentence, 0, Tone::Soft);
        }
    }

    fn section(&mut self, file: &ResultFile, section: &Section) {
        self.heading(file, section.title, &section.ids());
        let many = section.tables.len() > 1;
        let tables = if section.notes_suffice { &[] } else { section.tables.as_slice() };
        for (index, table) in tables.iter().enumerate() {
            if index > 0 {
                self.out.push('\n');
            }
            // What its figures are is in the heads of any other table.
            if many || ["detail", "waits"].contains(&section.id) {
                self.prose(&table.caption, 0, Tone::Soft);
            }
            for line in grid::lines(table, self.width) {
                self.line(&line);
            }
        }
        for note in &section.notes {
            let is_answer = section.id == "clocks" || section.notes_suffice;
            self.prose(note, 0, if is_answer { Tone::Plain } else { Tone::Soft });
        }
        let fresh: Vec<ExperimentId> =
            section.experiments.iter().copied().filter(|id| !self.published.contains(id)).collect();
        for figure in sections::published(file, &fresh) {
            self.prose(&format!("Published: {figure}"), 0, Tone::Soft);
        }
        self.published.extend(fresh);
    }
}

#[cfg(test)]
pub mod tests;
