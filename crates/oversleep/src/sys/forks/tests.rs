//! Runs code in a child created by `fork`.

/// What `body` answers in a forked child; `None` if no child can be created. The body must not take a lock, because
/// another thread may have held it.
#[track_caller]
pub(crate) fn forked(body: impl FnOnce() -> bool) -> Option<bool> {
    // SAFETY: the caller guarantees that the body takes no lock, and the child doesn't unwind into its parent's frames.
    // https://man7.org/linux/man-pages/man2/fork.2.html
    let child = unsafe { libc::fork() };
    if child < 0 {
        oversleep_testing::skip("no child can be forked");
        return None;
    }
    if child == 0 {
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        // SAFETY: ends the child at once. https://man7.org/linux/man-pages/man2/_exit.2.html
        unsafe { libc::_exit(if matches!(answer, Ok(true)) { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: the child is ours and `status` is writable. https://man7.org/linux/man-pages/man2/waitpid.2.html
    while unsafe { libc::waitpid(child, &raw mut status, 0) } != child {}
    Some(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0)
}
