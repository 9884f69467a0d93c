//! Counters of the system and of the calling thread: what else happened while something was measured.

use super::os;
use crate::platform::interface::CounterReading;

/// All counters, as they stand now, for the calling thread.
pub(super) fn read() -> CounterReading {
    CounterReading { at: os::now(), ..CounterReading::default() }
}
