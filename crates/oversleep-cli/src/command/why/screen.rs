//! The verdict as it forms, redrawn in place on a terminal while a program is followed.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use oversleep_record::ResultFile;
use oversleep_report::terminal;

use super::Why;
use crate::width;

/// The interval between two verdicts.
const INTERVAL: Duration = Duration::from_secs(1);
/// A verdict is worth this part of the time at most: where it takes long, the next one comes later.
const TIMES_ITS_COST: u32 = 50;

/// The lines of standard error that show it.
pub struct Screen {
    is_shown: bool,
    due: Instant,
    lines: usize,
}

impl Screen {
    /// A terminal that nobody else writes to shows the verdict; `--live` shows it beside a program's own output.
    pub fn of(why: &Why) -> Screen {
        let is_shown = io::stderr().is_terminal() && !why.documents.quiet && (why.live || why.program.is_empty());
        Screen { is_shown, due: Instant::now() + INTERVAL, lines: 0 }
    }

    /// Shows the verdict on what was seen up to now, if it is time.
    pub fn show(&mut self, so_far: impl FnOnce() -> ResultFile) {
        let began = Instant::now();
        if !self.is_shown || began < self.due {
            return;
        }
        let text = terminal::so_far(&so_far(), width::width(), width::height());
        self.clear();
        self.lines = text.lines().count();
        let _ = write!(anstream::stderr(), "{text}");
        self.due = began + INTERVAL.max(began.elapsed() * TIMES_ITS_COST);
    }

    /// Takes it off the screen.
    pub fn clear(&mut self) {
        if self.lines != 0 {
            let _ = write!(io::stderr(), "\x1b[{}A\x1b[J", self.lines);
            self.lines = 0;
        }
    }
}
