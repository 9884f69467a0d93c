//! Keeps a result that isn't written yet, in case a signal ends the process.

use std::sync::{Arc, Mutex, PoisonError};

use oversleep_record::ResultFile;
use oversleep_report::document::{JSON, Subject};

use super::Stem;
use super::file::Files;

/// A result that no output holds yet.
struct Unwritten {
    result: Arc<ResultFile>,
    stem: Stem,
}

/// `None` if there is no result to keep, or an output has it.
static UNWRITTEN: Mutex<Option<Unwritten>> = Mutex::new(None);

fn set(unwritten: Option<Unwritten>) {
    *UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner) = unwritten;
}

/// From now on, a signal that ends the process leaves this result in the directory for temporary files.
pub fn hold(result: &Arc<ResultFile>, stem: Stem) {
    set(Some(Unwritten { result: Arc::clone(result), stem }));
}

/// Notes that an output has the result now.
pub fn release() {
    set(None);
}

/// Writes the unwritten result and returns where it is.
pub fn now() -> String {
    let unwritten = UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(Unwritten { result, stem }) = unwritten else { return "the result file is complete".to_owned() };
    keep(&*result, &stem).unwrap_or_else(|| "the result could not be written anywhere else either".to_owned())
}

/// Writes the data of a subject to the directory for temporary files, and says where they are.
pub fn keep(subject: &dyn Subject, stem: &Stem) -> Option<String> {
    let directory = std::env::temp_dir();
    let path = Files::default().create(&directory, &stem.name, JSON.extension, &|out| subject.json(out)).ok()?;
    let path = path.display();
    let shows = if stem.is_result { format!(": `oversleep report {path}` shows it") } else { String::new() };
    Some(format!("the result is kept in {path}{shows}"))
}
