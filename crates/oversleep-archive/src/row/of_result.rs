//! The rows of a result.

use std::collections::BTreeMap;
use std::sync::Arc;

use oversleep_lab::share;
use oversleep_record::environment::{Environment, FactValue};
use oversleep_record::series::Status;
use oversleep_record::{Conditions, FactName, ResultFile, Series};
use serde::Serialize;

use super::{Machine, Row};

/// Where a result comes from, as far as it doesn't say so itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The machine.
    pub source: String,
    /// When the run began, in µs since 1970-01-01 UTC, for results that don't state it: those of other programs and of
    /// modelled machines.
    pub taken_us: i64,
}

/// Facts with a column of their own; all others are in `facts`.
const OWN: [FactName; 12] = [
    FactName::OsName,
    FactName::KernelRelease,
    FactName::CpuModel,
    FactName::CpuCount,
    FactName::VirtualisationHypervisor,
    FactName::ContainerKind,
    FactName::ClocksourceCurrent,
    FactName::KernelPreemption,
    FactName::TimerHz,
    FactName::LibcName,
    FactName::LibcVersion,
    FactName::CpufreqGovernor,
];

/// The rows of a result: one for each series that could be measured. Facts are those that a shared copy of the result has;
/// the names of the processor and of the kernel are whole, because they tell kinds of machines apart.
pub fn rows_of(file: &ResultFile, origin: &Origin) -> Vec<Row> {
    let facts = share::environment(&file.environment);
    let whole = Row {
        source: origin.source.clone(),
        content: content(file),
        taken_us: file.taken_unix_s.map_or(origin.taken_us, |taken| taken.saturating_mul(1_000_000)),
        seconds: file.duration_ns.as_secs_f64(),
        tool: tool(file),
        machine: machine(&file.platform.os, &file.environment, &facts),
        facts: Arc::new(others(&facts)),
        name: file.name.clone(),
        ..Row::default()
    };
    let is_measured = |series: &&Series| !matches!(series.status, Status::Unavailable { .. });
    file.series.iter().filter(is_measured).map(|series| row(&whole, file, series)).collect()
}

fn row(whole: &Row, file: &ResultFile, series: &Series) -> Row {
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let mut row = Row {
        experiment: series.experiment.to_string(),
        subject: series.subject.clone(),
        runtime: series.runtime.as_ref().map(ToString::to_string),
        quantity: word(&series.quantity),
        unit: word(&series.unit),
        request_ns: series.requested_ns.map(|request| request.0),
        conditions: conditions(&series.conditions),
        labels: series.labels.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        missed: count(series.counts.missed),
        steal_share: steal_share(whole.machine.cpus, series),
        disturbed: !oversleep_explain::is_undisturbed(file, series),
        ..whole.clone()
    };
    row.set_values(&series.distribution);
    row
}

/// The program that measured.
fn tool(file: &ResultFile) -> String {
    match &file.imported {
        Some(imported) => match &imported.version {
            Some(version) => format!("{} {version}", imported.program),
            None => imported.program.clone(),
        },
        None => format!("{} {}", file.tool.name, file.tool.version),
    }
}

fn machine(os: &str, all: &Environment, facts: &Environment) -> Machine {
    let whole = |name: FactName| all.text(name).map(str::to_owned);
    let text = |name: FactName| facts.text(name).map(str::to_owned);
    let small = |name: FactName| facts.integer(name).and_then(|number| i32::try_from(number).ok());
    let libc = [FactName::LibcName, FactName::LibcVersion].into_iter().filter_map(text).collect::<Vec<_>>();
    Machine {
        os: os.to_owned(),
        os_version: text(FactName::OsName),
        kernel: whole(FactName::KernelRelease),
        cpu_model: whole(FactName::CpuModel),
        cpus: small(FactName::CpuCount),
        hypervisor: text(FactName::VirtualisationHypervisor),
        container: text(FactName::ContainerKind),
        clocksource: text(FactName::ClocksourceCurrent),
        preemption: text(FactName::KernelPreemption),
        hz: small(FactName::TimerHz),
        libc: (!libc.is_empty()).then(|| libc.join(" ")),
        governor: text(FactName::CpufreqGovernor),
    }
}

/// The facts without a column of their own, as text: spans in ns, yes and no as `true` and `false`, lists with commas.
fn others(facts: &Environment) -> BTreeMap<String, String> {
    let text = |value: &FactValue| match value {
        FactValue::Text(text) => Some(text.clone()),
        FactValue::Integer(number) => Some(number.to_string()),
        FactValue::Real(number) => Some(number.to_string()),
        FactValue::Nanos(span) => Some(span.0.to_string()),
        FactValue::Flag(flag) => Some(flag.to_string()),
        FactValue::List(words) => Some(words.join(",")),
        FactValue::Unknown(_) => None,
    };
    let is_other = |name: &str| FactName::find(name).is_none_or(|name| !OWN.contains(&name));
    let kept = facts.facts.iter().filter(|(name, _)| is_other(name));
    kept.filter_map(|(name, fact)| Some((name.clone(), text(&fact.value)?))).collect()
}

/// As it is typed: `policy=fifo:80 slack=1ns load=spin:2`; empty where nothing was changed.
fn conditions(conditions: &Conditions) -> String {
    let settings = conditions.requested.iter().map(|(name, setting)| format!("{name}={}", setting.as_typed()));
    let loads = conditions.load.iter().map(|load| format!("load={load}"));
    settings.chain(loads).collect::<Vec<_>>().join(" ")
}

/// The share of all CPUs' time; `None` if either isn't known.
fn steal_share(cpus: Option<i32>, series: &Series) -> Option<f64> {
    let meanwhile = series.disturbance();
    let cpus = f64::from(cpus.filter(|&cpus| cpus > 0)?);
    Some(meanwhile.share(meanwhile.steal_ns)? / cpus)
}

/// The word that results have for a quantity or a unit.
fn word(word: &impl Serialize) -> String {
    let word = serde_json::to_value(word).ok();
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A hash of what was measured and when, the same for every copy of a result: FNV-1a with 64 bits
/// (<http://www.isthe.com/chongo/tech/comp/fnv/>).
fn content(file: &ResultFile) -> i64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.number(file.taken_unix_s.unwrap_or(-1));
    hash.number(file.duration_ns.0);
    for text in [&file.tool.version, &file.command, &file.platform.os] {
        hash.text(text);
    }
    for series in &file.series {
        hash.text(series.key.as_str());
        hash.text(series.runtime.as_ref().map_or("", |runtime| &runtime.version));
        for (highest, count) in series.distribution.buckets() {
            hash.number(highest);
            hash.number(count.cast_signed());
        }
    }
    hash.0.cast_signed()
}

struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn number(&mut self, number: i64) {
        self.bytes(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(i64::try_from(text.len()).unwrap_or(i64::MAX));
        self.bytes(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_processors_and_kernels_are_other_kinds() {
        let of = |cpu: &str, kernel: &str| {
            let mut all = Environment::default();
            all.set(FactName::CpuModel, FactValue::Text(cpu.to_owned()), "");
            all.set(FactName::KernelRelease, FactValue::Text(kernel.to_owned()), "");
            let machine = machine("linux", &all, &share::environment(&all));
            (machine.cpu_model.unwrap_or_default(), machine.kernel.unwrap_or_default())
        };
        for (cpu, kernel) in [
            ("AMD EPYC 7B13", "6.18.44-fc-v857"),
            ("AMD EPYC 9B14", "6.18.44-fc-v858"),
            ("AMD Ryzen 9 7950X3D 16-Core Processor", "6.1.0-28-cloud-amd64"),
        ] {
            assert_eq!(of(cpu, kernel), (cpu.to_owned(), kernel.to_owned()));
        }
    }
}
