//! The names of the waits that experiments compose: reads of the clock, yields and sleeps.

/// Reads the clock until the deadline.
pub const SPIN: &str = "spin";
/// Yields between reads of the clock.
pub const SPIN_YIELD: &str = "spin-yield";
/// Sleeps until shortly before the deadline, then reads the clock.
pub const HYBRID: &str = "hybrid";
/// All of them.
pub const ALL: [&str; 3] = [SPIN, SPIN_YIELD, HYBRID];
