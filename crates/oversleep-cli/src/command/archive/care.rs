//! `archive compact` and `archive check`.

use oversleep_archive::store::Archive;
use oversleep_record::words::counted;
use oversleep_report::document::{Head, Records};
use serde_json::json;

use super::{Check, Compact, failed};
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::{show, stdout};

pub(super) fn compact(compact: &Compact) -> Result<Exit, Failure> {
    message::leave_out_notes(compact.quiet);
    let archive = Archive::open(&compact.folder).map_err(|error| failed(&error))?;
    let done = archive.compact().map_err(|error| failed(&error))?;
    if !compact.quiet {
        let twice = if done.twice > 0 {
            format!(" {} stood in two files; each is kept once.", counted(done.twice, "result"))
        } else {
            String::new()
        };
        let text = match done.days {
            0 => format!("Nothing to merge: {}.", counted(done.after, "file")),
            days => {
                format!("Merged {}: {} are {} now.", counted(days, "day"), counted(done.before, "file"), done.after)
            }
        };
        stdout::text(&format!("{text}{twice}\n"))?;
    }
    Ok(Exit::Fine)
}

pub(super) fn check(check: &Check) -> Result<Exit, Failure> {
    let archive = Archive::open(&check.folder).map_err(|error| failed(&error))?;
    let report = archive.check().map_err(|error| failed(&error))?;
    let figure = |name: &str| Head { name: name.to_owned(), is_figure: true };
    let numbers = [
        ("days", report.days),
        ("files", report.files),
        ("bytes", report.bytes),
        ("results", report.results),
        ("rows", report.rows),
        ("values", report.values),
        ("removed", report.removed),
        ("faults", report.faults.len() as u64),
    ];
    let mut notes = Vec::new();
    if report.removed > 0 {
        let files = counted(report.removed, "file");
        notes.push(format!("Removed {files} that a command that was killed left behind; no row was in them alone."));
    }
    notes.extend(report.faults.iter().cloned());
    if report.faults.is_empty() {
        notes.push("Every row of every file was read, and nothing is wrong.".to_owned());
    }
    let records = Records {
        title: format!("archive in {}", check.folder.display()),
        heads: numbers.iter().map(|(name, _)| figure(name)).collect(),
        shown: vec![numbers.iter().map(|(_, number)| oversleep_record::words::grouped(*number)).collect()],
        exact: vec![numbers.iter().map(|(_, number)| json!(number)).collect()],
        notes,
        brief: None,
    };
    show(&check.documents, &records)?;
    Ok(if report.faults.is_empty() { Exit::Fine } else { Exit::AssertionFailed })
}
