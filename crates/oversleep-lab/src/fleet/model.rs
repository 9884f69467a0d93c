//! What is known about a fleet: plain data, as documents show it.

use oversleep_explain::FindingEntry;
use serde::Serialize;

/// The schema of the document.
pub const SCHEMA: &str = "oversleep-fleet/1";

/// A fleet over a span of time, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fleet {
    /// `oversleep-fleet/1`.
    pub schema: &'static str,
    /// How many hosts it has.
    pub hosts: u64,
    /// How many rows of an archive were read.
    pub rows: u64,
    /// How many waits they hold.
    pub waits: u64,
    /// The start of the oldest row, in seconds since 1970-01-01 UTC; `None` without rows.
    pub from_unix_s: Option<i64>,
    /// The start of the newest row.
    pub to_unix_s: Option<i64>,
    /// How many comparisons share the 1 % of error.
    pub comparisons: u64,
    /// What there was enough of to judge.
    pub judged: Vec<Judged>,
    /// What there was too little of.
    pub unjudged: Vec<Unjudged>,
    /// What was found, the largest effect first.
    pub findings: Vec<Finding>,
    /// Which machines and how much time are too few for certain answers.
    pub undecided: Vec<String>,
    /// The waits of each kind of machines under each kernel.
    pub groups: Vec<Group>,
    /// Every change of a fact on several hosts, with the lateness before and after.
    pub changes: Vec<Change>,
    /// Every host with its distance from its group: those that a finding names first, then the furthest.
    pub host_rows: Vec<HostRow>,
    /// The days that the figures by day are of, in days since 1970-01-01.
    pub days: Vec<i64>,
}

/// A finding that could have been made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// Its id.
    pub id: &'static str,
    /// The figures or the facts that were judged: `p50`, `clock source`.
    pub about: Vec<String>,
}

/// Findings that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unjudged {
    /// Their ids.
    pub ids: Vec<&'static str>,
    /// The figures, waits or changes that could not be judged.
    pub about: String,
    /// What this takes, and how much of it there is.
    pub needs: String,
}

/// A kind of machines: those whose waits may be expected to be alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Kind {
    /// `linux`, `windows`, `macos`.
    pub os: String,
    /// The processor's name.
    pub processor: Option<String>,
    /// How many CPUs the system sees.
    pub cpus: Option<u32>,
    /// `kvm`, `none` …
    pub hypervisor: Option<String>,
}

/// A figure of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// The median lateness.
    P50,
    /// The 99th percentile of the lateness.
    P99,
}

/// An estimate with its 99 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// A quarter of a day, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Part(pub u8);

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Its id: `OVS-F001`.
    pub id: &'static str,
    /// Its name: `host-unlike-its-group`.
    pub name: &'static str,
    /// The hosts that it is about.
    pub hosts: Vec<String>,
    /// The kind of machines that these are.
    pub kind: Option<Kind>,
    /// When it began, in seconds since 1970-01-01 UTC; `None` if it holds since the oldest row.
    pub since_unix_s: Option<i64>,
    /// What differs, where, since when and by how much.
    pub sentence: String,
    /// The figures behind it.
    pub evidence: Vec<String>,
    /// What to do.
    pub next_step: String,
    /// The largest effect: how many times as late, if it is about lateness.
    pub ratio: Option<Interval>,
}

/// The waits of one kind of machines under one kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The kind.
    pub kind: Kind,
    /// Their kernel.
    pub kernel: Option<String>,
    /// The wait with its request: `nanosleep(1 ms)`.
    pub wait: String,
    /// How many hosts.
    pub hosts: u64,
    /// p50 of the median host in ns, however few there are.
    pub median_p50_ns: Option<f64>,
    /// p99 of the median host.
    pub median_p99_ns: Option<f64>,
    /// p50 of the median host with an interval by hosts, where there are enough.
    pub p50_ns: Option<Interval>,
    /// p99 of the median host with an interval.
    pub p99_ns: Option<Interval>,
    /// The share of CPU time that the hypervisor takes from the median host; `None` if it isn't known.
    pub steal_share: Option<Interval>,
    /// p50 of the median host by quarter of the day.
    pub p50_by_part_ns: [Option<f64>; Part::ALL.len()],
    /// p99 of the median host by quarter of the day.
    pub p99_by_part_ns: [Option<f64>; Part::ALL.len()],
    /// p50 of the median host by day.
    pub p50_by_day_ns: Vec<Option<f64>>,
    /// p99 of the median host by day.
    pub p99_by_day_ns: Vec<Option<f64>>,
}

/// A fact that several hosts changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Its name: `kernel`.
    pub fact: String,
    /// Its former value.
    pub from: String,
    /// Its new value.
    pub to: String,
    /// The kind of machines.
    pub kind: Kind,
    /// How many hosts changed it.
    pub hosts: u64,
    /// The first row after it, in seconds since 1970-01-01 UTC.
    pub first_unix_s: i64,
    /// The first row after it of the host that changed last.
    pub last_unix_s: i64,
    /// How many of them have the former value again.
    pub returned: u64,
    /// What the same hosts changed at the same time: `clock source from tsc to kvm-clock`.
    pub with: Vec<String>,
    /// The lateness before and after, by wait and figure.
    pub rows: Vec<ChangeRow>,
}

/// What a change did to one figure of one wait.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeRow {
    /// The wait with its request.
    pub wait: String,
    /// The figure.
    pub figure: Figure,
    /// How many hosts have it before the change and after it.
    pub hosts: u64,
    /// That figure of the median host before it, in ns.
    pub before_ns: f64,
    /// And after it.
    pub after_ns: f64,
    /// How many times as late the hosts are after it, with an interval by hosts; `None` for too few hosts.
    pub ratio: Option<Interval>,
    /// How many hosts that didn't change have it before and after.
    pub other_hosts: u64,
    /// How many times as late those are after it; `None` for too few hosts.
    pub others: Option<Interval>,
    /// Whether both are known and are apart by more than 2 %.
    pub differs: bool,
}

/// One host beside its group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostRow {
    /// Its name, or the first letters of its random id.
    pub host: String,
    /// Its kind.
    pub kind: Kind,
    /// The wait that is furthest from its group.
    pub wait: String,
    /// The figure.
    pub figure: Figure,
    /// That figure of this host in ns, of its median day.
    pub value_ns: f64,
    /// How many times as late as the median of its group, with an interval by days.
    pub ratio: Option<Interval>,
    /// By how many deviations of the group it is apart; `None` where too few hosts show what is usual.
    pub deviations: Option<f64>,
    /// p99 of that wait by quarter of the day, in ns.
    pub p99_by_part_ns: [Option<f64>; Part::ALL.len()],
    /// p99 of that wait in the worst quarter of each day: that in which it is largest.
    pub p99_by_day_ns: Vec<Option<f64>>,
    /// How many times as late as its group that wait is, in p50 or p99, in the worst quarter of each day: that in which it
    /// is latest beside its group.
    pub times_group_by_day: Vec<Option<f64>>,
    /// The ids of the findings that name it.
    pub findings: Vec<&'static str>,
}

impl Finding {
    /// One of a kind of machines, without what was found.
    pub(super) fn of(entry: &'static FindingEntry, kind: &Kind) -> Finding {
        Finding {
            id: entry.id,
            name: entry.name,
            hosts: Vec::new(),
            kind: Some(kind.clone()),
            since_unix_s: None,
            sentence: String::new(),
            evidence: Vec::new(),
            next_step: entry.what_to_do.to_owned(),
            ratio: None,
        }
    }
}

impl Kind {
    /// Whether it is known to have no hypervisor.
    pub fn is_bare(&self) -> bool {
        self.hypervisor.as_deref() == Some("none")
    }
}

impl Figure {
    /// All of them.
    pub const ALL: [Figure; 2] = [Figure::P50, Figure::P99];
}

impl std::fmt::Display for Figure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Figure::P50 => "p50",
            Figure::P99 => "p99",
        })
    }
}

impl Part {
    /// The four quarters.
    pub const ALL: [Part; 4] = [Part(0), Part(1), Part(2), Part(3)];

    /// That of a moment.
    pub fn of_unix(unix_s: i64) -> Part {
        Part(unix_s.rem_euclid(86_400).div_euclid(21_600) as u8)
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}:00–{:02}:00", self.0 * 6, self.0 * 6 + 6)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cpus = self.cpus.map(|cpus| format!("{cpus} CPUs"));
        let processor = self.processor.clone().unwrap_or_else(|| format!("{}, unknown processor", self.os));
        let hypervisor = self.hypervisor.as_ref().map(|name| if self.is_bare() { "no hypervisor" } else { name });
        let hypervisor = hypervisor.map(str::to_owned);
        let parts: Vec<String> = [Some(processor), cpus, hypervisor].into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}
