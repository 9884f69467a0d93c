//! A run from beginning to end: measure, explain, try the remedies, explain again, and put the result together.

mod laboratory;
mod trials;

use std::collections::BTreeMap;

use oversleep_explain as explain;
use oversleep_measure::{
    Bench, Depth, Experiment, Measured, Plan, Probe, Progress, Silent, StopFlag, Watch, experiment, floor, measure,
    of_check,
};
use oversleep_record::environment::{Environment, FactValue};
use oversleep_record::file::{Chosen, Completion, Floor, ROUNDS_MAX, SERIES_MAX};
use oversleep_record::{ClockResult, CommandName, ExperimentId, FactName, Nanos, ResultFile, Series, Unavailable};
use oversleep_system::Platform;

use crate::records;

pub use laboratory::Laboratory;

/// What to run.
pub struct Request {
    /// The command's name, for the record.
    pub command: CommandName,
    /// Experiments, in the order of their series.
    pub experiments: Vec<&'static Experiment>,
    /// How much to measure, and under which conditions.
    pub plan: Plan,
    /// A name that the user gave the result.
    pub name: Option<String>,
    /// Whether remedies are tried on the laboratory's own threads.
    pub try_remedies: bool,
}

/// Why a run can't begin.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The clock that `--clock` names can't be used.
    #[error("can't take timestamps with the clock '{clock}' here: {reason}")]
    Clock {
        /// Its name.
        clock: String,
        /// Why.
        reason: Unavailable,
    },
    /// Its result would exceed the limits of the reader, so nothing is measured.
    #[error(
        "that would be {series} series in {rounds} rounds, and a result has at most {SERIES_MAX} series in {ROUNDS_MAX} \
         rounds"
    )]
    TooMuch {
        /// The number of its series.
        series: usize,
        /// The number of their rounds.
        rounds: u64,
    },
    /// Its end would lie beyond the times that can be written, so nothing is measured.
    #[error("that would take more than {YEARS_MAX} years")]
    TooLong,
}

/// Clocks of modelled machines count exactly for 28 years.
const YEARS_MAX: i64 = 25;

impl Laboratory {
    /// The experiments that `check` runs here at that depth.
    pub fn experiments_of_check(&self, depth: Depth) -> Vec<&'static Experiment> {
        of_check(depth, self.platform.time_is_virtual())
    }

    /// The longest period of the request's schedules: a series with less time than that has no deadline in it. `None`
    /// if nothing is on a schedule.
    pub fn period_max(&self, request: &Request) -> Option<Nanos> {
        self.probes(request).filter_map(|probe| probe.period()).max()
    }

    fn probes(&self, request: &Request) -> impl Iterator<Item = Box<dyn Probe>> {
        // On a real machine, programs measure the waits of runtimes.
        let are_modelled = request.command == CommandName::Runtimes && self.platform_id().modelled.is_some();
        let is_wanted = |id| are_modelled && request.experiments.iter().any(|experiment| experiment.id == id);
        let alone = |machine, wait: &str, plan| Laboratory::on(machine).series_of_wait(wait, plan);
        let of_runtimes = records::probes(&self.platform, &request.plan, &is_wanted, alone);
        let own = request.experiments.iter().flat_map(|experiment| (experiment.probes)(self.platform(), &request.plan));
        own.chain(of_runtimes)
    }

    /// Runs a request. Raising `stop` ends the run after the wait in progress; the result then has what was measured
    /// until then.
    ///
    /// # Errors
    /// Only what makes a run impossible; anything that can't be measured is noted in the result with its reason.
    pub fn run(&self, request: &Request, stop: &StopFlag, progress: &mut dyn Progress) -> Result<ResultFile, RunError> {
        self.run_with(request, Vec::new(), stop, progress)
    }

    /// Carries out a request with more probes from the caller, for what isn't part of the platform. They need all
    /// of their time, so nothing is skipped to end sooner.
    ///
    /// # Errors
    /// As for [`Laboratory::run`].
    pub fn run_with(
        &self,
        request: &Request,
        others: Vec<Box<dyn Probe>>,
        stop: &StopFlag,
        progress: &mut dyn Progress,
    ) -> Result<ResultFile, RunError> {
        let mut file = self.measured_with(request, others, stop, progress)?;
        file.findings = explain::findings(&file);
        Ok(file)
    }

    /// Measures without findings: for answers that consist of values.
    ///
    /// # Errors
    /// As for [`Laboratory::run`].
    pub(crate) fn measured(&self, request: &Request) -> Result<ResultFile, RunError> {
        self.measured_with(request, Vec::new(), &StopFlag::new(), &mut Silent)
    }

    /// The series of that wait, by its registry name.
    ///
    /// # Errors
    /// What the machine doesn't have, or why it can't be used.
    pub(crate) fn series_of_wait(&self, name: &str, plan: Plan) -> Result<Series, Unavailable> {
        let request = Request {
            command: CommandName::Ask,
            experiments: vec![experiment(ExperimentId::B5).expect("an id of the registry")],
            plan: Plan { subjects: vec![name.to_owned()], ..plan },
            name: None,
            try_remedies: false,
        };
        let file = self.measured(&request);
        let file = file.map_err(|error| Unavailable::failed(ExperimentId::B5.as_str(), error))?;
        file.series.into_iter().find(|series| series.subject == name).ok_or(Unavailable::NotMeasured)
    }

    fn measured_with(
        &self,
        request: &Request,
        others: Vec<Box<dyn Probe>>,
        stop: &StopFlag,
        progress: &mut dyn Progress,
    ) -> Result<ResultFile, RunError> {
        let plan = &request.plan;
        let time_max = plan.time_max().filter(|_| others.is_empty());
        let bench = Bench::new(self.platform.clone(), stop.clone(), plan.clock.as_deref())
            .map_err(|reason| RunError::Clock { clock: plan.clock.clone().unwrap_or_default(), reason })?;
        let begun = self.platform.now();
        let mut file = self.blank_result(request, &bench);
        let watch = Watch::begin(&bench);
        let probes = readable(self.probes(request).chain(others))?;
        let measured = self.measure(&bench, probes, time_max, progress);
        file.clocks = in_registry_order(self.platform(), measured.clocks);
        file.series = measured.series;
        if request.try_remedies && !stop.is_raised() {
            let trials::Trials { probes, trials } = trials::planned(self.platform(), plan, &file);
            file.series.extend(self.measure(&bench, probes, time_max, progress).series);
            file.trials = trials;
        }
        if let Some(floor) = &mut file.floor {
            floor.cross_check = watch.and_then(|watch| watch.end(&bench));
        }
        no_longer_so(&mut file.environment, &self.platform.environment());
        file.duration_ns = self.platform.now() - begun;
        if stop.is_raised() {
            file.completion = Completion::Interrupted;
        }
        Ok(file)
    }

    /// A result with everything that is known before the experiments run.
    pub(crate) fn blank_result(&self, request: &Request, bench: &Bench) -> ResultFile {
        let taken_unix_s = self.platform.unix_time_s();
        let environment = self.platform.environment();
        let chosen = if request.plan.clock.is_some() { Chosen::ByUser } else { Chosen::DeadlineClock };
        ResultFile {
            taken_unix_s,
            depth: Some(request.plan.depth),
            name: request.name.clone(),
            environment,
            floor: Some(Floor { chosen: Some(chosen), ..floor(bench) }),
            ..ResultFile::empty(request.command.to_string(), self.platform.id())
        }
    }

    fn measure(
        &self,
        bench: &Bench,
        probes: Vec<Box<dyn Probe>>,
        time_max: Option<Nanos>,
        progress: &mut dyn Progress,
    ) -> Measured {
        // A short run promises to end soon because a user waits for it. In virtual time, nobody waits.
        let time_max = time_max.filter(|_| !self.platform.time_is_virtual());
        let mut measured = Measured::default();
        measure(bench, probes, time_max, progress, &mut measured);
        measured
    }
}

/// Facts that findings assume to be constant during the measurement, although someone may change them.
pub(crate) const HOLDING: &[FactName] = &[
    FactName::CgroupCpuPeriod,
    FactName::CgroupCpuQuotaCpus,
    FactName::ClocksourceCurrent,
    FactName::CpuAllowed,
    FactName::CpuCount,
    FactName::CpuTscKernelUnstable,
    FactName::CpufreqBoost,
    FactName::CpufreqGovernor,
    FactName::PowerLowPowerMode,
    FactName::PowerOnBattery,
    FactName::PowerPlan,
    FactName::PowerSource,
    FactName::SchedNice,
    FactName::SchedPolicy,
    FactName::SchedQosClass,
    FactName::SchedRtRuntimeUs,
    FactName::TimerLatencyTier,
    FactName::TimerPeriodNow,
    FactName::TimerSlack,
    FactName::TimerWindowHidden,
];

/// Facts that changed during the run become unknown, because they say nothing about the whole of it.
fn no_longer_so(before: &mut Environment, after: &Environment) {
    for &name in HOLDING {
        let (Some(was), Some(is)) = (before.known(name), after.known(name)) else { continue };
        if was != is {
            let source = before.facts[name.as_str()].source.clone();
            let reason = Unavailable::failed("reading it again after the run", "it had changed");
            before.set(name, FactValue::Unknown(reason), &source);
        }
    }
}

/// The probes, if a reader would accept the result of all of them.
///
/// # Errors
/// They are too many, or take too long.
fn readable(probes: impl Iterator<Item = Box<dyn Probe>>) -> Result<Vec<Box<dyn Probe>>, RunError> {
    let (mut kept, mut series, mut rounds, mut time) = (Vec::new(), 0, 0, Nanos::ZERO);
    for mut probe in probes {
        time += probe.round_estimate() * i64::from(probe.rounds());
        let recorders = probe.recorders().len();
        series += recorders;
        rounds += recorders as u64 * u64::from(probe.rounds());
        if series <= SERIES_MAX && rounds <= ROUNDS_MAX {
            kept.push(probe);
        }
    }
    kept.iter_mut().flat_map(|probe| probe.recorders()).for_each(|recorder| recorder.share_among(series));
    let is_readable = series <= SERIES_MAX && rounds <= ROUNDS_MAX;
    if is_readable && time > Nanos::from_secs(YEARS_MAX * 365 * 86_400) {
        return Err(RunError::TooLong);
    }
    is_readable.then_some(kept).ok_or(RunError::TooMuch { series, rounds })
}

/// The clocks in the order in which the platform lists them.
fn in_registry_order(platform: &dyn Platform, mut clocks: BTreeMap<String, ClockResult>) -> Vec<ClockResult> {
    platform.clocks().iter().filter_map(|clock| clocks.remove(clock.info().name)).collect()
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::{Overshoot, Sim};
    use oversleep_model::testing;
    use oversleep_record::conditions::Setting;
    use oversleep_record::finding::Verdict;

    use super::*;

    fn check(experiments: &[ExperimentId]) -> ResultFile {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::SlackPlus(Nanos(14_000)));
        let request = Request {
            command: CommandName::Check,
            experiments: experiments.iter().map(|&id| experiment(id).expect("a known id")).collect(),
            plan: Plan::default(),
            name: None,
            try_remedies: true,
        };
        Laboratory::on(Sim::start(machine.build())).run(&request, &StopFlag::new(), &mut Silent).expect("it runs")
    }

    #[test]
    fn a_fact_that_changed_during_the_run_is_unknown() {
        let facts = |slack, load| {
            let mut facts = Environment::default();
            facts.set(FactName::TimerSlack, FactValue::Nanos(Nanos(slack)), "prctl");
            facts.set(FactName::LoadAverage1min, FactValue::Real(load), "/proc/loadavg");
            facts
        };
        let mut found = facts(50_000, 0.5);
        no_longer_so(&mut found, &facts(50_000, 1.5));
        assert_eq!(found, facts(50_000, 0.5), "the load average is of the minute before the run, and says so");
        no_longer_so(&mut found, &facts(1, 0.5));
        assert_eq!(found.known(FactName::TimerSlack), None);
        let changed = Unavailable::failed("reading it again after the run", "it had changed");
        assert_eq!(found.unknown().next(), Some(("timer.slack_ns", &changed)));
        no_longer_so(&mut found, &Environment::default());
        assert!(found.known(FactName::LoadAverage1min).is_some());
    }

    #[test]
    fn a_remedy_is_measured_without_and_with_it_and_the_sentence_says_which_is_which() {
        let file = check(&[ExperimentId::B5]);
        let trial = file.trials.iter().find(|trial| trial.remedy == "lower-timer-slack").expect("it was tried");
        let pair = &trial.pairs[0];
        let (before, after) = (file.series(&pair.before).unwrap(), file.series(&pair.after).unwrap());
        assert!(before.conditions.is_as_found());
        assert_eq!(after.conditions.setting("slack"), Some(&Setting::Nanos(Nanos(1))));
        assert!(after.conditions.all_held());
        assert!(after.distribution.p50() < before.distribution.p50());
        let slack = file.findings.iter().find(|finding| finding.name == "timer-slack").unwrap();
        assert_eq!(slack.verdict, Verdict::Found);
        assert_eq!(
            slack.sentence,
            "timer slack makes every sleep here 50 µs late: with a slack of 1 ns, nanosleep was 14 µs late instead of 64 µs"
        );
    }

    #[test]
    fn a_result_reads_back_as_it_was_and_a_model_says_so() {
        let file = check(&[
            ExperimentId::A1,
            ExperimentId::A2,
            ExperimentId::A4,
            ExperimentId::B1,
            ExperimentId::B3,
            ExperimentId::B5,
            ExperimentId::D4,
        ]);
        assert_eq!(file.platform.modelled.as_deref(), Some("test"));
        assert_eq!(file.taken_unix_s, None);
        assert_eq!(file.floor.as_ref().and_then(|floor| floor.chosen), Some(Chosen::DeadlineClock));
        let back = ResultFile::read(&file.write()).expect("it reads back");
        assert_eq!(back.write(), file.write());
    }
}
