//! The library's own sources.

#[path = "../../crates/oversleep/src/clock/atomic.rs"]
pub(crate) mod atomic;
#[path = "../../crates/oversleep/src/clock/latch.rs"]
pub(crate) mod latch;
#[path = "../../crates/oversleep/src/clock/scale.rs"]
pub(crate) mod scale;
#[path = "../../crates/oversleep/src/clock/seen.rs"]
pub(crate) mod seen;
#[path = "../../crates/oversleep/src/clock/servo.rs"]
pub(crate) mod servo;
