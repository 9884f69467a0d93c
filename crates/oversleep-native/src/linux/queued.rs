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

#[cfg(test)]
mod tests {
    use crate::passing::Passing;

    /// Names the process that is this test's alone.
    const ALONE: &str = "OVERSLEEP_TEST_ALONE";

    /// In a process of its own, because handlers belong to a process, and other tests set one for the same signal.
    #[test]
    fn a_signal_for_the_program_that_no_thread_took_before_the_end_does_not_end_this_process() {
        if std::env::var_os(ALONE).is_none() {
            let name =
                "queued::tests::a_signal_for_the_program_that_no_thread_took_before_the_end_does_not_end_this_process";
            let mut own = std::process::Command::new(std::env::current_exe().expect("it runs"));
            // A user-mode emulator can't start what it runs.
            let output = match own.args([name, "--exact"]).env(ALONE, "1").output() {
                Ok(output) => output,
                Err(why) => return oversleep_testing::skip(why),
            };
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            return;
        }
        let mut passing = Passing::begin();
        passing.to(0);
        // SAFETY: all-zero is a valid set, the calls fill it; the signal is for this thread, which has it blocked.
        let (mut set, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
        // SAFETY: the sets are valid.
        unsafe {
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGALRM);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before);
            libc::pthread_kill(libc::pthread_self(), libc::SIGALRM);
        }
        drop(passing);
        // SAFETY: the set is valid. Were the signal still pending, it would end this process here.
        unsafe {
            let mut pending: libc::sigset_t = std::mem::zeroed();
            libc::sigpending(&raw mut pending);
            assert_eq!(libc::sigismember(&raw const pending, libc::SIGALRM), 0, "it is still pending");
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        }
    }
}
