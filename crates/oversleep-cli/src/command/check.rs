//! `check`: all experiments, and the remedies.

use clap::Args;

use super::measuring::{self, Files};
use super::own_waits;
use crate::args::{CheckArgs, OutputArgs};
use crate::command::spec::{MEASURES, examples, exits};
use crate::exit::{Exit, Failure};
use crate::message;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep check", "everything, in about 10 s; up to 20 s beside other programs"),
    ("oversleep check --quick", "the large effects, in about 5 s"),
    ("oversleep check --only B2,D1", "two experiments"),
    ("oversleep check --out r.json --quiet", "everything, into a result file, without progress"),
];

/// Measure everything, report what is wrong, try what helps (the default)
///
/// It runs the experiments, checks for every finding, and tries harmless remedies on its own threads to show what they gain.
/// The experiments that start other processes need --thorough or --only. Unless you name an output, it leaves
/// oversleep-<UTC date and time>.json and .html in the current directory.
#[derive(Args, Debug, Default)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", MEASURES))]
pub struct Check {
    #[command(flatten)]
    checked: CheckArgs,
    /// Follow oversleep's own waits in the kernel, too, in rounds of their own: what is each of them late by?
    ///
    /// It needs what `oversleep why` needs: Linux, and root or CAP_BPF and CAP_PERFMON. Without these it says what is
    /// missing and checks everything else.
    #[arg(long)]
    why: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl Check {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let args = self.checked.measuring()?;
        if !self.why {
            return measuring::run(args, &self.output, Files::Automatic);
        }
        if args.machine.on.is_some() || args.machine.like.is_some() {
            return Err(Failure::usage("--why follows waits in this machine's kernel; leave out --on and --like"));
        }
        // The check comes before the measurement, so that the user learns of a problem in time.
        if let Err(error) = own_waits::can_follow() {
            message::warning(&format!("--why: {error}"));
            return measuring::run(args, &self.output, Files::Automatic);
        }
        measuring::run_and(args, &self.output, Files::Automatic, |lab, request, stop, file| {
            if let Err(error) = own_waits::add(lab, request, stop, file) {
                message::warning(&format!("--why: {error}"));
            }
        })
    }
}
