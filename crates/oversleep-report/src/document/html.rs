//! HTML: one page that needs nothing else.

use super::Entry;

/// HTML.
pub const HTML: Entry = Entry {
    name: "html",
    extension: "html",
    media_type: "text/html",
    option: Some("Write one self-contained HTML page, which works offline, to FILE"),
    is_for_pipes: false,
    write: |subject, _, out| subject.page(out),
};
