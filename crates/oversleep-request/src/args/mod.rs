//! Options that commands share, and the parsers of their values.
#![allow(missing_docs, reason = "clap takes the documentation of a flattened field from its type")]

mod ask;
mod check;
mod conditions;
mod depth;
mod limits;
mod machine;
pub mod value;

pub use ask::AskArgs;
pub use check::CheckArgs;
pub use conditions::ConditionArgs;
pub use depth::DepthArgs;
pub use limits::{LimitArgs, PaceArg, RequestArgs};
pub use machine::{MachineArgs, ModelArgs};

/// The heading above the options that say how much to measure.
pub const AMOUNT: &str = "How much";
