//! Neighbours: other processes with their own timer setting, which show what affects this one.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Outcome;

/// A process that this one started to hold a setting of the resolution tunable, or to hold none. It ends when this value
/// is dropped or this process dies, and its setting ends with it.
pub trait Neighbour: Send {
    /// What the system granted it; `None` if it holds nothing.
    fn outcome(&self) -> Option<&Outcome>;

    /// Checks that it is still running, and so still holds its setting.
    ///
    /// # Errors
    /// How it ended.
    fn check(&mut self) -> Result<(), Unavailable>;
}
