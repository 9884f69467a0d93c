//! `machines`: the modelled machines, their figures, and how well they reproduce published measurements.

mod verify;

use clap::{Args, Subcommand};
use oversleep_lab::machines::{self, Description};
use oversleep_report::listing::machines::{every, listing};

use crate::args::{Documents, List, value};
use crate::command::spec::{READS, examples, exits};
use crate::exit::{Exit, Failure};
use crate::output::show;
use crate::request::machine;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep machines", "the modelled machines"),
    ("oversleep machines windows-11", "one: every figure with its source"),
    ("oversleep check --on windows-11", "measure it, in virtual time"),
];

/// List the modelled machines, or explain one: every figure with its source
///
/// They stand in for machines you don't have: `--on NAME` runs any measurement on one, in virtual time.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS), args_conflicts_with_subcommands = true)]
pub struct Machines {
    /// Machine to explain, like windows-11 [default: list all]
    name: Option<String>,

    /// Change a figure, like tick=1ms, and show the result
    #[arg(long, value_name = "KEY=VALUE", value_parser = value::change, requires = "name")]
    set: Vec<String>,

    #[command(flatten)]
    documents: Documents<List>,

    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Debug, Subcommand)]
enum Task {
    Verify(verify::Verify),
}

impl Machines {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        if let Some(Task::Verify(task)) = self.task {
            return task.run();
        }
        let names = match &self.name {
            Some(name) => {
                machine::known(name)?;
                vec![name.as_str()]
            }
            None => machines::names(),
        };
        let described = |name| machines::describe(name, &self.set).map_err(|error| Failure::usage(error.to_string()));
        let all: Vec<Description> = names.into_iter().map(described).collect::<Result<_, _>>()?;
        show(&self.documents, &if self.name.is_some() { listing(&all[0]) } else { every(&all) })
    }
}
