//! Keeps a result that isn't written yet, in case a signal ends the process.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use oversleep_record::ResultFile;
use oversleep_report::document::{JSON, Subject};

use super::file::Files;

/// A result that no output holds yet.
struct Unwritten {
    result: Arc<ResultFile>,
    stem: String,
}

/// `None` if there is no result to keep, or an output has it.
static UNWRITTEN: Mutex<Option<Unwritten>> = Mutex::new(None);

fn set(unwritten: Option<Unwritten>) {
    *UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner) = unwritten;
}

/// From now on, a signal that ends the process leaves this result in the directory for temporary files.
pub fn hold(result: &Arc<ResultFile>, stem: String) {
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
    match keep(&*result, &stem) {
        Some(path) => is_kept_in(&path),
        None => "the result could not be written anywhere else either".to_owned(),
    }
}

/// Writes the data of a subject to the directory for temporary files.
pub fn keep(subject: &dyn Subject, stem: &str) -> Option<PathBuf> {
    Files::default().create(&std::env::temp_dir(), stem, JSON.extension, &|out| subject.json(out)).ok()
}

/// The place of a result that could not be written to the named destination.
pub fn is_kept_in(path: &std::path::Path) -> String {
    let path = path.display();
    format!("the result is kept in {path}: `oversleep report {path}` shows it")
}
