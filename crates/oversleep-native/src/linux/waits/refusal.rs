//! The reasons of waits whose calls the system refuses, in a thread with a seccomp filter like a container's.

use oversleep_record::Unavailable;

use crate::native::paired::call_of;

/// Makes `call` fail with `errno` for the rest of the calling thread's life. False, and the test is skipped, where the
/// thread may not do that.
#[track_caller]
fn forbid(call: libc::c_long, errno: i32) -> bool {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut steps = [
        // The first field of seccomp_data is the call's number.
        step(LOAD, 0, 0, 0),
        step(JUMP_IF_EQUAL, 0, 1, call as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the program is valid and copied by the call; both calls touch this thread alone.
    // https://man7.org/linux/man-pages/man2/seccomp.2.html
    let is_forbidden = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if !is_forbidden {
        oversleep_testing::skip("a thread can't filter its calls");
    }
    is_forbidden
}

/// The reason of the wait with that name if `call` fails with `errno`; `None` if it can't be tried.
fn reason(name: &str, call: libc::c_long, errno: i32) -> Option<Unavailable> {
    let open = call_of(super::CALLS, name).expect("paired");
    let body = move || forbid(call, errno).then(|| open().err().expect("the call is forbidden"));
    std::thread::spawn(body).join().unwrap()
}

#[test]
fn a_refused_call_is_a_matter_of_permission() {
    for (name, call) in [
        ("nanosleep", libc::SYS_clock_nanosleep),
        ("clock-nanosleep", libc::SYS_clock_nanosleep),
        ("clock-nanosleep-abs", libc::SYS_clock_nanosleep),
        ("thread-sleep", libc::SYS_clock_nanosleep),
        ("timerfd", libc::SYS_timerfd_create),
        ("timer-create", libc::SYS_timer_create),
        ("mq-timedreceive", libc::SYS_mq_open),
        ("epoll-pwait2", libc::SYS_epoll_pwait2),
        ("io-uring", libc::SYS_io_uring_setup),
        ("io-uring", libc::SYS_io_uring_enter),
    ] {
        let Some(reason) = reason(name, call, libc::EPERM) else { continue };
        assert!(matches!(reason, Unavailable::NotPermitted { .. }), "{}: {reason:?}", name);
    }
}

#[test]
fn a_call_the_kernel_does_not_know_is_missing_or_too_new() {
    for (name, call) in [
        ("epoll-pwait2", libc::SYS_epoll_pwait2),
        ("io-uring", libc::SYS_io_uring_setup),
        ("mq-timedreceive", libc::SYS_mq_open),
        ("thread-sleep", libc::SYS_clock_nanosleep),
    ] {
        let Some(reason) = reason(name, call, libc::ENOSYS) else { continue };
        let expected = matches!(reason, Unavailable::Missing { .. } | Unavailable::TooOld { .. });
        assert!(expected, "{}: {reason:?}", name);
    }
}

/// A filter can hide a call from every wait, with any error number: no wait panics, and none measures nothing.
#[test]
fn every_wait_says_why_where_any_of_these_calls_is_refused() {
    let calls = [
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_ppoll,
        libc::SYS_pselect6,
        libc::SYS_epoll_create1,
        libc::SYS_epoll_pwait,
        libc::SYS_eventfd2,
        libc::SYS_timerfd_settime,
        libc::SYS_timer_settime,
        libc::SYS_rt_sigtimedwait,
        libc::SYS_rt_sigprocmask,
        libc::SYS_setitimer,
        libc::SYS_socketpair,
        libc::SYS_setsockopt,
        libc::SYS_mq_timedreceive,
        libc::SYS_sched_yield,
        libc::SYS_recvfrom,
    ];
    for call in calls {
        for errno in [libc::EPERM, libc::ENOSYS, libc::EINVAL] {
            let body = move || {
                if forbid(call, errno) {
                    for wait in oversleep_system::waits::of("linux") {
                        let Some(open) = call_of(super::CALLS, wait.name) else { continue };
                        if let Ok(mut waiter) = open() {
                            let remaining = oversleep_record::Nanos::from_micros(10);
                            let deadline = crate::linux::os::monotonic_now() + remaining;
                            waiter.wait(oversleep_system::Target { remaining, deadline });
                        }
                    }
                }
            };
            assert!(std::thread::spawn(body).join().is_ok(), "call {call} refused with {errno}");
        }
    }
}

#[test]
fn a_full_descriptor_table_is_a_failure_in_the_systems_words() {
    let Some(reason) = reason("timerfd", libc::SYS_timerfd_create, libc::EMFILE) else { return };
    let Unavailable::Failed { call, error } = reason else { panic!("{reason:?}") };
    assert_eq!(call, "timerfd_create");
    assert!(error.contains("os error 24"), "{error}");
}

#[test]
fn a_timeout_that_is_never_set_is_noticed() {
    if let Some(reason) = reason("so-rcvtimeo", libc::SYS_setsockopt, 0) {
        assert!(matches!(reason, Unavailable::Nonsense { .. }), "{reason:?}");
    }
}

#[test]
fn a_thread_is_watched_whatever_a_filter_says() {
    use oversleep_record::Nanos;
    let body = |call, errno| {
        if !forbid(call, errno) {
            return;
        }
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let thread = crate::threads::spawn_watched("watched", Box::new(move || _ = ends.recv())).expect("a thread");
        assert!(!thread.ended_within(Nanos::from_millis(1)), "{call}, {errno}");
        drop(end);
        while !thread.ended_within(Nanos::from_millis(1)) {}
        thread.join();
    };
    for (call, errno) in [
        (libc::SYS_setsockopt, libc::EPERM),
        (libc::SYS_setsockopt, 0),
        (libc::SYS_recvfrom, libc::EPERM),
        (libc::SYS_ppoll, libc::ENOSYS),
    ] {
        std::thread::spawn(move || body(call, errno)).join().expect("it is watched");
    }
}
