//! Findings and remedies: conclusions from a result file, how oversleep knows, what to do, and what a remedy gained here.
//!
//! The crate reads records only. It reads no clock and makes no system call, so a result taken on one machine gets the same
//! explanation on any other. If a figure doesn't support a conclusion, the report gives the reason instead of a sentence
//! that sounds certain.
//!
//! Each layer uses only those above it:
//!
//! | layer | what it holds |
//! |---|---|
//! | `text`, `names` | figures in words; the waits and clocks that checks look for |
//! | `figures` | the figures of a series |
//! | `entry` | what an entry is: its scope, what a check comes to, a remedy |
//! | `read` | series and facts of a result, or the reason why they can't carry a conclusion |
//! | [`split`], [`verdicts`], [`idle`] | the parts of each wait's lateness; the table of clocks; idle strategies |
//! | [`housekeeping`] | the waits that a language runtime makes for its own purposes |
//! | `observed` | the waits of observed programs, by what delayed them |
//! | [`runtimes`] | the waits of language runtimes, and the rule that each follows |
//! | `finding` | what a finding is, and the steps of comparing two series |
//! | `remedies`, `tried` | what can be done, one entry each; what that gained, and what to try |
//! | `findings` | what is checked, one entry each, naming its remedies |
//! | [`fleet`] | the findings about many machines, which the laboratory judges |
//! | `registry` | all entries, and what is asked of them |
//! | [`verdict`] | what the waits of an observed program come to, from its parts and its findings |
//!
//! [`compare`] holds results against one another and uses `text`, `figures` and `read` only.
#![forbid(unsafe_code)]

pub mod compare;
#[cfg(any(test, feature = "testing"))]
pub mod consistency;
pub mod costs;
mod entry;
mod figures;
mod finding;
mod findings;
pub mod housekeeping;
pub mod idle;
mod names;
mod observed;
mod read;
mod registry;
mod remedies;
#[cfg(test)]
mod robustness;
pub mod runtimes;
pub mod split;
#[cfg(test)]
mod testing;
mod text;
mod tried;
pub mod verdict;
pub mod verdicts;

pub use entry::{Checked, Conclusion, InWords, RemedyEntry, Scope, Trial};
pub use figures::is_gain;
pub use finding::{Check, FindingEntry, Pair, PairCheck};
pub use findings::{coarse_step, fleet};
pub use observed::period::{Loop, loops};
pub use read::{
    COMMON_REQUEST, is_clock_a_system_call, is_recording, is_sampled, is_undisturbed, mentions, next_step, way,
};
pub use registry::{
    entry, findings, findings_to_keep, is_disturbed, is_unmeasured, mentioning, registry, remedies_to_try, remedy,
};
pub use tried::{RemedyTrialSpec, UNASKED};
