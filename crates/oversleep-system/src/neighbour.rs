//! Neighbours: other processes that hold a timer setting of their own, to see what reaches this one.

use oversleep_record::conditions::Outcome;

/// Another process, started by this one, that holds a setting of the resolution tunable or was asked to hold nothing. It
/// ends, and what it held with it, when dropped; it ends too when this process dies.
pub trait Neighbour: Send {
    /// What the system granted it; `None` where it was asked to hold nothing.
    fn outcome(&self) -> Option<&Outcome>;
}
