//! `completions`: scripts that let a shell complete commands and options.

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use oversleep_explain as explain;
use oversleep_lab::catalogue::Kind;
use oversleep_lab::{Laboratory, machines};
use oversleep_measure::registry;

use super::Cli;
use crate::command::spec::{READS, examples, exits};
use crate::exit::{Exit, Failure};
use crate::output::stdout;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep completions bash > oversleep.bash", "then `source oversleep.bash`"),
    ("oversleep completions fish > oversleep.fish", "then move it to ~/.config/fish/completions"),
];

/// Print a completion script for a shell
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS))]
pub struct Completions {
    /// Shell to complete for
    shell: Shell,
}

impl Completions {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut with_names(Cli::command()), "oversleep", &mut script);
        stdout::document(&|out| out.write_all(&script))?;
        Ok(Exit::Fine)
    }
}

/// The names that an argument of a command takes.
fn names(command: &str, argument: &str) -> Option<Vec<&'static str>> {
    let of = |kind| Laboratory::on(oversleep_native::here()).names(kind);
    match (command, argument) {
        (_, "on") | ("machines", "name") | ("emulate", "machine") => Some(machines::names()),
        ("clocks", "names") | (_, "clock") => Some(of(Kind::Clock)),
        ("waits" | "sweep", "names") => Some(of(Kind::Wait)),
        ("handoff", "names") => Some(of(Kind::Handoff)),
        ("idle", "names") => Some(of(Kind::Strategy)),
        ("check", "only") | ("experiments", "id") => {
            Some(registry().iter().map(|experiment| experiment.id.as_str()).collect())
        }
        ("explain", "finding") => Some(explain::registry().iter().flat_map(|entry| [entry.name, entry.id]).collect()),
        _ => None,
    }
}

/// The command with the names that its arguments take.
fn with_names(command: clap::Command) -> clap::Command {
    let name = command.get_name().to_owned();
    let arguments: Vec<String> = command.get_arguments().map(|argument| argument.get_id().to_string()).collect();
    let below: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let named = arguments.into_iter().filter_map(|argument| Some((names(&name, &argument)?, argument)));
    let command = named.fold(command, |command, (names, argument)| {
        command.mut_arg(argument, |argument| argument.value_parser(PossibleValuesParser::new(names)))
    });
    below.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_names))
}
