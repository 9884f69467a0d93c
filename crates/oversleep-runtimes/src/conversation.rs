//! One run of a probe outside a measurement: its lines, and how it ended.

use std::time::Duration;

use oversleep_record::Nanos;
use oversleep_record::probe::Record;

use crate::probe::Launch;
use crate::supervise::{Event, Limit, Running};

/// The output of a probe.
#[derive(Debug)]
pub struct Conversation {
    /// Its lines in order, up to the record `end`.
    pub lines: Vec<String>,
    /// Why it did not reach `end`.
    pub unfinished: Option<Unfinished>,
}

/// Why a program did not reach its last record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// It couldn't be started.
    NotStarted(String),
    /// It wrote a line that is not a record.
    Nonsense(String),
    /// It ended or closed its output; the text says how.
    Ended(String),
    /// It wrote more than the limit.
    TooMuch,
    /// It didn't reach its last record within the time limit.
    Silent,
}

impl Launch {
    /// Starts the program with these steps and reads its lines until `end`, for `longest` at most.
    pub fn converse(&self, tokens: &[String], longest: Duration) -> Conversation {
        let mut lines = Vec::new();
        let unfinished = self.listen(tokens, longest, &mut lines).err();
        Conversation { lines, unfinished }
    }

    fn listen(&self, tokens: &[String], longest: Duration, lines: &mut Vec<String>) -> Result<(), Unfinished> {
        let started = Running::start(&mut self.command(tokens), || Nanos::ZERO);
        let mut running = started.map_err(|error| Unfinished::NotStarted(error.to_string()))?;
        let limit = Limit::of(longest);
        loop {
            match running.next(limit, &|| false) {
                Event::Line(_, line) => {
                    let record = Record::read(&line).map_err(|error| Unfinished::Nonsense(error.to_string()));
                    lines.push(line);
                    if let Some(Record::End { .. }) = record? {
                        return Ok(());
                    }
                }
                Event::Closed => return Err(Unfinished::Ended(running.last_words(self.limits.end))),
                Event::TooMuch => return Err(Unfinished::TooMuch),
                Event::Silent | Event::Stopped => return Err(Unfinished::Silent),
            }
        }
    }
}
