//! Tunables: settings that a measurement may change, always with the way back.

use std::fmt;
use std::marker::PhantomData;

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{Nanos, Unavailable};

use super::catalogue::worded;

worded! {
    /// The scope of a change.
    pub enum Scope {
        /// The calling thread; the change ends with it at the latest.
        Thread = "the measuring thread",
        /// This process; the change ends with it at the latest.
        Process = "this process",
        /// The whole machine while this process holds the change; the system undoes it when the process ends.
        MachineWhileHeld = "the whole machine while it is held",
    }
    /// In a few words for tables.
    pub const fn words
}

/// The scope of a change on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// In one sentence, without a full stop.
    pub sentence: String,
    /// Whether it affects the timers of a program that makes no request, while it is held; `None` if that is unknown.
    pub programs: Option<bool>,
}

impl Reached {
    /// What follows from a scope and from inheritance.
    pub fn by_scope(scope: Scope, heirs: Option<&'static str>) -> Reached {
        let (sentence, programs) = match (scope, heirs) {
            (Scope::MachineWhileHeld, _) => return Reached::the_machine(),
            (Scope::Thread, Some(heirs)) => {
                (format!("it affects the thread that requests it; {heirs} started from that thread inherit it"), true)
            }
            (Scope::Thread, None) => {
                ("it affects only the thread that requests it; a program must request it itself".to_owned(), false)
            }
            (Scope::Process, _) => {
                ("it affects only the process that requests it; a program must request it itself".to_owned(), false)
            }
        };
        Reached { sentence, programs: Some(programs) }
    }

    /// Everything on the machine follows the shortest request of any process.
    pub fn the_machine() -> Reached {
        let sentence = "it affects the whole machine for as long as a process holds it".to_owned();
        Reached { sentence, programs: Some(true) }
    }

    /// The interrupt follows the shortest request of any process; waits follow it only in processes that made one.
    pub fn requesters() -> Reached {
        let sentence = "the tick, the clocks and the power draw of the whole machine follow it, but only the waits of \
                        processes that request a resolution do: all other waits keep the default";
        Reached { sentence: sentence.to_owned(), programs: Some(false) }
    }
}

/// The description of a tunable. The catalogues are in [`crate::tunables`].
#[derive(Clone, Copy, Debug)]
pub struct TunableInfo {
    /// Registry name, also the command line's option: `slack`, `policy`, `pin`, `lock-memory`, `dma-latency`.
    pub name: &'static str,
    /// The call that changes it.
    pub call: &'static str,
    /// One or two sentences about its effect on timing.
    pub doc: &'static str,
    /// The accepted settings, to follow "give" in a message.
    pub expected: &'static str,
    /// A setting for examples: the finest or the most urgent.
    pub example: &'static str,
    /// The scope of a change.
    pub scope: Scope,
    /// What inherits the setting of the thread that starts it: `threads and programs`.
    pub inherited_by: Option<&'static str>,
    /// Whether it decides how exactly this system's timers end: slack, resolution, tier. At most one does.
    pub sets_resolution: bool,
    /// The words that it accepts, the simplest first; empty if it accepts none.
    pub words: &'static [Word],
    /// Spans worth comparing, the default first; empty if it takes none or there is nothing to compare.
    pub compared: &'static [Nanos],
    /// Whether modelled machines have it.
    pub is_modelled: bool,
    /// Version of the system that introduced it.
    pub since: &'static str,
    /// The vendor's page.
    pub page: &'static str,
}

/// A word that a tunable accepts as a setting: `fifo:80`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub name: &'static str,
    /// The lowest and the highest number that may follow it; `0` stands for none.
    pub numbers: (i32, i32),
}

impl Word {
    /// A word with numbers.
    pub(crate) const fn ranging(name: &'static str, lowest: i32, highest: i32) -> Word {
        Word { name, numbers: (lowest, highest) }
    }

    /// A word without a number.
    pub(crate) const fn alone(name: &'static str) -> Word {
        Word::ranging(name, 0, 0)
    }
}

impl TunableInfo {
    /// The word and the number of a setting, if the word is one of this tunable's and the number is in range.
    pub fn word(&self, setting: &Setting) -> Option<(&'static str, i32)> {
        let Setting::Policy { policy, priority } = setting else { return None };
        let word = self.words.iter().find(|word| word.name == policy)?;
        (word.numbers.0..=word.numbers.1).contains(priority).then_some((word.name, *priority))
    }

    /// The error for a setting of the wrong kind, out of range or with an unknown name.
    pub fn refuse(&self, given: &Setting) -> NotASetting {
        NotASetting::expecting(self.name, given, self.expected)
    }

    /// [`TunableInfo::compared`] as settings.
    pub fn spans_to_compare(&self) -> Vec<Setting> {
        self.compared.iter().map(|&span| Setting::Nanos(span)).collect()
    }
}

/// A setting that can't be applied, found before anything is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotASetting {
    /// Registry name of the tunable.
    pub tunable: String,
    /// The setting.
    pub given: Setting,
    /// What is wrong with it.
    pub problem: Problem,
}

/// The fault of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The tunable accepts these settings.
    Expected(String),
    /// This machine lacks what the setting needs.
    Unavailable(Unavailable),
    /// This platform has no such tunable.
    NoSuchTunable,
}

impl NotASetting {
    /// A setting of the wrong kind, out of range or with an unknown name, with the accepted ones.
    pub fn expecting(tunable: &str, given: &Setting, expected: impl Into<String>) -> NotASetting {
        let problem = Problem::Expected(expected.into());
        NotASetting { tunable: tunable.to_owned(), given: given.clone(), problem }
    }

    /// A setting that needs what this machine lacks.
    pub fn unavailable(tunable: &str, given: &Setting, why: Unavailable) -> NotASetting {
        NotASetting { tunable: tunable.to_owned(), given: given.clone(), problem: Problem::Unavailable(why) }
    }

    /// A setting of a tunable that this platform lacks.
    pub fn no_such_tunable(tunable: &str, given: &Setting) -> NotASetting {
        NotASetting { tunable: tunable.to_owned(), given: given.clone(), problem: Problem::NoSuchTunable }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Expected(expected) => write!(f, "give {expected}"),
            Problem::Unavailable(why) => why.fmt(f),
            Problem::NoSuchTunable => f.write_str("this platform has no such tunable"),
        }
    }
}

impl fmt::Display for NotASetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}: {}", self.tunable, self.given.brief(), self.problem)
    }
}

impl std::error::Error for NotASetting {}

impl From<NotASetting> for Unavailable {
    fn from(error: NotASetting) -> Unavailable {
        match error.problem {
            Problem::Unavailable(why) => why,
            _ => Unavailable::Nonsense { what: error.to_string() },
        }
    }
}

/// Restores the former setting on drop, on the thread that changed it.
pub trait Restore {}

/// A guard that runs this once when it is dropped.
pub fn undo(undo: impl FnOnce() + 'static) -> impl Restore + 'static {
    // A guard stays on its thread, whatever the closure holds.
    struct Undo<F: FnOnce()>(Option<F>, PhantomData<*const ()>);
    impl<F: FnOnce()> Restore for Undo<F> {}
    impl<F: FnOnce()> Drop for Undo<F> {
        fn drop(&mut self) {
            if let Some(undo) = self.0.take() {
                undo();
            }
        }
    }
    Undo(Some(undo), PhantomData)
}

/// One tunable of one platform.
pub trait Tunable: Send + Sync {
    /// Its description.
    fn info(&self) -> &TunableInfo;

    /// Its value for the calling thread now.
    ///
    /// # Errors
    /// Why it can't be read.
    fn current(&self) -> Result<Setting, Unavailable>;

    /// Checks a setting before anything is changed.
    ///
    /// # Errors
    /// What is wrong with it: wrong kind, out of range, unknown name, or lacking on this machine.
    fn validate(&self, setting: &Setting) -> Result<(), NotASetting> {
        let _ = setting;
        Ok(())
    }

    /// Changes it for the calling thread, or in its scope. The guard, if there is one, restores the former value on
    /// drop, even while a panic unwinds. For a setting that [`Tunable::validate`] refuses, the outcome is
    /// [`Outcome::Denied`].
    fn apply(&self, setting: &Setting) -> (Outcome, Option<Box<dyn Restore>>);

    /// The scope of a change on this machine: that of the description, unless the system's version or a setting decides.
    fn reached(&self) -> Reached {
        Reached::by_scope(self.info().scope, self.info().inherited_by)
    }

    /// The rule behind its present value, in a sentence. Only models know theirs.
    fn rule(&self) -> Option<String> {
        None
    }

    /// Settings worth comparing here, the default first; empty if there is nothing to compare.
    fn settings_to_compare(&self) -> Vec<Setting> {
        self.info().spans_to_compare()
    }
}

impl dyn Tunable + '_ {
    /// The scope of a change, in a sentence without a full stop. For a timer resolution, the system's version decides.
    pub fn reaches(&self) -> String {
        match self.info().scope {
            Scope::Thread | Scope::Process if !self.info().sets_resolution => {
                format!("it affects {}", self.info().scope.words())
            }
            _ => self.reached().sentence,
        }
    }
}
