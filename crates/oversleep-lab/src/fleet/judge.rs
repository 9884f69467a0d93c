//! Judges a fleet: each host, each change and each kind.

use oversleep_explain::fleet::FINDINGS;

use super::cells::Collector;
use super::judging::{Judging, MEMBERS_MIN, days};
use super::model::{Finding, Fleet, HostRow, SCHEMA};
use super::{changes, groups, hosts, hours, odd, profiles, steps, unjudged};

/// The days from which intervals by days are narrow.
const WEEK: usize = 7;

impl Collector {
    /// What all of it says.
    pub fn judge(mut self) -> Fleet {
        self.close();
        fleet(&self)
    }
}

fn fleet(all: &Collector) -> Fleet {
    let judging = Judging::of(all);
    let mut profiles = profiles::all(&judging);
    steps::find(&judging, &mut profiles);
    let odd = odd::findings(&judging, &profiles);
    let is_odd =
        |finding: &Finding| odd.iter().any(|other| finding.hosts.iter().all(|host| other.hosts.contains(host)));
    let mut findings: Vec<Finding> = hosts::unlike(&judging, &profiles);
    // The setting is the reason that is known.
    findings.retain(|finding| !is_odd(finding));
    findings.extend(hours::late(&judging, &profiles));
    findings.extend(odd);
    let changes = changes::all(&judging);
    findings.extend(changes::findings(&changes));
    let (groups, steal) = (groups::all(&judging), groups::Steal::of(&judging));
    findings.extend(steal.findings(&judging, &groups));
    let place = |finding: &Finding| FINDINGS.iter().position(|kind| kind.id == finding.id);
    let effect = |finding: &Finding| finding.ratio.map_or(0.0, |ratio| ratio.value.ln().abs());
    findings.sort_by(|a, b| place(a).cmp(&place(b)).then(effect(b).total_cmp(&effect(a))).then(a.hosts.cmp(&b.hosts)));
    let mut host_rows = hosts::rows(&judging, &profiles);
    host_rows.iter_mut().for_each(|row: &mut HostRow| {
        let naming = findings
            .iter()
            .filter(|finding| finding.hosts.contains(&row.host) && finding.kind.as_ref() == Some(&row.kind));
        row.findings = naming.map(|finding| finding.id).collect();
    });
    // They are in order, so this only moves the named ones.
    host_rows.sort_by_key(|row| row.findings.is_empty());
    let (judged, unjudged) = unjudged::all(&judging, &profiles, &changes, &steal);
    let (from_unix_s, to_unix_s) = all.span.unzip();
    Fleet {
        schema: SCHEMA,
        hosts: all.names() as u64,
        rows: all.rows,
        waits: all.values,
        from_unix_s,
        to_unix_s,
        comparisons: (judging.host_comparisons + changes.comparisons + steal.comparisons) as u64,
        judged,
        unjudged,
        findings,
        undecided: alone(&judging),
        groups,
        changes: changes.all,
        host_rows,
        days: days(all).into_iter().map(i64::from).collect(),
    }
}

/// What is said of hosts that have too few beside them.
fn alone(judging: &Judging<'_>) -> Vec<String> {
    let few = |(at, kind): (usize, &super::model::Kind)| {
        let members = judging.members(at).count();
        (members < MEMBERS_MIN).then(|| {
            let hosts = oversleep_record::words::counted(members, "host");
            format!("{kind}: {hosts}, and one can be unlike its group only among {MEMBERS_MIN} or more.")
        })
    };
    let days = days(judging.all).len();
    let short = (days < WEEK && !judging.all.hosts.is_empty()).then(|| {
        let days = oversleep_record::words::counted(days, "day");
        format!(
            "The rows are of {days}. Below a week only large differences of single hosts are certain: add more days."
        )
    });
    judging.all.kinds.iter().enumerate().filter_map(few).chain(short).collect()
}
