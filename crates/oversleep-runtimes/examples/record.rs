//! Records what the probe of every runtime here writes, for tests that find rules in it:
//! `cargo run -p oversleep-runtimes --example record -- crates/oversleep-explain/tests/recorded [NAME…]`
//! writes a file for each runtime. Record on a quiet machine, and name the machine and the date beside the files.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs};

use oversleep_measure::Plan;
use oversleep_record::probe::OpKind;
use oversleep_runtimes::{Cache, Surroundings, Wanted, rule_steps};

/// A call that has not returned by then never does.
const LONGEST: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: record FOLDER [NAME…]");
        return ExitCode::from(2);
    };
    let os = oversleep_native::here().id().os;
    let surroundings = Surroundings::here(&os);
    let wanted = Wanted { names: arguments.collect(), ..Wanted::default() };
    let survey = match wanted.survey(&surroundings) {
        Ok(survey) => survey,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    survey.missing.iter().for_each(|one| eprintln!("not recorded: {}: {}", one.name, one.reason));
    let cache = Cache::open(&surroundings);
    for installation in &survey.found {
        let launch = match installation.launch(&cache, &surroundings) {
            Ok(launch) => launch,
            Err(reason) => {
                eprintln!("not recorded: {}: {reason}", installation.id);
                continue;
            }
        };
        let ops = installation.descriptor.op.iter();
        let waits = ops.filter(|op| op.kind == OpKind::Wait && !op.slow && op.is_on(&os) && installation.has(op));
        let mut text = String::new();
        for op in waits {
            // A start for each, as when it is measured; a request that never returns ends the process.
            let said = launch.converse(&rule_steps(op, &Plan::default()), LONGEST);
            said.lines.iter().filter(|line| line.starts_with('{')).for_each(|line| text += line);
        }
        let file = folder.join(format!("{}.ndjson", installation.id));
        if let Err(error) = fs::write(&file, text) {
            eprintln!("error: {}: {error}", file.display());
            return ExitCode::FAILURE;
        }
        println!("{}", file.display());
    }
    ExitCode::SUCCESS
}
