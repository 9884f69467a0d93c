//! Text for a terminal, with ANSI styles; whoever shows it decides whether to keep them.

use super::Entry;

/// Text.
pub const TEXT: Entry = Entry {
    name: "text",
    extension: "txt",
    media_type: "text/plain",
    option: None,
    is_for_pipes: false,
    write: |subject, layout, out| out.write_all(subject.text(layout).as_bytes()),
};
