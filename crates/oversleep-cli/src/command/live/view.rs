//! What was shown so far, and what is shown next: lines that stay, and a table that is drawn again.

use oversleep_record::Distribution;
use oversleep_sampler::LateWait;

use super::lines::{Late, Line, Second};
use super::screen::Screen;
use super::table;
use crate::exit::Failure;
use crate::message;
use crate::output::stdout::{self, Reader};

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
    late_seen: u64,
    late_by_second: Vec<Option<i64>>,
    count: u64,
    is_reader_gone: bool,
}

impl View {
    /// An empty one.
    pub fn new(shown: Shown) -> View {
        let screen = Screen::new(shown.has_table && !shown.has_json_lines);
        View { shown, screen, late_seen: 0, late_by_second: Vec::new(), count: 0, is_reader_gone: false }
    }

    /// How many late waits were known when it was last shown.
    pub fn late_seen(&self) -> u64 {
        self.late_seen
    }

    /// Whether it takes a histogram.
    pub fn has_histogram(&self) -> bool {
        self.shown.has_histogram
    }

    /// Shows the late waits since the last time, and where a second is over, its figures.
    ///
    /// # Errors
    /// Standard output can't be written.
    pub fn show(
        &mut self,
        second: &Second,
        late: &[LateWait],
        is_due: bool,
        histogram: Option<&Distribution>,
    ) -> Result<(), Failure> {
        self.late_seen = second.late;
        if !late.is_empty() {
            self.clear();
        }
        for late in late {
            match self.shown.has_json_lines {
                true => self.line(&Line::Late(Late::from(late)).text())?,
                false => self.line(&format!("{:>10}  {late}", late.wait.end))?,
            }
        }
        if is_due {
            if self.shown.has_json_lines {
                self.line(&Line::Second(second.clone()).text())?;
            }
            let is_fresh = second.count() != self.count;
            self.count = second.count();
            self.late_by_second.push(second.max_last_1s_ns.filter(|_| is_fresh));
        }
        if self.screen.is_shown() {
            self.screen.draw(&table::table(second, &self.late_by_second, histogram));
        }
        Ok(())
    }

    /// Takes the table off the terminal.
    pub fn clear(&mut self) {
        self.screen.clear();
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        if self.is_reader_gone {
            return Ok(());
        }
        if self.shown.is_stdout_taken {
            message::note(line);
            return Ok(());
        }
        self.is_reader_gone = stdout::text(&format!("{line}\n"))? == Reader::Gone;
        Ok(())
    }
}
