//! Children that are made by `fork`: memory as it was, and one thread of those that there were.

/// Has every child that is made by `fork` from now on call `handler` before anything else. Where that can't be had, there
/// is nobody to tell, and a child goes on with what it finds.
pub(crate) fn on_fork_in_child(handler: extern "C" fn()) {
    // SAFETY: the handler has no arguments and doesn't unwind. It lives as long as the program, or is forgotten with the
    // shared library it is in: glibc does so when that is unloaded, musl unloads none, and macOS none with thread-local
    // variables, which this library has.
    // https://man7.org/linux/man-pages/man3/pthread_atfork.3.html
    unsafe { libc::pthread_atfork(None, None, Some(handler)) };
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::forked;
