//! Passing a signal on with the value that came with it.

/// Sends the signal of that record. Allowed in a handler.
pub fn send(program: i32, signal: libc::c_int, info: &libc::siginfo_t) {
    // SAFETY: takes numbers, and a record that outlives the call.
    // https://man7.org/linux/man-pages/man2/rt_sigqueueinfo.2.html
    unsafe {
        match info.si_code {
            libc::SI_QUEUE => _ = libc::syscall(libc::SYS_rt_sigqueueinfo, program, signal, &raw const *info),
            _ => _ = libc::kill(program, signal),
        }
    }
}
