//! The waits of observed programs, by kind.

use oversleep_explain::verdict::lacks_waits;
use oversleep_record::{ExperimentId, ResultFile};

use super::{Entry, watch};
use crate::view::limits::limits;
use crate::view::observed::{WAITS_NOT_RECORDED, ended_otherwise, left_out, of_runtime, otherwise, own_rows, table};
use crate::view::table::Section;
use crate::view::{loops, wakes};

pub const ENTRY: Entry = Entry { id: "observed", title: "All waits", experiments: &[ExperimentId::Y1], build };

/// Captions of who requested which timer resolution when.
const RESOLUTIONS: [&str; 2] = ["Timer resolutions", "The first changes of timer resolutions"];
/// Letters of a bar.
const BAR: usize = 16;

fn build(file: &ResultFile, section: Section) -> Section {
    let Some(observation) = &file.observation else { return section };
    let table = table(own_rows(file), BAR);
    let selected = if observation.left_out == 0 { "" } else { "selected " };
    let none = table.is_none().then(|| match lacks_waits(file) {
        true => WAITS_NOT_RECORDED.to_owned(),
        false => format!("No {selected}wait ended by its timer."),
    });
    let section = section
        .tables(table)
        .tables(of_runtime(file))
        .notes(none)
        .tables(loops::table(file, BAR))
        .tables(wakes::rhythms(file))
        .tables(wakes::idle(file))
        .notes(wakes::in_all(file))
        .tables(otherwise(file))
        .notes(ended_otherwise(file))
        .notes(left_out(observation));
    watch::changes(file, section, RESOLUTIONS).notes(limits(file, observation))
}
