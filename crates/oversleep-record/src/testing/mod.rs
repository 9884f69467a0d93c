//! Result files with exact figures, for tests: of findings, of comparisons, of reports.
//!
//! Only with the feature `testing`, which no program enables.

mod altered;
mod clocks;
mod damage;
mod made;

use crate::conditions::{Conditions, Held, LoadSpec, Outcome, Setting};
use crate::distribution::Distribution;
use crate::disturbance::Disturbance;
use crate::environment::{FactValue, PlatformId};
use crate::file::{Floor, Tool};
use crate::key::Part;
use crate::label::{self, ClockRole, JoinStyle, Label, LabelValue, Labels, TrialSide};
use crate::queue_labels;
use crate::series::{Quantity, Round, Runtime, Status, Unit};
use crate::split::LatenessSplit;
use crate::trial::{Trial, TrialPair};
use crate::{ClockResult, ExperimentId, FactName, Idling, Nanos, ResultFile, Series, SeriesKey, Unavailable};

pub use altered::altered;
pub use clocks::{differed, good_clock};
pub use damage::damaged;
pub use made::{damaged_text, made};

/// A result file under construction.
pub struct Sheet {
    /// The file so far.
    pub file: ResultFile,
}

impl Sheet {
    /// An empty result of this operating system.
    pub fn on(os: &str) -> Sheet {
        Sheet {
            file: ResultFile {
                duration_ns: Nanos::from_secs(18),
                tool: Tool { name: "oversleep".to_owned(), version: "0".to_owned() },
                ..ResultFile::empty("check", PlatformId::real(os, "x86_64"))
            },
        }
    }

    /// Assigns the last series to a language runtime.
    pub fn of_runtime(mut self, name: &str, version: &str) -> Sheet {
        let series = self.file.series.last_mut().expect("a series");
        series.runtime = Some(Runtime { name: name.to_owned(), version: version.to_owned() });
        self
    }

    /// Adds a label to the last series.
    pub fn labelled<T: LabelValue>(mut self, label: Label<T>, value: T) -> Sheet {
        self.file.series.last_mut().expect("a series").labels.set(label, value);
        self
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

    /// Adds a series that is not available.
    pub fn unavailable(mut self, key: impl AsRef<str>, reason: Unavailable) -> Sheet {
        let mut series = rounds(key, &[], 0);
        series.status = Status::Unavailable { reason };
        self.file.series.push(series);
        self
    }

    /// Gives the last series a split with these parts.
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

    /// Gives the last series its idling: this share of a CPU, and this many parks of that length.
    pub fn idling(mut self, cores: f64, parks: u64, park: i64) -> Sheet {
        if let Some(series) = self.file.series.last_mut() {
            let window_ns = Nanos::from_secs(1);
            series.idling = Some(Idling {
                window_ns,
                items: series.counts.recorded,
                cpu_ns: Some(Nanos((window_ns.0 as f64 * cores) as i64)),
                parked_ns: Nanos(park * parks as i64),
                park_overshoot: Distribution::of_counts([(park - 1_000, parks)]),
                ..Idling::default()
            });
        }
        self
    }

    /// Sets the floor: timestamps of that clock, which costs 20 ns and steps by 10.
    pub fn floor(mut self, clock: &str) -> Sheet {
        self.file.floor = Some(Floor {
            clock: clock.into(),
            read_cost_ps: 20_000,
            step_ns: Nanos(10),
            chosen: None,
            cross_check: None,
        });
        self
    }

    /// Adds a fact about the machine.
    pub fn fact(mut self, name: FactName, value: FactValue) -> Sheet {
        self.file.environment.set(name, value, "test");
        self
    }

    /// Adds a fact that is a text.
    pub fn text(self, name: FactName, text: &str) -> Sheet {
        self.fact(name, FactValue::Text(text.into()))
    }

    /// Adds a fact that is a whole number.
    pub fn integer(self, name: FactName, number: i64) -> Sheet {
        self.fact(name, FactValue::Integer(number))
    }

    /// Adds a fact that is a span.
    pub fn span(self, name: FactName, ns: i64) -> Sheet {
        self.fact(name, FactValue::Nanos(Nanos(ns)))
    }

    /// Adds a fact that is a fraction.
    pub fn real(self, name: FactName, number: f64) -> Sheet {
        self.fact(name, FactValue::Real(number))
    }

    /// Adds a fact that is a flag.
    pub fn flag(self, name: FactName, flag: bool) -> Sheet {
        self.fact(name, FactValue::Flag(flag))
    }

    /// Adds a fact that is a list.
    pub fn list(self, name: FactName, items: &[&str]) -> Sheet {
        self.fact(name, FactValue::List(items.iter().map(|item| (*item).to_owned()).collect()))
    }

    /// Adds this series.
    pub fn series(mut self, series: Series) -> Sheet {
        self.file.series.push(series);
        self
    }

    /// Adds a steady series: 80 times that value in four rounds.
    pub fn steady(self, key: impl AsRef<str>, value: i64) -> Sheet {
        self.series(rounds(key, &[value; 4], 20))
    }

    /// Adds a series whose rounds disagree.
    pub fn wild(self, key: impl AsRef<str>, value: i64) -> Sheet {
        self.series(rounds(key, &[value, value * 7, value / 6, value * 30], 20))
    }

    /// Adds a series with three values.
    pub fn scarce(self, key: impl AsRef<str>, value: i64) -> Sheet {
        self.series(rounds(key, &[value; 3], 1))
    }

    /// Makes the disturbance of the last series unknown.
    pub fn unseen(mut self) -> Sheet {
        for round in self.file.series.iter_mut().flat_map(|series| &mut series.rounds) {
            round.disturbance = Disturbance { window_ns: round.disturbance.window_ns, ..Disturbance::default() };
        }
        self
    }

    /// Adds this clock.
    pub fn clock(mut self, clock: ClockResult) -> Sheet {
        self.file.clocks.push(clock);
        self
    }

    /// Adds a trial of a remedy on a wait at 1 ms, under conditions that were granted, with its two steady series.
    pub fn trial_under(mut self, remedy: &str, wait: &str, conditions: Conditions, before: i64, after: i64) -> Sheet {
        let key = |side| SeriesKey::of_trial(remedy, wait, Nanos::from_millis(1), side);
        let (without, with) = (key(TrialSide::Before), key(TrialSide::After));
        let mut after = rounds(&with, &[after; 4], 20);
        after.conditions = held(conditions.clone());
        let pair = TrialPair { before: without.clone(), after: with };
        self.file.trials.push(Trial { remedy: remedy.into(), conditions, pairs: vec![pair] });
        self.steady(&without, before).series(after)
    }
}

/// Conditions with every tunable granted.
pub fn held(mut conditions: Conditions) -> Conditions {
    let granted = |now: &Setting| Outcome::Applied { was: None, now: now.clone() };
    conditions.outcomes = conditions.requested.iter().map(|(name, now)| (name.clone(), granted(now))).collect();
    conditions
}

fn quantity_of(key: &SeriesKey, experiment: ExperimentId) -> (Quantity, Unit) {
    use ExperimentId as Id;
    let says = |word: &str| key.parts().any(|part| part == Part::Word(word));
    match experiment {
        Id::A1 => (Quantity::Cost, Unit::Ps),
        Id::B1 | Id::B2 => (Quantity::Duration, Unit::Ns),
        Id::B3 => (Quantity::Step, Unit::Ns),
        Id::B7 => (Quantity::Cost, Unit::Ns),
        Id::R1 | Id::B10 | Id::B11 => (Quantity::Lateness, Unit::Ns),
        Id::R2 | Id::R4 => (Quantity::Duration, Unit::Ns),
        Id::R3 if says("second") => (Quantity::Duration, Unit::Ns),
        Id::R3 if says("step") => (Quantity::Step, Unit::Ns),
        Id::R3 => (Quantity::Cost, Unit::Ps),
        Id::C3 | Id::C4 | Id::C7 if says("stated") => (Quantity::StatedResolution, Unit::Ns),
        Id::C3 | Id::C4 | Id::C7 if says("step") => (Quantity::Step, Unit::Ns),
        Id::C5 if says("residency") => (Quantity::IdleResidency, Unit::Ns),
        Id::C5 if says("power") => (Quantity::Power, Unit::Mw),
        Id::Y1 => (Quantity::Lateness, Unit::Ns),
        Id::C5 | Id::C6 => (Quantity::WakeupsPerSecond, Unit::Hz),
        Id::D1 | Id::D2 => (Quantity::ForkJoin, Unit::Ns),
        Id::D3 => (Quantity::GenerationsPerSecond, Unit::Hz),
        Id::D4 => (Quantity::HandoffLatency, Unit::Ns),
        Id::E1 if key.parts().any(|part| matches!(part, Part::Named("rate", _))) => (Quantity::ItemLatency, Unit::Ns),
        Id::R5 if key.subject() == "paced" => (Quantity::ItemLatency, Unit::Ns),
        Id::E1 | Id::E2 | Id::R5 => (Quantity::ItemsPerSecond, Unit::Hz),
        Id::B4 | Id::B5 | Id::B6 | Id::B8 | Id::B9 | Id::B12 | Id::C2 | Id::C3 | Id::C4 | Id::C7 | Id::TRIAL => {
            (Quantity::Lateness, Unit::Ns)
        }
        _ => panic!("no such experiment in {key}"),
    }
}

/// The labels that a word in a key of that experiment implies.
fn labelled(labels: Labels, experiment: ExperimentId, word: &str) -> Labels {
    use ExperimentId as Id;
    fn read<T: LabelValue>(word: &str) -> T {
        T::read(word).unwrap_or_else(|| panic!("no label has the word {word}"))
    }
    match (experiment, word) {
        (Id::B6, _) => labels.with(label::PHASE, read(word)),
        (Id::B7, _) => labels.with(label::COMPETITION, read(word)),
        (Id::C5, "idle" | "sleeping") => labels.with(label::ACTIVITY, read(word)),
        (Id::C5 | Id::C6, _) => labels.with(label::COUNTED, read(word)),
        (Id::C3 | Id::C4, _) => labels,
        // A runtime's id, or what is measured of its clock.
        (Id::R4, "coarse" | "precise") => labels.with(label::CLOCK_ROLE, read(word)),
        (Id::R1 | Id::R2 | Id::R3 | Id::R4 | Id::R5 | Id::B10 | Id::B11, _) => labels,
        (Id::D4, _) => labels.with(label::WAY, read(word)),
        (Id::E1, "flat-out") => labels,
        (Id::TRIAL, _) => labels.with(label::TRIAL_SIDE, read(word)),
        _ => labels.with(label::CLOCK_ROLE, read(word)),
    }
}

/// A series with that key: each round holds `count` times its value, on an otherwise idle machine. Subject, request,
/// labels and conditions follow from the key as the experiments write it.
pub fn rounds(key: impl AsRef<str>, values: &[i64], count: u64) -> Series {
    rounds_keeping(key, values, count, 10_000)
}

/// The same, with at most `cap` raw samples.
pub(crate) fn rounds_keeping(key: impl AsRef<str>, values: &[i64], count: u64, cap: usize) -> Series {
    let key = SeriesKey::from(key.as_ref());
    let first = key.as_str().split('/').next().and_then(|id| id.parse().ok());
    let experiment: ExperimentId = first.unwrap_or_else(|| panic!("no experiment in {key}"));
    let (quantity, unit) = quantity_of(&key, experiment);
    let mut series = Series::new(experiment, key.subject(), quantity, unit);
    series.clock = "monotonic".into();
    let mut conditions = Conditions::as_found();
    for part in key.parts() {
        match part {
            Part::Span(span) => (series.requested_ns, series.rounded_ns) = (Some(span), Some(span)),
            Part::Word(word) => series.labels = labelled(series.labels, experiment, word),
            Part::Named("tolerance", span) => series.labels.set(label::TOLERANCE, span.parse().expect("a span")),
            Part::Named("neighbour", held) => series.labels.set(label::NEIGHBOUR, held.parse().expect("settings")),
            Part::Named("grid", span) => series.labels.set(queue_labels::GRID, span.parse().expect("a span")),
            Part::Named("rate", count) => series.labels.set(queue_labels::RATE, count.parse().expect("a count")),
            Part::Named("queue", count) => series.labels.set(queue_labels::QUEUE, count.parse().expect("a count")),
            Part::Named("load", load) => {
                let (kind, hogs) = load.split_once(':').expect("a load");
                conditions.load.push(LoadSpec { kind: kind.into(), hogs: hogs.parse().expect("a count") });
            }
            Part::Named(tunable, held) => {
                let held: Held = held.parse().expect("a setting");
                if let Held::Setting(setting) = &held {
                    conditions = conditions.with(tunable, setting.clone());
                }
                if experiment == ExperimentId::C5 {
                    series.labels.set(label::HELD, held);
                }
            }
        }
    }
    if series.label(label::CLOCK_ROLE) == Some(ClockRole::Coarse) {
        series.clock = "monotonic-coarse".into();
    }
    if [ExperimentId::D1, ExperimentId::D2, ExperimentId::D3].contains(&experiment) {
        let style: JoinStyle = series.subject.parse().expect("a style");
        series.labels = series.labels.with(label::STYLE, style).with(label::THREADS, 8).with(label::TASKS, 2);
        series.labels.set(label::WORK, Nanos::from_millis(120));
        if let Some(task) = series.requested_ns {
            series.labels.set(label::TASK, task);
        }
    }
    if [ExperimentId::E1, ExperimentId::E2].contains(&experiment) {
        series.labels = series.labels.with(queue_labels::WORKERS, 1).with(queue_labels::ITEM, Nanos(244));
        if series.label(queue_labels::QUEUE).is_none() {
            series.labels.set(queue_labels::QUEUE, 1_024);
        }
    }
    if experiment == ExperimentId::C6 {
        series.labels.set(label::THREADS, 8);
    }
    series.key = key;
    series.conditions = held(conditions);
    for (index, &value) in values.iter().enumerate() {
        for sample in 0..count {
            series.samples.push(cap, index as i64 * 100_000_000 + sample as i64 * 1_000_000, value, false);
        }
        series.rounds.push(Round {
            start_ns: Nanos::from_millis(index as i64 * 100),
            count,
            median: (count > 0).then_some(value),
            p90: None,
            p99: None,
            disturbance: Disturbance {
                window_ns: Nanos::from_millis(20),
                steal_ns: Some(Nanos::ZERO),
                own_cpu_ns: Some(Nanos::from_millis(2)),
                involuntary_switches: Some(1),
                ..Disturbance::default()
            },
        });
    }
    series.distribution = Distribution::of_counts(values.iter().map(|&value| (value, count)));
    series.counts.recorded = series.distribution.count();
    series.counts.early = series.distribution.early_count();
    series
}
