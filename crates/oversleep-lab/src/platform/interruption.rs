//! Ending a run, on systems without signals.

/// Runs `install`, which puts a handler on Ctrl-C. Nothing can have been ignored before.
pub fn leaving_ignored<T>(install: impl FnOnce() -> T) -> T {
    install()
}

/// No system call here ends a process for writing too much.
pub fn fail_writes_beyond_the_limit() {}

/// No wait of another thread can be ended from here: the wait in progress is finished.
pub fn end_waits() {}
