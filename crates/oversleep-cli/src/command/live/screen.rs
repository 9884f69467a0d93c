//! The lines of a terminal that are drawn again each second, with lines that stay above them.

use std::io::{self, IsTerminal, Write};

use crate::width::width;

/// The screen.
pub struct Screen {
    is_drawn: bool,
    lines: usize,
}

impl Screen {
    /// Draws if standard error is a terminal and `is_wanted`.
    pub fn new(is_wanted: bool) -> Screen {
        Screen { is_drawn: is_wanted && io::stderr().is_terminal(), lines: 0 }
    }

    /// Whether anything is drawn.
    pub fn is_shown(&self) -> bool {
        self.is_drawn
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        width()
    }

    /// Draws this in place of what was drawn before.
    pub fn draw(&mut self, text: &str) {
        if self.is_drawn {
            self.clear();
            self.lines = text.lines().count();
            // A line that the terminal wraps would be two of them when it is cleared.
            let columns = self.columns();
            let fits = |line: &str| line.chars().take(columns).chain(['\n']).collect::<String>();
            let _ = write!(anstream::stderr(), "{}", text.lines().map(fits).collect::<String>());
        }
    }

    /// Leaves on the screen what is drawn, and draws nothing any more.
    pub fn leave(&mut self) {
        (self.is_drawn, self.lines) = (false, 0);
    }

    /// Takes it off the screen.
    pub fn clear(&mut self) {
        if self.lines != 0 {
            let _ = write!(io::stderr(), "\x1b[{}A\x1b[J", self.lines);
            self.lines = 0;
        }
    }
}
