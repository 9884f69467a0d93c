//! What was shown so far, and what is shown next: lines that stay, and a table that is drawn again.

use super::lines::{Late, Line, Seen};
use super::screen::Screen;
use super::table;
use super::watching::Lines;
use crate::exit::Failure;

/// What is shown meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Whether there is a table on the terminal.
    pub has_table: bool,
    /// Whether the table has a histogram.
    pub has_histogram: bool,
    /// Whether each second and each late wait is a line of JSON on standard output.
    pub has_json_lines: bool,
    /// Whether standard output is another document's, so that late waits are notes.
    pub is_stdout_taken: bool,
}

/// What was shown so far.
pub struct View {
    shown: Shown,
    screen: Screen,
    /// For each sampler.
    late_seen: Vec<u64>,
    late_by_second: Vec<Option<i64>>,
    count: u64,
    lines: Lines,
}

impl View {
    /// An empty one.
    pub fn new(shown: Shown) -> View {
        let screen = Screen::new(shown.has_table && !shown.has_json_lines);
        let lines = Lines::new(shown.is_stdout_taken);
        View { shown, screen, late_seen: Vec::new(), late_by_second: Vec::new(), count: 0, lines }
    }

    /// How many late waits of the sampler at that place were known when it was last shown.
    pub fn late_seen(&self, place: usize) -> u64 {
        self.late_seen.get(place).copied().unwrap_or(0)
    }

    /// Whether it takes a histogram.
    pub fn has_histogram(&self) -> bool {
        self.shown.has_histogram
    }

    /// Shows the late waits since the last time, and where a second is over, its figures.
    ///
    /// # Errors
    /// Standard output can't be written.
    pub fn show(&mut self, seen: &[Seen], is_due: bool) -> Result<(), Failure> {
        self.late_seen = seen.iter().map(|seen| seen.late_seen).collect();
        if seen.iter().any(|seen| !seen.late.is_empty()) {
            self.clear();
        }
        for (of, late) in seen.iter().flat_map(|seen| seen.late.iter().map(|late| (&seen.second, late))) {
            let cpu = of.cpu.map(|cpu| format!("CPU {cpu}  ")).unwrap_or_default();
            match self.shown.has_json_lines {
                true => {
                    let line = Late::of(&late.wait, &of.wait, of.cpu).with(late.kernel.clone());
                    self.lines.line(&Line::Late(Box::new(line)).text())?;
                }
                false => {
                    self.lines.line(&format!("{:>10}  {cpu}{}", late.when(), late.wait))?;
                    if let Some(kernel) = &late.kernel {
                        self.lines.line(&format!("{:>10}  {}", "", kernel.words()))?;
                    }
                }
            }
        }
        if is_due {
            if self.shown.has_json_lines {
                for seen in seen {
                    self.lines.line(&Line::Second(Box::new(seen.second.clone())).text())?;
                }
            }
            let count = seen.iter().map(|seen| seen.second.count()).sum();
            let largest = seen.iter().filter_map(|seen| seen.second.max_last_1s_ns).max();
            self.late_by_second.push(largest.filter(|_| count != self.count));
            self.count = count;
        }
        if self.screen.is_shown() {
            self.screen.draw(&table::table(seen, &self.late_by_second, self.screen.columns()));
        }
        Ok(())
    }

    /// Whether nobody reads the lines that are all that is shown.
    pub fn is_over(&self) -> bool {
        self.lines.is_reader_gone() && self.shown.has_json_lines
    }

    /// Leaves the last table on the terminal: who watched it goes on reading there.
    pub fn leave(&mut self) {
        self.screen.leave();
    }

    /// Takes the table off the terminal.
    pub fn clear(&mut self) {
        self.screen.clear();
    }
}
