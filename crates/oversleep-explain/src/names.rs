//! What findings and remedies look for by name, for the test that every system has it: a name that no registry knows would
//! make them say "not measured" for ever.

use super::findings::{EXACT_WAITS, names_on_windows};
use super::read::sleeps_of_system;
use super::remedies::STRICT;

/// Names by the registry that must hold them.
pub struct Names {
    /// Clocks.
    pub clocks: Vec<&'static str>,
    /// Waits.
    pub waits: Vec<&'static str>,
    /// Tunables.
    pub tunables: Vec<&'static str>,
}

/// What is looked for in results of that system.
pub fn looked_for(os: &str) -> Names {
    let (clocks, mut waits, tunables) = match os {
        "windows" => {
            let (clocks, waits) = names_on_windows();
            (clocks, waits, vec!["resolution"])
        }
        "macos" => (vec![], STRICT.to_vec(), vec!["policy"]),
        _ => (vec!["std-instant"], EXACT_WAITS.to_vec(), vec!["slack", "policy"]),
    };
    waits.extend(sleeps_of_system(os));
    Names { clocks, waits, tunables }
}
