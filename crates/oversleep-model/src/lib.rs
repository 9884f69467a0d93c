//! Modelled machines: a kernel in virtual time behind the platform interface, and the profiles of the machines it models.
//!
//! `sim` is the model; `machines` builds machines from profiles, from the changes that a user types, and from results
//! of real machines. Nothing here touches the machine it runs on: the same seed gives the same results.

mod machines;
pub mod sim;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use machines::*;
