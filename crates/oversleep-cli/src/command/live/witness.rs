//! Whether the kernel's events say who ran instead.

use clap::ValueEnum;
use oversleep_collect::CollectError;
use oversleep_record::environment::Os;

use super::who::Witness;
use crate::exit::Failure;
use crate::message;

/// What names the causes of a late wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// Events of the kernel
    Kernel,
    /// Counters of this process
    Counters,
}

/// A witness where one is chosen, or where the kernel grants one; otherwise what grants it is said.
///
/// # Errors
/// One is chosen and not granted.
pub fn open(choice: Option<Choice>, is_quiet: bool) -> Result<Option<Witness>, Failure> {
    // Elsewhere, a session that follows the kernel costs more than a watch may, so it has to be chosen.
    let is_elsewhere = choice.is_none() && !oversleep_native::here().id().is(Os::Linux);
    if choice == Some(Choice::Counters) || is_elsewhere {
        return Ok(None);
    }
    let say = |line: &str| {
        if !is_quiet {
            message::note(line);
        }
    };
    match (Witness::open(), choice) {
        (Ok(witness), _) => Ok(Some(witness)),
        (Err(refused), Some(_)) => Err(refusal(refused)),
        (Err(CollectError::Refused { missing, remedy, command, .. }), None) => {
            let end = if command.is_some() { ":" } else { "." };
            say(&format!("Who ran instead of a late wait isn't named: {missing}."));
            say(&format!("{remedy}{end}"));
            command.iter().for_each(|command| say(&format!("  {command}")));
            Ok(None)
        }
        // Where the system has no such events, its users know of none.
        (Err(CollectError::System), None) => Ok(None),
        (Err(other), None) => {
            say(&format!("Who ran instead of a late wait isn't named: {other}"));
            Ok(None)
        }
    }
}

fn refusal(error: CollectError) -> Failure {
    match error {
        CollectError::Refused { missing, remedy, command, more } => Failure::Refused {
            what: format!("the kernel doesn't say who runs: {missing}"),
            next: [format!("  {remedy}")]
                .into_iter()
                .chain(command.map(|command| format!("    {command}")))
                .chain(more.iter().map(|more| format!("  {more}")))
                .collect(),
        },
        other => Failure::failed(other.to_string()),
    }
}
