//! The `--` between the options and the program, without which an option of the program would be one of oversleep's.

use std::ffi::OsString;

use crate::exit::Failure;

/// Checks that the program that was typed is after `--`.
///
/// # Errors
/// It isn't, with what to type.
pub fn program_after_dashes(program: &[OsString]) -> Result<(), Failure> {
    let typed: Vec<OsString> = std::env::args_os().collect();
    match separated(&typed, program) {
        Some(line) => Err(Failure::usage(format!("put the program after --: {line}"))),
        None => Ok(()),
    }
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
