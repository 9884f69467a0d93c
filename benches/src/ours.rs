//! The `oversleep` command as a program: its options for equal conditions, and its result.

use std::path::Path;

use oversleep_record::conditions::Outcome;
use oversleep_record::series::{Series, Status};
use oversleep_record::{Nanos, ResultFile};

use crate::lab::Conditions;
use crate::{Reason, pairs, program};

/// The wait that cyclictest also uses.
pub const WAIT: &str = "clock-nanosleep-abs";

/// The options for periodic waits of this request; `limit` is `--count N` or `--for SPAN`.
pub fn periodic_arguments(conditions: &Conditions, ask: &str, limit: &str) -> Vec<String> {
    let mut arguments = program::words(&format!("waits {WAIT} --ask {ask} {limit} --pace periodic"));
    arguments.extend(program::words(&format!("--policy {} --pin {}", conditions.policy(), conditions.cpu)));
    if conditions.lock_memory {
        arguments.push("--lock-memory".to_owned());
    }
    arguments.extend(program::words("--quiet --json"));
    arguments
}

/// The command's name and version: `oversleep 0.1.0`.
pub fn version(oversleep: &Path) -> String {
    let text = program::output(oversleep, &program::words("--version")).unwrap_or_default();
    text.lines().next().unwrap_or("oversleep, version unknown").trim().to_owned()
}

/// The parts of a series that the comparisons need.
#[derive(Clone, Debug)]
pub struct Run {
    /// Lateness of the calls that were made, in ns, from the raw samples.
    pub calls_ns: Vec<i64>,
    /// Lateness of everything recorded, including missed deadlines, in ns, from the raw samples.
    pub recorded_ns: Vec<i64>,
    /// How many values were recorded, kept raw or not.
    pub recorded: u64,
    /// How many of them are deadlines that had passed before a call could be made.
    pub missed: u64,
    /// Total duration of its rounds.
    pub time: Nanos,
}

impl Run {
    /// Runs the command and reads the only series of its result.
    ///
    /// # Errors
    /// The reason why it failed, was denied a condition, or measured something else.
    pub fn take(oversleep: &Path, arguments: &[String]) -> Result<Run, Reason> {
        let printed = program::output(oversleep, arguments)?;
        let file = ResultFile::read(printed.as_bytes()).map_err(|error| error.to_string())?;
        match file.series.as_slice() {
            [series] => Run::of(series),
            several => Err(format!("{} series instead of one", several.len())),
        }
    }

    /// Reads a series.
    ///
    /// # Errors
    /// The reason if it has no values, or was measured under other conditions than requested.
    pub fn of(series: &Series) -> Result<Run, Reason> {
        if let Status::Unavailable { reason } = &series.status {
            return Err(format!("{}: {reason}", series.key));
        }
        for (name, outcome) in &series.conditions.outcomes {
            if let Outcome::Denied { why } = outcome {
                return Err(format!("{}: measured without {name}: {why}", series.key));
            }
        }
        let samples = &series.samples;
        let mut missed = vec![false; samples.len()];
        for [first, length] in samples.missed_runs.iter() {
            let run = usize::try_from(first).ok().zip(usize::try_from(first + length).ok());
            if let Some(run) = run.and_then(|(first, end)| missed.get_mut(first..end)) {
                run.fill(true);
            }
        }
        let calls = samples.value.iter().zip(&missed).filter(|(_, missed)| !**missed).map(|(value, _)| value);
        Ok(Run {
            calls_ns: calls.collect(),
            recorded_ns: samples.value.iter().collect(),
            recorded: series.counts.recorded,
            missed: series.counts.missed,
            time: series.rounds.iter().map(|round| round.disturbance.window_ns).sum(),
        })
    }

    /// Quantile of the calls that were made, in µs.
    pub fn calls_us(&mut self, share: f64) -> Option<f64> {
        pairs::quantile(&mut self.calls_ns, share).map(|ns| ns as f64 / 1e3)
    }

    /// Values recorded per second.
    pub fn recorded_per_second(&self) -> Option<f64> {
        (self.time > Nanos::ZERO).then(|| self.recorded as f64 / (self.time.0 as f64 / 1e9))
    }

    /// Calls made per second.
    pub fn calls_per_second(&self) -> Option<f64> {
        let calls = self.recorded.saturating_sub(self.missed);
        (self.time > Nanos::ZERO).then(|| calls as f64 / (self.time.0 as f64 / 1e9))
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::ExperimentId;
    use oversleep_record::series::{Quantity, Round, Unit};
    use oversleep_record::{Disturbance, Unavailable};

    use super::*;

    fn series() -> Series {
        let mut series = Series::new(ExperimentId::B5, WAIT, Quantity::Lateness, Unit::Ns);
        for (value, missed) in [(60, false), (900, true), (800, true), (70, false)] {
            series.samples.push(10, 0, value, missed);
        }
        series.counts.recorded = 4;
        series.counts.missed = 2;
        let disturbance = Disturbance { window_ns: Nanos(2_000_000_000), ..Disturbance::default() };
        series.rounds.push(Round { start_ns: Nanos::ZERO, count: 4, median: None, p90: None, p99: None, disturbance });
        series
    }

    #[test]
    fn missed_deadlines_are_not_calls() {
        let run = Run::of(&series()).unwrap();
        assert_eq!((run.calls_ns.as_slice(), run.recorded_ns.len()), ([60, 70].as_slice(), 4));
        assert_eq!((run.recorded_per_second(), run.calls_per_second()), (Some(2.0), Some(1.0)));
    }

    #[test]
    fn a_denied_condition_makes_a_run_incomparable() {
        let mut series = series();
        let refused = Outcome::Denied { why: Unavailable::NotOnThisPlatform };
        series.conditions.outcomes.insert("policy".to_owned(), refused);
        assert!(Run::of(&series).unwrap_err().contains("measured without policy"));
    }

    #[test]
    fn options_state_the_conditions() {
        let conditions = Conditions { cpu: 1, main_cpu: Some(0), fifo: Some(80), lock_memory: true };
        assert_eq!(
            periodic_arguments(&conditions, "1ms", "--count 9").join(" "),
            "waits clock-nanosleep-abs --ask 1ms --count 9 --pace periodic --policy fifo:80 --pin 1 --lock-memory --quiet \
             --json"
        );
    }
}
