//! What is said on standard error. That nobody may be there to read it is no reason to fail.

use std::io::Write;
use std::panic::PanicHookInfo;

use anstyle::{AnsiColor, Style};
use oversleep_measure::{MEASURING_THREAD, panic_message};

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

/// A panic of a thread that measures costs its series alone, so it is told in a line, in place of the usual one that
/// sounds like the program's end. Any other panic is told as ever.
pub fn tell_of_panics_while_measuring() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() == Some(MEASURING_THREAD) {
            warning(&in_a_line(panic));
        } else {
            usual(panic);
        }
    }));
}

fn in_a_line(panic: &PanicHookInfo) -> String {
    let words = panic_message(panic.payload()).split_whitespace().collect::<Vec<_>>().join(" ");
    let place = panic.location().map(|place| format!(", {place}")).unwrap_or_default();
    format!("a measurement broke off and the run goes on without it ({words}{place})")
}

fn say(text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = writeln!(stderr, "{text}");
}
