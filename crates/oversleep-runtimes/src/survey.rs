//! Surveys which runtimes are available, and why the others aren't.

use oversleep_record::FactName;
use oversleep_record::environment::{Environment, FactValue};

use crate::descriptor;
use crate::installation::{Installation, Missing};
use crate::library;
use crate::surroundings::Surroundings;

/// The runtimes that are available, and those that aren't.
#[derive(Debug, Default)]
pub struct Survey {
    /// Those that were found.
    pub found: Vec<Installation>,
    /// Those that are missing, each with its reason.
    pub missing: Vec<Missing>,
    /// Those that were found, but without a library.
    pub(crate) incomplete: Vec<(Installation, &'static descriptor::Library)>,
}

impl Survey {
    /// Expands a runtime that hosts a library to one per version of the library.
    pub(crate) fn add_libraries(&mut self, on: &Installation, surroundings: &Surroundings) {
        let (found, missing) = library::with_libraries(on, surroundings);
        self.found.extend(found);
        for (one, library) in missing {
            self.incomplete.push((Installation { id: one.name.clone(), ..on.clone() }, library));
            self.missing.push(one);
        }
    }

    /// Makes Maven fetch the missing libraries; `progress` is told which. A library that can't be fetched stays missing.
    pub fn fetch(&mut self, surroundings: &Surroundings, progress: &mut dyn FnMut(&str)) {
        for (on, library) in std::mem::take(&mut self.incomplete) {
            progress(&on.id);
            let fetched = library::fetch(library, surroundings);
            let now = library::with_libraries(&on, surroundings).0.into_iter().find(|one| one.id == on.id);
            let missing = self.missing.iter_mut().filter(|one| one.name == on.id);
            match (fetched, now) {
                (Ok(()), Some(now)) => {
                    self.found.push(now);
                    self.missing.retain(|one| one.name != on.id);
                }
                (Ok(()), None) => missing.for_each(|one| one.reason.push_str(". Maven put it elsewhere")),
                (Err(error), _) => missing.for_each(|one| one.reason = format!("{error}. {}", one.reason)),
            }
        }
    }

    /// Adds what was found and what is missing to the facts about the machine. Paths are left out: they may contain user
    /// names.
    pub fn note_in(&self, environment: &mut Environment) {
        const SOURCE: &str = "oversleep runtimes";
        let found = self.found.iter().map(Installation::title).collect();
        let missing = self.missing.iter().map(|one| one.name.clone()).collect();
        environment.set(FactName::RuntimesFound, FactValue::List(found), SOURCE);
        environment.set(FactName::RuntimesMissing, FactValue::List(missing), SOURCE);
    }
}
