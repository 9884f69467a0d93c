//! The lines of a terminal that are drawn again each second, with lines that stay above them.

use std::io::{self, IsTerminal, Write};

/// The screen.
pub struct Screen {
    is_terminal: bool,
    lines: usize,
}

impl Screen {
    /// Draws if standard error is a terminal and `is_wanted`.
    pub fn new(is_wanted: bool) -> Screen {
        Screen { is_terminal: is_wanted && io::stderr().is_terminal(), lines: 0 }
    }

    /// Whether anything is drawn.
    pub fn is_shown(&self) -> bool {
        self.is_terminal
    }

    /// Draws this in place of what was drawn before.
    pub fn draw(&mut self, text: &str) {
        if self.is_terminal {
            self.clear();
            self.lines = text.lines().count();
            let _ = write!(anstream::stderr(), "{text}");
        }
    }

    /// Takes it off the screen.
    pub fn clear(&mut self) {
        if self.lines != 0 {
            let _ = write!(io::stderr(), "\x1b[{}A\x1b[J", self.lines);
            self.lines = 0;
        }
    }
}
