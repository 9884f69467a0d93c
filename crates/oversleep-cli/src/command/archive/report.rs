//! `archive report`.

use oversleep_archive::FleetOfRows;
use oversleep_record::words::counted;

use super::query::{Selected, nothing, selected};
use super::{Report, failed};
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::show;

pub(super) fn run(report: &Report) -> Result<Exit, Failure> {
    let Selected { archive, filter, .. } = selected(&report.folder, &report.tests, report.here)?;
    let fleet = FleetOfRows::of(&archive, &filter).map_err(|error| failed(&error))?;
    if fleet.rows() == 0 {
        message::warning(&nothing(&archive, &report.tests)?);
    }
    if fleet.left_out() > 0 && !report.documents.quiet {
        message::note(&format!(
            "{} left out: only the lateness of a system's own waits, as found, is compared between hosts",
            counted(fleet.left_out(), "row")
        ));
    }
    show(&report.documents, &fleet.judge())
}
