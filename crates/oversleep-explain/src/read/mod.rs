//! Reading a result for a conclusion: finds series and facts, and refuses what can't carry one with a reason that ends
//! in what would help.

mod facts;
mod select;
mod sound;
pub(crate) mod windows;

pub(crate) use facts::*;
pub(crate) use select::*;
pub(crate) use sound::*;

use oversleep_record::Nanos;

/// The request most programs make, and that every experiment includes: where one is shown or judged, it is this one.
pub const COMMON_REQUEST: Nanos = Nanos::from_millis(1);

/// Fewest readings that show how long a clock's step is.
pub(crate) const STEPS_MIN: u64 = 5;
