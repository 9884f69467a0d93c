//! Keeps the memory of unmodified programs resident. A memory lock belongs to a program and isn't inherited, so each
//! program is made to lock its own memory before its first instruction.

use std::ffi::OsString;

use oversleep_emulate::plan::ClockChoice;
use oversleep_emulate::{Failure as NotRun, Request};
use oversleep_lab::Laboratory;
use oversleep_record::Conditions;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_system::tunables::names::LOCK_MEMORY;

use crate::exit::{Exit, Failure};
use crate::message;

/// Whether the system lets this user's programs lock their memory; warns if it doesn't.
pub fn can_be_locked(lab: &Laboratory) -> bool {
    // Programs have the same permission as this process, which locks its own memory for a moment to find out.
    let held = lab.hold(&Conditions::as_found().with(LOCK_MEMORY, Setting::Flag(true)));
    let why = match held.first().map(|held| &held.outcome) {
        Some(Outcome::Denied { why }) => why.to_string(),
        None => "this system has no such lock".to_owned(),
        Some(_) if !oversleep_emulate::IS_SUPPORTED => {
            "other programs can be made to lock theirs on Linux on x86-64 only".to_owned()
        }
        Some(_) => return true,
    };
    not_held(&why);
    false
}

fn not_held(why: &str) {
    message::warning(&format!("lock-memory on is not held: {why}"));
}

/// Runs a program, and makes it and all that it executes lock their memory. Where nobody may trace, it runs without.
pub fn run(typed: &[OsString]) -> Result<Exit, Failure> {
    let request = Request {
        plan: None,
        locks_memory: true,
        resolution: None,
        clocks: ClockChoice::Off,
        has_adapters: false,
        stands_for: Vec::new(),
        allows_32_bit: true,
        note: message::note,
        program: typed.to_vec(),
    };
    let ended = match oversleep_emulate::run(request) {
        Err(NotRun::NotTraced(why)) => {
            not_held(&why);
            return super::plainly(typed);
        }
        ended => ended?,
    };
    if let Some(report) = &ended.report {
        match (report.not_locked, report.locked) {
            (Some(error), locked) => {
                let error = std::io::Error::from_raw_os_error(error);
                message::warning(&format!(
                    "{locked} of {} programs had their memory locked: {error}; under a limit, later allocations would fail, so \
                     lift it first: ulimit -l unlimited",
                    report.execs
                ));
            }
            (None, locked) => message::note(&format!("programs that had their memory locked: {locked}")),
        }
    }
    Ok(Exit::Program(ended.end))
}
