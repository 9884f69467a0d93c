//! `completions`: scripts that let a shell complete commands and options.

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use oversleep_explain as explain;
use oversleep_lab::catalogue::Kind;
use oversleep_lab::{Laboratory, machines};
use oversleep_measure::registry;
use oversleep_system::tunables;

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
        let script = with_lists(self.shell, String::from_utf8_lossy(&script).into_owned());
        stdout::document(&|out| out.write_all(script.as_bytes()))?;
        Ok(Exit::Fine)
    }
}

/// The options that take several names with commas between them.
const LISTS: [&str; 3] = ["on", "only", "load"];

/// A script that completes each name of a list. clap's would complete a list as one name, where the shell can do otherwise.
fn with_lists(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => {
            let options = LISTS.map(|option| format!("--{option}")).join("|");
            let function = format!("{BASH_LISTS}\n").replace("OPTIONS", &options);
            function + &script.replace("complete -F _oversleep ", "complete -F _oversleep_lists ")
        }
        Shell::Zsh => script.lines().map(|line| zsh_list(line) + "\n").collect(),
        _ => script,
    }
}

/// What comes before the last name of a list is kept from clap's function, and put in front of what it offers.
const BASH_LISTS: &str = r#"_oversleep_lists() {
    local lead=""
    case "$3" in
        OPTIONS)
            if [[ "${BASH_VERSINFO[0]}" -ge 4 && "$2" == *,* ]]; then
                lead="${2%,*},"
            fi
            ;;
    esac
    _oversleep "$1" "${2#"$lead"}" "$3"
    if [[ -n "$lead" ]]; then
        COMPREPLY=("${COMPREPLY[@]/#/$lead}")
    fi
}
"#;

/// `:NAME:(one two)` of such an option, as several values with commas between them.
fn zsh_list(line: &str) -> String {
    let is_list = LISTS.iter().any(|option| line.contains(&format!("--{option}=[")));
    let names = line.strip_suffix(")' \\").and_then(|line| line.rsplit_once(":("));
    match names.filter(|_| is_list) {
        Some((option, names)) => format!("{option}:_values -s , name {names}' \\"),
        None => line.to_owned(),
    }
}

/// The names that an argument of a command takes.
fn names(command: &str, argument: &str) -> Option<Vec<&'static str>> {
    let of = |kind| Laboratory::on(oversleep_native::here()).names(kind);
    match (command, argument) {
        (_, "on") | ("machines", "name") | ("emulate", "machine") => Some(machines::names()),
        (_, "load") => Some(of(Kind::Load)),
        (_, "policy") => {
            let lab = Laboratory::on(oversleep_native::here());
            let policy = tunables::of(&lab.platform_id().os).iter().find(|tunable| tunable.name == "policy")?;
            Some(policy.words.iter().map(|word| word.name).collect())
        }
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
