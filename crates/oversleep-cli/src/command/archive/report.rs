//! `archive report`.

use std::time::{SystemTime, UNIX_EPOCH};

use oversleep_archive::store::Archive;
use oversleep_archive::{Filter, FleetOfRows};
use oversleep_record::words::counted;

use super::query::limit;
use super::{Report, failed};
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::show;

pub(super) fn run(report: &Report) -> Result<Exit, Failure> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now_us = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    let filter = Filter::read(&report.tests, now_us).map_err(|error| Failure::usage(error.to_string()))?;
    let archive = Archive::open(&report.folder).map_err(|error| failed(&error))?;
    let filter = filter.with_names(&archive.machines().map_err(|error| failed(&error))?);
    let files = archive.files(&filter).map_err(|error| failed(&error))?;
    limit(&archive, &files, &report.folder, report.here)?;
    let fleet = FleetOfRows::of(&archive, &filter).map_err(|error| failed(&error))?;
    if fleet.left_out() > 0 && !report.documents.quiet {
        message::note(&format!(
            "{} left out: only the lateness of a system's own waits, as found, is compared between hosts",
            counted(fleet.left_out(), "row")
        ));
    }
    show(&report.documents, &fleet.judge())
}
