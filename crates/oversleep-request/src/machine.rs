//! Modelled machines that options name.

use oversleep_lab::{Laboratory, machines};

use crate::args::ModelArgs;
use crate::names;
use crate::refusal::Refusal;

/// A modelled machine with its changes.
///
/// # Errors
/// Unknown machines, and invalid changes.
pub fn modelled(name: &str, model: &ModelArgs) -> Result<Laboratory, Refusal> {
    known(name)?;
    let seed = model.seed.unwrap_or(machines::SEED);
    machines::load(name, &model.set, seed).map_err(|error| Refusal::usage(error.to_string()))
}

/// Checks that there is such a machine.
///
/// # Errors
/// There is none, with the name that was probably meant.
pub fn known(name: &str) -> Result<(), Refusal> {
    if machines::is_known(name) {
        return Ok(());
    }
    let known = machines::names();
    let meant = names::nearest(name, &known).map(|near| format!("did you mean '{near}'? ")).unwrap_or_default();
    Err(Refusal::usage(format!("unknown modelled machine '{name}'; {meant}`oversleep machines` lists them all")))
}
