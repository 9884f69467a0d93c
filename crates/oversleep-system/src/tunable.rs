//! Tunables: what a measurement may change, always with the way back.

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};

/// How far a change reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The calling thread; it ends with it at the latest.
    Thread,
    /// This process; it ends with it at the latest.
    Process,
    /// The whole machine, for as long as this process holds it; the system takes it back when the process ends.
    MachineWhileHeld,
}

/// Whom a change reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// In one sentence, without a full stop.
    pub sentence: String,
    /// Whether the timers of a program that asks for nothing follow it while it is held; `None` where nobody can tell.
    pub programs: Option<bool>,
}

impl Reached {
    /// What follows from a scope, and from what inherits it.
    pub fn by_scope(scope: Scope, heirs: Option<&'static str>) -> Reached {
        let (sentence, programs) = match (scope, heirs) {
            (Scope::MachineWhileHeld, _) => return Reached::the_machine(),
            (Scope::Thread, Some(heirs)) => {
                (format!("it reaches the thread that asks; {heirs} started from it inherit it"), true)
            }
            (Scope::Thread, None) => {
                ("it reaches the thread that asks, and no program: one must ask for it itself".to_owned(), false)
            }
            (Scope::Process, _) => {
                ("it reaches the process that asks and no other: a program must ask for it itself".to_owned(), false)
            }
        };
        Reached { sentence, programs: Some(programs) }
    }

    /// Everything on the machine follows the shortest request of any process.
    pub fn the_machine() -> Reached {
        let sentence = "the whole machine has it for as long as a process holds it".to_owned();
        Reached { sentence, programs: Some(true) }
    }

    /// The interrupt follows the shortest request of any process; waits follow it in processes that made one.
    pub fn who_asks() -> Reached {
        let sentence = "the tick, the clocks and the power draw of the whole machine follow it, but only the waits of \
                        processes that ask for a resolution themselves: the waits of all others keep to the default";
        Reached { sentence: sentence.to_owned(), programs: Some(false) }
    }
}

/// What is known of a tunable.
#[derive(Clone, Debug)]
pub struct TunableInfo {
    /// Registry name, also the command line's option: `slack`, `policy`, `pin`, `lock-memory`, `dma-latency`.
    pub name: &'static str,
    /// The call that changes it.
    pub call: &'static str,
    /// One or two sentences: what it does to timing.
    pub doc: &'static str,
    /// How far a change reaches.
    pub scope: Scope,
    /// Whether it is what decides how exactly this system's timers end: slack, resolution, tier. At most one is.
    pub sets_resolution: bool,
    /// Version of the system that introduced it.
    pub since: &'static str,
    /// The vendor's page.
    pub page: &'static str,
}

/// Puts back what was changed when dropped, on the thread that changed it.
pub trait Restore {}

/// One tunable of one platform.
pub trait Tunable: Send + Sync {
    /// What is known of it.
    fn info(&self) -> &TunableInfo;

    /// Its value for the calling thread now.
    ///
    /// # Errors
    /// Why it can't be read.
    fn current(&self) -> Result<Setting, Unavailable>;

    /// What is wrong with a setting, before anything is changed: wrong kind, out of range, unknown name.
    ///
    /// # Errors
    /// One sentence with what would be right.
    fn validate(&self, setting: &Setting) -> Result<(), String> {
        let _ = setting;
        Ok(())
    }

    /// Changes it for the calling thread (or as far as its scope reaches). The guard, where there is one, restores
    /// the former value when dropped, also while a panic unwinds. A setting of the wrong kind or out of range is
    /// [`Outcome::Denied`] with what would be right.
    fn apply(&self, setting: &Setting) -> (Outcome, Option<Box<dyn Restore>>);

    /// What begins with the setting of the thread that starts it: `threads and programs`; `None` where nothing does.
    fn inherited_by(&self) -> Option<&'static str> {
        None
    }

    /// Whom a change reaches here: what its scope says, unless the system's version or a setting decides.
    fn reached(&self) -> Reached {
        Reached::by_scope(self.info().scope, self.inherited_by())
    }

    /// The rule by which it is what it is now, in a sentence. Models know theirs; a real system doesn't tell.
    fn rule(&self) -> Option<String> {
        None
    }

    /// Settings worth measuring side by side here, the plainest first; empty where there is nothing to compare.
    fn settings_to_compare(&self) -> Vec<Setting> {
        Vec::new()
    }
}
