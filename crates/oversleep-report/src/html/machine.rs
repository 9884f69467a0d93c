//! The method, the machine, and the page's provenance.

use oversleep_record::ResultFile;
use oversleep_record::environment::{Fact, FactValue};

use super::markup::Markup;
use super::tables::draw;
use crate::view::head;
use crate::view::table::{Columns, ToCell, Tone};
use crate::view::timers;
use crate::words::{counted, date};

/// The principles behind every figure.
const METHOD: [&str; 7] = [
    "Waits are timed against their deadline by one precise clock. Lateness is signed: a wait that ends early counts as \
     early and is never clamped to zero.",
    "If a wait can express what is left of a period, deadlines are absolute and one period apart. None is skipped: a \
     deadline that passed while the thread was away is recorded with its lateness. “Corrected” estimates, from the calls \
     alone, what a schedule would have seen; “calls only” is what a tool that skips missed periods would show.",
    "The cost and the resolution of a timestamp are measured and printed, and never subtracted.",
    "Series are measured in interleaved rounds, so that a disturbance affects all of them alike. If rounds disagree, a \
     figure is inconclusive.",
    "A percentile is shown only if at least ten values lie beyond it: p99 takes a thousand values. ~ marks a median of \
     fewer than twenty values.",
    "Nothing on the machine was changed unless a condition says so, and every change was undone.",
    "A remedy is tried on oversleep’s own threads; rounds with it and without it alternate. It counts as helping only \
     if three rounds in four agree.",
];

/// The principles where programs were observed.
const METHOD_OF_OBSERVING: [&str; 5] = [
    "Every timed wait of the program is followed from its call to its return. Its lateness is its end minus its deadline, \
     signed.",
    "The parts of a wait are differences of adjacent times of one clock, so they add up to its lateness. What was not \
     observed is unattributed: it is counted, and nobody is blamed for it.",
    "A pause of the hypervisor that it doesn't report as steal looks like interrupts that are off.",
    "Rounds are slices of the time. A percentile is shown only if at least ten values lie beyond it: p99 takes a thousand \
     values. ~ marks a median of fewer than twenty values.",
    "No remedy was tried: oversleep doesn't run your program a second time unasked.",
];

/// The principles where another program measured. What it did itself is in the notes of its file.
const METHOD_OF_OTHERS: [&str; 3] = [
    "Lateness is signed: a wait that ends early counts as early and is never clamped to zero.",
    "What the file doesn't state is unknown: it counts neither as zero nor as nothing, and nothing is concluded from it.",
    "A percentile is shown only if at least ten values lie beyond it: p99 takes a thousand values. ~ marks a median of \
     fewer than twenty values.",
];

/// The method, with this run's clock.
pub(super) fn method(m: &mut Markup, file: &ResultFile) {
    m.element("section", &[("id", "method"), ("aria-labelledby", "method-heading")], |m| {
        m.leaf("h2", &[("id", "method-heading")], "How this was measured");
        if file.observation.is_some() {
            m.element("ul", &[("class", "quiet")], |m| {
                METHOD_OF_OBSERVING.iter().for_each(|line| m.leaf("li", &[], line))
            });
            return;
        }
        if let Some(imported) = &file.imported {
            let by = format!("{} measured, in its own way. {}", imported.program, imported.notes.join(" "));
            m.leaf("p", &[], &by);
            m.element("ul", &[("class", "quiet")], |m| {
                METHOD_OF_OTHERS.iter().for_each(|line| m.leaf("li", &[], line))
            });
            return;
        }
        let clock: Vec<String> = head::timestamps(file).into_iter().chain(head::cross_check(file)).collect();
        let unknown = "This run did not measure the cost of its timestamps.".to_owned();
        m.leaf("p", &[], &if clock.is_empty() { unknown } else { clock.join(" ") });
        m.element("ul", &[("class", "quiet")], |m| METHOD.iter().for_each(|line| m.leaf("li", &[], line)));
    });
}

/// Every fact with its source; unknown ones with their reason.
pub(super) fn environment(m: &mut Markup, file: &ResultFile) {
    m.element("section", &[("id", "machine"), ("aria-labelledby", "machine-heading")], |m| {
        m.leaf("h2", &[("id", "machine-heading")], "The machine");
        let (deciding, rest) = timers::stated(file);
        let reliability = head::took_longer(file).into_iter().chain(head::stopped_early(file));
        let system = head::in_a_line(&[deciding, rest].concat()).into_iter().chain(reliability);
        for sentence in system.chain(head::missing(file)) {
            m.leaf("p", &[("class", "quiet any")], &sentence);
        }
        let columns = Columns::new()
            .words("fact", |(name, _): &(&String, &Fact)| name.as_str())
            .words("value", |(name, fact)| {
                let is_known = !matches!(fact.value, FactValue::Unknown(_));
                head::fact_text(name, &fact.value).toned(if is_known { Tone::Plain } else { Tone::Soft })
            })
            .words("source", |(_, fact)| fact.source.as_str().toned(Tone::Soft));
        let caption = "Facts about the machine with their sources; unknown ones with the reason";
        match columns.table(caption, &file.environment.facts) {
            None => m.leaf("p", &[("class", "quiet")], "The result holds no facts about the machine."),
            Some(table) => m.element("details", &[], |m| {
                m.leaf("summary", &[], &counted(table.rows.len(), "fact"));
                draw(m, &table, "facts");
            }),
        }
    });
}

/// The program that wrote the result, and the date.
pub(super) fn provenance(m: &mut Markup, file: &ResultFile) {
    let taken = file.taken_unix_s.and_then(date).unwrap_or_else(|| "at an unknown time".to_owned());
    let length = match file.imported.is_some() && file.duration_ns.0 == 0 {
        true => String::new(),
        false => format!(", in {}", file.duration_ns),
    };
    let reader = format!("{} {}", file.tool.name, file.tool.version);
    let by = match &file.imported {
        None => format!("Measured by {reader} ({}), {taken}{length}.", file.command),
        Some(imported) => format!("Measured by {}, {taken}{length}. Read by {reader}.", imported.program),
    };
    let by = format!("{by} Schema {}. Findings by oversleep {}.", file.schema, env!("CARGO_PKG_VERSION"));
    m.leaf("p", &[], &by);
    m.leaf("p", &[], "This page works offline and loads nothing. It names no person and no host, unless you gave a name with --name.");
}
