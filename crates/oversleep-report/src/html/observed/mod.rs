//! What pages about observed programs have beyond others: each kind of waits in its parts with those who delayed it, and the
//! worst waits as timelines.
//!
//! It runs no script. Rules of the style sheet alone show a part of a timeline under the pointer, and enlarge it when
//! it is chosen. Names of tasks are text of the result like any other, and escaped (`markup`).

mod kinds;
mod rules;
mod timeline;
mod verdict;

use oversleep_record::ResultFile;

use super::markup::Markup;

pub(super) use rules::{bars as rules_of_bars, sheet};
pub(super) use verdict::section as verdict;

/// The sections, if the result is about observed programs.
pub(super) fn sections(m: &mut Markup, file: &ResultFile) {
    if let Some(observation) = &file.observation {
        kinds::section(m, file);
        timeline::section(m, file, &observation.worst);
    }
}

fn section(m: &mut Markup, id: &str, title: &str, body: impl FnOnce(&mut Markup)) {
    let heading = format!("{id}-heading");
    m.element("section", &[("id", id), ("aria-labelledby", &heading)], |m| {
        m.leaf("h2", &[("id", &heading)], title);
        body(m);
    });
}

#[cfg(test)]
mod tests;
