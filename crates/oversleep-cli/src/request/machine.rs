//! The machine that the options name: this one, or a modelled one.

use oversleep_lab::{Laboratory, machines};

use crate::args::MachineArgs;
use crate::exit::Failure;
use crate::output::place::Places;
use crate::{message, reading};

pub use oversleep_request::machine::{known, modelled};

/// The laboratory on the machine that the options name.
///
/// # Errors
/// Unknown machines, invalid changes, a result that can't be read.
pub fn laboratory(args: &MachineArgs) -> Result<Laboratory, Failure> {
    match (&args.on, &args.like) {
        (Some(name), _) => Ok(modelled(name, &args.model)?),
        (None, Some(path)) => {
            Places::reading([path])?;
            let failed =
                |error: String| Failure::failed(format!("can't model the machine of '{}': {error}", path.display()));
            let result = reading::from_file(path).map_err(|error| failed(error.to_string()))?;
            let seed = args.model.seed.unwrap_or(machines::SEED);
            let usage = |error: machines::MachineError| Failure::usage(error.to_string());
            let lab = machines::like(&result, &args.model.set, seed).map_err(usage)?;
            machines::lesson(&result).map_err(usage)?.into_iter().for_each(|lesson| message::note(&lesson));
            Ok(lab)
        }
        (None, None) if !args.model.set.is_empty() || args.model.seed.is_some() => {
            Err(Failure::usage("--set and --seed change a modelled machine; name one with --on or --like"))
        }
        (None, None) => Ok(Laboratory::on(oversleep_native::here())),
    }
}
