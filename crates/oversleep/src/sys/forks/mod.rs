//! Children created by `fork`, which have the parent's memory but only one of its threads.

/// Makes every child that `fork` creates from now on call `handler` first. A failure can't be reported; children then
/// continue with what they find.
pub(crate) fn on_fork_in_child(handler: extern "C" fn()) {
    // SAFETY: the handler has no arguments and doesn't unwind. It lives as long as the program or the shared library it
    // is in: glibc forgets it when that is unloaded, musl never unloads, and macOS doesn't unload libraries with
    // thread-local variables, such as this one.
    // https://man7.org/linux/man-pages/man3/pthread_atfork.3.html
    unsafe { libc::pthread_atfork(None, None, Some(handler)) };
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::forked;
