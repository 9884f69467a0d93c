//! Judges a fleet: each host, each change and each kind.

use oversleep_explain::fleet::{CHANGE, FINDINGS, HOURS, ODD, UNLIKE};

use super::cells::Collector;
use super::judging::{Judging, MEMBERS_MIN, days};
use super::model::{Change, Finding, Fleet, HostRow, SCHEMA};
use super::profiles::Profile;
use super::{changes, groups, hosts, hours, odd, profiles, stats, steps};

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
    let mut undecided = Vec::new();
    let odd = odd::findings(&judging, &profiles);
    let is_odd =
        |finding: &Finding| odd.iter().any(|other| finding.hosts.iter().all(|host| other.hosts.contains(host)));
    let mut findings: Vec<Finding> = hosts::unlike(&judging, &profiles);
    // The setting is the reason that is known.
    findings.retain(|finding| !is_odd(finding));
    findings.extend(hours::late(&judging, &profiles));
    findings.extend(odd);
    let changes = changes::all(&judging, &mut undecided);
    findings.extend(changes.iter().filter_map(changes::finding));
    let groups = groups::all(&judging);
    findings.extend(groups::steal(&judging, &groups));
    let place = |finding: &Finding| FINDINGS.iter().position(|kind| kind.id == finding.id);
    let effect = |finding: &Finding| finding.ratio.map_or(0.0, |ratio| ratio.value.ln().abs());
    findings.sort_by(|a, b| place(a).cmp(&place(b)).then(effect(b).total_cmp(&effect(a))).then(a.hosts.cmp(&b.hosts)));
    undecided.extend(alone(&judging));
    let mut host_rows = hosts::rows(&judging, &profiles);
    host_rows.iter_mut().for_each(|row: &mut HostRow| {
        let naming = findings
            .iter()
            .filter(|finding| finding.hosts.contains(&row.host) && finding.kind.as_ref() == Some(&row.kind));
        row.findings = naming.map(|finding| finding.id).collect();
    });
    // They are in order, so this only moves the named ones.
    host_rows.sort_by_key(|row| row.findings.is_empty());
    let (from_unix_s, to_unix_s) = all.span.unwrap_or_default();
    Fleet {
        schema: SCHEMA,
        hosts: all.names() as u64,
        rows: all.rows,
        waits: all.values,
        from_unix_s,
        to_unix_s,
        comparisons: judging.comparisons as u64,
        judged: judged(&judging, &profiles, &changes),
        findings,
        undecided,
        groups,
        changes,
        host_rows,
        days: days(all).into_iter().map(i64::from).collect(),
    }
}

/// The ids of the findings for which there are enough hosts and days.
fn judged(judging: &Judging<'_>, profiles: &[Profile], changes: &[Change]) -> Vec<&'static str> {
    let is_beside_days = profiles.iter().any(|profile| profile.is_beside_enough() && profile.ratio().is_some());
    let members = |kind: usize| judging.members(kind).count();
    let enough = |id: &str| match id {
        id if id == UNLIKE.id || id == HOURS.id => is_beside_days,
        id if id == ODD.id => (0..judging.all.kinds.len()).any(|kind| members(kind) >= MEMBERS_MIN),
        id if id == CHANGE.id && changes.is_empty() => judging.all.hosts.len() >= stats::hosts_min(judging.comparisons),
        id if id == CHANGE.id => changes.iter().any(|change| change.rows.iter().any(|row| row.ratio.is_some())),
        _ => groups::can_know_steal(judging),
    };
    FINDINGS.iter().map(|entry| entry.id).filter(|id| enough(id)).collect()
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
