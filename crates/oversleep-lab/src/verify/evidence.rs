//! The figures of a profile that matter for a question, and whether its answer was therefore fitted to a row or predicts it.

use oversleep_record::Nanos;
use oversleep_system::tunables::names;
use oversleep_system::{Family, Follows, Platform, SlackRule, WaitInfo};

use crate::ask::{Question, Subject, beneath, in_registry_names};
use crate::machines::{Description, Figure};
use crate::session::Laboratory;

/// The relation of a row to the figures behind its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// None of them is from the row's source.
    Predicted,
    /// These are from it, by path.
    Fitted(Vec<String>),
    /// These are means of several sources, including the row's. The row is predicted from the others.
    Shared(Vec<String>),
}

impl Basis {
    /// The relation between the answer of that question on that machine and a row of that source.
    pub(super) fn of(machine: &Laboratory, figures: &Description, question: &Question, source: &str) -> Basis {
        let mut concerned = Concerned::of(machine, question, is_real_time(question, figures));
        let has_cost =
            figures.figures.iter().any(|figure| figure.path.starts_with("costs.") && concerned.has(&figure.path));
        if matches!(question.subject, Subject::Cost { .. }) && !has_cost {
            concerned.add(&["costs.other"]);
        }
        let is_of_it = |figure: &&Figure| figure.is_from(source) && concerned.has(&figure.path);
        let fitted: Vec<&Figure> = figures.figures.iter().filter(is_of_it).collect();
        let paths = fitted.iter().map(|figure| figure.path.clone()).collect();
        match fitted.iter().any(|figure| figure.source_id == source) {
            _ if fitted.is_empty() => Basis::Predicted,
            true => Basis::Fitted(paths),
            false => Basis::Shared(paths),
        }
    }

    /// Whether a figure was taken from the row's source alone.
    pub fn is_fitted(&self) -> bool {
        matches!(self, Basis::Fitted(_))
    }
}

/// Whether the asking thread runs under a real-time policy: by a condition, or because every program on that machine does.
pub(super) fn is_real_time(question: &Question, figures: &Description) -> bool {
    let starts_with = figures.figures.iter().find(|figure| figure.path == "scheduler.policy");
    let requested = question.conditions.setting(names::POLICY).map(ToString::to_string);
    let policy = requested.or_else(|| Some(starts_with?.value.clone())).unwrap_or_default();
    policy.starts_with("fifo") || policy.starts_with("rr")
}

/// The paths of the figures that matter for a question; a path that ends in a dot is a prefix.
struct Concerned(Vec<String>);

impl Concerned {
    fn has(&self, path: &str) -> bool {
        self.0.iter().any(|known| known == path || (known.ends_with('.') && path.starts_with(known)))
    }

    fn of(machine: &Laboratory, question: &Question, is_real_time: bool) -> Concerned {
        let platform = machine.platform();
        let question = in_registry_names(machine, question).map_or_else(|_| question.clone(), |(question, _)| question);
        let question = beneath(&machine.platform, &question).unwrap_or(question);
        let mut concerned = Concerned(Vec::new());
        let wakes: &[&str] = match is_real_time {
            true => &["wake.real-time", "wake.real-time-idle-exits"],
            false => &["wake.cost", "wake.cost-awake", "wake.idle-exits"],
        };
        match &question.subject {
            Subject::Wait { name, .. } => {
                concerned.wait(platform, &question, name);
                concerned.add(wakes);
                concerned.clock(platform, question.clock.as_deref());
            }
            Subject::Yield { name } => {
                concerned.add(&["wake.yield"]);
                concerned.0.push(format!("since.{name}"));
            }
            Subject::Cost { clock } => {
                concerned.0.extend([format!("costs.{clock}"), format!("since.{clock}")]);
                let info = |name: &str| platform.clock(name).map(|clock| *clock.info());
                let read = std::iter::successors(info(clock), |of| info(of.reads?)).skip(1);
                concerned.0.extend(read.map(|read| format!("costs.{}", read.name)));
            }
            Subject::Step { clock } => concerned.clock(platform, Some(clock)),
            Subject::Shows { clock } => {
                concerned.clock(platform, Some(clock));
                concerned.wait(platform, &question, "sleep");
                concerned.add(wakes);
            }
            Subject::Resolution => concerned.tick(&question),
            Subject::ForkJoin { .. } => {
                concerned.add(&["scheduler.", "wake.", "cpus.", "work."]);
                concerned.clock(platform, question.clock.as_deref());
            }
        }
        if !question.conditions.load.is_empty() {
            concerned.add(&["scheduler.", "cpus.", "work.timer-load"]);
        }
        concerned
    }

    fn add(&mut self, paths: &[&str]) {
        self.0.extend(paths.iter().map(|&path| path.to_owned()));
    }

    fn wait(&mut self, platform: &dyn Platform, question: &Question, name: &str) {
        let info = platform.waits().iter().map(|wait| wait.info()).find(|info| info.name == name);
        let Some(info) = info.or_else(|| Some(platform.simplest(Family::Sleep)?.info())) else { return };
        for family in ["extra", "shortest", "units", "tolerance", "grids", "raises", "since"] {
            self.0.push(format!("{family}.{}", info.name));
        }
        self.rule(question, info);
    }

    fn rule(&mut self, question: &Question, info: &WaitInfo) {
        match info.slack {
            SlackRule::ThreadSlack => self.add(&["timers.slack"]),
            SlackRule::ThreadSlackOrShare => {
                self.add(&["timers.slack", "timers.poll-share", "timers.poll-share-nice", "timers.poll-share-most"])
            }
            SlackRule::Tick => self.add(&["timers.hz", "timers.tick"]),
            SlackRule::ClassShare => self.add(&["timers.tiers"]),
            SlackRule::KernelShare => self.add(&["timers.kernel-tier"]),
            SlackRule::TimerResolution => {
                self.tick(question);
                self.add(&["timers.tick-ends-waits", "timers.one-shot-slack"]);
            }
            SlackRule::None | SlackRule::NoTimer | SlackRule::OfItsWaits => {
                self.add(&[
                    "timers.grid",
                    "timers.grid-aligned-most",
                    "timers.grid-p-late",
                    "timers.one-shot-ends",
                    "timers.one-shot-slack",
                ]);
            }
        }
    }

    /// The tick, and the figures that decide about requests if there is one.
    fn tick(&mut self, question: &Question) {
        let own = question.conditions.setting(names::RESOLUTION).is_some();
        self.add(&["timers.tick", "timers.held-by-others"]);
        if question.subject != Subject::Resolution {
            self.add(&["timers.base", "timers.p-two-tick", "timers.margin"]);
        }
        if own {
            self.add(&["timers.drops-hidden"]);
        }
        if !question.neighbours.is_empty() {
            self.add(&["timers.requests-reach"]);
        }
        // A request of whole milliseconds is granted unchanged, to within the grid of the timer.
        let is_fine = |text: String| text.parse::<Nanos>().is_ok_and(|period| period < Nanos::from_millis(1));
        let requests = question.conditions.setting(names::RESOLUTION).into_iter().chain(&question.neighbours);
        if requests.map(ToString::to_string).any(is_fine) {
            self.add(&["timers.tick-shortest", "timers.timer-hz"]);
        }
    }

    fn clock(&mut self, platform: &dyn Platform, name: Option<&str>) {
        let Some(info) = name.and_then(|name| platform.clock(name)).map(|clock| *clock.info()) else { return };
        self.0.extend([format!("steps.{}", info.name), format!("frequencies.{}", info.name)]);
        match info.follows {
            Follows::KernelTick => self.add(&["timers.hz"]),
            Follows::DefaultTick | Follows::LastInterrupt => self.add(&["timers.tick"]),
            Follows::Time => {}
        }
    }
}
