//! Children created by `fork`, which have the parent's memory but only one of its threads.

/// Makes every `fork` from now on call `before` in the parent, and every child `handler` first. A failure can't be
/// reported; children then continue with what they find.
pub(crate) fn on_fork(before: extern "C" fn(), handler: extern "C" fn()) {
    // SAFETY: the handlers have no arguments and don't unwind. They live as long as the program or the shared library they
    // are in: glibc forgets it when that is unloaded, musl never unloads, and macOS doesn't unload libraries with
    // thread-local variables, such as this one.
    // https://man7.org/linux/man-pages/man3/pthread_atfork.3.html
    unsafe { libc::pthread_atfork(Some(before), None, Some(handler)) };
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::forked;
