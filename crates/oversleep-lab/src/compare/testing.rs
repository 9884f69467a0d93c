//! Results with exact figures, for the tests of comparisons.

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch, Steps};
use oversleep_record::conditions::LoadSpec;
use oversleep_record::environment::{FactValue, PlatformId};
use oversleep_record::file::{Completion, Floor, SCHEMA, Tool};
use oversleep_record::series::{Quantity, Round, Unit};
use oversleep_record::{ClockResult, Disturbance, Environment, Nanos, ResultFile, Series};

/// A result being made.
pub(super) struct Maker {
    pub file: ResultFile,
}

impl Maker {
    fn on(os: &str) -> Maker {
        Maker {
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

    pub fn linux() -> Maker {
        Maker::on("linux")
    }

    pub fn windows() -> Maker {
        Maker::on("windows")
    }

    pub fn load() -> Vec<LoadSpec> {
        vec![LoadSpec { kind: "spin".into(), hogs: 2 }]
    }

    fn fact(mut self, name: &str, value: FactValue) -> Maker {
        self.file.environment.set(name, value, "test");
        self
    }

    pub fn text(self, name: &str, text: &str) -> Maker {
        self.fact(name, FactValue::Text(text.into()))
    }

    pub fn integer(self, name: &str, number: i64) -> Maker {
        self.fact(name, FactValue::Integer(number))
    }

    /// Stamped by that clock, which moves by 10 ns.
    pub fn floor(mut self, clock: &str) -> Maker {
        self.file.floor =
            Some(Floor { clock: clock.into(), read_cost_ps: 20_000, step_ns: Nanos(10), chosen: None, witness: None });
        self
    }

    pub fn series(mut self, series: Series) -> Maker {
        self.file.series.push(series);
        self
    }

    /// Four steady rounds of twenty values around this one.
    pub fn waits(self, key: &str, value: i64) -> Maker {
        self.series(waits(key, &[value; 4]))
    }

    pub fn clock(mut self, clock: ClockResult) -> Maker {
        self.file.clocks.push(clock);
        self
    }
}

/// Rounds of twenty values around each of these: from five per mille below it to five above.
pub(super) fn waits(key: &str, medians: &[i64]) -> Series {
    of_rounds(key, &medians.iter().map(|&median| spread(median, 20)).collect::<Vec<_>>())
}

/// Values around a median, within five per mille of it.
pub(super) fn spread(median: i64, count: i64) -> Vec<i64> {
    (0..count).map(|index| median + median * (2 * index - count + 1) / (200 * count)).collect()
}

/// A series of these rounds, 100 ms apart; its values 1 ms apart.
pub(super) fn of_rounds(key: &str, rounds: &[Vec<i64>]) -> Series {
    let mut parts = key.split('/');
    let (experiment, subject) = (parts.next().expect("an experiment"), parts.next().expect("a subject"));
    let (quantity, unit) = match experiment {
        "A1" => (Quantity::Cost, Unit::Ps),
        "D1" => (Quantity::ForkJoin, Unit::Ns),
        _ => (Quantity::Lateness, Unit::Ns),
    };
    let mut series = Series::new(experiment, subject, quantity, unit);
    series.key = key.to_owned();
    series.requested_ns = parts.next().and_then(|part| part.parse().ok());
    series.asked_ns = series.requested_ns;
    for (index, values) in rounds.iter().enumerate() {
        let start = index as i64 * 100_000_000;
        for (sample, &value) in values.iter().enumerate() {
            series.distribution.record(value);
            series.samples.push(100_000, start + sample as i64 * 100_000, value, false);
        }
        let mut sorted = values.clone();
        series.rounds.push(Round {
            start_ns: Nanos(start),
            count: values.len() as u64,
            median: oversleep_record::stats::median(&mut sorted),
            disturbance: Disturbance { window_ns: Nanos::from_millis(20), ..Disturbance::default() },
        });
    }
    series.counts.recorded = series.distribution.count();
    series
}

/// A clock that moves by that step.
pub(super) fn clock(name: &str, step_ns: i64) -> ClockResult {
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
        stated_step_ns: None,
        differences: Vec::new(),
        steps: Some(Steps { median_ns: Some(Nanos(step_ns)), ..Steps::default() }),
        drift: None,
    }
}
