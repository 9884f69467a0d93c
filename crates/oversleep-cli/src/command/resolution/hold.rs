//! `resolution hold`: a setting held while a program runs, or until Ctrl-C.

use std::ffi::{OsStr, OsString};

use clap::Args;
use oversleep_lab::Laboratory;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_system::Reached;

use crate::args::{MachineArgs, help, value};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::message;

/// Hold a setting while a program runs, or until Ctrl-C
///
/// Says what was granted and whom it reaches, and ends with the program's own exit code. A refusal is said, and the program
/// is run all the same.
#[derive(Args, Debug)]
#[command(before_help = help::resolution_hold(), after_help = help::CODES)]
pub(super) struct Hold {
    /// What to hold: a span, like 1ms or 1ns, or a word where this system has words
    #[arg(value_name = "SETTING", value_parser = value::setting, allow_hyphen_values = true)]
    setting: Setting,

    /// The program with its arguments, after --
    #[arg(value_name = "PROGRAM", last = true)]
    program: Vec<OsString>,

    /// Don't say what was granted; refusals remain
    #[arg(long, short)]
    quiet: bool,
}

impl Hold {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        super::measurable(&MachineArgs::default())?;
        let lab = Laboratory::on(oversleep_native::here());
        let name = lab.resolution_tunable().map_or("resolution", |tunable| tunable.name);
        let setting = &self.setting;
        let held = lab.hold_resolution(setting);
        let held = held.map_err(|why| Failure::usage(format!("can't hold {name} {setting}: {why}")))?;
        match &held.outcome {
            Outcome::Denied { why } => message::warning(&format!("{name} is not held at {setting}: {why}")),
            granted if !self.quiet => {
                message::note(&format!("{}; {}", words(name, setting, granted), held.reached.sentence))
            }
            _ => {}
        }
        let Some((program, arguments)) = self.program.split_first() else {
            interrupt::wait_for_signal(|| {
                if !self.quiet {
                    message::note("until Ctrl-C");
                }
            })?;
            return Ok(Exit::Fine);
        };
        if let Some(warning) = left_out(name, program, &held.outcome, &held.reached).filter(|_| !self.quiet) {
            message::warning(&warning);
        }
        interrupt::leave_to_programs();
        let ended = oversleep_native::run_app(program, arguments);
        ended.map(Exit::Program).map_err(|error| Failure::failed(format!("can't run '{}': {error}", program.display())))
    }
}

/// A program that is run although what is held doesn't reach it.
fn left_out(name: &str, program: &OsStr, outcome: &Outcome, reached: &Reached) -> Option<String> {
    let is_left_out = outcome.holds() && reached.programs == Some(false);
    is_left_out.then(|| format!("'{}' gets nothing of it unless it asks for its own {name} itself", program.display()))
}

fn words(name: &str, asked: &Setting, granted: &Outcome) -> String {
    match granted {
        Outcome::Applied { now: is, .. } | Outcome::AlreadySo { is } if is_coarser(is, asked) => {
            format!("{name}: asked for {asked}, in effect is {is}, the finest here")
        }
        Outcome::Applied { was: Some(was), now } => format!("{name} is held at {now} (it was {was})"),
        Outcome::Applied { was: None, now } => format!("{name} is held at {now}"),
        Outcome::AlreadySo { is } => format!("{name} is {is} already"),
        Outcome::Denied { why } => format!("{name} is not held: {why}"),
    }
}

/// By more than the hardware's grid moves a request.
fn is_coarser(is: &Setting, asked: &Setting) -> bool {
    match (is, asked) {
        (Setting::Nanos(is), Setting::Nanos(asked)) => is.0.saturating_sub(asked.0) > asked.0 / 50,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::{Nanos, Unavailable};

    use super::*;

    #[test]
    fn what_is_coarser_than_asked_is_not_told_as_held() {
        let span = |ns| Setting::Nanos(Nanos(ns));
        let told = |asked, outcome: Outcome| words("resolution", &span(asked), &outcome);
        let already = |is| Outcome::AlreadySo { is: span(is) };
        let applied = |was, now| Outcome::Applied { was: Some(span(was)), now: span(now) };
        let coarser = "resolution: asked for 500 µs, in effect is 1 ms, the finest here";
        assert_eq!(told(500_000, already(1_000_000)), coarser);
        assert_eq!(told(500_000, applied(15_625_000, 1_000_000)), coarser);
        assert_eq!(told(1_000_000, already(500_000)), "resolution is 500 µs already");
        let on_the_grid = told(500_000, applied(15_625_000, 504_000));
        assert_eq!(on_the_grid, "resolution is held at 504 µs (it was 15.6 ms)");
    }

    #[test]
    fn a_program_that_nothing_reaches_is_told_of() {
        let granted = Outcome::AlreadySo { is: Setting::Nanos(Nanos::from_millis(1)) };
        let refused = Outcome::Denied { why: Unavailable::NotMeasured };
        let told = |outcome, programs| {
            let reached = Reached { sentence: String::new(), programs };
            left_out("resolution", OsStr::new("app.exe"), outcome, &reached)
        };
        let warning = "'app.exe' gets nothing of it unless it asks for its own resolution itself";
        assert_eq!(told(&granted, Some(false)).as_deref(), Some(warning));
        for silent in [told(&granted, Some(true)), told(&granted, None), told(&refused, Some(false))] {
            assert_eq!(silent, None);
        }
    }
}
