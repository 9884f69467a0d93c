//! The machine that the options name: this one, or a modelled one.

use oversleep_lab::{Laboratory, machines};

use super::names;
use crate::args::{MachineArgs, ModelArgs};
use crate::exit::Failure;
use crate::output::place::Places;
use crate::reading;

/// The laboratory on the machine that the options name.
///
/// # Errors
/// Unknown machines, figures that can't be changed like that, a result that can't be read.
pub fn laboratory(args: &MachineArgs) -> Result<Laboratory, Failure> {
    match (&args.on, &args.like) {
        (Some(name), _) => modelled(name, &args.model),
        (None, Some(path)) => {
            Places::reading([path])?;
            let failed =
                |error: String| Failure::failed(format!("can't model the machine of '{}': {error}", path.display()));
            let result = reading::from_file(path).map_err(|error| failed(error.to_string()))?;
            let seed = args.model.seed.unwrap_or(machines::SEED);
            machines::like(&result, &args.model.set, seed).map_err(|error| Failure::usage(error.to_string()))
        }
        (None, None) if !args.model.set.is_empty() || args.model.seed.is_some() => {
            Err(Failure::usage("--set and --seed change a modelled machine; name one with --on or --like"))
        }
        (None, None) => Ok(Laboratory::on(oversleep_native::here())),
    }
}

/// A modelled machine with its changes.
///
/// # Errors
/// As [`laboratory`].
pub fn modelled(name: &str, model: &ModelArgs) -> Result<Laboratory, Failure> {
    known(name)?;
    let seed = model.seed.unwrap_or(machines::SEED);
    machines::load(name, &model.set, seed).map_err(|error| Failure::usage(error.to_string()))
}

/// Checks that there is such a machine.
///
/// # Errors
/// There is none, with the name that was probably meant.
pub fn known(name: &str) -> Result<(), Failure> {
    let known = machines::names();
    if known.contains(&name) {
        return Ok(());
    }
    let meant = names::nearest(name, &known).map(|near| format!("did you mean '{near}'? ")).unwrap_or_default();
    Err(Failure::usage(format!("unknown modelled machine '{name}'; {meant}`oversleep machines` lists them all")))
}
