//! What can be typed besides what every machine understands ([`oversleep_request::args`]): where results go, and the text
//! of the help. A command's own options stand with the command.

pub mod help;
mod output;
mod run;

pub use output::{Document, OutputArgs};
pub use oversleep_request::args::{
    AMOUNT, AskArgs, CheckArgs, ConditionArgs, DepthArgs, LimitArgs, MachineArgs, PaceArg, RequestArgs, value,
};
pub use run::RunArgs;
