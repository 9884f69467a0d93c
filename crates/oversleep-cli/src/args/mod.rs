//! What can be typed: options shared by commands, the value parsers, and the words of the help.
//!
//! Here is what was typed; `request` makes of it what is meant. A command's own options stand with the command.

mod conditions;
mod depth;
pub mod help;
mod limits;
mod machine;
mod output;
pub mod value;

pub use conditions::ConditionArgs;
pub use depth::DepthArgs;
pub use limits::{AskArgs, LimitArgs, PaceArg};
pub use machine::{MachineArgs, ModelArgs};
pub use output::{Document, OutputArgs};
