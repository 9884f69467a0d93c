//! The metrics: each family with its samples. Units stand in names, and labels have values from closed lists.

use oversleep_record::environment::{Environment, FactValue};
use oversleep_record::finding::{Finding, Verdict};
use oversleep_record::{Distribution, FactName, Nanos};
use oversleep_sampler::{Kind, Sampler};

/// A kind of metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Labels that say something; the value is 1.
    Info,
    /// A distribution of seconds.
    Histogram,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Nanoseconds, with the sum of what is below zero, as a magnitude.
    Distribution(Box<Distribution>, Nanos),
}

/// The sum of a histogram in seconds, in which a value below zero counts as zero: a sum is a counter, which never falls.
/// <https://prometheus.io/docs/specs/om/open_metrics_spec/#histogram>
pub fn sum_s(values: &Distribution, early: Nanos) -> f64 {
    (values.sum() + i128::from(early.0)) as f64 / 1e9
}

/// One sample of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Names and values.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: Value,
}

/// Samples of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Without the suffixes `_total`, `_info`.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// Its kind.
    pub kind: Type,
    /// `seconds`, `hertz`, or nothing.
    pub unit: &'static str,
    /// Its samples, at least one.
    pub samples: Vec<Sample>,
}

impl Family {
    /// The name of its samples in Prometheus' text: with the suffix of its kind.
    pub fn full_name(&self) -> String {
        let suffix = match self.kind {
            Type::Counter => "_total",
            Type::Info => "_info",
            Type::Gauge | Type::Histogram => "",
        };
        format!("{}{suffix}", self.name)
    }
}

/// Upper ends of the classic buckets, in nanoseconds. Scrapers with native histograms get 4.4 % wide ones.
pub const BOUNDS_NS: [i64; 12] = [
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    100_000_000,
    1_000_000_000,
];
/// The longest value of a label: processors' names are the longest.
const LABEL_MAX: usize = 64;

/// Facts of the machine, with their labels.
const MACHINE: &[(&str, FactName)] = &[
    ("kernel", FactName::KernelRelease),
    ("cpu_model", FactName::CpuModel),
    ("hypervisor", FactName::VirtualisationHypervisor),
    ("container", FactName::ContainerKind),
    ("preemption", FactName::KernelPreemption),
    ("hz", FactName::TimerHz),
    ("governor", FactName::CpufreqGovernor),
];

/// What is known now.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// A sampler for each wait, and for each CPU where CPUs were named.
    pub samplers: &'a [(Option<u32>, &'a Sampler)],
    /// The system's name.
    pub os: &'a str,
    /// Facts that may be shared.
    pub facts: &'a Environment,
    /// What the samples and facts say; `None` until there are enough of them.
    pub findings: Option<&'a [Finding]>,
    /// The version of the program.
    pub version: &'a str,
}

impl Snapshot<'_> {
    /// All families now. What isn't known is left out.
    pub fn families(&self) -> Vec<Family> {
        let mut all = self.of_waits();
        all.extend(self.of_clocks());
        all.extend(self.of_machine());
        all.extend(self.of_findings());
        all.extend(self.infos());
        all
    }

    fn of_waits(&self) -> Vec<Family> {
        let each = |kinds: &[Kind], value: &dyn Fn(&Sampler, Kind) -> Value| -> Vec<Sample> {
            let of_sampler = |(cpu, sampler): &(Option<u32>, &Sampler)| -> Vec<Sample> {
                let of_kind = |kind: &Kind| {
                    let sampling = sampler.sampling();
                    let request = match kind {
                        Kind::Pause => "pause".to_owned(),
                        Kind::Burst => sampling.requested.as_typed(),
                    };
                    let mut labels = vec![("wait", sampling.wait.clone()), ("request", request)];
                    labels.extend(cpu.map(|cpu| ("cpu", cpu.to_string())));
                    Sample { labels, value: value(sampler, *kind) }
                };
                kinds.iter().map(of_kind).collect()
            };
            self.samplers.iter().flat_map(of_sampler).collect()
        };
        let counter = |name, help, kinds: &[Kind], of: &dyn Fn(&Sampler, Kind) -> u64| Family {
            name,
            help,
            kind: Type::Counter,
            unit: "",
            samples: each(kinds, &|sampler, kind| Value::Number(of(sampler, kind) as f64)),
        };
        vec![
            Family {
                name: "oversleep_wait_lateness_seconds",
                help: "How late waits ended; below zero if early, and zero in the sum. A deadline that had passed before \
                       the call is in it.",
                kind: Type::Histogram,
                unit: "seconds",
                samples: each(&Kind::ALL, &|sampler, kind| {
                    let tally = sampler.tally(kind);
                    Value::Distribution(Box::new(tally.lateness.clone()), tally.early)
                }),
            },
            Family {
                name: "oversleep_wait_early_seconds",
                help: "By how much waits ended before their deadline, together.",
                kind: Type::Counter,
                unit: "seconds",
                samples: each(&Kind::ALL, &|sampler, kind| Value::Number(sampler.tally(kind).early.0 as f64 * 1e-9)),
            },
            counter("oversleep_wait_early", "Waits that ended before their deadline.", &Kind::ALL, &|sampler, kind| {
                sampler.tally(kind).lateness.early_count()
            }),
            // A pause begins when the burst is over, so no deadline can have passed.
            counter(
                "oversleep_wait_missed",
                "Deadlines that had passed before the call could be made.",
                &[Kind::Burst],
                &|sampler, kind| sampler.tally(kind).missed,
            ),
            counter(
                "oversleep_wait_discarded",
                "Waits across a suspend or a clock that went backward.",
                &Kind::ALL,
                &|sampler, kind| sampler.tally(kind).discarded,
            ),
        ]
    }

    fn of_clocks(&self) -> Option<Family> {
        let costs = self.samplers.first()?.1.read_costs();
        let sample = |(clock, cost): &(&'static str, f64)| Sample {
            labels: vec![("clock", (*clock).to_owned())],
            value: Value::Number(cost / 1e9),
        };
        let samples: Vec<Sample> = costs.iter().map(sample).collect();
        (!samples.is_empty()).then_some(Family {
            name: "oversleep_clock_read_seconds",
            help: "What a read of a clock costs: the shortest of 32 batches, once a minute.",
            kind: Type::Gauge,
            unit: "seconds",
            samples,
        })
    }

    fn of_machine(&self) -> Vec<Family> {
        // What happens to the machine is the same for each sampler.
        let Some((_, first)) = self.samplers.first() else { return Vec::new() };
        let sums = first.sums();
        let own = self.samplers.iter().map(|(_, sampler)| sampler.sums().own_cpu);
        let own: Option<Nanos> = own.sum::<Option<Nanos>>();
        let late: u64 = self.samplers.iter().map(|(_, sampler)| sampler.late_count()).sum();
        let rate: f64 = self.samplers.iter().map(|(_, sampler)| sampler.rate_hz()).sum();
        let spans = [
            ("oversleep_steal_seconds", "Time that the hypervisor gave to others, all CPUs together.", sums.steal),
            ("oversleep_cpu_pressure_seconds", "Time in which a task waited for a CPU.", sums.cpu_pressure),
            ("oversleep_throttled_seconds", "Time in which this control group was throttled.", sums.throttled),
            ("oversleep_suspended_seconds", "Time in suspend.", sums.suspended),
            ("oversleep_self_cpu_seconds", "CPU time of the threads that sample.", own),
        ];
        let counts = [
            (
                "oversleep_unknown_windows",
                "Times in which a counter went back, so what it counted isn't known.",
                sums.unknown_windows,
            ),
            ("oversleep_clocksource_changes", "How often the clock source changed.", first.clock_source_changes()),
            ("oversleep_quota_changes", "How often the CPU quota changed, came or went.", first.quota_changes()),
            (
                "oversleep_late_waits",
                "Waits that ended 1 ms late or more, or whose deadline had passed by as much.",
                late,
            ),
        ];
        let known = spans
            .into_iter()
            .filter_map(|(name, help, span)| Some(number(name, help, Type::Counter, "seconds", span?.0 as f64 * 1e-9)));
        let counted = counts.into_iter().map(|(name, help, count)| number(name, help, Type::Counter, "", count as f64));
        let rate = number("oversleep_rate_hz", "Waits per second at present.", Type::Gauge, "", rate);
        let cpus = first.machine().cpus;
        let cpus = cpus.map(|cpus| number("oversleep_cpus", "CPUs of the machine.", Type::Gauge, "", cpus as f64));
        known.chain(counted).chain([rate]).chain(cpus).collect()
    }

    fn of_findings(&self) -> Vec<Family> {
        let Some(findings) = self.findings else { return Vec::new() };
        let found = findings.iter().filter(|finding| finding.verdict == Verdict::Found);
        let sample = |finding: &Finding| Sample {
            labels: vec![("id", finding.id.clone()), ("name", finding.name.clone())],
            value: Value::Number(1.0),
        };
        let samples: Vec<Sample> = found.map(sample).collect();
        let decided = |finding: &&Finding| matches!(finding.verdict, Verdict::Found | Verdict::NotFound);
        let checked = findings.iter().filter(decided).count() as f64;
        let mut all = vec![number(
            "oversleep_findings_checked",
            "Findings about which samples and facts decide; those that were found are oversleep_finding.",
            Type::Gauge,
            "",
            checked,
        )];
        if !samples.is_empty() {
            let help = "A finding about this machine; `oversleep explain ID` says more.";
            all.push(Family { name: "oversleep_finding", help, kind: Type::Gauge, unit: "", samples });
        }
        all
    }

    fn infos(&self) -> Vec<Family> {
        let text = |name: FactName| match self.facts.known(name)? {
            FactValue::Integer(value) => Some(value.to_string()),
            FactValue::Nanos(value) => Some(value.as_typed()),
            _ => self.facts.text(name).map(short),
        };
        let of = |label: &'static str, value: Option<String>| Some((label, value?));
        let mut machine = vec![("os", self.os.to_owned())];
        machine.extend(MACHINE.iter().filter_map(|(label, fact)| of(label, text(*fact))));
        let state = self.samplers.first().map(|(_, sampler)| sampler.machine());
        machine.extend(of("clocksource", state.and_then(|state| state.clock_source.as_deref()).map(short)));
        let quota = state.and_then(|state| state.quota_cpus).map(|cpus| format!("{cpus:.2}"));
        let slack = state.and_then(|state| state.slack).map(Nanos::as_typed);
        let own = [
            of("policy", text(FactName::SchedPolicy)),
            of("slack", slack),
            of("weight", state.and_then(|state| state.weight).map(|weight| weight.to_string())),
            of("quota", quota),
        ];
        let info = |name, help, labels| Family {
            name,
            help,
            kind: Type::Info,
            unit: "",
            samples: vec![Sample { labels, value: Value::Number(1.0) }],
        };
        let sampler = "What samples: a small weight, a quota, its slack and its policy delay its own waits.";
        vec![
            info("oversleep_machine", "The machine.", machine),
            info("oversleep_sampler", sampler, own.into_iter().flatten().collect()),
            info("oversleep_build", "The program.", vec![("version", self.version.to_owned())]),
        ]
    }
}

fn number(name: &'static str, help: &'static str, kind: Type, unit: &'static str, value: f64) -> Family {
    let sample = Sample { labels: Vec::new(), value: Value::Number(value) };
    Family { name, help, kind, unit, samples: vec![sample] }
}

fn short(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(LABEL_MAX).collect()
}
