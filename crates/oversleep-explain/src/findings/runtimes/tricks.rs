//! Published tricks that were to raise the timer resolution for Java.

use oversleep_record::words::list;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, label};

use crate::entry::{Checked, Conclusion};
use crate::figures::p50;

/// What each trick changes.
pub(super) fn tricks(file: &ResultFile) -> Checked {
    let of = |series: &&Series| series.has_values();
    let all: Vec<&Series> = file.experiment(ExperimentId::B11).filter(of).collect();
    let variant = |series: &Series| series.label(label::VARIANT).unwrap_or_default();
    let plain = |series: &Series| {
        all.iter().copied().find(|other| variant(other) == "as-found" && other.runtime == series.runtime)
    };
    let mut changed = Vec::new();
    let mut tried = Vec::new();
    for series in all.iter().copied().filter(|series| variant(series) != "as-found") {
        let Some(plain) = plain(series) else { continue };
        // A tick of Windows is 15.6 ms; other processes change a wait by tens of µs.
        let gained = p50(plain) - p50(series);
        let runtime = series.runtime.as_ref().map(ToString::to_string).unwrap_or_default();
        let sentence = format!("{} of {runtime} ({} → {})", variant(series), p50(plain), p50(series));
        tried.push(sentence.clone());
        if gained > Nanos(500_000) {
            changed.push(sentence);
        }
    }
    if tried.is_empty() {
        return Err(Conclusion::lacks("no trick was tried. Run `oversleep runtimes java`"));
    }
    Ok(match changed.is_empty() {
        true => Conclusion::found(format!("no trick changes a wait here: {}", list(&tried))),
        false => Conclusion::absent(format!("these still change a wait here: {}", list(&changed))),
    })
}
