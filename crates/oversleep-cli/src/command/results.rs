//! Compares several results, read one at a time or measured one after the other, and shows them together.

use std::path::{Path, PathBuf};

use oversleep_explain::compare::reduce;
use oversleep_record::ResultFile;
use oversleep_record::comparison::Comparison;
use oversleep_report::document::{Comparison as Comparisons, HTML};
use oversleep_report::view::comparison::{Adding, RESULTS_MAX, Sketch, View};

use crate::args::{Document, DocumentArgs};
use crate::exit::{Exit, Failure};
use crate::output::Delivery;
use crate::reading;

/// What of a comparison is shown.
pub type Shown = fn(&Comparison, &[Sketch], &[String], bool) -> View;

/// Compared results, with what the page shows of each.
#[derive(Debug)]
pub struct Compared {
    comparison: Comparison,
    sketches: Vec<Sketch>,
    names: Vec<String>,
}

impl Compared {
    /// # Errors
    /// There is nothing to compare.
    fn of(adding: Adding, names: Vec<String>) -> Result<Compared, Failure> {
        let finished = adding.finish().ok_or_else(|| Failure::usage("a comparison takes two results or more"))?;
        let (comparison, sketches) = finished;
        Ok(Compared { comparison, sketches, names })
    }
}

/// Compares result files; the base and one other are in memory at a time. `command` is the command line for piping a
/// result in.
///
/// # Errors
/// The first result that can't be used.
pub fn read(files: &[PathBuf], command: &str, with_pictures: bool) -> Result<Compared, Failure> {
    let is_file = |path: &PathBuf| matches!(Document::at(path), Document::File(_));
    // Pictures need the raw samples. Files are read twice, so that only one whole result at a time is in memory.
    let mut pictures = Vec::new();
    for (place, path) in (0..).zip(files).filter(|_| with_pictures) {
        let drawn = if is_file(path) { Sketch::pictures(place, &reading::read(path, command)?) } else { Vec::new() };
        pictures.push(drawn);
    }
    let mut pictures = pictures.into_iter();
    let mut adding = Adding::new();
    let mut is_observed = None;
    for path in files {
        // Standard input can be read only once.
        let is_whole = with_pictures && !is_file(path);
        let result = match is_whole {
            true => reading::read(path, command)?,
            false => reading::read_reduced(path, command, reduce)?,
        };
        same_kind(path, *is_observed.get_or_insert(result.observation.is_some()), &result)?;
        let drawn = pictures.next().unwrap_or_default();
        if is_whole {
            adding.add_whole(result);
        } else {
            let sketch = Sketch::of(adding.place(), &result).with_pictures(drawn);
            adding.add(result, sketch);
        }
    }
    let name = |path: &PathBuf| match Document::at(path) {
        Document::Stdout => "standard input".to_owned(),
        Document::File(path) => path.display().to_string(),
    };
    Compared::of(adding, files.iter().map(name).collect())
}

/// Refuses to compare an observed program with a measurement of a machine: they have nothing in common.
fn same_kind(path: &Path, is_observed: bool, result: &ResultFile) -> Result<(), Failure> {
    if result.observation.is_some() == is_observed {
        return Ok(());
    }
    let (of, other) = ("a result of `oversleep why`", "a result of another command");
    let (own, base) = if is_observed { (other, of) } else { (of, other) };
    Err(Failure::failed(format!("can't compare '{}' with {base}: it is {own}", path.display())))
}

/// Compares results that are measured one after the other, each with a name.
///
/// # Errors
/// The first that fails.
pub fn measured(results: impl IntoIterator<Item = Result<(String, ResultFile), Failure>>) -> Result<Compared, Failure> {
    let (mut adding, mut names) = (Adding::new(), Vec::new());
    for result in results {
        let (name, result) = result?;
        names.push(name);
        adding.add_whole(result);
    }
    Compared::of(adding, names)
}

/// Refuses invalid combinations before anything is read.
///
/// # Errors
/// Too many results, standard input or output used twice, a destination that can't be written.
pub fn prepare(files: &[PathBuf], documents: &DocumentArgs) -> Result<Delivery, Failure> {
    if files.len() > RESULTS_MAX {
        return Err(Failure::usage(format!("can't compare {} results; the maximum is {RESULTS_MAX}", files.len())));
    }
    let is_stdin = |path: &&PathBuf| Document::at(path) == Document::Stdout;
    if files.iter().filter(is_stdin).count() > 1 {
        return Err(Failure::usage("- stands for one result, because standard input can be read only once"));
    }
    Delivery::only_named(documents, files)
}

/// Whether a document with pictures was named.
pub fn needs_pictures(documents: &DocumentArgs) -> bool {
    !documents.pictures.is_empty() || documents.named.iter().any(|named| *named.format == HTML)
}

impl Compared {
    /// Shows the comparison in the named destinations, or on the terminal if there are none.
    ///
    /// # Errors
    /// A destination that can't be written.
    pub fn deliver(&self, delivery: &Delivery, shown: Shown) -> Result<Exit, Failure> {
        let Compared { comparison, sketches, names } = self;
        delivery.deliver(&Comparisons { compared: comparison, sketches, names, shown }, "oversleep-comparison")?;
        Ok(if comparison.concludes() { Exit::Fine } else { Exit::TooDisturbed })
    }
}
