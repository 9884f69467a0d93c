//! What programs of a runtime can do about a wait besides its other calls: leave an event loop for it, make calls of the
//! system themselves, and hold settings of the system.

use serde::{Deserialize, Serialize};

use super::{Record, Version};

/// How programs leave an event loop for a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aside {
    /// The loop's own waits.
    pub names: Vec<String>,
    /// What is called instead: a call of a runtime, or one of this project's libraries by its registry name. Without it, a
    /// sleep or timer of the system.
    #[serde(default)]
    pub call: Option<String>,
    /// The runtime of that call, if it is another one: tokio's programs are Rust's.
    #[serde(default)]
    pub family: Option<String>,
    /// How it is made, and what its figure lacks, as a clause after the call.
    pub how: String,
    /// The first version that can, if some can't.
    #[serde(default)]
    pub from: Option<Version>,
    /// Where that is said.
    pub source: String,
}

impl Aside {
    /// Whether programs of the versions that a record is about can: of that version, or of the newest.
    pub fn is_for(&self, record: &Record, version: Option<&Version>) -> bool {
        let has =
            |from: &Version| version.map_or(record.before.as_ref().is_none_or(|end| end > from), |one| one >= from);
        self.from.as_ref().is_none_or(has)
    }
}

/// How programs of a runtime make calls of the system themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Native {
    /// The runtime's name in `oversleep runtimes`.
    pub family: String,
    /// By what, as a clause after the call: `by P/Invoke`. Empty if they call it as any function.
    #[serde(default)]
    pub how: String,
    /// Whether such a call may be a wait of the system, which keeps the thread.
    #[serde(default)]
    pub waits: bool,
    /// Where that is said.
    pub source: String,
}

/// How programs of a runtime hold a setting of the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holding {
    /// The runtime's name in `oversleep runtimes`.
    pub family: String,
    /// Registry name of the setting, and its value.
    pub setting: String,
    /// As it is typed.
    pub value: String,
    /// What holds it, as the subject of a sentence: `a daemon thread in Thread.sleep(Long.MAX_VALUE)`.
    pub by: String,
    /// The runtime's call that holds it: it depends on the version whether it does.
    #[serde(default)]
    pub call: Option<String>,
    /// Where that is said.
    pub source: String,
}
