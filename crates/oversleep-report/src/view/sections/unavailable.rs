//! What is not available here, with the reason.

use oversleep_record::series::Runtime;
use oversleep_record::words::list;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::Entry;
use crate::view::select::{self, subject_in_words};
use crate::view::table::{Columns, Section};

pub const ENTRY: Entry = Entry { id: "unavailable", title: "Not available here", experiments: &[], build };

/// What is missing for one reason.
#[derive(Debug, PartialEq)]
struct Missing {
    /// The calls, with the requests if others were measured.
    what: Vec<String>,
    /// The runtime that they belong to.
    runtime: Option<Runtime>,
    reason: String,
}

fn build(file: &ResultFile, section: Section) -> Section {
    let columns = Columns::new()
        .words("not available", |missing: &Missing| missing.what.join(", "))
        .words("runtime", |missing| missing.runtime.as_ref().map(ToString::to_string))
        .words("reason", |missing| missing.reason.clone());
    section.tables(columns.table("What could not be measured, and why", reasons(file)))
}

/// Every reason with what it concerns. Clocks are in their own section.
fn reasons(file: &ResultFile) -> Vec<Missing> {
    let mut all: Vec<(String, Subject, Vec<Nanos>)> = Vec::new();
    for series in file.series.iter().filter(|series| series.experiment != ExperimentId::A1) {
        let Some(reason) = select::unavailable(series).map(ToString::to_string) else { continue };
        let subject = Subject::of(series);
        // The name stands beside it.
        let reason = reason.strip_prefix(&format!("{}: ", series.subject)).unwrap_or(&reason).to_owned();
        let requested = series.requested_ns;
        match all.iter_mut().find(|(known, other, _)| (known, other) == (&reason, &subject)) {
            Some((.., requests)) => requests.extend(requested),
            None => all.push((reason, subject, requested.into_iter().collect())),
        }
    }
    let mut reasons: Vec<Missing> = Vec::new();
    for (reason, subject, requests) in all {
        let what = subject.words(file, requests);
        match reasons.iter_mut().find(|known| known.reason == reason && known.runtime == subject.runtime) {
            Some(known) => known.what.push(what),
            None => reasons.push(Missing { what: vec![what], runtime: subject.runtime, reason }),
        }
    }
    reasons
}

/// What a reason concerns.
#[derive(PartialEq)]
struct Subject {
    name: String,
    runtime: Option<Runtime>,
    /// A load under which alone it is missing.
    load: Option<String>,
}

impl Subject {
    fn of(series: &Series) -> Subject {
        Subject {
            name: subject_in_words(series.quantity, &series.subject).to_owned(),
            runtime: series.runtime.clone(),
            load: select::load(series),
        }
    }

    /// Its name, and the requests if others of that runtime's call were measured.
    fn words(&self, file: &ResultFile, mut requests: Vec<Nanos>) -> String {
        let is_measured = |series: &&Series| series.has_values() && Subject::of(series) == *self;
        let is_partial = self.runtime.is_some() && file.series.iter().any(|series| is_measured(&series));
        requests.sort_unstable();
        requests.dedup();
        let requests: Vec<String> = requests.iter().map(ToString::to_string).collect();
        let at = if is_partial && !requests.is_empty() { format!(" for {}", list(&requests)) } else { String::new() };
        let under = self.load.as_ref().map(|load| format!(" under {load}")).unwrap_or_default();
        format!("{}{at}{under}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Unavailable;
    use oversleep_record::testing::Sheet;

    use super::*;

    #[test]
    fn a_reason_names_the_runtime_and_the_requests_that_failed() {
        let late = |what: &str| Unavailable::failed("Object.wait", what);
        let mut sheet = Sheet::linux().unavailable("B5/io-uring/1ms", Unavailable::NotMeasured);
        for (version, id) in [("17.0.15", "java-17"), ("25.0.3", "java-25")] {
            sheet = sheet.steady(format!("R1/Object.wait/1ms/{id}"), 70_000).of_runtime("java", version);
            for request in ["400us", "0ns"] {
                let sheet_with =
                    sheet.unavailable(format!("R2/Object.wait/{request}/{id}"), late("it had not returned"));
                sheet = sheet_with.of_runtime("java", version);
            }
        }
        let sheet = sheet.unavailable("R1/poll/1ms/go-1", Unavailable::NotOnThisPlatform).of_runtime("go", "1.26");
        let section = build(&sheet.file, Section::new("unavailable", "Not available here"));
        let rows =
            section.tables[0].rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>());
        assert_eq!(
            rows.collect::<Vec<_>>(),
            [
                ["io-uring", "–", &Unavailable::NotMeasured.to_string()],
                ["Object.wait for 0 ns and 400 µs", "java 17.0.15", "it had not returned"],
                ["Object.wait for 0 ns and 400 µs", "java 25.0.3", "it had not returned"],
                ["poll", "go 1.26", &Unavailable::NotOnThisPlatform.to_string()],
            ]
        );
    }
}
