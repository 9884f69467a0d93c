//! How a running process of a runtime is known.

use oversleep_record::words::is_like;
use serde::Deserialize;

/// How a process of a runtime is known.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InProcess {
    /// Names of its program or library, of which it runs code; `*` at the end matches anything.
    #[serde(default)]
    files: Vec<String>,
    /// The name of an ELF note in the program's file.
    #[serde(default)]
    pub(crate) note: Option<String>,
    /// Whether threads wait for a lock in the static memory of these files, as for an interpreter's.
    #[serde(default)]
    pub(crate) has_lock: bool,
}

impl InProcess {
    pub(crate) fn has_file(&self, name: &str) -> bool {
        self.files.iter().any(|pattern| is_like(name, pattern))
    }
}
