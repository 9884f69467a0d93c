//! Memory that was freed and that the C library keeps for later.

/// Gives it back to the system. A few milliseconds.
pub fn give_back_freed() {
    // SAFETY: it only returns unused pages.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}
