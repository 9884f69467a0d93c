//! Text for a terminal, with ANSI styles; whoever shows it decides whether to keep them.

use super::{Entry, Layout, Subject};
use crate::terminal;

/// Text.
pub const TEXT: Entry = Entry {
    name: "text",
    extension: "txt",
    media_type: "text/plain",
    option: None,
    is_for_pipes: false,
    write: |subject, layout, out| out.write_all(as_text(subject, layout).as_bytes()),
};

/// The text, with means and intervals where the layout has them.
pub fn as_text(subject: &dyn Subject, layout: &Layout) -> String {
    let intervals = layout.intervals.then(|| subject.intervals()).flatten();
    let intervals = intervals.map(|section| format!("\n{}", terminal::section(&section, layout.width)));
    subject.text(layout) + &intervals.unwrap_or_default()
}
