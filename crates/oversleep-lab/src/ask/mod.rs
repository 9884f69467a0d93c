//! Questions about one wait, clock or fork-join, and their answers: the measured values, and on a model their rule.

mod advice;
mod answer;
mod calls;
mod candidates;
mod clocks;
mod held;
mod help;
mod measured;
pub(crate) mod question;
mod rule;
mod sources;
mod spans;
mod versions;

pub use advice::advise;
pub use answer::{Answer, Cited, Meaning, NoAnswer};
pub(crate) use calls::{beneath, in_registry_names};
pub use help::{Help, helps};
pub use measured::ask;
pub use question::{Question, QuestionError, REQUEST_MAX, Subject, setting};
pub use spans::call_named;
pub use versions::{Versions, versions};
