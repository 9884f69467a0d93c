//! JSON: all data of a subject.

use super::Entry;

/// JSON.
pub const JSON: Entry = Entry {
    name: "json",
    extension: "json",
    media_type: "application/json",
    option: Some("Print only the data, as one JSON document, or write it to FILE"),
    is_for_pipes: true,
    write: |subject, _, out| subject.json(out),
};
