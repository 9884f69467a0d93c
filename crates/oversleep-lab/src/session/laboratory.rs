//! The machine to measure, and the questions that need no measurement.

use oversleep_record::Environment;
use oversleep_record::conditions::Setting;
use oversleep_record::environment::PlatformId;
use oversleep_system::runtime_calls::{self, Version};
use oversleep_system::{Ability, NotASetting, Platform, SharedPlatform, Wait};

use crate::catalogue::{self, Entry, Kind};
use crate::records;

/// The machine to measure, real or modelled.
#[derive(Clone)]
pub struct Laboratory {
    pub(crate) platform: SharedPlatform,
    /// The version of the runtimes whose calls are asked; without it, the newest one with a record.
    pub(crate) version: Option<Version>,
}

impl Laboratory {
    /// A laboratory on that platform.
    pub fn on(platform: SharedPlatform) -> Laboratory {
        Laboratory { platform, version: None }
    }

    /// The same, where calls of runtimes are those of this version.
    pub fn of_version(self, version: Option<Version>) -> Laboratory {
        Laboratory { version, ..self }
    }

    /// The name among waits of a runtime's call: `Thread.sleep@java-14-to-20`. `None` if no record is about such a call
    /// here.
    ///
    /// # Errors
    /// No record is about that version, and which versions the records are about.
    pub fn runtime_call(&self, name: &str) -> Result<Option<&str>, String> {
        let os = self.platform.id().os;
        let own: Vec<_> = self.platform.runtime_calls().iter().map(|call| call.record().clone()).collect();
        let name = match runtime_calls::find(&own, &os, name, self.version.as_ref()).first() {
            Some(record) => record.wait_name(),
            None => match &self.version {
                Some(version) => return records::unknown_version(&os, name, version).map_or(Ok(None), Err),
                None => return Ok(None),
            },
        };
        Ok(runtime_calls::wait(&*self.platform, &name).map(|call| call.info().name))
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
