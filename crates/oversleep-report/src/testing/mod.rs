//! The smallest valid results, for tests.

pub mod reports;
#[cfg(test)]
mod whole;

use oversleep_record::environment::PlatformId;
use oversleep_record::file::Tool;
use oversleep_record::series::{Quantity, Unit};
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use crate::document::{HTML, Layout, Subject, bytes};
use crate::html;
use crate::view::comparison::View;

/// The page of a subject.
pub fn html_of(subject: &dyn Subject) -> String {
    String::from_utf8(bytes(subject, &HTML, &Layout::default())).expect("pages are UTF-8")
}

/// The page of a view.
pub fn page_of(view: &View) -> String {
    let mut page = Vec::new();
    html::page_of(view, &mut page).expect("memory takes everything");
    String::from_utf8(page).expect("pages are UTF-8")
}

/// A result with empty series of these keys.
pub fn result(keys: &[&str]) -> ResultFile {
    let series = |key: &&str| {
        let mut series = Series::new(ExperimentId::B5, "nanosleep", Quantity::Lateness, Unit::Ns);
        series.key = (*key).into();
        series
    };
    ResultFile {
        taken_unix_s: Some(1_700_000_000),
        duration_ns: Nanos::from_secs(1),
        series: keys.iter().map(series).collect(),
        tool: Tool { name: "oversleep".to_owned(), version: "0.1.0".to_owned() },
        ..ResultFile::empty("waits", PlatformId::real("linux", "x86_64"))
    }
}
