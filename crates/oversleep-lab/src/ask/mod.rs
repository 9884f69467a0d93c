//! Questions about one wait, clock or fork-join, and their answers: the measured values, and on a model the rule behind them.

mod answer;
mod calls;
mod measured;
pub(crate) mod question;
mod rule;

pub use answer::{Answer, Meaning, NoAnswer};
pub use measured::ask;
pub use question::{Question, QuestionError, Subject, setting};
