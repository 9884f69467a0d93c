//! The first look: questions that the models answered before anybody read the published figure.
//!
//! The ledger is `first-look.toml`. A round has the models' commit, what was searched for, and the questions with their
//! answers; it is committed. Then the published figures are read, and written into a later table that seals everything
//! above it with a digest. So a figure can't come before its question, and an answer can't change after its figure.
//! Shares are of published figures. A question that no model covers is missed.

mod ledger;
mod round;
mod tally;

pub use ledger::{FirstLook, Ledger, Outcome, ledger};
pub use round::{Answered, Found, Grade, Of};
pub use tally::{Share, Shares, shares};
