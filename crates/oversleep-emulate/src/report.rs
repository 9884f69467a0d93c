//! The report of what was emulated: waits per call with their lengths, and the calls that were left alone, with reasons.

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
    fn in_values(values: &Distribution) -> Option<Lengths> {
        Some(Lengths { min_ns: values.min()?, p50_ns: values.p50()?, p99_ns: values.p99()?, max_ns: values.max()? })
    }
}

/// The waits that one call made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// The system call.
    pub call: String,
    /// The machine's wait that stood for it.
    pub stands_for: String,
    /// How many got another end.
    pub count: u64,
    /// What was requested.
    pub requested: Lengths,
    /// From the call to the earliest end that it would have had here.
    pub native: Lengths,
    /// From the call to the end on the machine. A wait that something else ended earlier is counted with this length.
    pub emulated: Lengths,
    /// How many of them were measured: those that stopped. Where a program waits often, one in 256 stops.
    #[serde(default)]
    pub sampled: u64,
    /// How many may have taken a tick more than on the machine, because the supervisor was busy when they began.
    pub may_have_missed: u64,
    /// How many sleeps, of those that didn't stop, ended at least a tick too late because this system was busy.
    #[serde(default)]
    pub woke_late: u64,
}

/// Calls that were made unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedBy {
    /// The system call.
    pub call: String,
    /// The reason.
    pub why: String,
    /// How many there were.
    pub count: u64,
}

/// A program that wasn't run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Its file.
    pub program: String,
    /// The reason.
    pub why: String,
    /// How often it was executed.
    pub count: u64,
}

/// A clock whose steps differed from this system's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteppedClock {
    /// The Linux clock that the program read.
    pub clock: String,
    /// The machine's clock that stood for it.
    pub stands_for: String,
    /// Its steps in ns.
    pub step_ns: i64,
}

/// What was assumed of programs: how the port of their runtime behaves, or that they have none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterUsed {
    /// The runtime and its version, or the programs.
    pub runtime: String,
    /// What its port does.
    pub does: String,
    /// The source of this claim.
    pub source: String,
    /// How the runtime and its version were recognised.
    #[serde(default)]
    pub evidence: String,
}

/// How late sleeps of that length are on this machine, from the end of the timer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnSleeps {
    /// The length.
    pub requested_ns: i64,
    /// The lateness.
    pub p10_ns: i64,
    /// Its median.
    pub p50_ns: i64,
    /// Its 90th percentile.
    pub p90_ns: i64,
}

/// This machine's own wake-up, which is taken off a learned lateness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnWakeUp {
    /// What was measured before the program started; empty if this failed, so that nothing was taken off.
    pub sleeps: Vec<OwnSleeps>,
    /// From a call until the supervisor sees it: this is taken off too.
    pub until_seen_ns: i64,
    /// Waits and requests in ns that are already this slow here at the median, and are left unchanged.
    pub no_later_there: Vec<(String, i64)>,
}

/// What was emulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The machine, with its overrides.
    pub machine: String,
    /// The program and its arguments as typed.
    pub program: Vec<String>,
    /// Programs that were executed, including by children.
    pub execs: u64,
    /// The most threads that were traced at the same time.
    pub threads_max: u64,
    /// Threads of the supervisor.
    pub tracers: u64,
    /// Programs that had their memory locked.
    #[serde(default)]
    pub locked: u64,
    /// The system's error for a program whose memory wasn't locked.
    #[serde(default)]
    pub not_locked: Option<i32>,
    /// What was taken off the lateness of a machine that was learned.
    #[serde(default)]
    pub own_wake_up: Option<OwnWakeUp>,
    /// The emulated clocks.
    pub clocks: Vec<SteppedClock>,
    /// The adapters that were applied.
    pub adapters: Vec<AdapterUsed>,
    /// Waits by call.
    pub waits: Vec<Waits>,
    /// Calls that were made unchanged, by call and reason.
    pub passed_by: Vec<PassedBy>,
    /// Programs that weren't run.
    #[serde(default)]
    pub refused: Vec<Refused>,
}

/// The counts of one supervisor thread.
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
    /// Counts a wait that got another end: spans in ns from the call on.
    pub fn wait(&mut self, call: &'static str, stands_for: &'static str, spans: [i64; 3], may_have_missed: bool) {
        let counted = self.waits.entry((call, stands_for)).or_default();
        counted.requested.record(spans[0]);
        counted.native.record(spans[1]);
        counted.emulated.record(spans[2]);
        counted.may_have_missed += u64::from(may_have_missed);
    }

    /// Counts waits that code inside the program gave another end.
    pub fn without_stop(&mut self, (call, stands_for): (&'static str, &'static str), [count, late]: [u64; 2]) {
        let counted = self.waits.entry((call, stands_for)).or_default();
        counted.without_stop += count;
        counted.woke_late += late;
    }

    /// Counts a call that was made unchanged.
    pub fn note_passed_by(&mut self, call: &'static str, why: &'static str) {
        *self.passed_by.entry((call, why)).or_default() += 1;
    }

    /// Adds another thread's counts.
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

    /// Converts the counts to the report's form.
    pub fn into_report(self, machine: String) -> Report {
        let lengths = |values: &Distribution| Lengths::in_values(values).unwrap_or_default();
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
