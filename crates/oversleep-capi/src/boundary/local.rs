//! A value that only the thread that created it may release.

use std::thread::{self, ThreadId};

use crate::status::Status;

/// A guard of a thread's own setting. A C pointer can go anywhere, so the thread is checked here.
pub(crate) struct ThreadLocal<T> {
    pub(crate) value: T,
    owner: ThreadId,
}

impl<T> ThreadLocal<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value, owner: thread::current().id() }
    }

    /// Whether the calling thread may release it.
    pub(crate) fn is_mine(&self) -> Result<(), Status> {
        match self.owner == thread::current().id() {
            true => Ok(()),
            false => Err(Status::WrongThread),
        }
    }
}
