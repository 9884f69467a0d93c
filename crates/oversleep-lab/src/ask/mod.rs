//! Questions about one wait, clock or experiment, and their answers: measured, modelled, and the rule in a sentence.

mod answer;
mod calls;
pub(crate) mod question;
mod rule;

pub use answer::{Answer, Meaning, NoAnswer, ask};
pub use question::{Question, QuestionError, Subject, setting};
