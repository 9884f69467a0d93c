//! Result files with exact figures, for tests: of findings, of comparisons, of reports.
//!
//! Only with the feature `testing`, which no program enables.

mod damage;

pub use damage::damaged;

use crate::clock::{AcrossSuspend, Counts, Difference, Epoch, Steps};
use crate::conditions::{Conditions, LoadSpec, Outcome, Setting};
use crate::disturbance::Disturbance;
use crate::environment::{FactValue, PlatformId};
use crate::file::{Completion, Floor, SCHEMA, Tool};
use crate::series::{Quantity, Round, Status, Unit};
use crate::split::LatenessSplit;
use crate::trial::{Trial, TrialPair};
use crate::{ClockResult, Environment, Nanos, ResultFile, Series, Unavailable};

/// A result file under construction.
pub struct Sheet {
    /// What there is of it.
    pub file: ResultFile,
}

impl Sheet {
    /// An empty result of this operating system.
    pub fn on(os: &str) -> Sheet {
        Sheet {
            file: ResultFile {
                schema: SCHEMA.into(),
                tool: Tool { name: "oversleep".into(), version: "0".into() },
                taken_unix_s: None,
                duration_ns: Nanos::from_secs(18),
                completion: Completion::Complete,
                command: "check".into(),
                name: None,
                platform: PlatformId { os: os.into(), arch: "x86_64".into(), modelled: None },
                environment: Environment::default(),
                floor: None,
                clocks: Vec::new(),
                series: Vec::new(),
                trials: Vec::new(),
                findings: Vec::new(),
            },
        }
    }

    /// An empty result of Linux.
    pub fn linux() -> Sheet {
        Sheet::on("linux")
    }

    /// An empty result of macOS.
    pub fn macos() -> Sheet {
        Sheet::on("macos")
    }

    /// An empty result of Windows.
    pub fn windows() -> Sheet {
        Sheet::on("windows")
    }

    /// A series that can't be measured.
    pub fn unavailable(mut self, key: &str, reason: Unavailable) -> Sheet {
        let mut series = rounds(key, &[], 0);
        series.status = Status::Unavailable { reason };
        self.file.series.push(series);
        self
    }

    /// The last series with a split of these parts.
    pub fn split(mut self, timer: i64, run_queue: i64, wake_return: i64) -> Sheet {
        let mut split = LatenessSplit { attributed_count: 80, method: "test".into(), ..LatenessSplit::default() };
        for _ in 0..80 {
            split.total.record(timer + run_queue + wake_return);
            split.timer.record(timer);
            split.run_queue.record(run_queue);
            split.wake_return.record(wake_return);
        }
        if let Some(series) = self.file.series.last_mut() {
            series.split = Some(split);
        }
        self
    }

    /// Stamped by that clock, which costs 20 ns and moves by 10.
    pub fn floor(mut self, clock: &str) -> Sheet {
        self.file.floor =
            Some(Floor { clock: clock.into(), read_cost_ps: 20_000, step_ns: Nanos(10), chosen: None, witness: None });
        self
    }

    /// With a fact about the machine.
    pub fn fact(mut self, name: &str, value: FactValue) -> Sheet {
        self.file.environment.set(name, value, "test");
        self
    }

    /// With a fact that is a text.
    pub fn text(self, name: &str, text: &str) -> Sheet {
        self.fact(name, FactValue::Text(text.into()))
    }

    /// With a fact that is a whole number.
    pub fn integer(self, name: &str, number: i64) -> Sheet {
        self.fact(name, FactValue::Integer(number))
    }

    /// With a fact that is a span.
    pub fn span(self, name: &str, ns: i64) -> Sheet {
        self.fact(name, FactValue::Nanos(Nanos(ns)))
    }

    /// With a fact that is a fraction.
    pub fn real(self, name: &str, number: f64) -> Sheet {
        self.fact(name, FactValue::Real(number))
    }

    /// With a fact that is so or not.
    pub fn flag(self, name: &str, flag: bool) -> Sheet {
        self.fact(name, FactValue::Flag(flag))
    }

    /// With a fact that is a list.
    pub fn list(self, name: &str, items: &[&str]) -> Sheet {
        self.fact(name, FactValue::List(items.iter().map(|item| (*item).to_owned()).collect()))
    }

    /// With this series.
    pub fn series(mut self, series: Series) -> Sheet {
        self.file.series.push(series);
        self
    }

    /// A steady series: 80 times that value in four rounds.
    pub fn steady(self, key: &str, value: i64) -> Sheet {
        self.series(rounds(key, &[value; 4], 20))
    }

    /// A series whose rounds disagree.
    pub fn wild(self, key: &str, value: i64) -> Sheet {
        self.series(rounds(key, &[value, value * 7, value / 6, value * 30], 20))
    }

    /// A series with three values.
    pub fn scarce(self, key: &str, value: i64) -> Sheet {
        self.series(rounds(key, &[value; 3], 1))
    }

    /// What else the machine did meanwhile is unknown.
    pub fn unseen(mut self) -> Sheet {
        for round in self.file.series.iter_mut().flat_map(|series| &mut series.rounds) {
            round.disturbance = Disturbance { window_ns: round.disturbance.window_ns, ..Disturbance::default() };
        }
        self
    }

    /// With this clock.
    pub fn clock(mut self, clock: ClockResult) -> Sheet {
        self.file.clocks.push(clock);
        self
    }

    /// A trial of a remedy on a wait at 1 ms, under conditions that were granted, with its two steady series.
    pub fn trial_under(mut self, remedy: &str, wait: &str, conditions: Conditions, before: i64, after: i64) -> Sheet {
        let key = |way: &str| format!("trial/{remedy}/{wait}/1ms/{way}");
        let mut with = rounds(&key("after"), &[after; 4], 20);
        with.conditions = held(conditions.clone());
        let pair = TrialPair { before: key("before"), after: key("after") };
        self.file.trials.push(Trial { remedy: remedy.into(), conditions, pairs: vec![pair] });
        self.steady(&key("before"), before).series(with)
    }
}

/// Conditions with every tunable granted.
pub fn held(mut conditions: Conditions) -> Conditions {
    let granted = |now: &Setting| Outcome::Applied { was: None, now: now.clone() };
    conditions.outcomes = conditions.asked.iter().map(|(name, now)| (name.clone(), granted(now))).collect();
    conditions
}

fn quantity_of(experiment: &str, key: &str) -> (Quantity, Unit) {
    match experiment {
        "A1" => (Quantity::Cost, Unit::Ps),
        "B1" | "B2" => (Quantity::Elapsed, Unit::Ns),
        "B3" => (Quantity::Step, Unit::Ns),
        "B7" => (Quantity::Cost, Unit::Ns),
        "C3" | "C4" if key.contains("/stated/") => (Quantity::StatedResolution, Unit::Ns),
        "C3" | "C4" if key.contains("/step/") => (Quantity::Step, Unit::Ns),
        "C5" if key.contains("/residency/") => (Quantity::IdleResidency, Unit::Ns),
        "C5" if key.contains("/power/") => (Quantity::Power, Unit::Mw),
        "C5" | "C6" => (Quantity::WakeupsPerSecond, Unit::Hz),
        "D1" | "D2" => (Quantity::ForkJoin, Unit::Ns),
        "D3" => (Quantity::GenerationsPerSecond, Unit::Hz),
        "D4" => (Quantity::HandoffLatency, Unit::Ns),
        "B4" | "B5" | "B6" | "B8" | "B9" | "B12" | "C2" | "C3" | "C4" | "trial" => (Quantity::Lateness, Unit::Ns),
        _ => panic!("no such experiment in {key}"),
    }
}

/// A series of that key: each round holds `count` times its value, on a machine that did hardly anything else.
/// Subject, request, labels and conditions follow from the key as the experiments write it.
pub fn rounds(key: &str, values: &[i64], count: u64) -> Series {
    let mut parts = key.split('/');
    let experiment = parts.next().expect("an experiment");
    if experiment == "trial" {
        parts.next();
    }
    let subject = parts.next().expect("a subject");
    let (quantity, unit) = quantity_of(experiment, key);
    let mut series = Series::new(experiment, subject, quantity, unit);
    series.key = key.to_owned();
    series.clock = "monotonic".into();
    let mut conditions = Conditions::as_found();
    for part in parts {
        if let Ok(span) = part.parse::<Nanos>() {
            series.requested_ns = Some(span);
            series.asked_ns = Some(span);
        } else if let Some(slack) = part.strip_prefix("slack=") {
            conditions = conditions.with("slack", Setting::Nanos(slack.parse().expect("a span")));
            series.labels.extend((experiment == "C5").then(|| ("held".to_owned(), slack.to_owned())));
        } else if let Some(Ok(held)) = part.strip_prefix("resolution=").map(str::parse) {
            conditions = conditions.with("resolution", Setting::Nanos(held));
        } else if let Some(tolerated) = part.strip_prefix("tolerance=") {
            let tolerated: Nanos = tolerated.parse().expect("a span");
            series.labels.insert("tolerance_ns".into(), tolerated.0.to_string());
        } else if let Some(held) = part.strip_prefix("neighbour=") {
            series.labels.insert("neighbour".into(), held.into());
        } else if let Some(policy) = part.strip_prefix("policy=") {
            let (policy, priority) = policy.split_once(':').unwrap_or((policy, "0"));
            let priority = priority.parse().expect("a priority");
            conditions = conditions.with("policy", Setting::Policy { policy: policy.into(), priority });
        } else if let Some((kind, hogs)) = part.strip_prefix("load=").and_then(|load| load.split_once(':')) {
            conditions.load.push(LoadSpec { kind: kind.into(), hogs: hogs.parse().expect("a count") });
        } else {
            let name = match (experiment, part) {
                ("B6", _) => "phase",
                ("B7", _) => "competition",
                ("C5", "idle" | "sleeping") => "activity",
                ("C5" | "C6", _) => "counted",
                ("C3" | "C4", _) => "what",
                ("D4", _) => "way",
                _ => "clock_role",
            };
            series.labels.insert(name.into(), part.into());
        }
    }
    if series.label("clock_role") == Some("coarse") {
        series.clock = "monotonic-coarse".into();
    }
    if ["D1", "D2", "D3"].contains(&experiment) {
        series.labels.insert("style".into(), subject.into());
        series.labels.insert("threads".into(), "8".into());
        series.labels.insert("tasks".into(), "2".into());
        series.labels.insert("work_ns".into(), "120000000".into());
        series.labels.extend(series.requested_ns.map(|task| ("task_ns".to_owned(), task.0.to_string())));
    }
    if experiment == "C6" {
        series.labels.insert("threads".into(), "8".into());
    }
    series.conditions = held(conditions);
    for (index, &value) in values.iter().enumerate() {
        for sample in 0..count {
            series.distribution.record(value);
            series.samples.push(10_000, index as i64 * 100_000_000 + sample as i64 * 1_000_000, value, false);
        }
        series.rounds.push(Round {
            start_ns: Nanos::from_millis(index as i64 * 100),
            count,
            median: (count > 0).then_some(value),
            disturbance: Disturbance {
                window_ns: Nanos::from_millis(20),
                steal_ns: Some(Nanos::ZERO),
                own_cpu_ns: Some(Nanos::from_millis(2)),
                involuntary_switches: Some(1),
                ..Disturbance::default()
            },
        });
    }
    series.counts.recorded = series.distribution.count();
    series.counts.early = series.distribution.early_count();
    series
}

/// A clock of elapsed time without fault: 100 ms indicated of 100 ms, in steps of 10 ns.
pub fn good_clock(name: &str) -> ClockResult {
    ClockResult {
        name: name.into(),
        call: format!("{name}()"),
        counts: Counts::ElapsedTime,
        epoch: Epoch::Boot,
        unit: "ns".into(),
        across_suspend: AcrossSuspend::Stops,
        wraps_after_ns: None,
        unavailable: None,
        cost_series: Some(format!("A1/{name}")),
        example_raw: None,
        frequency_hz: None,
        stated_step_ns: Some(Nanos(1)),
        differences: vec![differed(100_000_000)],
        steps: Some(Steps {
            reads: 1_000,
            smallest_ns: Some(Nanos(10)),
            median_ns: Some(Nanos(10)),
            changes_per_second: Some(30_000_000),
            cross_cpu_reads: 1_000,
            ..Steps::default()
        }),
        drift: None,
    }
}

/// A reference wait of 100 ms of which a clock indicated this much.
pub fn differed(indicated: i64) -> Difference {
    Difference { reference_ns: Nanos(100_000_000), indicated_ns: Nanos(indicated) }
}
