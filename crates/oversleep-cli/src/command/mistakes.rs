//! Command lines that say something else than was meant: a program without `--` before it, so that its options would be
//! oversleep's, and a file after an option that takes one only behind an equals sign.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command};
use oversleep_report::document::FORMATS;
use oversleep_runtimes::Surroundings;

use crate::exit::Failure;

/// What to type instead, if a command line is one of these. `error` is what clap says about it.
pub fn instead(whole: &Command, typed: &[OsString], error: Option<&clap::Error>) -> Option<Failure> {
    let read = whole.clone().ignore_errors(true).try_get_matches_from(typed).ok()?;
    let (mut command, mut matches) = (whole, &read);
    while let Some((name, below)) = matches.subcommand() {
        (command, matches) = (command.find_subcommand(name)?, below);
    }
    let takes_program = command.get_positionals().any(|argument| argument.is_last_set());
    file_without_equals(command, typed)
        .or_else(|| error.filter(|_| takes_program).and_then(|error| unknown_word(error, typed)))
        .or_else(|| program_for_others(matches, typed, error).filter(|_| takes_program))
}

/// Checks that the program that was typed is after `--`, where clap accepts it without that.
///
/// # Errors
/// It isn't, with what to type.
pub fn program_after_dashes(program: &[OsString]) -> Result<(), Failure> {
    let typed: Vec<OsString> = std::env::args_os().collect();
    separated(&typed, program).map_or(Ok(()), |line| Err(after_dashes(&line)))
}

fn after_dashes(line: &str) -> Failure {
    Failure::usage(format!("put the program after --: {line}"))
}

/// The word that a command doesn't know begins a program: `emulate windows-11 true`.
fn unknown_word(error: &clap::Error, typed: &[OsString]) -> Option<Failure> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument || word.starts_with('-') {
        return None;
    }
    let begins = typed.iter().position(|one| one == OsStr::new(word))?;
    separated(typed, &typed[begins..]).map(|line| after_dashes(&line))
}

/// A program where files were expected: `why sleep 1`; or a machine, beside an option in its place: `emulate --like FILE
/// ./app`.
fn program_for_others(matches: &ArgMatches, typed: &[OsString], error: Option<&clap::Error>) -> Option<Failure> {
    let first = match error.is_some_and(|error| error.kind() == ErrorKind::ArgumentConflict) {
        true => PathBuf::from(matches.try_get_one::<String>("machine").ok()??),
        false => matches.try_get_many::<PathBuf>("files").ok()??.next()?.clone(),
    };
    let begins = typed.iter().position(|one| one == first.as_os_str()).filter(|_| is_program(&first))?;
    separated(typed, &typed[begins..]).map(|line| after_dashes(&line))
}

/// Whether it is a file that begins as programs do, or no file but the name of a program in the search path.
fn is_program(name: &Path) -> bool {
    const BEGINS: [&[u8]; 5] = [b"#!", b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];
    if name.exists() {
        let mut head = Vec::new();
        // What a pipe holds can be read only once.
        let mut read = || File::open(name).and_then(|file| file.take(4).read_to_end(&mut head));
        return name.is_file() && read().is_ok() && BEGINS.iter().any(|begin| head.starts_with(begin));
    }
    let on_path = |name: &str| !Surroundings::here(&oversleep_native::here().id().os).on_path(name).is_empty();
    name.to_str().is_some_and(|name| name != "-" && on_path(name))
}

/// `--json r.json` where the equals sign is needed: the file would be one of the other arguments.
fn file_without_equals(command: &Command, typed: &[OsString]) -> Option<Failure> {
    let takes_files = command
        .get_positionals()
        .any(|argument| argument.get_value_names().is_some_and(|names| names.iter().any(|name| name == "FILE")));
    let needs_equals = |option: &str| {
        let mut all = command.get_arguments().filter(|argument| argument.get_long() == Some(option));
        all.any(|argument| argument.is_require_equals_set())
    };
    let typed = typed.split(|word| word == "--").next()?;
    typed.windows(2).find_map(|pair| {
        let option = pair[0].to_str()?.strip_prefix("--").filter(|option| needs_equals(option))?;
        let path = Path::new(&pair[1]);
        let is_option = pair[1].to_string_lossy().starts_with('-');
        let is_file_name =
            !is_option && FORMATS.iter().any(|format| path.extension() == Some(OsStr::new(format.extension)));
        // A result that exists is read.
        (is_file_name && !(takes_files && path.exists())).then(|| {
            let file = quoted(&pair[1]);
            Failure::usage(format!("--{option} takes its file behind an equals sign: --{option}={file}"))
        })
    })
}

/// The command line with `--` before the program. `None` if it is there.
fn separated(typed: &[OsString], program: &[OsString]) -> Option<String> {
    let options = typed.strip_suffix(program)?;
    if options.last().is_none_or(|last| last == "--") {
        return None;
    }
    let name = std::iter::once("oversleep".to_owned());
    let options = options.iter().skip(1).map(quoted);
    let program = program.iter().filter(|word| *word != "--").map(quoted);
    Some(name.chain(options).chain(["--".to_owned()]).chain(program).collect::<Vec<_>>().join(" "))
}

/// A word as it is typed in a shell.
fn quoted(word: &OsString) -> String {
    let word = word.to_string_lossy();
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=,+@%~".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split('|').map(OsString::from).collect()
    }

    #[test]
    fn the_program_is_put_after_the_dashes() {
        for (typed, program, line) in [
            ("oversleep|run|--policy|fifo:80|true", "true", Some("oversleep run --policy fifo:80 -- true")),
            ("/bin/oversleep|run|--slack=1ns|ls|-l", "ls|-l", Some("oversleep run --slack=1ns -- ls -l")),
            ("oversleep|run|--nice|5|echo|a 'b'", "echo|a 'b'", Some(r"oversleep run --nice 5 -- echo 'a '\''b'\'''")),
            ("oversleep|run|--nice|5|true|--|x", "true|--|x", Some("oversleep run --nice 5 -- true x")),
            ("oversleep|run|--nice|5|--|true", "true", None),
            ("oversleep|run|--nice|5|--|env|--|true", "env|--|true", None),
        ] {
            assert_eq!(separated(&words(typed), &words(program)).as_deref(), line, "{typed}");
        }
    }
}
