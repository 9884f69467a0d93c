//! The common part of all descriptions, for lists of any kind.

use crate::{ClockInfo, HandoffInfo, LoadInfo, TunableInfo, WaitInfo};

/// The description of something that has a registry name.
pub trait Described {
    /// Registry name, as typed on the command line.
    fn name(&self) -> &'static str;

    /// The call as a programmer writes it; empty if there is none.
    fn call(&self) -> &'static str;

    /// Its use and its pitfalls.
    fn doc(&self) -> &'static str;

    /// Its other properties in words, in display order: `unit` → `ns`.
    fn properties(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Version of the system that introduced it; empty if every version has it.
    fn since(&self) -> &'static str;

    /// The vendor's page; empty if it has none.
    fn page(&self) -> &'static str;
}

/// The common fields, by their names.
macro_rules! fields {
    ($($field:ident)*) => {
        $(
            fn $field(&self) -> &'static str {
                self.$field
            }
        )*
    };
}

impl Described for ClockInfo {
    fields!(name call doc since page);

    fn properties(&self) -> Vec<(&'static str, String)> {
        vec![("unit", self.unit.symbol().to_owned())]
    }
}

impl Described for WaitInfo {
    fields!(name call doc since page);

    fn properties(&self) -> Vec<(&'static str, String)> {
        vec![
            ("family", self.family.name().to_owned()),
            ("takes", self.takes_words()),
            ("zero", self.zero.words().to_owned()),
            ("slack", self.slack.words().to_owned()),
        ]
    }
}

impl Described for HandoffInfo {
    fields!(name call doc since page);
}

impl Described for TunableInfo {
    fields!(name call doc since page);
}

impl Described for LoadInfo {
    fields!(name doc);

    fn call(&self) -> &'static str {
        ""
    }

    fn since(&self) -> &'static str {
        ""
    }

    fn page(&self) -> &'static str {
        ""
    }
}
