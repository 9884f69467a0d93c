//! Where threads can't be cancelled, or it isn't known here how to forbid it.

pub(crate) struct Uncancelled;

pub(crate) fn uncancelled() -> Uncancelled {
    Uncancelled
}
