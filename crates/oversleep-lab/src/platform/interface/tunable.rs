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

    /// Settings worth measuring side by side here, the plainest first; empty where there is nothing to compare.
    fn settings_to_compare(&self) -> Vec<Setting> {
        Vec::new()
    }
}
