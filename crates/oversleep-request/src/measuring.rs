//! The options of a measuring command, as one request to the laboratory.

use std::sync::Arc;

use oversleep_lab::catalogue::Kind;
use oversleep_lab::{Laboratory, Request};
use oversleep_measure::{Experiment, IdlePlan, Limit, Plan};
use oversleep_record::{CommandName, Nanos};
use oversleep_system::runtime_calls::Version;

use crate::args::{ConditionArgs, DepthArgs, MachineArgs, value};
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
    /// What to measure, as typed: `request` checks its names and settings, and fills in its conditions and clock.
    pub plan: Plan,
    /// The kind of its subjects.
    pub subject_kind: Option<Kind>,
    /// Conditions.
    pub conditions: ConditionArgs,
    /// The machine.
    pub machine: MachineArgs,
    /// The version of the runtimes whose calls are named.
    pub version: Option<Version>,
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
            plan: Plan { depth: depth.depth(), ..Plan::default() },
            subject_kind: None,
            conditions,
            machine,
            version: None,
            try_remedies: false,
        }
    }

    /// The request for the laboratory; `name` is the name of the result.
    ///
    /// # Errors
    /// Unknown names, and settings that the machine doesn't support.
    pub fn request(self, lab: &Laboratory, name: Option<String>) -> Result<Request, Refusal> {
        let lab = &lab.clone().of_version(self.version);
        let typed = self.plan;
        let one = |kind, name: Option<String>| Ok(names::checked(lab, kind, name.into_iter().collect())?.pop());
        let plan = Plan {
            subjects: match self.subject_kind {
                Some(kind) => names::checked(lab, kind, typed.subjects)?,
                // Commands whose subjects are of no single kind check the names themselves.
                None => typed.subjects,
            },
            conditions: conditions::conditions(lab, &self.conditions)?,
            clock: one(Kind::Clock, self.conditions.clock)?,
            settings: conditions::resolutions(lab, typed.settings)?,
            requests: distinct(typed.requests),
            idle: IdlePlan { park: one(Kind::Wait, typed.idle.park)?, ..typed.idle },
            // Each machine works at a rate of its own.
            work_units: Arc::default(),
            ..typed
        };
        let request = Request {
            command: self.command,
            experiments: match self.experiments.is_empty() {
                true => lab.experiments_of_check(plan.depth),
                false => self.experiments,
            },
            plan,
            name,
            try_remedies: self.try_remedies,
        };
        refuse_long_requests(lab, &request.plan.requests)?;
        refuse_a_time_without_a_deadline(lab, &request)?;
        Ok(request)
    }
}

/// Refuses requests that take longer than anybody would wait for them, where they take real time.
///
/// # Errors
/// The first of them.
pub fn refuse_long_requests(lab: &Laboratory, requests: &[Nanos]) -> Result<(), Refusal> {
    let is_modelled = lab.platform_id().modelled.is_some();
    match requests.iter().find(|&&request| request > value::REQUEST_HERE_MAX && !is_modelled) {
        Some(long) => Err(Refusal::usage(format!(
            "--request {} would take that long here, where a request is at most 60s; name a modelled machine with --on",
            long.as_typed()
        ))),
        None => Ok(()),
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
