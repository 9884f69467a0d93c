//! What was emulated: waits per call with their lengths, and the calls that were passed by, with why.

use std::collections::BTreeMap;

use oversleep_record::Distribution;
use serde::{Deserialize, Serialize};

/// Lengths of waits, in ns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// The shortest.
    pub min_ns: i64,
    /// The median.
    pub p50_ns: i64,
    /// The 99th percentile.
    pub p99_ns: i64,
    /// The longest.
    pub max_ns: i64,
}

impl Lengths {
    fn of(values: &Distribution) -> Option<Lengths> {
        Some(Lengths { min_ns: values.min()?, p50_ns: values.p50()?, p99_ns: values.p99()?, max_ns: values.max()? })
    }
}

/// The waits by one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// The system call.
    pub call: String,
    /// The machine's wait that stood for it.
    pub stands_for: String,
    /// How many were given another end.
    pub count: u64,
    /// What was requested.
    pub requested: Lengths,
    /// From the call to the end that it would have had here at the earliest.
    pub native: Lengths,
    /// From the call to the end on the machine. A wait that something else ended before is counted with this length.
    pub emulated: Lengths,
    /// How many of them have their lengths counted: those that stopped. Where a program waits often, one in 256 does.
    #[serde(default)]
    pub sampled: u64,
    /// How many may have taken a tick more than on the machine, because the supervisor was busy when they began.
    pub may_have_missed: u64,
    /// How many sleeps, of those that didn't stop, ended a tick or more after they should have: the machine was busy.
    #[serde(default)]
    pub woke_late: u64,
}

/// Calls that were made as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedBy {
    /// The system call.
    pub call: String,
    /// Why.
    pub why: String,
    /// How many.
    pub count: u64,
}

/// A clock that went in other steps than this system's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteppedClock {
    /// The clock of Linux that the program read.
    pub clock: String,
    /// The machine's clock that stood for it.
    pub stands_for: String,
    /// Its steps.
    pub step_ns: i64,
}

/// What was done otherwise for programs of a runtime, because its Windows port does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterUsed {
    /// The runtime.
    pub runtime: String,
    /// What its port does.
    pub does: String,
    /// Where that can be read.
    pub source: String,
}

/// What was emulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The machine, with what was changed of it.
    pub machine: String,
    /// The program, as it was typed.
    pub program: Vec<String>,
    /// Programs that ran, with their children.
    pub execs: u64,
    /// Threads that were watched at the same time, at most.
    pub threads_max: u64,
    /// Threads of the supervisor.
    pub tracers: u64,
    /// Programs that had their memory locked.
    #[serde(default)]
    pub locked: u64,
    /// The system's error for one that hadn't.
    #[serde(default)]
    pub not_locked: Option<i32>,
    /// Clocks.
    pub clocks: Vec<SteppedClock>,
    /// Runtimes that were treated as their ports.
    pub adapters: Vec<AdapterUsed>,
    /// Waits by call.
    pub waits: Vec<Waits>,
    /// Calls that were made as they are, by call and reason.
    pub passed_by: Vec<PassedBy>,
}

/// What one thread of the supervisor counts.
#[derive(Default)]
pub struct Tally {
    waits: BTreeMap<(&'static str, &'static str), Counted>,
    passed_by: BTreeMap<(&'static str, &'static str), u64>,
}

#[derive(Default)]
struct Counted {
    requested: Distribution,
    native: Distribution,
    emulated: Distribution,
    may_have_missed: u64,
    without_stop: u64,
    woke_late: u64,
}

impl Tally {
    /// A wait was given another end: spans in ns from the call on.
    pub fn wait(&mut self, call: &'static str, stands_for: &'static str, spans: [i64; 3], may_have_missed: bool) {
        let counted = self.waits.entry((call, stands_for)).or_default();
        counted.requested.record(spans[0]);
        counted.native.record(spans[1]);
        counted.emulated.record(spans[2]);
        counted.may_have_missed += u64::from(may_have_missed);
    }

    /// So many waits were given another end by code inside the program.
    pub fn without_stop(&mut self, (call, stands_for): (&'static str, &'static str), [count, late]: [u64; 2]) {
        let counted = self.waits.entry((call, stands_for)).or_default();
        counted.without_stop += count;
        counted.woke_late += late;
    }

    /// A call was made as it is.
    pub fn passed_by(&mut self, call: &'static str, why: &'static str) {
        *self.passed_by.entry((call, why)).or_default() += 1;
    }

    /// Adds what another thread counted.
    pub fn merge(&mut self, other: &Tally) {
        for (key, counted) in &other.waits {
            let own = self.waits.entry(*key).or_default();
            own.requested.merge(&counted.requested);
            own.native.merge(&counted.native);
            own.emulated.merge(&counted.emulated);
            own.may_have_missed += counted.may_have_missed;
            own.without_stop += counted.without_stop;
            own.woke_late += counted.woke_late;
        }
        for (key, count) in &other.passed_by {
            *self.passed_by.entry(*key).or_default() += count;
        }
    }

    /// As the report has it.
    pub fn into_report(self, machine: String) -> Report {
        let lengths = |values: &Distribution| Lengths::of(values).unwrap_or_default();
        let waits = self.waits.into_iter().map(|((call, stands_for), counted)| Waits {
            call: call.to_owned(),
            stands_for: stands_for.to_owned(),
            count: counted.requested.count() + counted.without_stop,
            sampled: counted.requested.count(),
            requested: lengths(&counted.requested),
            native: lengths(&counted.native),
            emulated: lengths(&counted.emulated),
            may_have_missed: counted.may_have_missed,
            woke_late: counted.woke_late,
        });
        let passed_by = self.passed_by.into_iter().map(|((call, why), count)| PassedBy {
            call: call.to_owned(),
            why: why.to_owned(),
            count,
        });
        Report { machine, waits: waits.collect(), passed_by: passed_by.collect(), ..Report::default() }
    }
}
