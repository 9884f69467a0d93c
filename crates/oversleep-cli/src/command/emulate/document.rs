//! What was emulated, as a document.

use std::io::{self, Write};

use oversleep_emulate::report::{Report, Waits};
use oversleep_report::document::{Layout, Subject};
use oversleep_report::terminal::Detail;
use oversleep_report::view::comparison::View;
use oversleep_report::view::sheet::{Column, Sheet};

use super::summary;

/// An emulation that has ended.
pub(super) struct Emulated<'a>(pub &'a Report);

fn columns<'a>() -> [Column<&'a Waits>; 6] {
    [
        ("call", |waits| waits.call.clone()),
        ("stands_for", |waits| waits.stands_for.clone()),
        ("count", |waits| waits.count.to_string()),
        ("requested_p50_ns", |waits| waits.requested.p50_ns.to_string()),
        ("native_p50_ns", |waits| waits.native.p50_ns.to_string()),
        ("emulated_p50_ns", |waits| waits.emulated.p50_ns.to_string()),
    ]
}

impl Subject for Emulated<'_> {
    fn text(&self, _: &Layout) -> String {
        summary::lines(self.0).into_iter().map(|line| line + "\n").collect()
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self.0)?;
        out.write_all(b"\n")
    }

    fn sheet(&self) -> Sheet<'_> {
        Sheet::of(columns(), &self.0.waits)
    }

    fn view(&self, _: Detail) -> View {
        View {
            title: format!("oversleep emulate: {}", self.0.machine),
            text: self.text(&Layout::default()),
            ..View::default()
        }
    }
}
