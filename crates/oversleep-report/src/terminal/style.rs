//! The few styles a report has.

use anstyle::{AnsiColor, Style};

use crate::view::table::Tone;

/// The text in the style of its tone. Nothing else may put escape sequences into a report.
pub fn paint(tone: Tone, text: &str) -> String {
    let style = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Strong => Style::new().bold(),
        Tone::Soft => Style::new().dimmed(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Warn => AnsiColor::Yellow.on_default(),
    };
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

/// The mark of a fault.
pub fn alarm(text: &str) -> String {
    let style = AnsiColor::Red.on_default().bold();
    format!("{style}{text}{style:#}")
}
