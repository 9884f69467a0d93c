//! What was shown so far, and what is shown next: lines that stay, and a table that is drawn again.

use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::mem;

use super::keys::{Key, Keys};
use super::lines::{Late, Line, Seen};
use super::screen::Screen;
use super::table;
use super::watching::Lines;
use crate::exit::Failure;
use crate::width::wrapped;
use crate::{interrupt, message};

/// The most lines that a paused view keeps.
const HELD_MAX: usize = 1_000;

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
    /// Whether lines go to a terminal.
    is_terminal: bool,
    keys: Keys,
    is_paused: bool,
    /// The table that was drawn last.
    table: String,
    /// Lines that are shown once it isn't paused any more, the oldest first.
    held: VecDeque<String>,
    /// Whether there were older ones.
    has_left_out: bool,
}

impl View {
    /// An empty one.
    pub fn new(shown: Shown) -> View {
        let screen = Screen::new(shown.has_table && !shown.has_json_lines);
        let lines = Lines::new(shown.is_stdout_taken);
        let keys = Keys::of(screen.is_shown());
        let is_terminal = if shown.is_stdout_taken { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
        let (late_seen, late_by_second, table, held) = Default::default();
        View {
            shown,
            screen,
            late_seen,
            late_by_second,
            count: 0,
            lines,
            is_terminal,
            keys,
            is_paused: false,
            table,
            held,
            has_left_out: false,
        }
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
        if !self.is_paused && seen.iter().any(|seen| !seen.late.is_empty()) {
            self.screen.clear();
        }
        for (of, late) in seen.iter().flat_map(|seen| seen.late.iter().map(|late| (&seen.second, late))) {
            let cpu = of.cpu.map(|cpu| format!("CPU {cpu}: ")).unwrap_or_default();
            match self.shown.has_json_lines {
                true => {
                    let line = Late::of(&late.wait, &of.wait, of.cpu).with(late.kernel.clone());
                    self.line(Line::Late(Box::new(line)).text())?;
                }
                false => {
                    self.words(&late.when(), &format!("{cpu}{}", late.wait))?;
                    if let Some(kernel) = &late.kernel {
                        self.words("", &kernel.words())?;
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
        if self.screen.is_shown() && !self.is_paused {
            self.table = table::table(seen, &self.late_by_second, self.screen.columns(), self.screen.rows());
            self.draw();
        }
        Ok(())
    }

    fn draw(&mut self) {
        self.screen.draw(&format!("{}{}", self.table, self.keys.line(self.is_paused)));
    }

    /// In lines that a terminal doesn't wrap, beneath one another.
    fn words(&mut self, head: &str, words: &str) -> Result<(), Failure> {
        let columns = if self.is_terminal { self.screen.columns() } else { usize::MAX };
        for (index, line) in wrapped(words, columns.saturating_sub(12)).iter().enumerate() {
            self.line(format!("{:>10}  {line}", if index == 0 { head } else { "" }))?;
        }
        Ok(())
    }

    fn line(&mut self, line: String) -> Result<(), Failure> {
        if !self.is_paused {
            return self.lines.line(&line);
        }
        if self.held.len() == HELD_MAX {
            self.held.pop_front();
            self.has_left_out = true;
        }
        self.held.push_back(line);
        Ok(())
    }

    /// Does what the keys say that were pressed.
    ///
    /// # Errors
    /// Standard output can't be written.
    pub fn obey_keys(&mut self) -> Result<(), Failure> {
        if self.keys.came_back() {
            self.screen.forget();
            self.draw();
        }
        while let Some(key) = self.keys.pressed() {
            match key {
                Key::Quit => {
                    interrupt::on_signal();
                    break;
                }
                Key::Pause if self.is_paused => {
                    self.resume()?;
                    self.draw();
                }
                Key::Pause => {
                    self.is_paused = true;
                    self.draw();
                }
            }
        }
        Ok(())
    }

    /// Shows what happened during a pause, which is over.
    ///
    /// # Errors
    /// Standard output can't be written.
    pub fn resume(&mut self) -> Result<(), Failure> {
        self.is_paused = false;
        if !self.held.is_empty() {
            self.screen.clear();
        }
        if mem::take(&mut self.has_left_out) {
            self.lines.line(&format!("{:>10}  lines before these aren't kept; the figures have all waits", "…"))?;
        }
        mem::take(&mut self.held).iter().try_for_each(|line| self.lines.line(line))
    }

    /// Shows a warning above the table.
    pub fn warn(&mut self, text: &str) {
        self.screen.clear();
        message::warning(text);
        if self.is_paused {
            self.draw();
        }
    }

    /// Whether nobody reads the lines that are all that is shown.
    pub fn is_over(&self) -> bool {
        self.lines.is_reader_gone() && self.shown.has_json_lines
    }

    /// Leaves the last table on the terminal: who watched it goes on reading there.
    pub fn leave(&mut self) {
        self.screen.leave();
    }
}
