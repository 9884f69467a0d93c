//! Result files with exact figures, for the tests of this room.

use oversleep_record::clock::{AcrossSuspend, Counts, Difference, Epoch, Steps};
use oversleep_record::conditions::{Conditions, LoadSpec, Outcome, Setting};
use oversleep_record::disturbance::Disturbance;
use oversleep_record::environment::{FactValue, PlatformId};
use oversleep_record::file::{Completion, SCHEMA, Tool};
use oversleep_record::series::{Quantity, Round, Unit};
use oversleep_record::trial::{Trial, TrialPair};
use oversleep_record::{ClockResult, Environment, Finding, Nanos, ResultFile, Series};

use super::remedies;

/// A result file under construction.
pub(super) struct Sheet {
    pub(super) file: ResultFile,
}

impl Sheet {
    pub(super) fn on(os: &str) -> Sheet {
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

    pub(super) fn linux() -> Sheet {
        Sheet::on("linux")
    }

    pub(super) fn windows() -> Sheet {
        Sheet::on("windows")
    }

    pub(super) fn macos() -> Sheet {
        Sheet::on("macos")
    }

    pub(super) fn fact(mut self, name: &str, value: FactValue) -> Sheet {
        self.file.environment.set(name, value, "test");
        self
    }

    pub(super) fn text(self, name: &str, text: &str) -> Sheet {
        self.fact(name, FactValue::Text(text.into()))
    }

    pub(super) fn integer(self, name: &str, number: i64) -> Sheet {
        self.fact(name, FactValue::Integer(number))
    }

    pub(super) fn real(self, name: &str, number: f64) -> Sheet {
        self.fact(name, FactValue::Real(number))
    }

    pub(super) fn span(self, name: &str, ns: i64) -> Sheet {
        self.fact(name, FactValue::Nanos(Nanos(ns)))
    }

    pub(super) fn flag(self, name: &str, flag: bool) -> Sheet {
        self.fact(name, FactValue::Flag(flag))
    }

    pub(super) fn list(self, name: &str, items: &[&str]) -> Sheet {
        self.fact(name, FactValue::List(items.iter().map(|item| (*item).to_owned()).collect()))
    }

    pub(super) fn series(mut self, series: Series) -> Sheet {
        self.file.series.push(series);
        self
    }

    /// A steady series: 80 times that value in four rounds.
    pub(super) fn steady(self, key: &str, value: i64) -> Sheet {
        self.series(rounds(key, &[value; 4], 20))
    }

    /// A series whose rounds disagree.
    pub(super) fn wild(self, key: &str, value: i64) -> Sheet {
        self.series(rounds(key, &[value, value * 7, value / 6, value * 30], 20))
    }

    /// A series with three values.
    pub(super) fn scarce(self, key: &str, value: i64) -> Sheet {
        self.series(rounds(key, &[value; 3], 1))
    }

    pub(super) fn clock(mut self, clock: ClockResult) -> Sheet {
        self.file.clocks.push(clock);
        self
    }

    /// A trial of a remedy on a wait at 1 ms, with its two steady series.
    pub(super) fn trial(mut self, remedy: &str, wait: &str, before: i64, after: i64) -> Sheet {
        let key = |way: &str| format!("trial/{remedy}/{wait}/1ms/{way}");
        let conditions = match remedies::get(remedy).map(|entry| &entry.harmless) {
            Some(remedies::Harmless::TryHere(conditions)) => conditions(),
            _ => Conditions::as_found(),
        };
        let mut with = rounds(&key("after"), &[after; 4], 20);
        with.conditions = held(conditions.clone());
        let pair = TrialPair { before: key("before"), after: key("after") };
        self.file.trials.push(Trial { remedy: remedy.into(), conditions, pairs: vec![pair] });
        self.steady(&key("before"), before).series(with)
    }

    /// What a finding comes to in this file; panics where it isn't listed.
    pub(super) fn finding(&self, id: &str) -> Finding {
        let all = super::findings(&self.file);
        all.into_iter().find(|finding| finding.id == id).unwrap_or_else(|| panic!("{id} is not listed"))
    }

    pub(super) fn lists(&self, id: &str) -> bool {
        super::findings(&self.file).iter().any(|finding| finding.id == id)
    }
}

/// Conditions with every tunable granted.
pub(super) fn held(mut conditions: Conditions) -> Conditions {
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
        "C3" if key.contains("/step/") => (Quantity::Step, Unit::Ns),
        "C5" | "C6" => (Quantity::WakeupsPerSecond, Unit::Hz),
        "D1" | "D2" => (Quantity::ForkJoin, Unit::Ns),
        "D3" => (Quantity::GenerationsPerSecond, Unit::Hz),
        "D4" => (Quantity::HandoffLatency, Unit::Ns),
        "B4" | "B5" | "B6" | "B8" | "B9" | "B12" | "C2" | "C3" | "trial" => (Quantity::Lateness, Unit::Ns),
        _ => panic!("no such experiment in {key}"),
    }
}

/// A series of that key: each round holds `count` times its value. Subject, request, labels and conditions follow from
/// the key as the experiments write it.
pub(super) fn rounds(key: &str, values: &[i64], count: u64) -> Series {
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
        } else if let Some(Ok(held)) = part.strip_prefix("resolution=").map(str::parse) {
            conditions = conditions.with("resolution", Setting::Nanos(held));
        } else if let Some(neighbour) = part.strip_prefix("neighbour=") {
            series.labels.insert("neighbour".into(), neighbour.into());
        } else if let Some(policy) = part.strip_prefix("policy=") {
            let (policy, priority) = policy.split_once(':').unwrap_or((policy, "0"));
            let priority = priority.parse().expect("a priority");
            conditions = conditions.with("policy", Setting::Policy { policy: policy.into(), priority });
        } else if let Some((kind, hogs)) = part.strip_prefix("load=").and_then(|load| load.split_once(':')) {
            conditions.load.push(LoadSpec { kind: kind.into(), hogs: hogs.parse().expect("a count") });
        }
    }
    series.conditions = held(conditions);
    for (index, &value) in values.iter().enumerate() {
        (0..count).for_each(|_| series.distribution.record(value));
        series.rounds.push(Round {
            start_ns: Nanos::from_millis(index as i64 * 100),
            count,
            median: (count > 0).then_some(value),
            disturbance: Disturbance { window_ns: Nanos::from_millis(20), ..Disturbance::default() },
        });
    }
    series.counts.recorded = series.distribution.count();
    series.counts.early = series.distribution.early_count();
    series
}

/// A clock of elapsed time without fault: 100 ms indicated of 100 ms, in steps of 10 ns.
pub(super) fn good_clock(name: &str) -> ClockResult {
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
pub(super) fn differed(indicated: i64) -> Difference {
    Difference { reference_ns: Nanos(100_000_000), indicated_ns: Nanos(indicated) }
}
