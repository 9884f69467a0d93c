//! Where a wait's lateness went, in adjacent parts that add up to the total.

use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;

/// The three-way split an unprivileged process can make of its own waits.
///
/// With D the deadline, R the switch-in, q the run-queue delay just before it and E the program's own clock read after
/// the wait: (R − q − D) + q + (E − R) = E − D exactly, sample by sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatenessSplit {
    /// Waits of which all parts were seen.
    pub attributed_count: u64,
    /// Waits that slept but whose switch-in or delay was not seen; never guessed.
    pub unattributed_count: u64,
    /// Total lateness of the attributed waits, in ns.
    pub total: Distribution,
    /// Rounding, slack, timer and waking: from the deadline until the thread was runnable (R − q − D), in ns.
    pub timer: Distribution,
    /// Runnable and waiting for a CPU (q), in ns.
    pub run_queue: Distribution,
    /// From the switch-in to the program's own clock read (E − R), in ns.
    pub wake_return: Distribution,
    /// How it was seen.
    pub method: String,
}
