//! What Windows says about the machine, as facts: each an entry with its source.

use oversleep_record::environment::Environment;

/// All facts.
pub(super) fn collect() -> Environment {
    Environment::default()
}
