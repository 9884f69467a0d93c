//! Ending a run, on systems without signals.

/// Runs `install`, which sets a handler for Ctrl-C. These systems have no ignored signals.
pub fn leaving_ignored<T>(install: impl FnOnce() -> T) -> T {
    install()
}

/// These systems don't end a process for writing too much.
pub fn fail_writes_beyond_the_limit() {}

/// These systems have no limit on CPU time that ends a process.
///
/// # Errors
/// Never.
pub fn at_cpu_limit(_then: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    Ok(())
}

/// Ends the current waits of this process's other threads if their calls can be ended: waits for events and alertable
/// sleeps. A wait that begins just afterwards isn't ended, so call this again until the threads have finished.
#[cfg(target_os = "windows")]
pub fn end_waits() {
    super::windows::end_waits();
}

/// The current waits of other threads can't be ended here, and run to their end.
#[cfg(not(target_os = "windows"))]
pub fn end_waits() {}
