//! What the help of a command has besides its options: examples that run, and the exit codes that it can end with. Both fit
//! 80 columns, also on the manual pages, which indent them.

use crate::width::wrapped;

/// The columns of a terminal that shows all help without wrapping.
#[cfg(test)]
pub const HELP_COLUMNS: usize = 80;
/// The columns of this: `man` indents it by 7.
pub const COLUMNS: usize = 73;
/// The blanks before a command line, and between it and what it does.
const BLANKS: usize = 4;

/// Command lines as they are typed, each with what it does: in two columns, or beneath a line that is too long for that.
pub fn examples<T: AsRef<str>>(rows: &[(T, &str)]) -> String {
    let most = rows.iter().map(|(_, does)| does.chars().count()).max().unwrap_or(0);
    let lengths = rows.iter().map(|(typed, _)| typed.as_ref().chars().count());
    let column = lengths.filter(|&length| length + BLANKS + most <= COLUMNS).max().unwrap_or(0);
    let mut text = "Examples:".to_owned();
    for (typed, does) in rows {
        let typed = typed.as_ref();
        text += &match does.is_empty() {
            true => format!("\n  {typed}"),
            false if typed.chars().count() <= column => format!("\n  {typed:column$}  {does}"),
            false => format!("\n  {typed}\n      {does}"),
        };
    }
    text
}

/// An exit code and its meaning.
pub type Code = (u8, &'static str);

pub const FINE: Code = (0, "success");
pub const FAILED: Code = (1, "failure: nothing could be measured, or a file could not be read or written");
pub const READ_FAILED: Code = (1, "failure: a file could not be read or written");
pub const USAGE: Code = (2, "usage error: unknown name, option or value");
pub const INCONCLUSIVE: Code = (4, "inconclusive: the machine was too disturbed, or nothing could be judged");
pub const NOT_RUN: Code = (126, "the program can't be run");
pub const NO_PROGRAM: Code = (127, "there is no such program");
pub const INTERRUPTED: Code = (130, "interrupted: the result holds what was measured up to then");

/// Those of commands that measure.
pub const MEASURES: &[Code] = &[FINE, FAILED, USAGE, INCONCLUSIVE, INTERRUPTED];
const WATCHED: Code = (0, "success, also when Ctrl-C ends a watch without --for");
const WATCH_INTERRUPTED: Code =
    (130, "interrupted before the time of --for was over: the result holds what was seen up to then");
/// Those of commands that watch what is to be concluded about.
pub const WATCHES: &[Code] = &[WATCHED, FAILED, USAGE, INCONCLUSIVE, WATCH_INTERRUPTED];
/// Those of commands that watch for disturbances: a disturbed machine is no failure.
pub const WATCHES_ANY: &[Code] = &[WATCHED, FAILED, USAGE, WATCH_INTERRUPTED];
/// Those of commands that read or list.
pub const READS: &[Code] = &[FINE, READ_FAILED, USAGE];
/// The command ends as the program does.
pub const OF_PROGRAM: &str = "the program's own; a signal that ends the program ends oversleep too";

/// The codes; `others` are those without a number of their own.
pub fn exits(others: &str, codes: &[Code]) -> String {
    let mut text = "Exit codes:".to_owned();
    wrapped(others, COLUMNS - 2).iter().for_each(|line| text += &format!("\n  {line}"));
    for (code, means) in codes {
        for (index, line) in wrapped(means, COLUMNS - 7).iter().enumerate() {
            match index {
                0 => text += &format!("\n  {code:>3}  {line}"),
                _ => text += &format!("\n       {line}"),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_stands_beneath() {
        let long = "a --option-that-needs-most-of-the-line-and-leaves-no-room-for-what-is-done";
        let rows = [("a --b", "does"), (long, "what is done"), ("a", "this"), ("a | b", "")];
        assert_eq!(
            examples(&rows),
            format!("Examples:\n  a --b  does\n  {long}\n      what is done\n  a      this\n  a | b")
        );
    }

    #[test]
    fn codes_wrap_beneath_their_meaning() {
        let long = "a meaning that is as long as it takes to be wrapped to the next line of the help of a command";
        let text = exits("", &[FINE, (126, long)]);
        assert!(text.starts_with("Exit codes:\n    0  success\n  126  a meaning that"), "{text}");
        assert!(text.lines().last().is_some_and(|line| line.starts_with("       ")), "{text}");
    }
}
