//! Fleets as documents.

use std::io::{self, Write};

use oversleep_lab::fleet::Fleet;

use super::{Layout, Subject};
use crate::terminal::{self, Detail};
use crate::view::comparison::View;
use crate::view::fleet;
use crate::view::pictures::Picture;
use crate::view::sheet::Sheet;

impl Subject for Fleet {
    fn text(&self, layout: &Layout) -> String {
        terminal::comparison(&self.view(layout.detail), layout.width)
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }

    fn sheet(&self) -> Sheet<'_> {
        fleet::sheet(self)
    }

    fn view(&self, detail: Detail) -> View {
        fleet::view(self, detail == Detail::Full)
    }

    fn pictures(&self) -> Vec<Picture> {
        self.view(Detail::Full).pictures.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests;
