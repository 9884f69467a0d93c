//! A2, A3 and A5: the time that each clock shows for a wait of 100 ms, what it counts, and its rate.

use oversleep_record::clock::{Counts, Difference, Drift};
use oversleep_record::{ClockResult, Conditions, ExperimentId, Nanos, Unavailable};
use oversleep_system::{Clock, Platform, Target, WaitEnd};

use super::choose;
use crate::bench::Bench;
use crate::clock_scale::ClockScale;
use crate::experiment::{Column, Command, Experiment};
use crate::plan::Plan;
use crate::probe::{Measured, Probe};
use crate::recorder::SeriesRecorder;

pub(super) static A2: Experiment = Experiment {
    id: ExperimentId::A2,
    title: "difference over 100 ms",
    question: "Does each clock say that 100 ms passed when 100 ms passed?",
    method: "All clocks are read, the thread sleeps for 100 ms, and all clocks are read again. Every read is bracketed \
             by two reads of the reference clock. Each clock is compared with what the reference says passed, not with \
             the 100 ms requested, because the wait itself oversleeps. A clock that shows almost nothing counts CPU \
             time (clock() on POSIX does, by its specification); it is not broken, but it doesn't measure elapsed \
             time.",
    columns: &[Column {
        name: "shows",
        meaning: "How much of the time that passed on the reference clock this clock shows.",
    }],
    commands: &[Command::Clocks],
    probes,
    ..Experiment::BLANK
};

/// Its data come from the rounds of A2.
pub(super) static A3: Experiment = Experiment {
    id: ExperimentId::A3,
    title: "what each clock counts",
    question: "What does each clock count, from when, in which unit, and when does it wrap?",
    method: "The table describes every clock beside an example of its raw value: its epoch (boot, 1970, the start of \
             the process), its unit, how long until the raw value wraps at this machine's frequency, and what it does \
             across suspend according to its vendor. A clock used for timing must not wrap or reset within an hour.",
    columns: &[
        Column { name: "counts", meaning: "Elapsed time, time of day, or CPU time of the thread or process." },
        Column { name: "wraps", meaning: "How long until the raw value starts again; empty beyond a century." },
    ],
    reads: &[ExperimentId::A2],
    commands: &[Command::Clocks],
    ..Experiment::BLANK
};

/// The rounds of A2 record the readings that it needs.
pub(super) static A5: Experiment = Experiment {
    id: ExperimentId::A5,
    title: "counter frequency and drift",
    question: "At what frequency does the counter run, and how far does each clock drift from CLOCK_MONOTONIC?",
    method: "The frequency is the one that the processor, the hypervisor or the system states. If none is stated, \
             it is measured against the reference clock over the whole run; such a counter has no drift of its own. \
             Drift is taken between the first and the last visit of the A2 rounds, which is most of the run; the \
             widths of the brackets at both ends give its uncertainty. NTP slews the reference but not a raw counter, \
             so a difference of a few ppm is the crystal's error, not a fault.",
    columns: &[Column { name: "drift", meaning: "Parts per million that the clock gained on the reference clock." }],
    reads: &[ExperimentId::A2],
    commands: &[Command::Clocks],
    ..Experiment::BLANK
};

const WAIT: Nanos = Nanos(100_000_000);
/// Bracketed reads per clock and visit; the tightest one is kept.
const BRACKETS: usize = 5;

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let clocks: Vec<ClockUnderTest> = platform
        .clocks()
        .iter()
        .enumerate()
        .filter(|(_, clock)| plan.wants(clock.info().name))
        .map(|(index, clock)| ClockUnderTest {
            index,
            result: choose::described(clock.as_ref()),
            scale: None,
            stated_hz: clock.stated_frequency_hz(),
            first: None,
            last: None,
        })
        .collect();
    if clocks.is_empty() {
        return Vec::new();
    }
    let rounds = plan.depth.pick(2, 3, 20);
    vec![Box::new(DifferenceProbe { clocks, rounds, conditions: plan.conditions.clone() })]
}

/// One bracketed read.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    raw: u64,
    at: Nanos,
    /// Half the bracket: the uncertainty of `at`.
    uncertain: Nanos,
}

struct ClockUnderTest {
    index: usize,
    result: ClockResult,
    scale: Option<ClockScale>,
    /// The frequency that the system states.
    stated_hz: Option<u64>,
    first: Option<Anchor>,
    last: Option<Anchor>,
}

struct DifferenceProbe {
    clocks: Vec<ClockUnderTest>,
    rounds: u32,
    conditions: Conditions,
}

fn anchor(platform: &dyn Platform, clock: &dyn Clock) -> Anchor {
    (0..BRACKETS)
        .map(|_| {
            let before = platform.now();
            let raw = clock.read();
            let width = platform.now() - before;
            Anchor { raw, at: before + Nanos(width.0 / 2), uncertain: Nanos(width.0 / 2) }
        })
        .min_by_key(|anchor| anchor.uncertain)
        .expect("there are brackets")
}

impl DifferenceProbe {
    fn visit(&self, platform: &dyn Platform) -> Vec<Option<Anchor>> {
        let visit_one = |clock: &ClockUnderTest| {
            let readable = clock.result.unavailable.is_none();
            readable.then(|| anchor(platform, platform.clocks()[clock.index].as_ref()))
        };
        self.clocks.iter().map(visit_one).collect()
    }
}

impl Probe for DifferenceProbe {
    fn label(&self) -> String {
        "all clocks: difference over 100 ms".to_owned()
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn round_estimate(&self) -> Nanos {
        WAIT + Nanos::from_millis(1)
    }

    /// It only sleeps between its readings, as other waits of that length do.
    fn company(&self) -> Option<Nanos> {
        Some(WAIT)
    }

    fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn round(&mut self, bench: &Bench) -> Result<(), Unavailable> {
        let platform = bench.platform();
        for clock in self.clocks.iter_mut().filter(|clock| clock.result.unavailable.is_none() && clock.scale.is_none())
        {
            let Ok(scale) = choose::scale_of(platform, clock.index) else { continue };
            clock.result.frequency_hz = scale.frequency_hz;
            clock.result.wraps_after_ns = scale.wraps_after();
            clock.scale = Some(scale);
        }
        let mut sleeper = bench.open_simplest_sleep()?;
        let before = self.visit(platform);
        if let WaitEnd::Failed(reason) = sleeper.wait(Target { remaining: WAIT, deadline: platform.now() + WAIT }) {
            return Err(reason);
        }
        let after = self.visit(platform);
        for ((clock, before), after) in self.clocks.iter_mut().zip(before).zip(after) {
            let (Some(scale), Some(before), Some(after)) = (clock.scale, before, after) else { continue };
            clock.result.differences.push(Difference {
                reference_ns: after.at - before.at,
                indicated_ns: scale.span(before.raw, after.raw),
            });
            clock.result.example_raw.get_or_insert(before.raw);
            clock.first.get_or_insert(before);
            clock.last = Some(after);
        }
        Ok(())
    }

    fn recorders(&mut self) -> Vec<&mut SeriesRecorder> {
        Vec::new()
    }

    fn finish(self: Box<Self>, _partial: bool, measured: &mut Measured) {
        for clock in self.clocks {
            let drift = clock.drift();
            let measured_hz = clock.measured_frequency();
            let result = choose::clock_result(measured, &clock.result);
            result.differences = clock.result.differences;
            result.example_raw = clock.result.example_raw;
            result.frequency_hz = measured_hz.or(clock.result.frequency_hz);
            result.wraps_after_ns = clock.result.wraps_after_ns;
            result.drift = drift;
        }
    }
}

impl ClockUnderTest {
    fn is_calibrated(&self) -> bool {
        self.stated_hz.is_none() && self.scale.is_some_and(|scale| scale.frequency_hz.is_some())
    }

    /// Ticks per second over the whole run, for a counter of unstated frequency: far more precise than the short
    /// calibration that converts its readings.
    fn measured_frequency(&self) -> Option<u64> {
        let (first, last) = (self.first?, self.last?);
        let window = i128::from((last.at - first.at).0);
        let ticks = i128::from(last.raw.wrapping_sub(first.raw));
        (self.is_calibrated() && window > 0).then(|| u64::try_from(ticks * 1_000_000_000 / window).ok())?
    }

    fn drift(&self) -> Option<Drift> {
        // CPU time has no rate against elapsed time.
        if !matches!(self.result.counts, Counts::ElapsedTime | Counts::TimeOfDay) {
            return None;
        }
        // The rate of a counter of unstated frequency is learned from the reference, so it has no drift of its own.
        if self.is_calibrated() {
            return None;
        }
        let (scale, first, last) = (self.scale?, self.first?, self.last?);
        let window = last.at - first.at;
        if window <= Nanos::ZERO {
            return None;
        }
        let gained = scale.span(first.raw, last.raw) - window;
        let step = self.result.stated_step_ns.unwrap_or(Nanos(1));
        let uncertain = first.uncertain + last.uncertain + step;
        let ppm = |span: Nanos| span.0 as f64 / window.0 as f64 * 1e6;
        Some(Drift { ppm: ppm(gained), window_ns: window, uncertainty_ppm: ppm(uncertain) })
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim};

    use super::*;
    use crate::testing;

    #[test]
    fn tells_cpu_time_from_elapsed_time_and_measures_drift() {
        let machine = testing::machine()
            .with_wait("nanosleep", Overshoot::Fixed(Nanos(8_000_000)))
            .with_clock("monotonic", |clock| clock.drift_ppm = 40);
        let sim = Sim::start(machine.build());
        let measured = testing::measure_on(sim.clone(), probes(&*sim, &Plan::default()));
        let ratio = |name: &str| measured.clocks[name].indicated_ratio().unwrap();
        assert!((ratio("monotonic") - 1.000_04).abs() < 1e-6, "a reference wait that oversleeps does no harm");
        assert!(ratio("clock") < 0.001, "{}", ratio("clock"));
        let drift = measured.clocks["monotonic"].drift.unwrap();
        assert!((drift.ppm - 40.0).abs() <= drift.uncertainty_ppm, "{drift:?}");
        assert_eq!(measured.clocks["clock"].drift, None);
        // Two reads of a clock that steps by 4 ms leave two steps uncertain.
        let coarse = measured.clocks["monotonic-coarse"].drift.unwrap();
        let window_ms = coarse.window_ns.as_millis_f64();
        assert!((coarse.uncertainty_ppm - 4.0 / window_ms * 1e6).abs() < 100.0, "{coarse:?}");
        assert!(coarse.ppm.abs() <= coarse.uncertainty_ppm);
        assert_eq!(measured.clocks["monotonic"].differences.len(), 3);
    }
}
