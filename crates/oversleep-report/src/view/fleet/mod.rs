//! A fleet as rows and figures: what was found, hosts beside their groups, before and after changes, kinds of machines,
//! hours of the day, days.

mod pictures;
mod sections;

use oversleep_explain::fleet::FINDINGS;
use oversleep_lab::fleet::{Finding, Fleet};

use super::comparison::View;
use super::sheet::{self, Sheet, optional};
use crate::words::{counted, day, grouped, or_dash};

/// The page of a fleet; in full, with every host.
pub fn view(fleet: &Fleet, full: bool) -> View {
    let of = |finding: &Finding| format!("{} {}: {} {}", finding.id, finding.name, finding.sentence, finding.next_step);
    let found = fleet.findings.iter().map(of);
    View {
        title: format!("oversleep archive: {}, {}", counted(fleet.hosts, "host"), span(fleet)),
        results: vec![("The archive".to_owned(), contents(fleet))],
        warnings: fleet.undecided.clone(),
        sections: sections::all(fleet, full),
        pictures: pictures::all(fleet).into_iter().map(|picture| vec![picture]).collect(),
        summary: found.chain([checked(fleet)]).collect(),
        ..View::default()
    }
}

/// The days that it covers.
fn span(fleet: &Fleet) -> String {
    let [from, to] = [fleet.from_unix_s, fleet.to_unix_s].map(|at| or_dash(day(at)));
    if from == to { from } else { format!("{from} to {to}") }
}

fn contents(fleet: &Fleet) -> String {
    format!(
        "{} with {} waits. Hosts and days are the units of every interval, not waits; all {} comparisons together are wrong \
         with a probability of 1 %.",
        counted(fleet.rows, "row"),
        grouped(fleet.waits),
        grouped(fleet.comparisons)
    )
}

/// What was checked, and whether anything was found.
fn checked(fleet: &Fleet) -> String {
    let absent = |is_judged: bool| -> Vec<&str> {
        let absent = FINDINGS.iter().filter(|kind| fleet.findings.iter().all(|finding| finding.id != kind.id));
        absent.filter(|kind| fleet.judged.contains(&kind.id) == is_judged).map(|kind| kind.name).collect()
    };
    let (checked, unjudged) = (absent(true), absent(false));
    if fleet.hosts == 0 {
        return "The archive has no waits. Add results with `oversleep archive add DIR FILES`.".to_owned();
    }
    if fleet.judged.is_empty() {
        return "There is not enough to compare yet: a host is unlike its group only among ten of a kind, and each difference \
                takes several days. `oversleep archive query` answers about any number of hosts."
            .to_owned();
    }
    let mut said = Vec::new();
    if !checked.is_empty() {
        said.push(format!("Checked, not found: {}.", checked.join(", ")));
    }
    if !unjudged.is_empty() {
        said.push(format!("Not judged, because it takes more hosts or days: {}.", unjudged.join(", ")));
    }
    match said.is_empty() {
        true => format!("All {} kinds of differences were found.", FINDINGS.len()),
        false => said.join(" "),
    }
}

/// A row for each finding.
pub fn sheet(fleet: &Fleet) -> Sheet<'_> {
    Sheet::of(columns(), &fleet.findings)
}

fn columns<'a>() -> [sheet::Column<&'a Finding>; 11] {
    [
        ("id", |finding| finding.id.to_owned()),
        ("name", |finding| finding.name.to_owned()),
        ("hosts", |finding| finding.hosts.join(" ")),
        ("processor", |finding| optional(finding.kind.as_ref().and_then(|kind| kind.processor.as_ref()))),
        ("hypervisor", |finding| optional(finding.kind.as_ref().and_then(|kind| kind.hypervisor.as_ref()))),
        ("since_unix_s", |finding| optional(finding.since_unix_s)),
        ("ratio", |finding| optional(finding.ratio.map(|ratio| ratio.value))),
        ("ratio_low", |finding| optional(finding.ratio.map(|ratio| ratio.low))),
        ("ratio_high", |finding| optional(finding.ratio.map(|ratio| ratio.high))),
        ("sentence", |finding| finding.sentence.clone()),
        ("next_step", |finding| finding.next_step.clone()),
    ]
}
