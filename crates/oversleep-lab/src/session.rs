//! A run from beginning to end: measure, explain, try the remedies, explain again, and put the result together.

use oversleep_record::conditions::Setting;
use oversleep_record::environment::PlatformId;
use oversleep_record::file::{Chosen, Completion, SCHEMA, Tool};
use oversleep_record::label::{self, TrialSide};
use oversleep_record::trial::{Trial, TrialPair};
use oversleep_record::{Environment, ExperimentId, Nanos, ResultFile, SeriesKey, Unavailable};

use crate::catalogue::{self, Entry, Kind};
use oversleep_explain as explain;
use oversleep_measure::{
    Amount, Bench, Depth, Experiment, Measured, Plan, Probe, Progress, StopFlag, WaitProbe, Watch, floor, measure,
    of_check,
};
use oversleep_system::{Ability, NotASetting, Platform, SharedPlatform};

/// What to run.
pub struct Request {
    /// The command's name, for the record.
    pub command: String,
    /// Experiments, in the order of their series.
    pub experiments: Vec<&'static Experiment>,
    /// How much and under which conditions.
    pub plan: Plan,
    /// A name the user gave the result.
    pub name: Option<String>,
    /// Whether remedies are tried on the laboratory's own threads.
    pub try_remedies: bool,
}

/// Why a run can't begin.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The clock that shall stamp can't be used.
    #[error("clock '{clock}' can't stamp here: {reason}")]
    Clock {
        /// Its name.
        clock: String,
        /// Why.
        reason: Unavailable,
    },
}

/// The machine to measure, and the way in for everything outside of this crate.
#[derive(Clone)]
pub struct Laboratory {
    pub(crate) platform: SharedPlatform,
}

impl Laboratory {
    /// On that platform, real or modelled.
    pub fn on(platform: SharedPlatform) -> Laboratory {
        Laboratory { platform }
    }

    /// The platform, for what is composed beside this.
    pub(crate) fn platform(&self) -> &dyn Platform {
        &*self.platform
    }

    /// Which platform it is.
    pub fn platform_id(&self) -> PlatformId {
        self.platform.id()
    }

    /// All entries of a kind.
    pub fn entries(&self, kind: Kind) -> Vec<Entry> {
        catalogue::entries(&self.platform, kind)
    }

    /// All names of a kind; cheap, for checking what was typed.
    pub fn names(&self, kind: Kind) -> Vec<&'static str> {
        catalogue::names(&*self.platform, kind)
    }

    /// What this process may see and change here.
    pub fn abilities(&self) -> Vec<Ability> {
        self.platform.abilities()
    }

    /// The facts about the machine.
    pub fn environment(&self) -> Environment {
        self.platform.environment()
    }

    /// How many CPUs this process may use.
    pub fn cpu_count(&self) -> usize {
        self.platform.cpus().len()
    }

    /// What is wrong with a setting, before anything is measured.
    ///
    /// # Errors
    /// Unknown tunable, wrong kind of value, out of range.
    pub fn validate(&self, tunable: &str, setting: &Setting) -> Result<(), NotASetting> {
        match self.platform.tunable(tunable) {
            None => Err(NotASetting::no_such_tunable(tunable, setting)),
            Some(tunable) => tunable.validate(setting),
        }
    }

    /// The longest period of the request's schedules: a series with less time than that has no deadline in it. `None`
    /// where nothing is on a schedule.
    pub fn period_max(&self, request: &Request) -> Option<Nanos> {
        self.probes(request).filter_map(|probe| probe.period()).max()
    }

    fn probes(&self, request: &Request) -> impl Iterator<Item = Box<dyn Probe>> {
        request.experiments.iter().flat_map(|experiment| (experiment.probes)(&*self.platform, &request.plan))
    }

    /// Runs a request. When `stop` is raised the run ends after the wait in progress, and what was measured until then
    /// is the result.
    ///
    /// # Errors
    /// Only for what makes a run impossible; what can't be measured is noted in the result with its reason.
    pub fn run(&self, request: &Request, stop: &StopFlag, progress: &mut dyn Progress) -> Result<ResultFile, RunError> {
        let plan = &request.plan;
        let bench = Bench::new(self.platform.clone(), stop.clone(), plan.clock.as_deref())
            .map_err(|reason| RunError::Clock { clock: plan.clock.clone().unwrap_or_default(), reason })?;
        let begun = self.platform.now();
        let taken_unix_s = self.platform.unix_time_s();
        let environment = self.platform.environment();
        let mut floor = floor(&bench);
        floor.chosen = Some(if plan.clock.is_some() { Chosen::AskedFor } else { Chosen::OfTheDeadlines });
        let watch = Watch::begin(&bench);
        let mut measured = Measured::default();
        measure(&bench, self.probes(request).collect(), self.time_max(plan), progress, &mut measured);
        let mut file = ResultFile {
            schema: SCHEMA.to_owned(),
            tool: Tool { name: "oversleep".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            taken_unix_s,
            duration_ns: Nanos::ZERO,
            completion: Completion::Complete,
            command: request.command.clone(),
            name: request.name.clone(),
            platform: self.platform.id(),
            environment,
            floor: Some(floor),
            clocks: in_registry_order(&*self.platform, &mut measured),
            series: measured.series,
            trials: Vec::new(),
            findings: Vec::new(),
        };
        if request.try_remedies && !stop.is_raised() {
            self.try_remedies(&bench, plan, progress, &mut file);
        }
        if let Some(floor) = &mut file.floor {
            floor.witness = watch.and_then(|watch| watch.end(&bench));
        }
        file.findings = explain::findings(&file);
        file.duration_ns = self.platform.now() - begun;
        if stop.is_raised() {
            file.completion = Completion::Interrupted;
        }
        Ok(file)
    }

    /// The promise of a short run is about the time of whoever waits for it. Virtual time costs nobody any, only what it
    /// takes to work it out: every round that is planned fits into a second.
    fn time_max(&self, plan: &Plan) -> Option<Nanos> {
        plan.time_max().filter(|_| !self.platform.time_is_virtual())
    }

    /// The experiments a check of that depth consists of here.
    pub fn experiments_of_check(&self, depth: Depth) -> Vec<&'static Experiment> {
        of_check(depth, self.platform.time_is_virtual())
    }

    fn try_remedies(&self, bench: &Bench, plan: &Plan, progress: &mut dyn Progress, file: &mut ResultFile) {
        let mut probes: Vec<Box<dyn Probe>> = Vec::new();
        let mut trials = Vec::new();
        for remedy in explain::remedies_to_try(file) {
            let mut pairs = Vec::new();
            for wait in &remedy.waits {
                let amount = Amount {
                    count: plan.depth.pick(40, 90, 2_000),
                    time: plan.depth.pick(Nanos::from_millis(150), Nanos::from_millis(400), Nanos::from_secs(10)),
                    rounds: plan.depth.pick(4, 6, 20),
                };
                let mut probe = |side, conditions| {
                    let key = SeriesKey::of_trial(remedy.remedy, wait, remedy.requested, side);
                    let probe = WaitProbe::new(&*self.platform, ExperimentId::TRIAL, wait, remedy.requested, amount)
                        .keyed(|_| key.clone())
                        .labelled(label::REMEDY, remedy.remedy.to_owned())
                        .labelled(label::TRIAL_SIDE, side)
                        .under(conditions);
                    probes.push(probe.boxed());
                    key
                };
                let before = probe(TrialSide::Before, plan.conditions.clone());
                let after = probe(TrialSide::After, plan.conditions_and(remedy.conditions.clone()));
                pairs.push(TrialPair { before, after });
            }
            let (remedy, conditions) = (remedy.remedy.to_owned(), remedy.conditions);
            trials.push(Trial { remedy, conditions, pairs });
        }
        let mut measured = Measured::default();
        measure(bench, probes, self.time_max(plan), progress, &mut measured);
        file.series.extend(measured.series);
        file.trials = trials;
    }
}

fn in_registry_order(platform: &dyn Platform, measured: &mut Measured) -> Vec<oversleep_record::ClockResult> {
    platform.clocks().iter().filter_map(|clock| measured.clocks.remove(clock.info().name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_measure::{Silent, experiment};
    use oversleep_model::sim::{Overshoot, Sim};
    use oversleep_model::testing;
    use oversleep_record::ExperimentId;
    use oversleep_record::finding::Verdict;

    fn check(experiments: &[ExperimentId]) -> ResultFile {
        let machine = testing::machine().with_wait("nanosleep", Overshoot::SlackPlus(Nanos(14_000)));
        let request = Request {
            command: "check".to_owned(),
            experiments: experiments.iter().map(|&id| experiment(id).expect("a known id")).collect(),
            plan: Plan::default(),
            name: None,
            try_remedies: true,
        };
        Laboratory::on(Sim::start(machine.build())).run(&request, &StopFlag::new(), &mut Silent).expect("it runs")
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
        assert_eq!(file.floor.as_ref().and_then(|floor| floor.chosen), Some(Chosen::OfTheDeadlines));
        let back = ResultFile::read(&file.write()).expect("it reads back");
        assert_eq!(back.write(), file.write());
    }
}
