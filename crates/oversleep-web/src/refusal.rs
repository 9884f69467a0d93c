//! What the page says of a command line that can't be read. The parser's own words are those of a terminal: they quote
//! placeholders and name options that the page doesn't have.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The commands of the page.
const COMMANDS: &str = "ask, check, report, compare and assert";

/// Why a command line can't be read, in a sentence.
pub fn sentence(error: &clap::Error, words: &[String]) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    // `--on <MACHINE>` is shown as `--on`.
    let option = |kind| text(kind).map(|text| text.split(" <").next().unwrap_or_default().to_owned());
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    if let Some(reason) = error.source() {
        // The sentence of the value's own reader, which quotes the value or is about it.
        let reason = reason.to_string();
        return if reason.contains(&value) { reason } else { format!("can't use '{value}': {reason}") };
    }
    let is_question = text(ContextKind::InvalidArg).is_none_or(|name| name.starts_with('<'));
    match error.kind() {
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("{} needs a value", option(ContextKind::InvalidArg).unwrap_or_default())
        }
        ErrorKind::InvalidValue => match text(ContextKind::ValidValue) {
            Some(valid) => format!("can't use '{value}'; choose from {valid}"),
            None => format!("can't use '{value}'"),
        },
        ErrorKind::InvalidSubcommand | ErrorKind::MissingSubcommand => {
            format!("this page has the commands {COMMANDS}; all others need a terminal")
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => format!("write a command: this page has {COMMANDS}"),
        ErrorKind::MissingRequiredArgument if is_question => match words.first().map(String::as_str) {
            Some("ask") => "write a question, like sleep(1ms)".to_owned(),
            _ => "drop a result file on this page".to_owned(),
        },
        ErrorKind::MissingRequiredArgument => {
            format!("{} is missing", option(ContextKind::InvalidArg).unwrap_or_default())
        }
        ErrorKind::UnknownArgument => {
            let given = option(ContextKind::InvalidArg).unwrap_or_default();
            match text(ContextKind::SuggestedArg) {
                Some(near) => format!("this page doesn't know '{given}'; did you mean '{near}'?"),
                None => format!("this page doesn't know '{given}'"),
            }
        }
        ErrorKind::ArgumentConflict => {
            let given = option(ContextKind::InvalidArg).unwrap_or_default();
            match option(ContextKind::PriorArg) {
                Some(other) if other != given => format!("{given} can't be used with {other}"),
                _ => format!("{given} can be used once"),
            }
        }
        _ => {
            let shown = error.to_string();
            shown.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_measure::Silent;

    use crate::command::run;

    #[test]
    fn a_command_line_that_can_not_be_read_is_refused_without_words_of_the_terminal() {
        let error = |words: &str| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            run(&words, &[], &mut Silent).expect_err("it is refused")
        };
        for (words, begins) in [
            ("ask foo --on windows-11", "'foo': write a question like sleep(1ms)"),
            ("ask --on windows-11", "write a question, like sleep(1ms)"),
            ("ask sleep(1ms) --on windows-11 --csv", "this page doesn't know '--csv'"),
            ("ask sleep(1ms) --on windows-11 --cuont 3", "this page doesn't know '--cuont'; did you mean '--count'?"),
            ("ask sleep(1ms) --on windows-11 --pace slow", "can't use 'slow'; choose from "),
            ("ask sleep(1ms) --on", "--on needs a value"),
            ("ask sleep(1ms) --on windows-11 --count 3 --count 4", "--count can be used once"),
            ("ask sleep(1ms) --after-neighbour --on windows-11", "--neighbour is missing"),
            ("check --on windows-11 --quick --thorough", "--quick can't be used with --thorough"),
            (
                "waits nanosleep",
                "this page has the commands ask, check, report, compare and assert; all others need a terminal",
            ),
            ("report", "drop a result file on this page"),
            ("", "write a command: this page has ask, check, report, compare and assert"),
        ] {
            let said = error(words);
            assert!(said.starts_with(begins), "{words}: {said}");
            for jargon in ["error:", "invalid value", "--help", "Usage", "tip:", "unexpected", "<"] {
                assert!(!said.contains(jargon), "{words}: {said}");
            }
        }
    }
}
