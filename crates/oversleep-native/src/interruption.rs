//! Ending a run, on systems without signals.

/// Runs `install`, which puts a handler on Ctrl-C. Nothing can have been ignored before.
pub fn leaving_ignored<T>(install: impl FnOnce() -> T) -> T {
    install()
}

/// No system call here ends a process for writing too much.
pub fn fail_writes_beyond_the_limit() {}

/// Ends the waits that other threads of this process are in, where their calls can be ended: on Windows those for events
/// and alertable sleeps. One that is entered just afterwards is not ended: call it again until the threads are done.
#[cfg(target_os = "windows")]
pub fn end_waits() {
    super::windows::end_waits();
}

/// No wait of another thread can be ended from here: the wait in progress is finished.
#[cfg(not(target_os = "windows"))]
pub fn end_waits() {}
