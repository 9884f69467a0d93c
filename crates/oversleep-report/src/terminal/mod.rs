//! The report as text for a terminal: a summary by default, every table and all details with `--full`.
//!
//! Pure: a result and a width go in, a string with ANSI styles comes out; the caller decides whether to keep the
//! styles. No line is wider than the width. Every text of the result passes through `text::clean`, since a result file
//! from elsewhere must not be able to control the terminal.

mod comparison;
mod findings;
mod grid;
mod observed;
mod page;
mod shared;
mod style;
pub(crate) mod text;
mod verdict;

use oversleep_explain::verdict::Verdict;
use oversleep_record::{ExperimentId, ResultFile};

use page::Page;

pub use comparison::comparison;
pub(crate) use grid::whole as whole_table;
pub use shared::shared;
pub use text::{clean, is_obeyed, without_styles};

/// The verdict on a program that is still followed, and those of its waits for which there is room; with ANSI styles, at
/// most `width` columns wide and fewer than `height` lines long.
pub fn so_far(file: &ResultFile, width: usize, height: usize) -> String {
    let mut page = Page::new(width);
    verdict::so_far(&mut page, file, height);
    page.finish().split_inclusive('\n').take(height.saturating_sub(1)).collect()
}

use crate::view::findings::Findings;
use crate::view::table::{Section, Table, Tone};
use crate::view::{head, overview, sections, timers};
use crate::words::counted;

/// Most published figures beneath a section; the page has all.
const PUBLISHED_MAX: usize = 3;

/// How much of a result is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// What fits on two screens: an overview of a result with many sections, and a few lines per finding.
    #[default]
    Brief,
    /// Every table, all evidence and code.
    Full,
}

/// A section alone, with ANSI styles; columns for which the page is too narrow follow in tables of their own.
pub fn section(section: &Section, width: usize) -> String {
    let mut page = Page::new(width);
    page.title(&section.title);
    for table in &section.tables {
        page.prose(&table.caption, 0, Tone::Soft);
        page.table(table);
        page.rest_of(table);
    }
    section.notes.iter().for_each(|note| page.prose(note, 0, Tone::Soft));
    page.finish()
}

/// The report, with ANSI styles, at most `width` columns wide.
pub fn report(file: &ResultFile, width: usize, detail: Detail) -> String {
    let mut page = Page::new(width);
    let verdict = Verdict::of(file);
    if let Some(verdict) = verdict.as_ref().filter(|_| detail == Detail::Brief) {
        page.names(file);
        verdict::brief(&mut page, file, verdict);
        return page.finish();
    }
    let sections = sections::all(file);
    let is_overview = detail == Detail::Brief && overview::is_wanted(&sections);
    if is_overview {
        page.head_at_a_glance(file);
        for section in overview::glance(file) {
            page.heading(file, &section.title, "");
            section.tables.iter().for_each(|table| page.table(table));
            page.left_out(&section.tables);
        }
    } else {
        page.whole_head(file);
        verdict.iter().for_each(|verdict| verdict::show(&mut page, file, verdict));
        sections.iter().for_each(|section| page.section(file, section, detail));
    }
    let found = Findings::of(file);
    findings::show(&mut page, file, &found, detail);
    observed::worst(&mut page, file);
    let tables: usize = sections.iter().map(|section| section.tables.len()).sum();
    page.bottom_line(file, &found, is_overview.then_some(tables));
    page.finish()
}

impl Page {
    fn names(&mut self, file: &ResultFile) {
        self.title(&head::heading(file, &head::title(file)));
        self.prose(&head::machine(file).join(" · "), 0, Tone::Plain);
        self.prose(&head::run(file).join(" · "), 0, Tone::Plain);
        for warning in head::warnings(file) {
            self.prose(&warning, 0, Tone::Warn);
        }
        head::reliability(file).iter().for_each(|note| self.prose(note, 0, Tone::Plain));
    }

    fn head_at_a_glance(&mut self, file: &ResultFile) {
        self.names(file);
        let timestamps = head::timestamps(file).map(|all| all.split(" (not").next().unwrap_or_default().to_owned());
        let not_available = overview::unavailable(file).join(", ");
        let not_available = (!not_available.is_empty()).then(|| format!("not available: {not_available}"));
        let system: Vec<String> = timers::stated(file).0.into_iter().chain(not_available).collect();
        for line in [timestamps, head::in_a_line(&system)].into_iter().flatten() {
            self.prose(&line, 0, Tone::Soft);
        }
    }

    fn whole_head(&mut self, file: &ResultFile) {
        self.names(file);
        let clock = head::timestamps(file).into_iter().chain(head::cross_check(file));
        let (deciding, rest) = timers::stated(file);
        let reliability = head::took_longer(file).into_iter().chain(head::stopped_early(file));
        let system = head::in_a_line(&[deciding, rest].concat()).into_iter().chain(reliability);
        for sentence in clock.chain(system).chain(head::missing(file)) {
            self.prose(&sentence, 0, Tone::Soft);
        }
    }

    /// The bottom line, and where to find more.
    fn bottom_line(&mut self, file: &ResultFile, findings: &Findings, more_tables: Option<usize>) {
        if !overview::has_bottom_line(file) {
            return;
        }
        self.heading(file, "Bottom line", "");
        for sentence in overview::bottom_line(file, findings) {
            self.prose(&sentence, 0, Tone::Plain);
        }
        if let Some(tables) = more_tables {
            let more = format!("More: `oversleep explain NAME` on each finding; --full for all {tables} tables.");
            self.prose(&more, 0, Tone::Soft);
        }
    }

    fn section(&mut self, file: &ResultFile, section: &Section, detail: Detail) {
        self.heading(file, &section.title, &section.ids());
        let tables = if section.notes_suffice { &[] } else { section.tables.as_slice() };
        let is_whole = |table: &Table| table.needs_all && detail == Detail::Full;
        for (index, table) in tables.iter().enumerate() {
            if index > 0 {
                self.gap();
            }
            self.prose(&table.caption, 0, Tone::Soft);
            let brief = if detail == Detail::Brief { table.rows_brief } else { 0 };
            match table.rows.len().checked_sub(brief).filter(|&more| brief > 0 && more > 0) {
                Some(more) => {
                    self.table(&Table { rows: table.rows[..brief].to_vec(), ..table.clone() });
                    self.prose(&format!("{}; --full shows all.", counted(more, "more row")), 0, Tone::Soft);
                }
                None => self.table(table),
            }
            if is_whole(table) {
                self.rest_of(table);
            }
        }
        self.left_out(tables.iter().filter(|table| !is_whole(table)));
        section.legend.iter().for_each(|legend| self.prose(legend, 0, Tone::Soft));
        let tone = if section.notes_suffice { Tone::Plain } else { Tone::Soft };
        section.notes.iter().for_each(|note| self.prose(note, 0, tone));
        let fresh: Vec<ExperimentId> =
            section.experiments.iter().filter(|id| !self.published.contains(id)).copied().collect();
        let published = sections::published(file, &fresh);
        for figure in published.iter().take(PUBLISHED_MAX) {
            self.prose(&format!("Published: {figure}"), 0, Tone::Soft);
        }
        if let Some(more) = published.len().checked_sub(PUBLISHED_MAX).filter(|&more| more > 0) {
            self.prose(
                &format!("{} published: --html shows all of them.", counted(more, "more figure")),
                0,
                Tone::Soft,
            );
        }
        self.published.extend(fresh);
    }
}

#[cfg(test)]
pub mod tests;
