//! The options of a measuring command, as one request to the laboratory.

use oversleep_lab::catalogue::Kind;
use oversleep_lab::{Laboratory, Request};
use oversleep_measure::{Depth, Experiment, IdlePlan, Limit, Plan, WorkSpan};
use oversleep_record::conditions::Setting;
use oversleep_record::series::Pace;
use oversleep_record::{CommandName, Nanos};

use crate::args::{ConditionArgs, DepthArgs, MachineArgs};
use crate::conditions::{self, distinct};
use crate::names;
use crate::refusal::Refusal;

/// The options of a measuring command.
#[derive(Clone)]
pub struct MeasuringArgs {
    /// The command's name.
    pub command: CommandName,
    /// Experiments, by id; if empty, those that `check` runs on the machine.
    pub experiments: Vec<&'static Experiment>,
    /// The depth.
    pub depth: Depth,
    /// Durations to request.
    pub requests: Vec<Nanos>,
    /// Values or time per series.
    pub limit: Option<Limit>,
    /// Reads of each clock whose cost is timed.
    pub reads: Option<u64>,
    /// The pace of waits.
    pub pace: Option<Pace>,
    /// Settings of the resolution to compare.
    pub settings: Vec<Setting>,
    /// Threads of a fork-join.
    pub threads: Option<u32>,
    /// The work of each of them.
    pub work: Option<WorkSpan>,
    /// Queues and idle strategies.
    pub idle: IdlePlan,
    /// Names of the subjects to measure.
    pub subjects: Vec<String>,
    /// The kind of these names.
    pub subject_kind: Option<Kind>,
    /// Conditions.
    pub conditions: ConditionArgs,
    /// The machine.
    pub machine: MachineArgs,
    /// Whether remedies are tried.
    pub try_remedies: bool,
}

impl MeasuringArgs {
    /// The arguments of a command without options of its own.
    pub fn new(
        command: CommandName,
        depth: DepthArgs,
        conditions: ConditionArgs,
        machine: MachineArgs,
    ) -> MeasuringArgs {
        MeasuringArgs {
            command,
            experiments: Vec::new(),
            depth: depth.depth(),
            requests: Vec::new(),
            limit: None,
            reads: None,
            pace: None,
            settings: Vec::new(),
            threads: None,
            work: None,
            idle: IdlePlan::default(),
            subjects: Vec::new(),
            subject_kind: None,
            conditions,
            machine,
            try_remedies: false,
        }
    }

    /// The request for the laboratory; `name` is the name of the result.
    ///
    /// # Errors
    /// Unknown names, and settings that the machine doesn't support.
    pub fn request(self, lab: &Laboratory, name: Option<String>) -> Result<Request, Refusal> {
        let subjects = match self.subject_kind {
            Some(kind) => names::checked(lab, kind, self.subjects)?,
            // Commands whose subjects are of no single kind check the names themselves.
            None => self.subjects,
        };
        let conditions = conditions::conditions(lab, &self.conditions)?;
        let clock = names::checked(lab, Kind::Clock, self.conditions.clock.into_iter().collect())?.pop();
        let settings = conditions::resolutions(lab, self.settings)?;
        let requests = distinct(self.requests);
        let MeasuringArgs { depth, limit, reads, pace, threads, work, mut idle, .. } = self;
        idle.park = names::checked(lab, Kind::Wait, idle.park.into_iter().collect())?.pop();
        let plan = Plan {
            requests,
            conditions,
            settings,
            subjects,
            clock,
            depth,
            limit,
            reads,
            pace,
            threads,
            work,
            idle,
            ..Plan::default()
        };
        let request = Request {
            command: self.command,
            experiments: match self.experiments.is_empty() {
                true => lab.experiments_of_check(self.depth),
                false => self.experiments,
            },
            plan,
            name,
            try_remedies: self.try_remedies,
        };
        refuse_a_time_without_a_deadline(lab, &request)?;
        Ok(request)
    }
}

/// Refuses a `--for` below the period of a schedule: that series would end without a value.
fn refuse_a_time_without_a_deadline(lab: &Laboratory, request: &Request) -> Result<(), Refusal> {
    let Some(Limit::Time(time)) = request.plan.limit else { return Ok(()) };
    let Some(period) = lab.period_max(request).filter(|&period| period > time) else { return Ok(()) };
    let (time, period) = (time.as_typed(), period.as_typed());
    Err(Refusal::usage(if request.plan.requests.is_empty() {
        format!(
            "--for {time} is shorter than the longest request, {period}; give --for {period} or more, or shorter requests \
             with --request"
        )
    } else {
        format!("--for {time} is shorter than --request {period}; give --for {period} or more, or a shorter --request")
    }))
}
