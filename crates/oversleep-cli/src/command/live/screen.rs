//! The lines of a terminal that are drawn again each second, with lines that stay above them.

use std::io::{self, IsTerminal, Write};

use crate::width::{height, width};

/// The screen.
pub struct Screen {
    is_drawn: bool,
    /// How wide each of its lines is.
    widths: Vec<usize>,
}

impl Screen {
    /// Draws if standard error is a terminal and `is_wanted`.
    pub fn new(is_wanted: bool) -> Screen {
        Screen { is_drawn: is_wanted && io::stderr().is_terminal(), widths: Vec::new() }
    }

    /// Whether anything is drawn.
    pub fn is_shown(&self) -> bool {
        self.is_drawn
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        width()
    }

    /// How many lines a table may have.
    pub fn rows(&self) -> usize {
        height().saturating_sub(1).max(2)
    }

    /// Draws this in place of what was drawn before. Lines that have no room are cut, and those at the end left out.
    pub fn draw(&mut self, text: &str) {
        if self.is_drawn {
            self.clear();
            let (columns, rows) = (self.columns(), self.rows());
            let cut = |line: &str| line.chars().take(columns).collect::<String>();
            let mut lines: Vec<String> = text.lines().map(cut).collect();
            let left_out = lines.len().saturating_sub(rows);
            if left_out > 0 {
                lines.truncate(rows - 1);
                lines.push(cut(&format!("{} more lines: make the terminal taller", left_out + 1)));
            }
            self.widths = lines.iter().map(|line| line.chars().count()).collect();
            let _ = writeln!(anstream::stderr(), "{}", lines.join("\n"));
        }
    }

    /// Leaves on the screen what is drawn, and draws nothing any more.
    pub fn leave(&mut self) {
        self.is_drawn = false;
        self.forget();
    }

    /// Leaves on the screen what is drawn, and draws the next one below it.
    pub fn forget(&mut self) {
        self.widths.clear();
    }

    /// Takes it off the screen.
    pub fn clear(&mut self) {
        let rows = rows(&self.widths, self.columns());
        if rows != 0 {
            let _ = write!(io::stderr(), "\x1b[{rows}A\x1b[J");
        }
        self.forget();
    }
}

/// How many rows lines of these widths take: a terminal that became narrower wraps what it shows.
fn rows(widths: &[usize], columns: usize) -> usize {
    widths.iter().map(|width| width.div_ceil(columns).max(1)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrower_terminal_has_more_rows_of_the_same_lines() {
        let widths = [80, 0, 17];
        assert_eq!([120, 80, 79, 40, 16].map(|columns| rows(&widths, columns)), [3, 3, 4, 4, 8]);
        assert_eq!(rows(&[], 80), 0);
    }
}
