//! The worst waits of observed programs, each as a bar and its parts in order of time.

use oversleep_record::observed::wait::Wait;
use oversleep_record::{Nanos, ResultFile};

use super::page::Page;
use crate::view::observed::{about_stacks, part_note, purpose, stacks, stolen, wait_in_words};
use crate::view::table::{Split, Tone};

/// Letters of a bar, where the page is wide enough.
const BAR: usize = 60;

/// The worst waits, if the result has any.
pub(super) fn worst(page: &mut Page, file: &ResultFile) {
    let worst = file.observation.as_ref().map_or(&[][..], |observation| &observation.worst);
    let title = match worst.len() {
        0 => return,
        1 => "The wait with the most lateness".to_owned(),
        count => format!("The {count} waits with the most lateness"),
    };
    page.heading(file, &title, "");
    for (number, wait) in (1..).zip(worst) {
        page.gap();
        timeline(page, file, number, wait);
    }
    if let Some(note) = about_stacks(worst) {
        page.gap();
        page.prose(note, 0, Tone::Soft);
    }
}

fn timeline(page: &mut Page, file: &ResultFile, number: usize, wait: &Wait) {
    page.prose(&wait_in_words(number, wait), 0, Tone::Strong);
    purpose(file, wait).iter().for_each(|purpose| page.prose(purpose, 2, Tone::Soft));
    let all: i64 = wait.parts.iter().map(|(_, ns)| ns.max(0)).fold(0, i64::saturating_add);
    let share = |part| if all == 0 { 0.0 } else { wait.parts.get(part).max(0) as f64 / all as f64 };
    page.line(&format!("  |{}|", Split::of(share).letters(BAR.min(page.width - 4))));
    let mut at = 0;
    for (part, ns) in wait.parts.iter().filter(|(_, ns)| *ns != 0) {
        at = i64::saturating_add(at, ns);
        let (at, ns) = (Nanos(at).to_string(), Nanos(ns).to_string());
        let figures = format!("  {at:>9}  {:<12} {ns:>9}", part.name());
        match part_note(part, wait) {
            note if note.is_empty() => page.line(&figures),
            note => page.hanging(&figures, &note),
        }
    }
    for (place, frames) in stacks(wait) {
        page.prose(&format!("{place}: {}", frames.join(" ← ")), 2, Tone::Soft);
    }
    stolen(wait).iter().for_each(|stolen| page.prose(stolen, 2, Tone::Soft));
}
