//! The clock with which a program times everything: its rate, its step, and whether it can measure durations.

use std::fmt;

use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

/// A program's clock may differ from the system's by this share before its figures are in question. Each value is certain
/// to within 0.4 %, or it isn't there.
const RATE_ERROR_MAX: f64 = 0.01;
/// The processes must agree about the error within this share of it.
const DIFFERENCE_MAX: f64 = 0.5;
/// A clock with longer steps can't time a wait of 1 ms.
const STEP_MAX: Nanos = Nanos(500_000);
/// A clock whose rate is less than half or more than twice the right one counts something else.
const OTHER_RATE: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// The clock of one program.
#[derive(Clone, Copy, Debug)]
pub struct Instrument<'a> {
    /// The time that it shows for a second of the system's: each value is one process.
    pub second: &'a Series,
    /// The smallest difference between successive timestamps.
    pub step: Option<&'a Series>,
}

/// Whether a clock can measure durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// It can.
    Valid,
    /// It went back.
    GoesBack,
    /// It doesn't count time: CPU time, or nothing.
    CountsSomethingElse,
    /// It runs slow.
    Slow,
    /// It runs fast.
    Fast,
    /// Its steps are too large.
    Coarse,
}

impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Validity::Valid => "valid",
            Validity::GoesBack => "goes back",
            Validity::CountsSomethingElse => "doesn't count time",
            Validity::Slow => "runs slow",
            Validity::Fast => "runs fast",
            Validity::Coarse => "is too coarse for 1 ms",
        })
    }
}

/// The clocks of all programs in a result.
pub fn instruments(file: &ResultFile) -> Vec<Instrument<'_>> {
    let is_second = |series: &&Series| {
        series.runtime.is_some()
            && series.quantity == Quantity::Duration
            && series.requested_ns == Some(Nanos::from_secs(1))
    };
    let of = |quantity| file.experiment(ExperimentId::R3).filter(move |series| series.quantity == quantity);
    let step = |second: &Series| {
        let is_its = |series: &&Series| series.subject == "instrument" && series.runtime == second.runtime;
        of(Quantity::Step).find(is_its).filter(|series| series.has_values() || series.counts.backward > 0)
    };
    let seconds = of(Quantity::Duration).filter(is_second);
    seconds.map(|second| Instrument { second, step: step(second) }).collect()
}

/// What is wrong with the clock that timed a series of a runtime; `None` if nothing is known against it.
pub fn fault_of_clock(file: &ResultFile, series: &Series) -> Option<Validity> {
    let runtime = series.runtime.as_ref()?;
    let its = instruments(file).into_iter().find(|one| one.second.runtime.as_ref() == Some(runtime))?;
    its.validity().filter(|validity| *validity != Validity::Valid)
}

impl Instrument<'_> {
    /// The share by which it runs fast; below zero if it runs slow.
    pub fn rate_error(&self) -> Option<f64> {
        Some(self.second.distribution.p50()? as f64 / Nanos::from_secs(1).0 as f64 - 1.0)
    }

    /// An upper bound of its step.
    pub fn step(&self) -> Option<Nanos> {
        self.step?.distribution.min().map(Nanos)
    }

    /// Whether it can measure durations; `None` if that was not observed. A rate is wrong only if all processes agree
    /// about it.
    pub fn validity(&self) -> Option<Validity> {
        if self.step.is_some_and(|step| step.counts.backward > 0) {
            return Some(Validity::GoesBack);
        }
        let error = self.rate_error()?;
        let seconds = &self.second.distribution;
        let range = (seconds.max()? - seconds.min()?) as f64 / 1e9;
        let is_wrong = error.abs() > RATE_ERROR_MAX && range <= error.abs() * DIFFERENCE_MAX;
        Some(match self.step() {
            _ if is_wrong && !OTHER_RATE.contains(&(1.0 + error)) => Validity::CountsSomethingElse,
            _ if is_wrong && error < 0.0 => Validity::Slow,
            _ if is_wrong => Validity::Fast,
            Some(step) if step > STEP_MAX => Validity::Coarse,
            _ => Validity::Valid,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sheet, rounds};

    #[test]
    fn a_rate_is_wrong_only_if_the_processes_agree_about_it() {
        let validity = |seconds: &[i64], steps: &[i64], backward| {
            let mut second = rounds("R3/instrument/java-17/second", seconds, 1);
            second.requested_ns = Some(Nanos::from_secs(1));
            let sheet = Sheet::linux().series(second).of_runtime("java", "17.0.15");
            let mut sheet = sheet.series(rounds("R3/instrument/java-17/step", steps, 1)).of_runtime("java", "17.0.15");
            sheet.file.series[1].counts.backward = backward;
            instruments(&sheet.file)[0].validity()
        };
        let of_seconds = |seconds: &[i64]| validity(seconds, &[40], 0);
        // 3 % slow, and the processes lie less or more than 1.5 % apart.
        assert_eq!(of_seconds(&[963_000_000, 970_000_000, 977_000_000]), Some(Validity::Slow));
        assert_eq!(of_seconds(&[962_000_000, 970_000_000, 978_000_000]), Some(Validity::Valid));
        assert_eq!(of_seconds(&[1_030_000_000; 3]), Some(Validity::Fast));
        assert_eq!(of_seconds(&[490_000_000; 3]), Some(Validity::CountsSomethingElse));
        assert_eq!(validity(&[1_000_000_000; 3], &[600_000], 0), Some(Validity::Coarse));
        assert_eq!(validity(&[1_000_000_000; 3], &[], 2), Some(Validity::GoesBack));
        assert_eq!(validity(&[1_000_000_000; 3], &[], 0), Some(Validity::Valid));
    }
}
