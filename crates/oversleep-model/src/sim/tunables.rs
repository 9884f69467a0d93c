//! Modelled tunables, each restored by its guard as on a real machine.

use std::sync::Arc;

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_system::rules::Reach;
use oversleep_system::{NotASetting, Reached, Restore, Tunable, TunableInfo, undo};

use super::kernel::Kernel;
use super::machine::Machine;
use super::rules;
use super::settings::{self, Parameter};

struct SimTunable {
    info: &'static TunableInfo,
    parameter: Parameter,
    kernel: Arc<Kernel>,
}

pub(super) fn registry(machine: &Machine, kernel: &Arc<Kernel>) -> Vec<Box<dyn Tunable>> {
    let tunable = |info: &&'static TunableInfo| -> Option<Box<dyn Tunable>> {
        let parameter = Parameter::named(info.name, machine)?;
        Some(Box::new(SimTunable { info, parameter, kernel: Arc::clone(kernel) }))
    };
    machine.tunables.iter().filter_map(tunable).collect()
}

impl SimTunable {
    fn not_a_setting(&self, setting: &Setting) -> NotASetting {
        match self.parameter.expected() {
            Some(expected) => NotASetting::expecting(self.info.name, setting, expected),
            None => self.info.refuse(setting),
        }
    }

    fn refuse(&self, setting: &Setting) -> (Outcome, Option<Box<dyn Restore>>) {
        (Outcome::Denied { why: self.not_a_setting(setting).into() }, None)
    }
}

impl Tunable for SimTunable {
    fn info(&self) -> &TunableInfo {
        self.info
    }

    fn current(&self) -> Result<Setting, Unavailable> {
        Ok(self.parameter.get(&self.kernel))
    }

    fn validate(&self, setting: &Setting) -> Result<(), NotASetting> {
        if self.parameter.takes(setting) { Ok(()) } else { Err(self.not_a_setting(setting)) }
    }

    fn reached(&self) -> Reached {
        match self.kernel.tick() {
            Some(tick) if matches!(self.parameter, Parameter::Resolution) => match tick.reach {
                Reach::Everyone => Reached::the_machine(),
                Reach::Requesters => Reached::requesters(),
            },
            _ => Reached::by_scope(self.info.scope, self.info.inherited_by),
        }
    }

    fn rule(&self) -> Option<String> {
        match self.parameter {
            Parameter::Resolution => rules::of_resolution(&self.kernel),
            Parameter::Slack => Some(format!(
                "timer slack is each thread's own, {} for a new one; what another process holds has no effect here",
                self.kernel.timing().default_slack_ns
            )),
            _ => None,
        }
    }

    fn settings_to_compare(&self) -> Vec<Setting> {
        self.parameter.to_compare(self.info)
    }

    fn apply(&self, setting: &Setting) -> (Outcome, Option<Box<dyn Restore>>) {
        if !self.parameter.takes(setting) {
            return self.refuse(setting);
        }
        let was = self.parameter.get(&self.kernel);
        if let (Parameter::Resolution, Setting::Nanos(requested)) = (&self.parameter, setting) {
            let Some((number, granted)) = self.kernel.hold_resolution(*requested, true) else {
                return self.refuse(setting);
            };
            let outcome = Outcome::Applied { was: Some(was), now: Setting::Nanos(granted) };
            return (outcome, Some(Box::new(Request { number, kernel: Arc::clone(&self.kernel) })));
        }
        if was == *setting {
            return (Outcome::AlreadySo { is: was }, None);
        }
        match self.parameter.set(&self.kernel, setting) {
            Ok(()) => {
                let (parameter, former, kernel) = (self.parameter.clone(), was.clone(), Arc::clone(&self.kernel));
                // The former value is always accepted again.
                let guard = undo(move || drop(parameter.set(&kernel, &former)));
                (Outcome::Applied { was: Some(was), now: setting.clone() }, Some(Box::new(guard)))
            }
            Err(why) => (Outcome::Denied { why }, None),
        }
    }
}

/// A request for a resolution, released on drop.
struct Request {
    number: u64,
    kernel: Arc<Kernel>,
}

impl Restore for Request {}

impl Drop for Request {
    fn drop(&mut self) {
        self.kernel.release_resolution(self.number);
    }
}

/// Another process's request, as a neighbour holds it.
#[derive(Default)]
pub(super) struct ModelledNeighbour {
    outcome: Option<Outcome>,
    _request: Option<Request>,
}

impl oversleep_system::Neighbour for ModelledNeighbour {
    fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Only its starter ends a modelled process.
    fn check(&mut self) -> Result<(), Unavailable> {
        Ok(())
    }
}

/// Starts a process that holds that setting of the resolution tunable.
///
/// # Errors
/// What is wrong with the setting.
pub(super) fn neighbour(
    tunable: Option<&dyn Tunable>,
    kernel: &Arc<Kernel>,
    setting: Option<&Setting>,
) -> Result<ModelledNeighbour, Unavailable> {
    let Some(setting) = setting else { return Ok(ModelledNeighbour::default()) };
    let tunable = tunable.ok_or(Unavailable::NotOnThisPlatform)?;
    tunable.validate(setting)?;
    let held = match setting {
        Setting::Nanos(requested) => kernel.hold_resolution(*requested, false),
        _ => None,
    };
    let Some((number, granted)) = held else {
        // Slack and tiers belong to a thread of the other process, so nothing else changes.
        let outcome = Outcome::Applied { was: None, now: setting.clone() };
        return Ok(ModelledNeighbour { outcome: Some(outcome), _request: None });
    };
    let now = Setting::Nanos(granted);
    let was = Some(Setting::Nanos(settings::resolution(kernel)));
    let outcome = Some(Outcome::Applied { was, now });
    Ok(ModelledNeighbour { outcome, _request: Some(Request { number, kernel: Arc::clone(kernel) }) })
}
