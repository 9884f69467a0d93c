//! Which runtimes are there, and why the others are not.

use oversleep_record::FactName;
use oversleep_record::environment::{Environment, FactValue};

use crate::descriptor;
use crate::installation::{Installation, Missing};
use crate::library;
use crate::surroundings::Surroundings;

/// The runtimes that are there, and those that are not.
#[derive(Debug, Default)]
pub struct Survey {
    /// Found here.
    pub found: Vec<Installation>,
    /// Not found, each with its reason.
    pub missing: Vec<Missing>,
    /// Found, but for a library.
    pub(crate) incomplete: Vec<(Installation, &'static descriptor::Library)>,
}

impl Survey {
    /// A runtime that a library runs on becomes one of each of its versions.
    pub(crate) fn add_libraries(&mut self, on: &Installation, surroundings: &Surroundings) {
        let (found, missing) = library::with_libraries(on, surroundings);
        self.found.extend(found);
        for (one, library) in missing {
            self.incomplete.push((Installation { id: one.name.clone(), ..on.clone() }, library));
            self.missing.push(one);
        }
    }

    /// Lets Maven fetch the libraries that are missing; `progress` is told which. What can't be fetched stays missing.
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

    /// Adds what was found and what was not to the facts about the machine; paths stay out of it, for they name people.
    pub fn note_in(&self, environment: &mut Environment) {
        const SOURCE: &str = "oversleep runtimes";
        let found = self.found.iter().map(Installation::title).collect();
        let missing = self.missing.iter().map(|one| one.name.clone()).collect();
        environment.set(FactName::RuntimesFound, FactValue::List(found), SOURCE);
        environment.set(FactName::RuntimesMissing, FactValue::List(missing), SOURCE);
    }
}
