//! Messages on standard error, one line each; only what to do about an error has more. A failure to write one is ignored.

use std::io::Write;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use oversleep_measure::{MEASURING_THREAD, panic_message};

use crate::safe;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Whether notes are left out.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Leaves out every note from now on if `is_quiet`. Warnings and errors are never left out.
pub fn leave_out_notes(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

/// The error with which a command ends. What to do next may have lines of its own.
pub fn error(text: &str, next: &[String]) {
    write(&format!("{ERROR}error:{ERROR:#} "), text);
    next.iter().for_each(|line| write("", line));
}

/// Something that the result doesn't show but the user should know.
pub fn warning(text: &str) {
    write(&format!("{WARNING}warning:{WARNING:#} "), text);
}

/// Where something was written, or what to do next.
pub fn note(text: &str) {
    if !IS_QUIET.load(Ordering::Relaxed) {
        write("", text);
    }
}

/// Names what a command has written, if anything; where notes are left out, only what the user did not name, and so can't
/// know.
pub fn written(places: &[String], unnamed: &[String]) {
    let named = if IS_QUIET.load(Ordering::Relaxed) { unnamed } else { places };
    if !named.is_empty() {
        write("", &format!("Written: {}", named.join(", ")));
    }
}

/// Reports a panic of a measuring thread, or of one that observes the system, in one line: it affects only its own series or
/// answer, while the usual report reads like the program's end. A panic of the main thread is reported as usual.
pub fn report_panics_of_threads_in_a_line() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| match std::thread::current().name() {
        Some(MEASURING_THREAD) => warning(&in_a_line("a measurement panicked; the run goes on without it", panic)),
        Some("main") => usual(panic),
        _ => warning(&in_a_line("reading this system's state panicked; its answer is missing", panic)),
    }));
}

fn in_a_line(what: &str, panic: &PanicHookInfo) -> String {
    let message = panic_message(panic.payload()).split_whitespace().collect::<Vec<_>>().join(" ");
    let place = panic.location().map(|place| format!(", {place}")).unwrap_or_default();
    format!("{what} ({message}{place})")
}

fn write(label: &str, text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = writeln!(stderr, "{label}{}", safe::line(text));
}
