//! Seccomp filters for system calls.

/// Applies this action to each of these calls, for the rest of the calling thread's life.
pub fn filter(calls: &[libc::c_long], action: u32) -> bool {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    // The first field of seccomp_data is the call's number.
    let mut steps = vec![step(LOAD, 0, 0, 0)];
    for &call in calls {
        steps.push(step(JUMP_IF_EQUAL, 0, 1, call as u32));
        steps.push(step(RETURN, 0, 0, action));
    }
    steps.push(step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the program is valid and copied by the call; both calls affect only this thread.
    // https://man7.org/linux/man-pages/man2/seccomp.2.html
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}
