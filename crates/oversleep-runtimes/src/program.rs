//! A program of the user's own that speaks the protocol. It lists itself what it can measure.

use std::path::Path;

use oversleep_record::probe::{Hello, OpKind, Record};
use oversleep_record::series::Runtime;

use crate::conversation::Unfinished;
use crate::descriptor::Op;
use crate::limits::Limits;
use crate::probe::Launch;

/// How many operations a program may list: a result holds no more than some thousand series, nine or so for each.
const OPS_MAX: usize = 200;

/// A program and what it lists.
#[derive(Debug)]
pub struct Program {
    /// How to start it.
    pub launch: Launch,
    /// The operations that it can measure.
    pub ops: Vec<Op>,
}

/// Starts a program with `list` and reads what it can measure.
///
/// # Errors
/// The reason if it can't be used.
pub fn ask(path: &str, limits: Limits) -> Result<Program, String> {
    let stem = Path::new(path).file_stem().map_or_else(|| path.to_owned(), |stem| stem.to_string_lossy().into_owned());
    let id = stem.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    let runtime = Runtime { name: stem, version: String::new() };
    let mut launch = Launch { words: vec![path.to_owned()], environment: Default::default(), runtime, id, limits };
    let conversation = launch.converse(&["list".to_owned()], limits.list);
    if let Some(why) = conversation.unfinished {
        return Err(match why {
            Unfinished::NotStarted(error) => format!("it can't be started: {error}"),
            Unfinished::Nonsense(error) => error,
            Unfinished::Ended(how) => format!("it {how}, when asked for `list`"),
            Unfinished::TooMuch => "it wrote too much when asked for `list`".to_owned(),
            Unfinished::Silent => {
                let protocol = "crates/oversleep-runtimes/probes/PROTOCOL.md in oversleep's sources";
                format!("it did not answer `list` (see {protocol})")
            }
        });
    }
    let (mut hello, mut ops) = (None, Vec::new());
    for line in &conversation.lines {
        match Record::read(line) {
            Ok(Some(Record::Hello(said))) => hello = Some(said),
            Ok(Some(Record::Op { op, kind })) if ops.iter().all(|one: &Op| one.name != op) => ops.push(named(op, kind)),
            _ => {}
        }
    }
    let Some(Hello { runtime, version, .. }) = hello else { return Err("it said no `hello`".to_owned()) };
    launch.runtime = Runtime { name: runtime, version };
    if ops.is_empty() {
        return Err("it names nothing to measure when asked for `list`".to_owned());
    }
    if ops.len() > OPS_MAX {
        return Err(format!("it lists {} operations, and may list {OPS_MAX}", ops.len()));
    }
    Ok(Program { launch, ops })
}

/// Gives programs that share a name their own: results tell programs apart by runtime and id. `taken` holds those of the
/// runtimes installed.
pub fn tell_apart(programs: &mut [Program], mut taken: Vec<(String, Runtime)>) {
    let said: Vec<Runtime> = programs.iter().map(|program| program.launch.runtime.clone()).collect();
    let is_shared = |runtime: &Runtime, taken: &[(String, Runtime)]| {
        taken.iter().any(|(_, other)| other == runtime) || said.iter().filter(|other| *other == runtime).count() > 1
    };
    for program in programs {
        let launch = &mut program.launch;
        let plain = launch.id.clone();
        for number in 2.. {
            if taken.iter().all(|(id, _)| *id != launch.id) {
                break;
            }
            launch.id = format!("{plain}-{number}");
        }
        if is_shared(&launch.runtime, &taken) {
            launch.runtime.name = format!("{} ({})", launch.runtime.name, launch.id);
        }
        taken.push((launch.id.clone(), launch.runtime.clone()));
    }
}

fn named(name: String, kind: OpKind) -> Op {
    Op { name, kind, beneath: Default::default(), since: None, systems: Vec::new(), published: None, slow: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(id: &str, name: &str) -> Program {
        let runtime = Runtime { name: name.to_owned(), version: "1.0".to_owned() };
        let (environment, limits) = Default::default();
        let launch = Launch { words: Vec::new(), environment, runtime, id: id.to_owned(), limits };
        Program { launch, ops: Vec::new() }
    }

    #[test]
    fn programs_that_share_a_name_are_told_apart() {
        let installed = Runtime { name: "java".to_owned(), version: "1.0".to_owned() };
        let mut all = [
            program("good", "engine"),
            program("wrap", "engine"),
            program("good", "other"),
            program("java-17", "java"),
            program("plain", "plain"),
        ];
        tell_apart(&mut all, vec![("java-17".to_owned(), installed)]);
        let named: Vec<(&str, &str)> =
            all.iter().map(|one| (one.launch.id.as_str(), one.launch.runtime.name.as_str())).collect();
        assert_eq!(
            named,
            [
                ("good", "engine (good)"),
                ("wrap", "engine (wrap)"),
                ("good-2", "other"),
                ("java-17-2", "java (java-17-2)"),
                ("plain", "plain")
            ]
        );
    }
}
