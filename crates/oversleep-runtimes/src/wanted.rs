//! The user's selection: runtimes by name, programs by path, operations by parts of their names.

use crate::descriptor::{Descriptor, Op, descriptors};
use crate::discover::{self, Given};
use crate::installation::{Installation, Missing};
use crate::limits::Limits;
use crate::program::{self, Program};
use crate::surroundings::Surroundings;
use crate::survey::Survey;

/// The user's selection.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Runtimes by name or id; empty means all. Programs of the user's own by path.
    pub names: Vec<String>,
    /// Only operations with one of these texts in their names.
    pub only: Vec<String>,
    /// Programs to use for runtimes, instead of looking for them.
    pub given: Vec<Given>,
    /// Only experiments that others published, with their numbers of calls.
    pub published: bool,
    /// Whether to look for runtimes, too, that are measured only if they are named.
    pub all: bool,
    /// How long the user's programs may take.
    pub limits: Limits,
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
    /// That runtime is installed, but not that version.
    #[error("no '{name}' is installed here; found: {found}")]
    OtherVersion {
        /// As it was typed.
        name: String,
        /// The installed versions.
        found: String,
    },
    /// No operation has such a name.
    #[error("no wait or clock of these runtimes has '{only}' in its name; `oversleep runtimes --list` shows them")]
    UnknownOp {
        /// As it was typed.
        only: String,
    },
}

/// Whether a name is the path of a program of the user's own.
pub fn is_program(name: &str) -> bool {
    name.contains(['/', '\\'])
}

impl Wanted {
    /// The programs of the user's own, each once.
    fn programs(&self) -> impl Iterator<Item = &String> {
        let named = || self.names.iter().filter(|name| is_program(name));
        named()
            .enumerate()
            .filter(move |(at, name)| !named().take(*at).any(|other| other == *name))
            .map(|(_, name)| name)
    }

    /// Whether the selection includes runtimes, not only programs.
    fn means_runtimes(&self) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| !is_program(name))
    }

    fn means_runtime(&self, descriptor: &Descriptor) -> bool {
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

    /// Whether the selection includes this operation.
    pub fn means(&self, op: &Op) -> bool {
        self.means_op(&op.name)
    }

    /// The error for a text of `only` that no operation contains. The operations are those of the selected runtimes, whether
    /// they are installed or not, and of these programs. `None` if one of the user's programs didn't say what it measures:
    /// its own reason comes first.
    pub fn unknown(&self, programs: &[Program], survey: &Survey) -> Option<WantedError> {
        if self.programs().any(|path| survey.missing.iter().any(|missing| missing.name == *path)) {
            return None;
        }
        let of_runtimes = descriptors().iter().filter(|one| self.means_runtime(one)).flat_map(|one| &one.op);
        let all: Vec<&Op> = of_runtimes.chain(programs.iter().flat_map(|program| &program.ops)).collect();
        let is_known = |only: &String| {
            let only = only.to_ascii_lowercase();
            all.iter().any(|op| op.name.to_ascii_lowercase().contains(&only))
        };
        self.only.iter().find(|only| !is_known(only)).map(|only| WantedError::UnknownOp { only: only.clone() })
    }

    /// Asks the user's programs what they measure. Those that don't answer are added to the missing ones.
    pub fn ask_programs(&self, survey: &mut Survey) -> Vec<Program> {
        let mut answering: Vec<Program> = Vec::new();
        for path in self.programs() {
            match program::ask(path, self.limits) {
                Ok(program) => answering.push(program),
                Err(reason) => survey.missing.push(Missing { name: path.clone(), reason }),
            }
        }
        let installed = |one: &Installation| (one.id.clone(), one.runtime());
        program::tell_apart(&mut answering, survey.found.iter().map(installed).collect());
        answering
    }

    /// Whether the user named programs of their own.
    pub fn names_programs(&self) -> bool {
        self.programs().next().is_some()
    }

    /// Looks for the selected runtimes.
    ///
    /// # Errors
    /// No runtime has such a name.
    pub fn survey(&self, surroundings: &Surroundings) -> Result<Survey, WantedError> {
        let known = || descriptors().iter().map(|one| one.name.as_str());
        for name in self.names.iter().filter(|name| !is_program(name)) {
            let alone = Wanted { names: vec![name.clone()], ..Wanted::default() };
            if !descriptors().iter().any(|one| alone.means_runtime(one)) {
                let known = known().collect::<Vec<_>>().join(", ");
                return Err(WantedError::UnknownRuntime { name: name.clone(), known });
            }
        }
        let mut survey = Survey::default();
        for descriptor in descriptors().iter().filter(|one| self.means_runtime(one)) {
            match discover::find(descriptor, &self.given, surroundings) {
                Ok(found) if descriptor.library.is_empty() => survey.found.extend(found),
                Ok(found) => found.iter().for_each(|one| survey.add_libraries(one, surroundings)),
                Err(missing) => survey.missing.push(missing),
            }
        }
        let is_version = |name: &&String| !is_program(name) && !known().any(|known| known.eq_ignore_ascii_case(name));
        for name in self.names.iter().filter(is_version) {
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
