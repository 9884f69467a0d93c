//! What can be typed: options that commands share, the parsers of values, and the text of the help.
//!
//! `request` turns what was typed into what to measure. A command's own options stand with the command.

mod conditions;
mod depth;
pub mod help;
mod limits;
mod machine;
mod output;
mod run;
pub mod value;

pub use conditions::ConditionArgs;
pub use depth::DepthArgs;
pub use limits::{LimitArgs, PaceArg, RequestArgs};
pub use machine::{MachineArgs, ModelArgs};
pub use output::{Document, OutputArgs};
pub use run::RunArgs;

/// The heading above the options that say how much to measure.
pub const AMOUNT: &str = "How much";
