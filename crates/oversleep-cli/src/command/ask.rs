//! `ask`: one question to one or several machines: what would this wait, clock or fork-join give there, and why?

use clap::Args;
use oversleep_lab::Laboratory;
use oversleep_report::document::Answers;
use oversleep_request::replies::Machine;
use oversleep_system::examples::Examples;

use crate::args::{AskArgs, Documents, MachineArgs, Read};
use crate::command::spec::{Code, FINE, READ_FAILED, USAGE, examples, exits};
use crate::exit::{Exit, Failure};
use crate::output::Delivery;
use crate::request;

const CODES: &[Code] = &[FINE, READ_FAILED, USAGE, (130, "interrupted: there is no answer")];

/// Examples with names of this system.
fn examples_here() -> String {
    let Examples { waits: [sleep, _], finer: (tunable, setting), .. } = oversleep_native::examples();
    examples(&[
        ("oversleep ask \"sleep(1ms)\" --on windows-10-2004 --neighbour 2ms".to_owned(), "beside another process"),
        ("oversleep ask \"parkNanos(1ms)\" --like r.json".to_owned(), "a model of its machine"),
        ("oversleep ask \"sleep(1ms)\" --on windows-7,windows-11,linux-hz250".to_owned(), "side by side"),
        (format!("oversleep ask \"{sleep}(300us)\" --{tunable} {setting}"), "this machine"),
    ])
}

/// Ask a machine: how long does this call take there, and which rule decides that?
///
/// A modelled machine answers at once, in virtual time. Without --on or --like, oversleep measures this machine.
#[derive(Args, Debug)]
#[command(before_help = examples_here(), after_help = exits("", CODES))]
pub struct Ask {
    #[command(flatten)]
    question: AskArgs,

    #[command(flatten)]
    documents: Documents<Read>,
}

impl Ask {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let delivery = Delivery::only_named(&self.documents, &[])?;
        let replies = self.question.replies(self.machines()?)?;
        delivery.deliver(&Answers(&replies), "oversleep-answer")?;
        Ok(Exit::Fine)
    }

    fn machines(&self) -> Result<Vec<Machine>, Failure> {
        let AskArgs { on, like, model, .. } = &self.question;
        if on.is_empty() && like.is_none() {
            if !model.set.is_empty() || model.seed.is_some() {
                return Err(Failure::usage("--set and --seed change a modelled machine; name one with --on or --like"));
            }
            return Ok(vec![("this machine".to_owned(), Ok(Laboratory::on(oversleep_native::here())))]);
        }
        let mut machines = self.question.modelled()?;
        if let Some(path) = like {
            let args = MachineArgs { like: Some(path.clone()), model: model.clone(), ..MachineArgs::default() };
            machines.push((format!("like {}", path.display()), Ok(request::machine::laboratory(&args)?)));
        }
        Ok(machines)
    }
}
