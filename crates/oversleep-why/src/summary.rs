//! All waits of a run, by group, with the worst ones in full.

use oversleep_record::file::Tool;
use serde::{Deserialize, Serialize};

use crate::group::{Group, Key};
use crate::recording::Meta;
use crate::wait::Wait;

/// Waits shown in full.
pub const WORST: usize = 10;

/// What was lost between the kernel and the state machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Losses {
    /// Events that the buffer had no room for.
    pub no_room: u64,
    /// Events that were sent and did not arrive.
    pub vanished: u64,
    /// Times that the kernel left the program out.
    pub not_run: u64,
    /// Threads that were too many to follow.
    pub threads_not_followed: u64,
    /// Waits whose end was not seen.
    pub unfinished: u64,
    /// What this kernel can't show.
    #[serde(default)]
    pub missing: Vec<String>,
    /// The recording ended in the middle of an event.
    #[serde(default)]
    pub is_truncated: bool,
}

/// All waits of a run. It is the result file, too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// `oversleep-why/1`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Who wrote the file.
    pub tool: Tool,
    /// Where the events are from.
    pub meta: Meta,
    /// What the program meant, where the user stated that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub want_ns: Option<u64>,
    /// From the first event to the last.
    pub span_ns: u64,
    /// Waits that were left out by a selection.
    #[serde(default)]
    pub left_out: u64,
    /// The groups, the most lateness first.
    pub groups: Vec<Group>,
    /// The waits with the most lateness.
    pub worst: Vec<Wait>,
    /// What was lost.
    pub losses: Losses,
    /// What they show, and what helps.
    pub findings: Vec<Finding>,
}

/// The schema of its files.
pub const SCHEMA: &str = oversleep_record::file::WHY_SCHEMA;

/// Something that the waits show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What kind of finding it is: the part it is about, or `coverage`.
    pub about: String,
    /// The waits it is about; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Key>,
    /// One sentence.
    pub sentence: String,
    /// The figures behind it.
    pub evidence: Vec<String>,
    /// What helps.
    pub advice: Vec<String>,
    /// How much lateness it explains, which orders findings.
    pub total_ns: i64,
}

impl Summary {
    /// Waits that ended by their timer.
    pub fn count(&self) -> u64 {
        self.groups.iter().map(|group| group.count).sum()
    }

    /// Of these, waits of which every nanosecond has a name.
    pub fn attributed_count(&self) -> u64 {
        self.groups.iter().map(|group| group.attributed_count).sum()
    }

    /// Waits that ended for another reason.
    pub fn otherwise_count(&self) -> u64 {
        self.groups.iter().map(Group::otherwise_count).fold(0, u64::saturating_add)
    }
}
