//! What is not available here, with the reason.

use oversleep_record::{ExperimentId, ResultFile};

use super::Entry;
use crate::view::select::{self, subject_in_words};
use crate::view::table::{Columns, Section};

pub const ENTRY: Entry = Entry { id: "unavailable", title: "Not available here", experiments: &[], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let columns = Columns::new()
        .words("not available", |(_, subjects): &(String, Vec<String>)| subjects.join(", "))
        .words("reason", |(reason, _)| reason.clone());
    section.tables(columns.table("What could not be measured, and why", reasons(file)))
}

/// Every reason with what it concerns; a load is named if only that is missing. Clocks are in their own section.
fn reasons(file: &ResultFile) -> Vec<(String, Vec<String>)> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for series in file.series.iter().filter(|series| series.experiment != ExperimentId::A1) {
        let Some(reason) = select::unavailable(series).map(ToString::to_string) else { continue };
        let subject = subject_in_words(series.quantity, &series.subject);
        let subject = match select::load(series) {
            Some(load) => format!("{subject} under {load}"),
            None => subject.to_owned(),
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, subjects)) if subjects.contains(&subject) => {}
            Some((_, subjects)) => subjects.push(subject),
            None => reasons.push((reason, vec![subject])),
        }
    }
    reasons
}
