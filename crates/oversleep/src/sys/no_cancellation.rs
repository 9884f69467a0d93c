//! For systems where threads can't be cancelled, or where it isn't known how to prevent it.

pub(crate) struct Uncancelled;

pub(crate) fn uncancelled() -> Uncancelled {
    Uncancelled
}
