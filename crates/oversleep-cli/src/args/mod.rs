//! Options besides those of [`oversleep_request::args`]: where documents go. A command's own
//! options are in its file.

mod output;
mod run;

pub use output::{
    Document, DocumentArgs, Documents, List, Named, OutputArgs, PictureFormat, Read, export_help, exported,
};
pub use oversleep_request::args::{
    AMOUNT, AskArgs, CheckArgs, ConditionArgs, DepthArgs, LimitArgs, MachineArgs, ModelArgs, PaceArg, RequestArgs,
    value,
};
pub use run::RunArgs;
