//! Published tricks for raising the timer resolution in Java.

use std::collections::BTreeSet;

use oversleep_record::words::list;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, label};

use crate::entry::{Checked, Conclusion};
use crate::figures::p50;
use crate::runtimes::instrument::fault_of_clock;

/// The effect of each trick.
pub(super) fn tricks(file: &ResultFile) -> Checked {
    let of = |series: &&Series| series.has_values() && fault_of_clock(file, series).is_none();
    let all: Vec<&Series> = file.experiment(ExperimentId::B11).filter(of).collect();
    let variant = |series: &Series| series.label(label::VARIANT).unwrap_or_default();
    let plain = |series: &Series| {
        all.iter().copied().find(|other| variant(other) == "as-found" && other.runtime == series.runtime)
    };
    let (mut changing, mut idle, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
    for series in all.iter().copied().filter(|series| variant(series) != "as-found") {
        let Some(plain) = plain(series) else { continue };
        // A tick of Windows is 15.6 ms; other processes change a wait by tens of µs.
        let gained = p50(plain) - p50(series);
        let runtime = series.runtime.as_ref().map(ToString::to_string).unwrap_or_default();
        let sentence = format!("{} of {runtime} ({} → {})", variant(series), p50(plain), p50(series));
        if gained > Nanos(500_000) {
            changing.push(sentence);
            names.insert(variant(series));
        } else {
            idle.push(sentence);
        }
    }
    let verb = if names.len() == 1 { "makes" } else { "make" };
    let names: Vec<String> = names.into_iter().collect();
    let works = format!("{} {verb} a wait finer here: {}", list(&names), list(&changing));
    let nothing = format!("no trick changes a wait here: {}", list(&idle));
    Ok(Conclusion::found(match (changing.is_empty(), idle.is_empty()) {
        (true, true) => return Err(Conclusion::lacks("no trick was tried. Run `oversleep runtimes java`")),
        (true, false) => nothing,
        (false, true) => works,
        (false, false) => format!("{works}; these change nothing: {}", list(&idle)),
    }))
}
