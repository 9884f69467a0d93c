//! A fleet as rows and figures: what was found, hosts beside their groups, before and after changes, kinds of machines,
//! hours of the day, days.

mod pictures;
mod sections;

use oversleep_explain::fleet::FINDINGS;
use oversleep_lab::fleet::{Finding, Fleet, Judged, Unjudged};
use oversleep_record::words::list;

use super::comparison::{Found, View};
use super::findings::in_prose;
use super::overview::Headline;
use super::select::distinct;
use super::sheet::{self, Sheet, optional};
use crate::words::{counted, day, grouped, or_dash, significant};

/// What is said of a selection that has nothing to compare.
const NOTHING: &str = "No row is selected that has the lateness of a system's own waits as found, which is what a report \
                       compares. `oversleep archive query DIR 'rows machines by day'` says what the archive has, and \
                       `oversleep archive add DIR FILES` adds results.";

/// The page of a fleet; in full, with every host.
pub fn view(fleet: &Fleet, full: bool) -> View {
    let of = |finding: &Finding| Found {
        id: finding.id,
        name: finding.name,
        sentence: finding.sentence.clone(),
        next_step: finding.next_step.clone(),
    };
    View {
        title: match fleet.hosts {
            0 => "oversleep archive: nothing to compare".to_owned(),
            hosts => format!("oversleep archive: {}, {}", counted(hosts, "host"), span(fleet)),
        },
        results: (fleet.hosts > 0).then(|| ("The archive".to_owned(), contents(fleet))).into_iter().collect(),
        warnings: fleet.undecided.clone(),
        sections: sections::all(fleet, full),
        headlines: headlines(fleet),
        pictures: pictures::all(fleet).into_iter().map(|picture| vec![picture]).collect(),
        found: fleet.findings.iter().map(of).collect(),
        summary: checked(fleet),
        ..View::default()
    }
}

/// How many hosts, how many differences, and the largest with what to do about it.
fn headlines(fleet: &Fleet) -> Vec<Headline> {
    if fleet.hosts == 0 {
        return Vec::new();
    }
    let names = distinct(fleet.findings.iter().map(|finding| in_prose(finding.name)));
    let counts = [
        ("hosts compared", fleet.hosts, span(fleet)),
        ("differences found", fleet.findings.len() as u64, list(&names)),
    ];
    let counts = counts.map(|(what, count, of)| Headline { what: what.to_owned(), figure: grouped(count), of });
    let largest = fleet.findings.iter().find_map(|finding| {
        let ratio = finding.ratio.as_ref()?;
        Some(Headline {
            what: format!("largest difference: {}", in_prose(finding.name)),
            figure: format!("{} times as late", significant(ratio.value)),
            of: format!("{}. {}", who(finding), finding.next_step),
        })
    });
    counts.into_iter().chain(largest).collect()
}

/// The host that it is about, or how many.
fn who(finding: &Finding) -> String {
    match finding.hosts.as_slice() {
        [host] => host.clone(),
        hosts => counted(hosts.len(), "host"),
    }
}

/// The days that it covers.
fn span(fleet: &Fleet) -> String {
    let [from, to] = [fleet.from_unix_s, fleet.to_unix_s].map(|at| or_dash(at.and_then(day)));
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

/// What was checked and not found, and what could not be judged, with what it takes.
fn checked(fleet: &Fleet) -> Vec<String> {
    if fleet.hosts == 0 {
        return vec![NOTHING.to_owned()];
    }
    let name = |id: &str| FINDINGS.iter().find(|entry| entry.id == id).map_or("", |entry| entry.name);
    let is_absent = |judged: &&Judged| fleet.findings.iter().all(|finding| finding.id != judged.id);
    let absent = fleet.judged.iter().filter(is_absent);
    let absent: Vec<String> = absent.map(|one| format!("{} ({})", name(one.id), one.about.join(", "))).collect();
    let mut said = Vec::new();
    if fleet.judged.is_empty() {
        said.push(
            "There is not enough to compare yet. `oversleep archive query` answers about any number of hosts."
                .to_owned(),
        );
    }
    if !absent.is_empty() {
        said.push(format!("Checked, not found: {}.", absent.join(", ")));
    }
    said.extend(fleet.unjudged.iter().map(|Unjudged { ids, about, needs }| {
        let names: Vec<&str> = ids.iter().map(|id| name(id)).collect();
        let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
        let takes = if names.len() == 1 { "it takes" } else { "they take" };
        format!("Not judged: {}{about}: {takes} {needs}.", list(&names))
    }));
    if said.is_empty() {
        said.push(format!("All {} kinds of differences were found.", FINDINGS.len()));
    }
    said
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
