//! What is said on standard error. That nobody may be there to read it is no reason to fail.

use std::io::Write;

use anstyle::{AnsiColor, Style};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// The end of a command that failed.
pub fn error(text: &str) {
    say(&format!("{ERROR}error:{ERROR:#} {text}"));
}

/// Something the result does not show, but whoever asked should know.
pub fn warning(text: &str) {
    say(&format!("{WARNING}warning:{WARNING:#} {text}"));
}

/// Where something went, what to do next.
pub fn note(text: &str) {
    say(text);
}

fn say(text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = writeln!(stderr, "{text}");
}
