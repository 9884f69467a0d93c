//! A program of the user's own that speaks the protocol: what it can measure, by its own word.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use oversleep_record::Nanos;
use oversleep_record::probe::{Hello, OpKind, Record};
use oversleep_record::series::Runtime;

use crate::descriptor::Op;
use crate::probe::Launch;
use crate::supervise::{Event, Running};

/// How long a program may take to list what it measures.
const LIST_MAX: Duration = Duration::from_secs(10);

/// What a program says about itself.
#[derive(Debug)]
pub struct Program {
    /// How it is started.
    pub launch: Launch,
    /// What it measures.
    pub ops: Vec<Op>,
}

/// Asks a program what it measures.
///
/// # Errors
/// Why it can't be used, in words.
pub fn ask(path: &str) -> Result<Program, String> {
    let words = vec![path.to_owned()];
    let mut command = Command::new(path);
    let mut running =
        Running::start(command.arg("list"), || Nanos::ZERO).map_err(|error| format!("it can't be started: {error}"))?;
    let (mut hello, mut ops) = (None, Vec::new());
    loop {
        match running.next(LIST_MAX, &|| false) {
            Event::Line(_, line) => match Record::read(&line).map_err(|error| error.to_string())? {
                Some(Record::Hello(said)) => hello = Some(said),
                Some(Record::Op { op, kind }) => ops.push(named(op, kind)),
                Some(Record::End { .. }) => break,
                _ => {}
            },
            Event::Closed => {
                return Err(format!("it ended without `end` when asked for `list`, with {}", running.last_words()));
            }
            Event::TooMuch => return Err("it wrote too much when asked for `list`".to_owned()),
            Event::Silent | Event::Stopped => {
                return Err("it did not answer `list` (see probes/PROTOCOL.md)".to_owned());
            }
        }
    }
    let Some(Hello { runtime, version, .. }) = hello else { return Err("it said no `hello`".to_owned()) };
    if ops.is_empty() {
        return Err("it names nothing to measure when asked for `list`".to_owned());
    }
    let stem = Path::new(path).file_stem().map_or_else(|| runtime.clone(), |stem| stem.to_string_lossy().into_owned());
    let id = stem.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    Ok(Program { launch: Launch { words, runtime: Runtime { name: runtime, version }, id }, ops })
}

fn named(name: String, kind: OpKind) -> Op {
    Op { name, kind, beneath: Default::default(), since: None, systems: Vec::new(), published: None, slow: false }
}
