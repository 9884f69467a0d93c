//! Makes the pictures of a result. A picture without data is not drawn.
//!
//! A new picture is a file here with an [`Entry`], and that entry's line in `REGISTRY`. It draws with the shapes of
//! `crate::picture`, which know plain numbers only.

mod before_after;
mod clock_cost;
mod engines;
mod fork_join;
mod idle;
mod neighbours;
mod percentiles;
mod runtimes;
mod slack;
mod split;
mod sweep;
mod tick_count;
mod two_clocks;
mod waits_by_request;
mod watch;

use oversleep_measure::experiment;
use oversleep_record::{ExperimentId, Nanos, ResultFile};

use super::head;
use crate::picture::{Form, Forms, Frame, Shape};
use crate::words;

pub use crate::picture::{Wanted, for_plain_viewers};

/// A kind of picture.
pub struct Entry {
    /// Its name, fit for a file and for an `id`.
    pub name: &'static str,
    /// The experiment whose question it answers; `None` for trials of remedies.
    pub experiment: Option<ExperimentId>,
    /// Its drawings: none without data, or several, each of a part of its own.
    pub draw: fn(&ResultFile) -> Vec<Drawing<'_>>,
}

/// Every kind of picture, in the order shown.
const REGISTRY: &[&Entry] = &[
    &two_clocks::ENTRY,
    &sweep::ENTRY,
    &percentiles::ENTRY,
    &split::ENTRY,
    &waits_by_request::ENTRY,
    &slack::ENTRY,
    &neighbours::ENTRY,
    &watch::ENTRY,
    &before_after::ENTRY,
    &clock_cost::ENTRY,
    &fork_join::ENTRY,
    &fork_join::SINGLE,
    &idle::ENTRY,
    &runtimes::MAP,
    &runtimes::STAIRS,
    &tick_count::WORK,
    &tick_count::SLEEPS,
    &engines::ENTRY,
];

/// Draws in a frame, and with that heading and that note in the forms for a page.
type Draw<'a> = dyn FnOnce(Frame, [&str; 2], Wanted) -> Forms + 'a;

/// One drawing, waiting for its frame.
pub struct Drawing<'a> {
    part: String,
    heading: String,
    note: String,
    forms: Box<Draw<'a>>,
}

impl<'a> Drawing<'a> {
    fn new<S: Shape>(heading: impl Into<String>, note: impl Into<String>, shape: impl FnOnce(Frame) -> S + 'a) -> Self {
        let forms = move |frame, [heading, note]: [&str; 2], wanted| shape(frame).forms(heading, note, wanted);
        Drawing { part: String::new(), heading: heading.into(), note: note.into(), forms: Box::new(forms) }
    }

    /// The part that it shows, if there are several of a kind; it is appended to the name.
    fn of(self, part: &str) -> Self {
        Drawing { part: part.to_owned(), ..self }
    }
}

/// A finished picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The name of its kind, which pictures of other results share.
    pub kind: &'static str,
    /// What it shows among those of its kind, which pictures of other results share, too.
    pub part: String,
    /// Fit for a file and for an `id`, and unique.
    pub name: String,
    /// What it shows, as its heading.
    pub heading: String,
    /// The question it answers.
    pub caption: String,
    /// The drawing.
    pub forms: Forms,
}

/// Every picture the result has data for.
pub fn all(file: &ResultFile) -> Vec<Picture> {
    of_result(file, "", Wanted::All)
}

/// Every picture the result has data for, in the wanted forms alone.
pub fn wanted(file: &ResultFile, wanted: Wanted) -> Vec<Picture> {
    of_result(file, "", wanted)
}

/// Every picture of a result that stands beside others under that letter: its names and headings begin with it.
pub fn of_result(file: &ResultFile, letter: &str, wanted: Wanted) -> Vec<Picture> {
    let mut pictures: Vec<Picture> = Vec::new();
    for entry in REGISTRY {
        for drawing in (entry.draw)(file) {
            let mut name = safe_name(&[letter, entry.name, &drawing.part]);
            if pictures.iter().any(|known| known.name == name) {
                name = format!("{name}-{}", pictures.len() + 1);
            }
            let heading = if letter.is_empty() { drawing.heading } else { format!("{letter}: {}", drawing.heading) };
            let mut frame = frame(file, &name, &heading, &drawing.note);
            // What is true of a whole page is said once there; beside other results each picture says it.
            let note = if letter.is_empty() { drawing.note.clone() } else { frame.note.clone() };
            frame.note = format!("{} {}", frame.note, source(file, entry));
            let forms = (drawing.forms)(frame, [&heading, &note], wanted);
            pictures.push(Picture {
                kind: entry.name,
                part: drawing.part,
                heading,
                caption: caption(entry),
                forms,
                name,
            });
        }
    }
    pictures
}

fn caption(entry: &Entry) -> String {
    match entry.experiment.and_then(experiment) {
        Some(experiment) => format!("{}: {}", experiment.id, experiment.question),
        None => "A remedy tried here; rounds with it and without it alternated.".to_owned(),
    }
}

/// Where a picture comes from, for a slide or a paper that shows it alone.
fn source(file: &ResultFile, entry: &Entry) -> String {
    let experiment = entry.experiment.map(|id| format!(", experiment {id}")).unwrap_or_default();
    let day = file.taken_unix_s.and_then(words::day).map(|day| format!(", {day}")).unwrap_or_default();
    format!("Source: {} {}{experiment}{day}.", file.tool.name, file.tool.version)
}

/// The source line of a picture that isn't of one result: the command that draws it.
pub fn source_of(command: &str) -> String {
    format!("Source: oversleep {} {command}.", env!("CARGO_PKG_VERSION"))
}

/// A name of lower-case letters, digits and `-` only, whatever the parts are.
fn safe_name(parts: &[&str]) -> String {
    let mut name = String::new();
    for letter in parts.join("-").to_lowercase().chars() {
        match letter {
            'a'..='z' | '0'..='9' => name.push(letter),
            '.' => name.push('_'),
            _ if !name.ends_with('-') => name.push('-'),
            _ => {}
        }
        if name.len() >= 60 {
            break;
        }
    }
    name.trim_matches('-').to_owned()
}

fn frame(file: &ResultFile, name: &str, heading: &str, note: &str) -> Frame {
    let machine = match head::modelled(file) {
        Some(profile) => format!("Modelled: {profile}, in virtual time"),
        None => head::machine(file).join(", "),
    };
    let note = if note.is_empty() { format!("{machine}.") } else { format!("{note} {machine}.") };
    Frame { id: name.to_owned(), heading: head::heading(file, heading), note, form: Form::Alone }
}

fn us(ns: i64) -> f64 {
    Nanos(ns).as_micros_f64()
}

fn ms(ns: i64) -> f64 {
    Nanos(ns).as_millis_f64()
}

#[cfg(test)]
mod tests;
