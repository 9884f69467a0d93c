//! The machine to measure, and the questions that need no measurement.

use oversleep_record::Environment;
use oversleep_record::conditions::Setting;
use oversleep_record::environment::PlatformId;
use oversleep_system::{Ability, NotASetting, Platform, SharedPlatform};

use crate::catalogue::{self, Entry, Kind};
use crate::records::Record;

/// The machine to measure, real or modelled.
#[derive(Clone)]
pub struct Laboratory {
    pub(crate) platform: SharedPlatform,
    /// The runtime records of a result, if the platform is like its machine.
    pub(crate) records: Vec<Record>,
}

impl Laboratory {
    /// A laboratory on that platform.
    pub fn on(platform: SharedPlatform) -> Laboratory {
        Laboratory { platform, records: Vec::new() }
    }

    pub(crate) fn platform(&self) -> &dyn Platform {
        &*self.platform
    }

    /// The platform's identity.
    pub fn platform_id(&self) -> PlatformId {
        self.platform.id()
    }

    /// All entries of a kind.
    pub fn entries(&self, kind: Kind) -> Vec<Entry> {
        catalogue::entries(&self.platform, kind)
    }

    /// All names of a kind. Nothing is opened, so this is cheap enough for validating what was typed.
    pub fn names(&self, kind: Kind) -> Vec<&'static str> {
        catalogue::names(&*self.platform, kind)
    }

    /// What this process may observe and change here.
    pub fn abilities(&self) -> Vec<Ability> {
        self.platform.abilities()
    }

    /// The facts about the machine.
    pub fn environment(&self) -> Environment {
        self.platform.environment()
    }

    /// The number of CPUs that this process may use.
    pub fn cpu_count(&self) -> usize {
        self.platform.cpus().len()
    }

    /// Checks a setting before anything is measured.
    ///
    /// # Errors
    /// Unknown tunable, wrong kind of value, out of range.
    pub fn validate(&self, tunable: &str, setting: &Setting) -> Result<(), NotASetting> {
        match self.platform.tunable(tunable) {
            None => Err(NotASetting::no_such_tunable(tunable, setting)),
            Some(tunable) => tunable.validate(setting),
        }
    }
}
