//! The timer resolution outside of measurements: what the system states about it, and how to hold one.

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_system::{NotASetting, Reached, ResolutionHolders, ResolutionRow, Restore, Tunable};

use crate::session::Laboratory;

/// The tunable that decides how precisely timers end, if a program can change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolutionTunable {
    /// Its name, also the option of measuring commands: `slack`, `resolution`.
    pub name: &'static str,
    /// The call that changes it.
    pub call: &'static str,
    /// Its effect on timing.
    pub doc: &'static str,
    /// Its value for the calling thread now.
    pub current: Result<Setting, Unavailable>,
    /// Which processes a change reaches.
    pub reached: Reached,
}

/// A setting, held until this is dropped. It belongs to the thread that requested it.
pub struct HeldResolution {
    /// The outcome of the request.
    pub outcome: Outcome,
    /// Which processes it reaches.
    pub reached: Reached,
    _guard: Option<Box<dyn Restore>>,
}

impl Laboratory {
    /// The tunable that decides how precisely timers end here; `None` if a program can't change it.
    pub fn resolution_tunable(&self) -> Option<ResolutionTunable> {
        let tunable = self.platform.resolution_tunable()?;
        let info = tunable.info();
        let (name, call, doc) = (info.name, info.call, info.doc);
        Some(ResolutionTunable { name, call, doc, current: tunable.current(), reached: tunable.reached() })
    }

    /// Statements about timers beyond the facts of the environment, determined now: on Linux, which threads and
    /// processes inherit timer slack, tried with a thread and real child processes.
    pub fn resolution_rows(&self) -> Vec<ResolutionRow> {
        self.platform.resolution_rows()
    }

    /// Which processes hold which setting.
    ///
    /// # Errors
    /// Why the system doesn't say, and what would help.
    pub fn resolution_holders(&self) -> Result<ResolutionHolders, Unavailable> {
        self.platform.resolution_holders()
    }

    /// Holds a setting for the calling thread, or in the tunable's scope.
    ///
    /// # Errors
    /// What is wrong with the setting. A refusal by the system is an outcome, not an error.
    pub fn hold_resolution(&self, setting: &Setting) -> Result<HeldResolution, NotASetting> {
        let tunable = self.platform.resolution_tunable();
        let tunable: &dyn Tunable = tunable.ok_or_else(|| NotASetting::no_such_tunable("resolution", setting))?;
        tunable.validate(setting)?;
        let (outcome, guard) = tunable.apply(setting);
        Ok(HeldResolution { outcome, reached: tunable.reached(), _guard: guard })
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;
    use oversleep_model::testing;
    use oversleep_record::Nanos;

    use super::*;

    #[test]
    fn a_setting_is_held_as_long_as_the_guard_lives() {
        let lab = Laboratory::on(Sim::start(testing::machine().build()));
        let now = || lab.resolution_tunable().expect("the model has slack").current;
        let before = now();
        let held = lab.hold_resolution(&Setting::Nanos(Nanos(7))).expect("a span");
        assert!(held.outcome.holds());
        assert_eq!(now(), Ok(Setting::Nanos(Nanos(7))));
        drop(held);
        assert_eq!(now(), before);
    }

    /// The reported scope of one millisecond held on that modelled machine.
    fn reached_on(machine: &str) -> Reached {
        let lab = crate::machines::load(machine, &[], 1).expect("it is listed");
        lab.hold_resolution(&Setting::Nanos(Nanos::from_millis(1))).expect("a span").reached
    }

    #[test]
    fn a_program_is_promised_what_it_gets() {
        let before_2004 = reached_on("windows-10-1909");
        assert_eq!(before_2004.programs, Some(true));
        assert_eq!(before_2004.sentence, "it affects the whole machine for as long as a process holds it");
        for machine in ["windows-10-2004", "windows-11"] {
            let since = reached_on(machine);
            assert_eq!(since.programs, Some(false), "{machine}");
            assert!(since.sentence.ends_with("all other waits keep the default"), "{}", since.sentence);
        }
        assert_eq!(reached_on("windows-server-2022").programs, Some(true));
    }
}
