//! The common part of all measuring commands: validates the options and the destinations, measures, warns of refused
//! conditions, and delivers the result.

use std::collections::BTreeMap;
use std::sync::Arc;

use oversleep_lab::{Laboratory, Request, RunError};
use oversleep_measure::{Silent, StopFlag};
use oversleep_record::conditions::Outcome;
use oversleep_record::series::Status;
use oversleep_record::{ClockResult, Conditions, ResultFile};
use oversleep_report::view::comparison::{self, RESULTS_MAX};

use super::results;
use crate::args::{MachineArgs, Named, OutputArgs};
use crate::exit::{self, Exit, Failure};
use crate::interrupt;
use crate::message;
use crate::output::{self, Delivery, rescue};
use crate::progress::Meter;
use crate::request::{MeasuringArgs, machine, names};

/// Whether files are written that the user didn't name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// A result file and a page in the current directory, unless an output is named.
    Automatic,
    /// Only the outputs that were named.
    AsAsked,
}

/// Runs a measuring command, from its options to its last message.
pub fn run(args: MeasuringArgs, output: &OutputArgs, files: Files) -> Result<Exit, Failure> {
    run_and(args, output, files, |_, _, _, _| {})
}

/// The same, with `more` applied to the result before it is shown.
pub fn run_and(
    args: MeasuringArgs,
    output: &OutputArgs,
    files: Files,
    more: impl Fn(&Laboratory, &Request, &StopFlag, &mut ResultFile),
) -> Result<Exit, Failure> {
    let machines = args.machine.each();
    if machines.len() > 1 {
        return side_by_side(&args, machines, output, more);
    }
    let lab = machine::laboratory(&args.machine)?;
    refuse_a_name_as_file(&lab, &args, output)?;
    let like = args.machine.like.clone();
    let request = args.request(&lab, output.name.clone())?;
    let mut delivery = Delivery::prepare(output, files == Files::Automatic, like.as_ref())?;
    let stop = StopFlag::new();
    let signals = interrupt::raise_on_signal(&stop);
    let mut meter = Meter::new(!output.quiet, lab.platform_id().modelled.is_none());
    let result = lab.run(&request, &stop, &mut meter);
    let measured = result.map(|mut file| {
        more(&lab, &request, &stop, &mut file);
        let file = Arc::new(file);
        rescue::hold(&file, output::stem(&file));
        file
    });
    drop(signals);
    meter.clear();
    let file = measured.map_err(|error| explain(&error))?;
    warn_of_refusals(&file, &request.plan.conditions);
    let ended = ended(&file);
    if ended.is_err() {
        // Outputs that were named are written anyway; the automatic files would contain no measurement.
        delivery.only_what_was_named();
    }
    delivery.deliver(&*file, output::stem(&file))?;
    ended
}

/// Measures several modelled machines one after the other and compares them with the first.
fn side_by_side(
    args: &MeasuringArgs,
    machines: Vec<MachineArgs>,
    output: &OutputArgs,
    more: impl Fn(&Laboratory, &Request, &StopFlag, &mut ResultFile),
) -> Result<Exit, Failure> {
    if output.name.is_some() {
        return Err(Failure::usage("--name takes one machine; measure each by itself, then run `oversleep compare`"));
    }
    if machines.len() > RESULTS_MAX {
        return Err(Failure::usage(format!("can't compare {} machines; the maximum is {RESULTS_MAX}", machines.len())));
    }
    machines.iter().flat_map(|machine| &machine.on).try_for_each(|name| machine::known(name))?;
    let delivery = results::prepare(&[], output)?.of_measured();
    let stop = StopFlag::new();
    let signals = interrupt::raise_on_signal(&stop);
    let run = |machine: MachineArgs| {
        let lab = machine::laboratory(&machine)?;
        let name = machine.on.clone().unwrap_or_default();
        let request = MeasuringArgs { machine, ..args.clone() }.request(&lab, None);
        // The other machines may have what this one lacks.
        let request = request.map_err(|refusal| refusal.of(&name))?;
        let mut result = lab.run(&request, &stop, &mut Silent).map_err(|error| explain(&error))?;
        more(&lab, &request, &stop, &mut result);
        warn_of_refusals(&result, &request.plan.conditions);
        Ok((name, result))
    };
    let compared = results::measured(machines.into_iter().map(run))?;
    drop(signals);
    let ended = compared.deliver(&delivery, comparison::view)?;
    Ok(if stop.is_raised() { Exit::Interrupted } else { ended })
}

/// Refuses `waits --json nanosleep`, in which nanosleep was probably meant as a wait.
fn refuse_a_name_as_file(lab: &Laboratory, args: &MeasuringArgs, output: &OutputArgs) -> Result<(), Failure> {
    let Some(kind) = args.subject_kind else { return Ok(()) };
    refuse_names_as_file(&args.command.to_string(), output, |path| names::of(lab, kind).contains(&path))
}

/// Refuses a name where a file was expected. `command` is what comes before the names.
pub(super) fn refuse_names_as_file(
    command: &str,
    output: &OutputArgs,
    is_name: impl Fn(&str) -> bool,
) -> Result<(), Failure> {
    for Named { option, path, .. } in output.named.iter().filter(|named| named.format.is_for_pipes) {
        if let Some(path) = path.to_str().filter(|path| is_name(path)) {
            return Err(Failure::usage(format!(
                "--{option} would write to a file '{path}'; put names before it: oversleep {command} {path} --{option}"
            )));
        }
    }
    Ok(())
}

pub(super) fn explain(error: &RunError) -> Failure {
    match error {
        RunError::Clock { .. } => {
            Failure::failed(format!("{error}; leave --clock out, or choose a clock from `oversleep clocks --list`"))
        }
        RunError::TooMuch { .. } => {
            Failure::usage(format!("{error}; measure fewer requests or fewer subjects at once, or run it in parts"))
        }
        RunError::TooLong => Failure::usage(format!("{error}; give a shorter --request or a smaller --count")),
    }
}

/// Warns once of each condition that the user requested and the system refused, however many series it concerns.
/// Requests of experiments and trials are in the report.
fn warn_of_refusals(file: &ResultFile, requested: &Conditions) {
    let mut refusals: BTreeMap<String, String> = BTreeMap::new();
    for series in &file.series {
        for (name, outcome) in &series.conditions.outcomes {
            let setting = series.conditions.setting(name);
            if let (Outcome::Denied { why }, Some(setting), true) =
                (outcome, setting, setting == requested.setting(name))
            {
                refusals.entry(format!("{name}={}", setting.brief())).or_insert_with(|| why.to_string());
            }
        }
    }
    for (condition, why) in refusals {
        message::warning(&format!("measured without {condition}: {why}"));
    }
}

pub(super) fn ended(file: &ResultFile) -> Result<Exit, Failure> {
    let exit = exit::of_result(file);
    // An experiment about facts measures nothing; the heading shows the facts.
    let nothing_planned = file.series.is_empty() && file.clocks.is_empty();
    // The description of a clock is not a measurement.
    let was_measured = |clock: &ClockResult| {
        clock.example_raw.is_some() || !clock.differences.is_empty() || clock.steps.is_some() || clock.drift.is_some()
    };
    let anything =
        nothing_planned || file.clocks.iter().any(was_measured) || file.series.iter().any(|series| series.has_values());
    if anything || exit == Exit::Interrupted {
        return Ok(exit);
    }
    let reason = file.series.iter().find_map(|series| match &series.status {
        Status::Unavailable { reason } => Some(format!("{}: {reason}", series.subject)),
        _ => None,
    });
    Err(Failure::failed(match reason {
        Some(reason) => format!("nothing could be measured; {reason}"),
        None => "nothing could be measured".to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use oversleep_record::Unavailable;
    use oversleep_record::testing::{Sheet, differed, good_clock};

    use super::*;

    #[test]
    fn clocks_that_could_not_be_read_are_no_measurement() {
        let unseen = |name: &str| ClockResult { differences: Vec::new(), steps: None, ..good_clock(name) };
        let refused = Unavailable::failed("starting a thread", "no more of them".to_owned());
        let sheet = Sheet::linux().clock(unseen("monotonic")).unavailable("A1/monotonic", refused);
        let error = ended(&sheet.file).expect_err("nothing was measured").to_string();
        assert!(error.starts_with("nothing could be measured; monotonic: starting a thread"), "{error}");
        let seen = ClockResult { differences: vec![differed(100_000_000)], ..unseen("realtime") };
        assert_eq!(ended(&sheet.clock(seen).file).ok(), Some(Exit::Fine));
    }
}
