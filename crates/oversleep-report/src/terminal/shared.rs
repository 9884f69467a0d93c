//! The contents of a shared copy, on the terminal.

use oversleep_record::ResultFile;

use super::page::Page;
use crate::view::head;
use crate::view::table::Tone;

/// The machine and the run as recipients will see them, what was left out, and where the copy is.
pub fn shared(file: &ResultFile, width: usize, written: &str) -> String {
    let mut page = Page::new(width);
    page.title(&head::heading(file, &head::title(file)));
    page.prose(&head::machine(file).join(" · "), 0, Tone::Plain);
    page.prose(&head::run(file).join(" · "), 0, Tone::Plain);
    head::reliability(file).iter().for_each(|note| page.prose(note, 0, Tone::Plain));
    head::left_out(file).iter().for_each(|note| page.prose(note, 0, Tone::Soft));
    if file.observation.is_some() {
        let aliases = "Programs, threads and tasks have numbers instead of names; the kernel's own tasks keep theirs.";
        page.prose(aliases, 0, Tone::Plain);
    }
    page.prose(&format!("Written: {written}"), 0, Tone::Plain);
    page.finish()
}
