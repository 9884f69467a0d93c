//! The sampler: says how long to pause, and adds up what bursts report.

use std::collections::VecDeque;

use oversleep_record::{Distribution, Nanos};
use oversleep_system::split_mix::{STEP, mixed};
use oversleep_system::{CounterReading, SharedPlatform};

use crate::burst::{Burst, Ended, Kind, Wait};
use crate::guard::Guard;
use crate::late::LateWait;
use crate::machine::MachineState;
use crate::recent::Recent;
use crate::slices::{Covers, Slices};
use crate::sums::Sums;

/// What is sampled, and how much.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Registry name of the wait.
    pub wait: String,
    /// The short request.
    pub requested: Nanos,
    /// How many short waits a burst has.
    pub burst: u32,
    /// The mean of the pauses, which are from half to one and a half times as long.
    pub pause: Nanos,
    /// A wait is named that ends this much too late.
    pub late_from: Nanos,
    /// Sampling ends with a wait that ends this much too late.
    pub break_above: Option<Nanos>,
    /// The most CPU time, in millionths of the time.
    pub share_max_ppm: i64,
    /// What the result covers.
    pub covers: Covers,
    /// Registry names of the clocks whose reads are timed once a minute.
    pub clocks: Vec<&'static str>,
    /// The state of the random numbers.
    pub seed: u64,
}

impl Sampling {
    /// About ten waits a second, eight of them for 1 ms, within a thousandth of a CPU.
    pub fn of(wait: &str) -> Sampling {
        Sampling {
            wait: wait.to_owned(),
            requested: Nanos::from_millis(1),
            burst: 8,
            pause: Nanos::from_millis(900),
            late_from: Nanos::from_millis(1),
            break_above: None,
            share_max_ppm: 1_000,
            covers: Covers::Everything,
            clocks: Vec::new(),
            seed: 1,
        }
    }

    /// The same, with pauses that no other process has at the same moments.
    pub fn seeded(mut self, platform: &SharedPlatform) -> Sampling {
        self.seed =
            platform.now().0.unsigned_abs() ^ platform.unix_time_s().unwrap_or(0).unsigned_abs().rotate_left(32);
        self
    }
}

/// What was seen of one kind of wait since the start.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The lateness.
    pub lateness: Distribution,
    /// By how much those that ended early did so, together: what makes their sum fall.
    pub early: Nanos,
    /// Waits whose deadline had passed before the call could be made; they are in the lateness, too.
    pub missed: u64,
    /// Waits across a suspend or a clock that went backward: their lateness isn't known.
    pub discarded: u64,
    /// Waits that a signal ended.
    pub interrupted: u64,
}

/// The sampler.
#[derive(Clone, Debug)]
pub struct Sampler {
    pub(crate) sampling: Sampling,
    state: u64,
    guard: Guard,
    tallies: [Tally; 2],
    pub(crate) slices: Slices,
    recent: Recent,
    late: VecDeque<LateWait>,
    late_count: u64,
    stop_count: u64,
    sums: Sums,
    last: CounterReading,
    machine: MachineState,
    clock_source_changes: u64,
    quota_changes: u64,
    bursts: u64,
    read_costs: Vec<(&'static str, f64)>,
}

/// How far back [`Sampler::recent`] goes.
const RECENT: Nanos = Nanos::from_millis(10_000);
/// The most late waits that are kept.
const LATE_MAX: usize = 256;

impl Sampler {
    /// One that begins with these counters.
    pub fn new(sampling: Sampling, now: CounterReading, machine: MachineState) -> Sampler {
        let mut guard = Guard::new(sampling.share_max_ppm);
        guard.set_on_battery(machine.is_on_battery);
        let empty = || Tally { lateness: Distribution::growing(), ..Tally::default() };
        Sampler {
            state: sampling.seed,
            guard,
            tallies: [empty(), empty()],
            slices: Slices::new(sampling.covers),
            recent: Recent::of(RECENT),
            late: VecDeque::new(),
            late_count: 0,
            stop_count: 0,
            sums: Sums::default(),
            last: now,
            machine,
            clock_source_changes: 0,
            quota_changes: 0,
            bursts: 0,
            read_costs: Vec::new(),
            sampling,
        }
    }

    /// Counts from these counters on, which are of the thread that samples.
    pub fn begin(&mut self, now: CounterReading) {
        self.last = now;
    }

    /// The length of the next pause.
    pub fn next_pause(&mut self) -> Nanos {
        self.state = self.state.wrapping_add(STEP);
        let mean = self.pause();
        Nanos(mean.0 / 2 + (mixed(self.state) % mean.0.unsigned_abs().max(1)) as i64)
    }

    /// The mean of the present pauses.
    fn pause(&self) -> Nanos {
        self.sampling.pause * i64::from(self.guard.stretch())
    }

    /// The present rate of waits per second, lateness left aside.
    pub fn rate_hz(&self) -> f64 {
        let span = self.sampling.requested * i64::from(self.sampling.burst) + self.pause();
        f64::from(self.sampling.burst + 1) / (span.0 as f64 * 1e-9)
    }

    /// Adds a burst or a pause.
    pub fn add(&mut self, burst: &Burst) {
        let during = self.last.until(&burst.after);
        self.last = burst.after;
        self.bursts += u64::from(burst.waits.first().is_some_and(|wait| wait.kind == Kind::Burst));
        self.sums.add(&during);
        if let (Some(used), true) = (during.own_cpu_ns, during.window_ns > Nanos::ZERO) {
            self.guard.note(during.window_ns, used);
        }
        // Which of the waits it was isn't known, so none of them counts.
        let is_suspended = during.suspended_ns.is_some_and(|time| time > Nanos::ZERO);
        let Some(last) = burst.waits.last() else { return };
        let slice = self.slices.at(burst.waits[0].end);
        slice.end = last.end;
        slice.disturbance = slice.disturbance.merged(&during);
        for wait in &burst.waits {
            let tally = &mut self.tallies[wait.kind as usize];
            let part = &mut slice.parts[wait.kind as usize];
            match wait.ended {
                _ if is_suspended => tally.discarded += 1,
                Ended::Interrupted => {
                    tally.interrupted += 1;
                    part.interrupted += 1;
                }
                Ended::Backward => {
                    tally.discarded += 1;
                    part.backward += 1;
                }
                Ended::TimedOut | Ended::Missed => {
                    let is_missed = u64::from(wait.ended == Ended::Missed);
                    tally.missed += is_missed;
                    tally.lateness.record(wait.lateness.0);
                    tally.early += Nanos(wait.lateness.0.min(0).saturating_neg());
                    part.missed += is_missed;
                    part.values.record(wait.lateness.0);
                    self.recent.add(wait.end, wait.kind, wait.lateness.0);
                }
            }
        }
        // A wait that ends the run is named, however low that bound is.
        let late_from =
            self.sampling.break_above.map_or(self.sampling.late_from, |bound| bound.min(self.sampling.late_from));
        let is_late = |wait: &Wait| {
            !is_suspended && matches!(wait.ended, Ended::TimedOut | Ended::Missed) && wait.lateness >= late_from
        };
        let mut at = 0;
        while let Some(first) = burst.waits.get(at) {
            // A deadline that passed by less than the one before needs no other reason than that one.
            let because = |pair: &[Wait]| pair[1].ended == Ended::Missed && pair[1].lateness <= pair[0].lateness;
            let missed = burst.waits[at..].windows(2).take_while(|pair| because(pair)).count();
            if is_late(first) {
                self.stop_count += 1;
                let late = LateWait::of(*first, &during, burst.unix_s);
                self.late.push_back(LateWait { missed_after: missed as u64, ..late });
            }
            let stop = &burst.waits[at..=at + missed];
            self.late_count += stop.iter().filter(|wait| is_late(wait)).count() as u64;
            at += missed + 1;
        }
        self.late.drain(..self.late.len().saturating_sub(LATE_MAX));
    }

    /// How many waits ended late, since the start.
    pub fn late_count(&self) -> u64 {
        self.late_count
    }

    /// How often that happened: a late wait and the deadlines that passed because of it are one stop.
    pub fn stop_count(&self) -> u64 {
        self.stop_count
    }

    /// The stops after the first `seen`, as far as they are kept.
    pub fn late_after(&self, seen: u64) -> impl Iterator<Item = &LateWait> {
        let first = self.stop_count - self.late.len() as u64;
        self.late.iter().skip(usize::try_from(seen.saturating_sub(first)).unwrap_or(usize::MAX))
    }

    /// The first wait that ended so late that sampling ends.
    pub fn broken_by(&self) -> Option<&LateWait> {
        let bound = self.sampling.break_above?;
        self.late.iter().find(|late| late.wait.lateness > bound)
    }

    /// Notes the facts that may change.
    pub fn note(&mut self, machine: MachineState) {
        self.guard.set_on_battery(machine.is_on_battery);
        let is_changed = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
        self.clock_source_changes += u64::from(is_changed(&self.machine.clock_source, &machine.clock_source));
        self.quota_changes += u64::from(self.machine.quota_cpus != machine.quota_cpus);
        self.machine = machine;
    }

    /// What was seen of one kind of wait since the start.
    pub fn tally(&self, kind: Kind) -> &Tally {
        &self.tallies[kind as usize]
    }

    /// The waits of the last ten seconds.
    pub fn recent(&self) -> &Recent {
        &self.recent
    }

    /// What happened to the machine since the start.
    pub fn sums(&self) -> &Sums {
        &self.sums
    }

    /// The facts that may change, as last read.
    pub fn machine(&self) -> &MachineState {
        &self.machine
    }

    /// What is sampled.
    pub fn sampling(&self) -> &Sampling {
        &self.sampling
    }

    /// How often the clock source changed.
    pub fn clock_source_changes(&self) -> u64 {
        self.clock_source_changes
    }

    /// How often the CPU quota changed, came or went.
    pub fn quota_changes(&self) -> u64 {
        self.quota_changes
    }

    /// Notes what a read of each clock cost, in ns.
    pub fn note_reads(&mut self, costs: Vec<(&'static str, f64)>) {
        self.read_costs = costs;
    }

    /// What a read of each clock cost when it was last timed, in ns.
    pub fn read_costs(&self) -> &[(&'static str, f64)] {
        &self.read_costs
    }

    /// How many bursts it added.
    pub fn bursts(&self) -> u64 {
        self.bursts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stop_is_told_once_with_the_deadlines_that_passed_because_of_it() {
        let ms = Nanos::from_millis;
        let wait = |at: i64, late_us: i64, ended| Wait {
            kind: Kind::Burst,
            requested: ms(1),
            end: ms(at) + Nanos(late_us * 1_000),
            lateness: Nanos(late_us * 1_000),
            ended,
            run_delay: None,
        };
        let (timed, missed) = (Ended::TimedOut, Ended::Missed);
        let waits = [
            wait(1, 70, timed),
            // A stop of 5.3 ms; the last of its waits is less late than what is named.
            wait(2, 5_300, timed),
            wait(3, 4_301, missed),
            wait(4, 3_302, missed),
            wait(5, 2_303, missed),
            // Another one between two calls, which makes the next deadline pass by more.
            wait(6, 9_000, missed),
            wait(7, 8_001, missed),
            wait(20, 70, timed),
        ];
        let mut sampler = Sampler::new(Sampling::of("nanosleep"), CounterReading::default(), MachineState::default());
        sampler.add(&Burst { waits: waits.to_vec(), after: CounterReading::default(), unix_s: None });
        let told: Vec<(i64, u64)> =
            sampler.late_after(0).map(|late| (late.wait.lateness.0 / 1_000, late.missed_after)).collect();
        assert_eq!(told, [(5_300, 3), (9_000, 1)]);
        assert_eq!((sampler.stop_count(), sampler.late_count(), sampler.late_after(1).count()), (2, 6, 1));
    }
}
