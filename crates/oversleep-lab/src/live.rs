//! Sampling for as long as somebody wants to know: the sampler on this machine, and its result at any moment.

use std::sync::{Mutex, MutexGuard, PoisonError};

use oversleep_measure::{Bench, Plan, StopFlag};
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{CommandName, Conditions, Nanos, ResultFile, Series, Unavailable};
use oversleep_sampler::{Covers, MachineState, Sampler, Sampling};
use oversleep_system::{Restore, tunables::names};

use crate::session::{Laboratory, Request, RunError};

/// A sampler and what its result needs besides.
pub struct Live {
    bench: Bench,
    begun: Nanos,
    /// The result before anything was sampled.
    blank: ResultFile,
    /// The CPU that it stays on.
    cpu: Option<u32>,
    /// The outcome of that, once it runs.
    pinned: Mutex<Option<Outcome>>,
    sampler: Mutex<Sampler>,
    /// The begin of what no part has told yet.
    untold: Mutex<Nanos>,
}

impl Laboratory {
    /// The CPUs that this process may use.
    pub fn cpus(&self) -> Vec<u32> {
        self.platform.cpus().iter().map(|cpu| cpu.number).collect()
    }

    /// A sampler of this machine, which doesn't run yet. It stays on a CPU if one is named.
    ///
    /// # Errors
    /// The clock can't be used.
    pub fn live(
        &self,
        sampling: Sampling,
        cpu: Option<u32>,
        command: CommandName,
        name: Option<String>,
        stop: &StopFlag,
    ) -> Result<Live, RunError> {
        let bench = Bench::new(self.platform.clone(), stop.clone(), None)
            .map_err(|reason| RunError::Clock { clock: String::new(), reason })?;
        let plan = Plan { conditions: conditions(cpu), ..Plan::default() };
        let request = Request { command, experiments: Vec::new(), plan, name, try_remedies: false };
        let blank = self.blank_result(&request, &bench);
        let state = MachineState::of(&blank.environment);
        let sampling = sampling.seeded(&self.platform);
        // The counters that belong to a thread are those of the one that samples.
        let sampler = Sampler::new(sampling, Default::default(), state);
        Ok(Live {
            begun: self.platform.now(),
            bench,
            blank,
            cpu,
            pinned: Mutex::new(None),
            sampler: Mutex::new(sampler),
            untold: Mutex::new(Nanos(i64::MIN)),
        })
    }
}

fn conditions(cpu: Option<u32>) -> Conditions {
    cpu.map_or_else(Conditions::default, |cpu| Conditions::default().with(names::PIN, Setting::Cpus(vec![cpu])))
}

impl Live {
    /// Samples in this thread until the run is stopped or broken.
    ///
    /// # Errors
    /// Why the wait can't be used here.
    pub fn run(&self) -> Result<(), Unavailable> {
        let _pinned = self.pin()?;
        self.sampler().begin(self.bench.platform().counters());
        oversleep_sampler::run(&self.bench, &mut |lend| lend(&mut self.sampler()))
    }

    /// Keeps this thread on its CPU until the guard is dropped.
    fn pin(&self) -> Result<Option<Box<dyn Restore>>, Unavailable> {
        let Some(cpu) = self.cpu else { return Ok(None) };
        let pin = self.bench.platform().tunable(names::PIN).ok_or(Unavailable::NotOnThisPlatform)?;
        let (outcome, guard) = pin.apply(&Setting::Cpus(vec![cpu]));
        *self.pinned.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome.clone());
        match outcome {
            Outcome::Denied { why } => Err(why),
            _ => Ok(guard),
        }
    }

    /// Whether a thread can stay on its CPU: this one does, for a moment.
    ///
    /// # Errors
    /// Why it can't.
    pub fn check(&self) -> Result<(), Unavailable> {
        self.pin().map(drop)
    }

    /// The CPU that it stays on.
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// That moment of its waits on the clock of its timestamps.
    pub fn on_clock(&self, since_origin: Nanos) -> Nanos {
        since_origin - self.bench.since_origin(Nanos::ZERO)
    }

    /// How long ago that moment of its waits is.
    pub fn since(&self, since_origin: Nanos) -> Nanos {
        self.bench.since_origin(self.bench.stamp()) - since_origin
    }

    /// The sampler for a moment, in which it adds nothing.
    pub fn sampler(&self) -> MutexGuard<'_, Sampler> {
        self.sampler.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was sampled up to now as a result, with its findings.
    pub fn result(&self) -> ResultFile {
        Live::result_of([self])
    }

    /// The series with the CPU that they were sampled on.
    fn pinned(&self, mut all: Vec<Series>) -> Vec<Series> {
        if let Some(cpu) = self.cpu {
            let setting = Setting::Cpus(vec![cpu]);
            let mut conditions = conditions(self.cpu);
            let outcome = self.pinned.lock().unwrap_or_else(PoisonError::into_inner).clone();
            conditions.outcomes.extend(outcome.map(|outcome| (names::PIN.to_owned(), outcome)));
            for series in &mut all {
                series.key = series.key.clone().setting(names::PIN, &setting);
                series.conditions = conditions.clone();
            }
        }
        all
    }

    /// What several sampled since the last part, up to the last whole minute, or up to now if they are over: parts have each
    /// wait once. `None` if there is nothing.
    pub fn part_of<'a>(lives: impl IntoIterator<Item = &'a Live>, is_over: bool) -> Option<ResultFile> {
        let mut file: Option<ResultFile> = None;
        for live in lives {
            let mut untold = live.untold.lock().unwrap_or_else(PoisonError::into_inner);
            let Some((series, begin, next)) = live.sampler().part(live.bench.clock_name(), *untold, is_over) else {
                continue;
            };
            *untold = next;
            let part = file.get_or_insert_with(|| {
                let platform = live.bench.platform();
                let taken_unix_s = platform.unix_time_s().map(|now| now - live.since(begin).0 / 1_000_000_000);
                let environment = platform.environment();
                ResultFile { duration_ns: next - begin, taken_unix_s, environment, ..live.blank.clone() }
            });
            part.series.extend(live.pinned(series));
        }
        file.iter_mut().for_each(|file| file.findings = oversleep_explain::findings(file));
        file
    }

    /// What several sampled on one machine, as one result.
    ///
    /// # Panics
    /// There is none.
    pub fn result_of<'a>(lives: impl IntoIterator<Item = &'a Live>) -> ResultFile {
        let mut lives = lives.into_iter().peekable();
        let first = *lives.peek().expect("there is one");
        let mut file = first.blank.clone();
        for live in lives {
            file.series.extend(live.pinned(live.sampler().series(live.bench.clock_name())));
        }
        file.duration_ns = first.bench.stamp() - first.begun;
        let (covers, covered) = {
            let sampler = first.sampler();
            (sampler.sampling().covers, sampler.covered())
        };
        if covers == Covers::LastHour {
            // It began when its oldest sample was taken, and facts are those of now: they may have changed in a week.
            file.duration_ns = covered;
            let platform = first.bench.platform();
            file.taken_unix_s = platform.unix_time_s().map(|now| now - covered.0 / 1_000_000_000);
            file.environment = platform.environment();
        }
        file.findings = oversleep_explain::findings(&file);
        file
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim, Stall};
    use oversleep_model::testing::machine;

    use super::*;

    #[test]
    fn the_last_hour_begins_an_hour_ago_however_long_it_ran() {
        let stall = Stall { at: Nanos::from_millis(3 * 3_600_000), length: Nanos::from_millis(5_000) };
        let machine = machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(60_000))).with_stall(stall);
        let platform: oversleep_system::SharedPlatform = Sim::start(machine.build());
        let (begun, lab) = (platform.unix_time_s(), Laboratory::on(platform));
        let sampling = Sampling {
            covers: Covers::LastHour,
            break_above: Some(Nanos::from_millis(1_000)),
            ..Sampling::of("nanosleep")
        };
        let live = lab.live(sampling, None, CommandName::Serve, None, &StopFlag::new()).unwrap();
        live.run().unwrap();
        let file = live.result();
        assert!((3_500..3_700).contains(&(file.duration_ns.0 / 1_000_000_000)), "{}", file.duration_ns);
        let after = begun.zip(file.taken_unix_s).map(|(begun, taken)| taken - begun);
        assert!(after.is_none_or(|after| (7_000..7_400).contains(&after)), "{after:?}");
    }

    #[test]
    fn parts_have_each_wait_once_and_end_at_a_whole_minute() {
        let machine = machine().with_wait("nanosleep", Overshoot::Fixed(Nanos(60_000)));
        let platform: oversleep_system::SharedPlatform = Sim::start(machine.build());
        let lab = Laboratory::on(platform.clone());
        let stop = StopFlag::new();
        let sampling = Sampling { covers: Covers::LastHour, ..Sampling::of("nanosleep") };
        let live = lab.live(sampling, None, CommandName::Serve, None, &stop).unwrap();
        let count = |file: &ResultFile| file.series.iter().map(|series| series.counts.recorded).sum::<u64>();
        assert!(Live::part_of([&live], false).is_none());
        let (mut parts, mut hour) = (Vec::new(), 1);
        let bench = live.bench.clone();
        oversleep_sampler::run(&bench, &mut |lend| {
            lend(&mut live.sampler());
            if live.since(Nanos::ZERO) >= Nanos::from_millis(hour * 3_600_000) {
                hour += 1;
                parts.extend(Live::part_of([&live], false));
                if hour == 5 {
                    stop.raise();
                }
            }
        })
        .unwrap();
        parts.extend(Live::part_of([&live], true));
        assert!(Live::part_of([&live], true).is_none());
        assert_eq!(parts.len(), 5);
        let sampler = live.sampler();
        let all: u64 = oversleep_sampler::Kind::ALL.map(|kind| sampler.tally(kind).lateness.count()).iter().sum();
        assert_eq!(parts.iter().map(count).sum::<u64>(), all);
        assert!(
            parts[..4].iter().all(|part| count(part) > 30_000),
            "{:?}",
            parts.iter().map(count).collect::<Vec<_>>()
        );
        let lasted: Nanos = parts.iter().map(|part| part.duration_ns).sum();
        assert!((lasted - Nanos::from_millis(4 * 3_600_000)).0.abs() < 5_000_000_000, "{lasted}: nothing twice");
        assert_eq!(ResultFile::read(&parts[1].write()).unwrap().series, parts[1].series);
    }

    #[test]
    fn what_was_sampled_is_a_result_that_reads_back() {
        let machine = machine().with_wait("nanosleep", Overshoot::SlackPlus(Nanos(16_000)));
        let lab = Laboratory::on(Sim::start(machine.build()));
        let stop = StopFlag::new();
        let sampling = Sampling { break_above: Some(Nanos::ZERO), ..Sampling::of("nanosleep") };
        let live = lab.live(sampling, None, CommandName::Watch, Some("db-3".to_owned()), &stop).unwrap();
        assert_eq!(live.result().series[0].counts.recorded, 0);
        live.run().unwrap();
        let file = live.result();
        assert_eq!((file.command.as_str(), file.series.len()), ("watch", 2));
        let recorded = [&file.series[0], &file.series[1]].map(|series| series.counts.recorded);
        assert_eq!(recorded, [1, 0], "no wait follows the late one");
        let again = ResultFile::read(&file.write()).unwrap();
        assert_eq!(again.series, file.series);
    }
}
