//! What is injected, what programs do, and what the split says of it.

mod cost;
mod counts;
mod inject;
mod large;
mod memory;
mod observe;
mod program;
mod reading;
mod recorders;
mod replay;
mod scenarios;
mod victim;

use std::process::ExitCode;

use inject::Bar;

pub fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(what) = args.first().and_then(|first| first.strip_prefix("victim=")) {
        victim::run(what);
        return ExitCode::SUCCESS;
    }
    let (bar, args) = match bar(args) {
        Ok(both) => both,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let is_named = |name: &str| args.is_empty() || args.iter().any(|arg| name.contains(arg.as_str()));
    let mut failed = 0;
    let mut tell = |name: &str, ended: Result<String, String>| {
        let (word, text) = match ended {
            Ok(text) => ("ok     ", text),
            Err(text) if text.starts_with("SKIPPED") => ("SKIPPED", text),
            Err(text) => {
                failed += 1;
                ("FAILED ", text)
            }
        };
        println!("{word}  {name:<24} {text}");
    };
    for stage in inject::STAGES.iter().filter(|stage| is_named(stage.name)) {
        tell(stage.name, inject::check(stage, bar));
    }
    for (name, scenario) in scenarios::all().filter(|(name, _)| is_named(name)) {
        tell(name, scenario());
    }
    // Costs take a release build, the others take other programs; all are checked only by name.
    let by_name = cost::ALL.iter().chain(recorders::ALL).chain(counts::ALL);
    for (name, check) in by_name.filter(|(name, _)| args.iter().any(|arg| name.starts_with(arg.as_str()))) {
        tell(name, check());
    }
    for (name, ended) in scenarios::calls(is_named) {
        tell(&name, ended);
    }
    ExitCode::from(u8::from(failed != 0))
}

/// How often and how exactly, from the options before the names.
fn bar(args: Vec<String>) -> Result<(Bar, Vec<String>), String> {
    let mut bar = Bar { rounds: 10, bound_ns: 10_000, is_exact: false };
    let mut names = Vec::new();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|value| value.parse().ok()).filter(|&number: &u32| number != 0);
        match arg.as_str() {
            "--rounds" => bar.rounds = number().ok_or("--rounds takes how often each stage is tried")? as usize,
            "--exact" => bar = Bar { bound_ns: 1_000, is_exact: true, ..bar },
            _ => names.push(arg),
        }
    }
    Ok((bar, names))
}
