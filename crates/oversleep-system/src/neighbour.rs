//! Neighbours: other processes that hold a timer setting of their own, to show what reaches this one.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Outcome;

/// A process that this one started to hold a setting of the resolution tunable, or to hold none. It ends when this value
/// is dropped or this process dies, and its setting ends with it.
pub trait Neighbour: Send {
    /// What the system granted it; `None` if it holds nothing.
    fn outcome(&self) -> Option<&Outcome>;

    /// Checks that it still runs, and so holds what it holds.
    ///
    /// # Errors
    /// How it ended.
    fn check(&mut self) -> Result<(), Unavailable>;
}
