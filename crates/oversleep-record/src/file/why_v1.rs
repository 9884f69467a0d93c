//! Results that `oversleep why` wrote before observed programs were results like any other. They say nothing about the
//! machine but its processor and its kernel, and have no rounds.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{ResultFile, Tool};
use crate::Identity;
use crate::distribution::Distribution;
use crate::environment::{Environment, FactValue, Os, PlatformId};
use crate::fact::FactName;
use crate::observed::culprit::WINDOWS_POLICY;
use crate::observed::wait::{Outcome, Request, Wait, signed};
use crate::observed::{Blame, By, IrqBlame, Losses, Named, Observation, ObservedWaits};
use crate::part::Part;
use crate::series::Series;
use crate::split::PartSplit;
use crate::units::Nanos;

/// Their schema.
pub const SCHEMA: &str = "oversleep-why/1";

/// The document.
#[derive(Deserialize)]
pub struct Document {
    tool: Tool,
    meta: Meta,
    #[serde(default)]
    want_ns: Option<u64>,
    span_ns: u64,
    #[serde(default)]
    left_out: u64,
    groups: Vec<Group>,
    worst: Vec<Wait>,
    losses: Losses,
}

#[derive(Deserialize)]
struct Meta {
    arch: String,
    #[serde(default)]
    kernel: String,
    #[serde(default)]
    by: By,
    #[serde(default)]
    target: String,
    #[serde(default)]
    taken_unix_s: Option<i64>,
    #[serde(default)]
    processes: Vec<Named>,
}

#[derive(Deserialize)]
struct Key {
    program: String,
    thread: String,
    call: String,
    #[serde(default)]
    timer: Option<String>,
    request: Request,
    #[serde(default)]
    requested_ns: Option<u64>,
}

#[derive(Deserialize)]
struct Group {
    key: Key,
    count: u64,
    attributed_count: u64,
    otherwise: BTreeMap<Outcome, u64>,
    lateness: Distribution,
    parts: BTreeMap<Part, Distribution>,
    called_late: Distribution,
    blames: Vec<Blame>,
    irq_blames: Vec<IrqBlame>,
    #[serde(default)]
    policy: Option<(u32, i32)>,
    #[serde(default)]
    slack_bound_ns: Option<u64>,
    steal_count: u64,
    tgid: u32,
}

/// A document of the first version as a result of the current one.
pub fn brought_up_to_date(old: Document) -> ResultFile {
    let is_windows = old.groups.iter().flat_map(|group| &group.policy).any(|(policy, _)| *policy == WINDOWS_POLICY);
    let os = if is_windows { Os::Windows } else { Os::Linux };
    let mut environment = Environment::default();
    if !old.meta.kernel.is_empty() {
        environment.set(FactName::KernelRelease, FactValue::Text(old.meta.kernel), "the recording");
    }
    ResultFile {
        tool: old.tool,
        taken_unix_s: old.meta.taken_unix_s,
        duration_ns: Nanos(signed(old.span_ns)),
        environment,
        series: old.groups.into_iter().map(|group| series(group, os)).collect(),
        observation: Some(Observation {
            by: old.meta.by,
            target: old.meta.target,
            processes: old.meta.processes,
            want_ns: old.want_ns.map(|ns| Nanos(signed(ns))),
            left_out: old.left_out,
            worst: old.worst,
            losses: old.losses,
            ..Observation::default()
        }),
        ..ResultFile::empty("why", PlatformId::real(os.name(), old.meta.arch))
    }
}

fn series(group: Group, os: Os) -> Series {
    let Key { program, thread, call, timer, request, requested_ns } = group.key;
    let requested_ns = requested_ns.map(|ns| Nanos(signed(ns)));
    let mut series =
        Series::observed(&Identity { program, thread, call, timer, request, requested_ns }, os, group.lateness);
    // A number of waits that the distributions don't hold is found with the other contradictions.
    series.counts.recorded = group.count;
    series.why = Some(PartSplit {
        attributed_count: group.attributed_count,
        unattributed_count: group.count.saturating_sub(group.attributed_count),
        parts: group.parts,
        ..PartSplit::default()
    });
    series.observed = Some(ObservedWaits {
        tgid: group.tgid,
        requested_ns: None,
        clock: None,
        otherwise: group.otherwise,
        called_late: group.called_late,
        late_after_late_count: 0,
        blames: group.blames,
        irq_blames: group.irq_blames,
        interruptions: Vec::new(),
        policy: group.policy,
        cpus_allowed: None,
        slack_bound_ns: group.slack_bound_ns,
        steal_count: group.steal_count,
        periods: None,
        runtime: None,
    });
    series
}
