//! Ending a run, on systems without signals.

/// Runs `install`, which sets a handler for Ctrl-C. These systems have no ignored signals.
pub fn leaving_ignored<T>(install: impl FnOnce() -> T) -> T {
    install()
}

/// These systems have no ignored signals.
pub fn heeded_by(command: &mut std::process::Command) -> &mut std::process::Command {
    command
}

/// These systems don't end a process for writing too much.
pub fn fail_writes_beyond_the_limit() {}

/// These systems keep what is known of a child as long as somebody has its handle.
pub fn keep_ended_children() {}

/// These systems have no limit on CPU time that ends a process.
///
/// # Errors
/// Never.
pub fn at_cpu_limit(_then: impl Fn() + Send + 'static) -> std::io::Result<()> {
    Ok(())
}
