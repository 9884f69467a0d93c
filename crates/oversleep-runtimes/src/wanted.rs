//! What the user wants to see: runtimes by name or program, operations by parts of their names.

use crate::descriptor::{Descriptor, descriptors};
use crate::discover::{self, Given};
use crate::surroundings::Surroundings;
use crate::survey::Survey;

/// What the user wants to see.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Runtimes by name or id; empty means all. Programs of the user's own by path.
    pub names: Vec<String>,
    /// Only operations with one of these texts in their names.
    pub only: Vec<String>,
    /// Runtimes by their programs.
    pub given: Vec<Given>,
    /// Only experiments that others published, with as many calls as they made.
    pub published: bool,
    /// Whether to look also for runtimes that are measured only where they are named.
    pub all: bool,
}

/// Why nothing can be measured.
#[derive(Debug, thiserror::Error)]
pub enum WantedError {
    /// There is no such runtime.
    #[error("unknown runtime '{name}'; choose from {known}, or give the path of a program that speaks the protocol")]
    UnknownRuntime {
        /// As it was typed.
        name: String,
        /// All names.
        known: String,
    },
    /// A runtime of that name is there, but not of that version.
    #[error("no '{name}' is installed here; found: {found}")]
    OtherVersion {
        /// As it was typed.
        name: String,
        /// What is there instead.
        found: String,
    },
    /// No operation has such a name.
    #[error("no wait or clock of these runtimes has '{only}' in its name; `oversleep runtimes --list` shows them")]
    UnknownOp {
        /// As it was typed.
        only: String,
    },
}

/// Whether a name is that of a program of the user's own.
pub fn is_program(name: &str) -> bool {
    name.contains(['/', '\\'])
}

impl Wanted {
    pub(crate) fn programs(&self) -> impl Iterator<Item = &String> {
        self.names.iter().filter(|name| is_program(name))
    }

    /// Whether any runtime is meant besides programs.
    fn means_runtimes(&self) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| !is_program(name))
    }

    fn means(&self, descriptor: &Descriptor) -> bool {
        let is_named = |name: &String| {
            let name = name.to_ascii_lowercase();
            name == descriptor.name || name.strip_prefix(&descriptor.name).is_some_and(|rest| rest.starts_with('-'))
        };
        let is_any = self.names.is_empty() && (self.all || !descriptor.only_if_named);
        self.means_runtimes() && (is_any || self.names.iter().any(is_named))
    }

    fn means_installation(&self, id: &str, descriptor: &Descriptor) -> bool {
        let is_named = |name: &String| {
            let name = name.to_ascii_lowercase();
            name == descriptor.name || name == id
        };
        self.names.is_empty() || self.names.iter().any(is_named)
    }

    pub(crate) fn means_op(&self, op: &str) -> bool {
        let op = op.to_ascii_lowercase();
        self.only.is_empty() || self.only.iter().any(|only| op.contains(&only.to_ascii_lowercase()))
    }

    /// Looks for the runtimes that are wanted.
    ///
    /// # Errors
    /// A name that no runtime has.
    pub fn survey(&self, surroundings: &Surroundings) -> Result<Survey, WantedError> {
        let known = || descriptors().iter().map(|one| one.name.as_str());
        for name in self.names.iter().filter(|name| !is_program(name)) {
            let alone = Wanted { names: vec![name.clone()], ..Wanted::default() };
            if !descriptors().iter().any(|one| alone.means(one)) {
                let known = known().collect::<Vec<_>>().join(", ");
                return Err(WantedError::UnknownRuntime { name: name.clone(), known });
            }
        }
        let mut survey = Survey::default();
        for descriptor in descriptors().iter().filter(|one| self.means(one)) {
            match discover::find(descriptor, &self.given, surroundings) {
                Ok(found) if descriptor.library.is_empty() => survey.found.extend(found),
                Ok(found) => found.iter().for_each(|one| survey.add_libraries(one, surroundings)),
                Err(missing) => survey.missing.push(missing),
            }
        }
        for name in self.names.iter().filter(|name| !is_program(name) && !known().any(|known| known == name.as_str())) {
            let is_missing = survey.missing.iter().any(|one| one.name.eq_ignore_ascii_case(name));
            let is_found = survey.found.iter().any(|one| one.id.eq_ignore_ascii_case(name));
            if !is_found && !is_missing && !survey.found.is_empty() {
                let found = survey.found.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(", ");
                return Err(WantedError::OtherVersion { name: name.clone(), found });
            }
        }
        survey.found.retain(|one| self.means_installation(&one.id, one.descriptor));
        survey.incomplete.retain(|(one, _)| self.means_installation(&one.id, one.descriptor));
        Ok(survey)
    }
}
