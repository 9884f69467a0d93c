//! The machine to measure, and the questions that need no measurement.

use oversleep_record::Environment;
use oversleep_record::conditions::Setting;
use oversleep_record::environment::PlatformId;
use oversleep_system::runtime_calls::{self, Host, Record, Version, version_named};
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

    /// The name among waits of a runtime's call: `Thread.sleep@java-14-to-20`. Without a version, it is that of the newest
    /// one that runs here. `None` if no record is about such a call here.
    ///
    /// # Errors
    /// No record is about that version, and which versions the records are about; or about one that runs here.
    pub fn runtime_call(&self, name: &str) -> Result<Option<&str>, String> {
        let os = self.platform.id().os;
        let own: Vec<_> = self.platform.runtime_calls().iter().map(|call| call.record().clone()).collect();
        let found = runtime_calls::find(&own, &os, name, self.version.as_ref());
        let Some(first) = found.first() else {
            let unknown = self.version.as_ref().and_then(|version| records::unknown_version(&os, name, version));
            return unknown.map_or(Ok(None), Err);
        };
        let host = Host::of(&*self.platform);
        let runs = |record: &&&Record| {
            let version = self.version.clone().or_else(|| version_named(name, record));
            host.runs(record) && version.is_none_or(|version| host.lacks_for(record.family(), &version).is_none())
        };
        let Some(record) = found.iter().find(runs) else {
            return Err(records::runs_nowhere(&host, first));
        };
        Ok(runtime_calls::wait(&*self.platform, &record.wait_name()).map(|call| call.info().name))
    }

    /// Why no version of those runtimes that a record is about runs here; with a version, why that one doesn't.
    pub fn runs_none(&self, families: &[String], version: Option<&Version>) -> Option<String> {
        let (os, host) = (self.platform.id().os, Host::of(&*self.platform));
        let is_too_new = |family: &String| {
            let family = family.to_ascii_lowercase();
            let of_family = |one: &&Record| one.system == os && one.family() == family;
            match version {
                Some(version) => host.lacks_for(&family, version),
                None => host
                    .lacks(&family)
                    .filter(|_| !runtime_calls::all().iter().filter(of_family).any(|record| host.runs(record))),
            }
        };
        let needs: Option<Vec<_>> = families.iter().map(is_too_new).collect();
        let needs = needs.filter(|needs| !needs.is_empty())?;
        let sentences: Vec<String> = needs.into_iter().map(runtime_calls::Needs::sentence).collect();
        Some(format!("{}, and this machine is older", sentences.join("; ")))
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
