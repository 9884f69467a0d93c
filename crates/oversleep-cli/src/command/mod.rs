//! The commands, one file each with its options, examples, exit codes and implementation. A new one is a file and its two
//! lines here; help, completions, manual pages and the lists of tests derive from it.

mod archive;
mod ask;
mod assert;
mod check;
mod clocks;
mod compare;
mod completions;
mod doctor;
mod emulate;
mod experiments;
mod explain;
mod export;
mod forkjoin;
mod handoff;
mod idle;
mod live;
mod machines;
mod man;
mod measuring;
mod mistakes;
mod own_waits;
mod page;
mod registry;
mod report;
mod resolution;
mod results;
mod run;
mod runtimes;
mod serve;
mod share;
pub mod spec;
mod waits;
mod watch;
mod why;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use oversleep_native::AppEnd;
use oversleep_system::examples::Examples;

use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::safe;
use spec::{MEASURES, examples, exits};

/// Examples with names of this system.
fn start() -> String {
    let Examples { waits: [sleep, _], finer: (tunable, setting), .. } = oversleep_native::examples();
    examples(&[
        ("oversleep".to_owned(), "find what is wrong here, and what helps"),
        ("oversleep check --quick".to_owned(), "the same in about 5 s"),
        (format!("oversleep waits {sleep} --request 300us,1ms"), "how late does a sleep end?"),
        (format!("oversleep waits --{tunable} {setting} --load spin"), "every wait, while the CPUs are busy"),
        ("oversleep clocks --json".to_owned(), "what each clock costs, as JSON"),
        ("oversleep doctor".to_owned(), "what oversleep can observe and change here"),
    ])
}

/// The memory use of commands; docs/memory.md has the measurements.
const MEMORY: &str = "\
Memory: no command takes more than 150 MB for files of up to 200 MB, and
check takes less than 60 MB, however long it measures.";

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "oversleep",
    version,
    about = "Measures what clocks, sleeps, waits and threads really do here, explains why, and shows what helps",
    long_about = "Ask for one millisecond of sleep: oversleep shows what you get, why, and how to get what you asked for.\n\n\
        Without a command it runs `check`, which measures this machine in about ten seconds, prints its findings, and leaves a \
        result file and an HTML report in the current directory. It changes nothing on the machine unless you tell it to, \
        works without privileges, and needs no network.",
    before_help = start(),
    after_help = format!("{}\n\n{MEMORY}", exits("", MEASURES)),
    override_usage = "oversleep [OPTIONS OF check]\n       oversleep <COMMAND> [OPTIONS]",
    subcommand_required = true,
    max_term_width = 110
)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// When to use colours; auto uses them on a terminal unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, global = true)]
    color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

/// The commands, in the order of the help.
macro_rules! commands {
    ($($name:ident: $options:ty),+ $(,)?) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($name($options),)+
        }

        impl Command {
            fn run(self) -> Result<Exit, Failure> {
                match self {
                    $(Command::$name(command) => command.run(),)+
                }
            }
        }
    };
}

commands! {
    Check: check::Check,
    Clocks: clocks::Clocks,
    Waits: waits::Waits,
    Forkjoin: forkjoin::ForkJoin,
    Handoff: handoff::Handoff,
    Idle: idle::Idle,
    Resolution: resolution::Resolution,
    Runtimes: runtimes::Runtimes,
    Ask: ask::Ask,
    Machines: machines::Machines,
    Experiments: experiments::Experiments,
    Explain: explain::Explain,
    Watch: watch::Watch,
    Serve: serve::Serve,
    Why: why::Why,
    Report: report::Report,
    Compare: compare::Compare,
    Assert: assert::Assert,
    Share: share::Share,
    Export: export::Export,
    Archive: archive::Archive,
    Run: run::Run,
    Emulate: emulate::Emulate,
    Page: page::Page,
    Doctor: doctor::Doctor,
    Completions: completions::Completions,
    Man: man::Man,
}

/// Reads the command line and runs the command; without a command it means `check`.
///
/// # Errors
/// Why it failed, in one message.
pub fn run() -> Result<Exit, Failure> {
    let typed = with_command(std::env::args_os().collect());
    let read = Cli::try_parse_from(&typed);
    let is_line = !matches!(&read, Err(answer) if !answer.use_stderr());
    let mistaken = is_line.then(|| mistakes::instead(&Cli::command(), &typed, read.as_ref().err())).flatten();
    let ended = match (mistaken, read) {
        (Some(failure), _) => Err(failure),
        (None, Ok(read)) => return read.run(),
        (None, Err(answer)) => show(answer, &typed),
    };
    match ended {
        Ok(Exit::Fine) => Ok(Exit::Fine),
        // What fails before the program runs has a code of its own, whatever it is.
        ended if is_emulation(&typed) => emulate::failed(ended),
        ended => ended,
    }
}

/// Whether that command was meant, whatever is wrong with its options.
fn is_emulation(typed: &[OsString]) -> bool {
    let read = Cli::command().ignore_errors(true).try_get_matches_from(typed);
    read.is_ok_and(|read| read.subcommand_name() == Some("emulate"))
}

/// Shows clap's output: help, the version, or an error. An error repeats what was typed, so clap parses it again
/// without the characters that a terminal would obey.
fn show(answer: clap::Error, typed: &[OsString]) -> Result<Exit, Failure> {
    let safe: Vec<OsString> = typed.iter().map(|one| safe::line(&one.to_string_lossy()).into()).collect();
    let is_safe = safe == typed;
    let again = if is_safe { None } else { Cli::try_parse_from(safe).err() };
    let answer = without_escape(match again.filter(|again| again.kind() == answer.kind()) {
        Some(again) => again,
        None if is_safe => answer,
        // The error is about those characters, and this text has no styles.
        None => {
            let text = without_escape(answer).to_string();
            return Err(Failure::Usage(text.trim().trim_start_matches("error: ").to_owned()));
        }
    });
    if answer.use_stderr() {
        let _ = answer.print();
        return Ok(Exit::Program(AppEnd::Code(answer.exit_code())));
    }
    stdout::text(&answer.render().ansi().to_string())?;
    Ok(Exit::Fine)
}

/// An error without the tip to pass an unknown option as a value, which helps nobody here.
fn without_escape(mut answer: clap::Error) -> clap::Error {
    if let Some(ContextValue::StyledStrs(mut tips)) = answer.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().starts_with("to pass "));
        if !tips.is_empty() {
            answer.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    answer
}

impl Cli {
    fn run(self) -> Result<Exit, Failure> {
        let choice = match self.color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
        self.command.run()
    }
}

/// The arguments, with `check` inserted if they name no command: at the end, or before the first option that isn't a
/// global one.
fn with_command(mut typed: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(argument) = typed.get(at) {
        match argument.to_str() {
            Some("--color") if at + 1 == typed.len() => return typed,
            Some("--color") => at += 2,
            Some(argument) if argument.starts_with("--color=") => at += 1,
            Some("-h" | "--help" | "-V" | "--version") => return typed,
            Some(option) if option.starts_with('-') => break,
            _ => return typed,
        }
    }
    typed.insert(at.min(typed.len()), "check".into());
    typed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_is_meant_where_no_command_is_typed() {
        let read = |typed: &str| {
            let typed = with_command(typed.split_whitespace().map(OsString::from).collect());
            typed.iter().map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        for (typed, meant) in [
            ("oversleep", "oversleep check"),
            ("oversleep --quick", "oversleep check --quick"),
            ("oversleep --color never", "oversleep --color never check"),
            ("oversleep --color=never -q", "oversleep --color=never check -q"),
            ("oversleep --color never waits", "oversleep --color never waits"),
            ("oversleep --help", "oversleep --help"),
            ("oversleep -V", "oversleep -V"),
            ("oversleep chekc", "oversleep chekc"),
        ] {
            assert_eq!(read(typed), meant);
        }
        assert_eq!(read("oversleep --color"), "oversleep --color", "clap then lists the values");
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_fits_80_columns_and_every_command_has_examples_and_exit_codes() {
        fn check(command: &clap::Command) {
            let name = command.get_name();
            for (text, begin) in
                [(command.get_before_help(), "Examples:\n  oversleep"), (command.get_after_help(), "Exit codes:\n")]
            {
                let text = text.map(ToString::to_string).unwrap_or_default();
                assert!(text.starts_with(begin), "{name}: {text}");
                let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > spec::COLUMNS).collect();
                assert!(long.is_empty(), "{name}: longer than a manual page takes: {long:#?}");
            }
            for heading in command.get_arguments().filter_map(|argument| argument.get_help_heading()) {
                // A colon follows.
                assert!(heading.chars().count() < spec::HELP_COLUMNS, "{name}: {heading}");
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }

    #[test]
    fn every_command_and_option_has_help() {
        fn check(command: &clap::Command) {
            let name = command.get_name();
            assert!(command.get_about().is_some(), "{name} has no description");
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{name}: {} has no help", argument.get_id());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
