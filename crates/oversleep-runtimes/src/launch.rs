//! From an installation to a probe that can be started.

use oversleep_record::series::Runtime;

use crate::cache::Cache;
use crate::descriptor::{self, Op};
use crate::discover;
use crate::installation::Installation;
use crate::limits::Limits;
use crate::probe::Launch;
use crate::surroundings::Surroundings;

impl Installation {
    /// Whether the installed version has that operation.
    pub fn has(&self, op: &Op) -> bool {
        op.since.as_ref().is_none_or(|since| discover::is_at_least(&self.version, since))
    }

    /// The runtime, as results name it.
    pub fn runtime(&self) -> Runtime {
        Runtime { name: self.descriptor.name.clone(), version: self.version.clone() }
    }

    /// How to start its probe, which is compiled now if necessary.
    ///
    /// # Errors
    /// Why it can't be compiled.
    pub fn launch(&self, cache: &Cache, surroundings: &Surroundings) -> Result<Launch, String> {
        let dir = cache.directory(self, surroundings)?;
        let (dir, own) = (dir.to_string_lossy(), self.values());
        let text = self.descriptor.sources.first().map_or("", |(_, text)| text);
        let mut values: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
        values.extend([("dir", &*dir), ("text", text)]);
        Ok(Launch {
            words: descriptor::filled(&self.descriptor.run.command, &values),
            environment: self.descriptor.run.environment.clone(),
            runtime: self.runtime(),
            id: self.id.clone(),
            limits: Limits::default(),
        })
    }
}
