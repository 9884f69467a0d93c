//! `resolution hold`: holds a setting while a program runs, or until Ctrl-C.

use std::ffi::{OsStr, OsString};

use clap::Args;
use oversleep_lab::Laboratory;
use oversleep_native::EXAMPLE_PROGRAM;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_system::Reached;

use crate::args::{MachineArgs, value};
use crate::command::spec::{Code, NO_PROGRAM, NOT_RUN, OF_PROGRAM, examples, exits};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::message;

const CODES: &[Code] = &[
    (0, "no program was named, and the setting is released"),
    (1, "failure: the setting was refused, or the program could not be waited for"),
    (2, "usage error: unknown name, option or value; no such setting here"),
    NOT_RUN,
    NO_PROGRAM,
];

/// Examples with names of this system.
fn hold_examples() -> String {
    examples(&[
        (format!("oversleep resolution hold 1ms -- {}", EXAMPLE_PROGRAM), "while a program runs"),
        ("oversleep resolution hold 1ms".to_owned(), "until Ctrl-C"),
    ])
}

/// Hold a setting while a program runs, or until Ctrl-C
///
/// It reports what was granted and whom that reaches, and ends as the program does. If the system refuses, it warns and
/// runs the program anyway.
#[derive(Args, Debug)]
#[command(before_help = hold_examples(), after_help = exits(OF_PROGRAM, CODES))]
pub(super) struct Hold {
    /// Setting to hold: a duration, like 1ms or 1ns, or a name on a system that names its settings
    #[arg(value_name = "SETTING", value_parser = value::setting, allow_hyphen_values = true)]
    setting: Setting,

    /// Program to run, with its arguments, after --
    #[arg(value_name = "PROGRAM", last = true)]
    program: Vec<OsString>,

    /// Print no progress and no notes on standard error, only warnings and errors
    #[arg(long, short)]
    quiet: bool,
}

impl Hold {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        message::leave_out_notes(self.quiet);
        super::measurable(&MachineArgs::default())?;
        let lab = Laboratory::on(oversleep_native::here());
        let name = lab.resolution_tunable().map_or("resolution", |tunable| tunable.name);
        let setting = &self.setting;
        let held = lab.hold_resolution(setting);
        let held = held.map_err(|why| Failure::usage(format!("can't hold {name} {setting}: {why}")))?;
        match &held.outcome {
            Outcome::Denied { why } => message::warning(&format!("{name} {setting} is not held: {why}")),
            outcome => message::note(&format!("{}; {}", granted(name, setting, outcome), held.reached.sentence)),
        }
        let Some((program, arguments)) = self.program.split_first() else {
            interrupt::wait_for_signal(|| message::note("press Ctrl-C to release it"))?;
            return Ok(Exit::Fine);
        };
        if let Some(warning) = left_out(name, program, &held.outcome, &held.reached) {
            message::warning(&warning);
        }
        interrupt::leave_to_programs();
        let ended = oversleep_native::run_app(program, arguments);
        ended.map(Exit::Program).map_err(|error| Failure::not_run(program, &error))
    }
}

/// A warning if the program runs although the held setting doesn't affect it.
fn left_out(name: &str, program: &OsStr, outcome: &Outcome, reached: &Reached) -> Option<String> {
    let is_left_out = outcome.holds() && reached.programs == Some(false);
    is_left_out.then(|| format!("this doesn't reach '{}': it must request its own {name}", program.display()))
}

fn granted(name: &str, requested: &Setting, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Applied { now: is, .. } | Outcome::AlreadySo { is } if is_coarser(is, requested) => {
            format!("{name} is {is}, the finest here, instead of {requested}")
        }
        Outcome::Applied { was: Some(was), now } => format!("{name} is held at {now} (before: {was})"),
        Outcome::Applied { was: None, now } => format!("{name} is held at {now}"),
        Outcome::AlreadySo { is } => format!("{name} already is {is}"),
        Outcome::Denied { why } => format!("{name} is not held: {why}"),
    }
}

/// Whether it is coarser by more than the hardware's grid explains.
fn is_coarser(is: &Setting, requested: &Setting) -> bool {
    match (is, requested) {
        (Setting::Nanos(is), Setting::Nanos(requested)) => is.0.saturating_sub(requested.0) > requested.0 / 50,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::{Nanos, Unavailable};

    use super::*;

    #[test]
    fn a_coarser_grant_is_not_reported_as_held() {
        let span = |ns| Setting::Nanos(Nanos(ns));
        let note = |requested, outcome: Outcome| granted("resolution", &span(requested), &outcome);
        let already = |is| Outcome::AlreadySo { is: span(is) };
        let applied = |was, now| Outcome::Applied { was: Some(span(was)), now: span(now) };
        let coarser = "resolution is 1 ms, the finest here, instead of 500 µs";
        assert_eq!(note(500_000, already(1_000_000)), coarser);
        assert_eq!(note(500_000, applied(15_625_000, 1_000_000)), coarser);
        assert_eq!(note(1_000_000, already(500_000)), "resolution already is 500 µs");
        let on_the_grid = note(500_000, applied(15_625_000, 504_000));
        assert_eq!(on_the_grid, "resolution is held at 504 µs (before: 15.6 ms)");
    }

    #[test]
    fn a_program_that_the_setting_does_not_reach_is_warned_about() {
        let granted = Outcome::AlreadySo { is: Setting::Nanos(Nanos::from_millis(1)) };
        let refused = Outcome::Denied { why: Unavailable::NotMeasured };
        let warning_for = |outcome, programs| {
            let reached = Reached { sentence: String::new(), programs };
            left_out("resolution", OsStr::new("app.exe"), outcome, &reached)
        };
        let warning = "this doesn't reach 'app.exe': it must request its own resolution";
        assert_eq!(warning_for(&granted, Some(false)).as_deref(), Some(warning));
        for silent in
            [warning_for(&granted, Some(true)), warning_for(&granted, None), warning_for(&refused, Some(false))]
        {
            assert_eq!(silent, None);
        }
    }
}
