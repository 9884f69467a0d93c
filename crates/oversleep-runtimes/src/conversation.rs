//! Everything that a probe says when it is started with some steps.

use std::time::Duration;

use oversleep_record::Nanos;
use oversleep_record::probe::Record;

use crate::probe::Launch;
use crate::supervise::{Event, Running};

/// What a probe wrote.
#[derive(Debug)]
pub struct Conversation {
    /// Its lines, as they came, to the record `end` at most.
    pub lines: Vec<String>,
    /// Why it did not come to `end`.
    pub unfinished: Option<Unfinished>,
}

/// Why a program was ended before its last record, or ended itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// It can't be started.
    NotStarted(String),
    /// A line is no record.
    Nonsense(String),
    /// It ended by itself, or closed its output: what it did.
    Ended(String),
    /// It wrote more than is read.
    TooMuch,
    /// It wrote nothing for too long.
    Silent,
}

impl Launch {
    /// Starts the program with these steps and listens until `end`, or until it writes nothing for that long.
    pub fn converse(&self, tokens: &[String], longest: Duration) -> Conversation {
        let mut lines = Vec::new();
        let unfinished = self.listen(tokens, longest, &mut lines).err();
        Conversation { lines, unfinished }
    }

    fn listen(&self, tokens: &[String], longest: Duration, lines: &mut Vec<String>) -> Result<(), Unfinished> {
        let started = Running::start(&mut self.command(tokens), || Nanos::ZERO);
        let mut running = started.map_err(|error| Unfinished::NotStarted(error.to_string()))?;
        loop {
            match running.next(longest, &|| false) {
                Event::Line(_, line) => {
                    let record = Record::read(&line).map_err(|error| Unfinished::Nonsense(error.to_string()));
                    lines.push(line);
                    if let Some(Record::End { .. }) = record? {
                        return Ok(());
                    }
                }
                Event::Closed => return Err(Unfinished::Ended(running.last_words())),
                Event::TooMuch => return Err(Unfinished::TooMuch),
                Event::Silent | Event::Stopped => return Err(Unfinished::Silent),
            }
        }
    }
}
