//! How it was measured, on what, and where the page comes from.

use oversleep_record::ResultFile;
use oversleep_record::environment::FactValue;

use super::markup::Markup;
use super::tables::draw;
use crate::view::head::{self, heading};
use crate::view::table::{Cell, Table, Tone, words};
use crate::view::words::date;

/// What every figure rests on.
const METHOD: [&str; 7] = [
    "Waits are timed against their deadline by one precise clock. Lateness is signed: a wait that ends early is counted as \
     early and never clamped to zero.",
    "Where a wait can express what is left of a period, deadlines are absolute and one period apart. None is skipped: a \
     deadline that passed while the thread was away is recorded as late. “Corrected” fills in, from the calls alone, what \
     a schedule would have seen; “calls only” is what a tool that skips missed periods would show.",
    "What a stamp costs, and the least it can show, is measured and printed. It is subtracted from nothing.",
    "Series are measured in rounds that are interleaved, so that all of them meet the same machine. Rounds that disagree \
     make a figure too disturbed to conclude from.",
    "A percentile is shown only where at least ten values lie beyond it: p99 wants a thousand. ~ marks a median of fewer \
     than twenty values.",
    "Nothing on the machine was changed except where a condition says so, and what was changed was put back.",
    "A remedy is tried on the laboratory’s own threads, its rounds alternating with rounds without it. It is said to help \
     only where three rounds in four agree.",
];

/// The method, with this run's floor.
pub(super) fn method(m: &mut Markup, file: &ResultFile) {
    m.element("section", &[("id", "method"), ("aria-labelledby", "method-heading")], |m| {
        m.leaf("h2", &[("id", "method-heading")], &heading(file, "How this was measured"));
        match head::floor(file) {
            Some(floor) => m.leaf("p", &[("class", "lead")], &floor),
            None => m.leaf("p", &[("class", "lead")], "The floor under the figures was not measured in this run."),
        }
        m.element("ul", &[("class", "quiet")], |m| METHOD.iter().for_each(|line| m.leaf("li", &[], line)));
    });
}

/// Every fact with its source; unknown ones with their reason.
pub(super) fn environment(m: &mut Markup, file: &ResultFile) {
    m.element("section", &[("id", "machine"), ("aria-labelledby", "machine-heading")], |m| {
        m.leaf("h2", &[("id", "machine-heading")], &heading(file, "The machine"));
        for sentence in head::timers(file).into_iter().chain(head::missing(file)) {
            m.leaf("p", &[("class", "quiet any")], &sentence);
        }
        if file.environment.facts.is_empty() {
            m.leaf("p", &[("class", "quiet")], "The result holds no facts about the machine.");
            return;
        }
        let mut table = Table::new(
            "Facts about the machine, and what told them; unknown ones with the reason",
            vec![words("fact", 0), words("value", 0), words("told by", 0)],
        );
        for (name, fact) in &file.environment.facts {
            let known = !matches!(fact.value, FactValue::Unknown(_));
            let value = Cell::from(head::fact_text(name, &fact.value));
            table.row(vec![
                name.as_str().into(),
                value.toned(if known { Tone::Plain } else { Tone::Soft }),
                Cell::from(fact.source.as_str()).toned(Tone::Soft),
            ]);
        }
        m.element("details", &[], |m| {
            m.leaf("summary", &[], &format!("{} facts", file.environment.facts.len()));
            draw(m, &table, "facts");
        });
    });
}

/// Who wrote it and when.
pub(super) fn provenance(m: &mut Markup, file: &ResultFile) {
    let taken = file.taken_unix_s.and_then(date).unwrap_or_else(|| "at an unrecorded time".to_owned());
    m.leaf(
        "p",
        &[],
        &format!(
            "Measured by {} {} ({}), {taken}, in {}. Schema {}. Findings by oversleep {}.",
            file.tool.name,
            file.tool.version,
            file.command,
            file.duration_ns,
            file.schema,
            env!("CARGO_PKG_VERSION")
        ),
    );
    m.leaf("p", &[], "This page works offline and loads nothing. It holds no name of a person or a host unless one was given with --name.");
}
