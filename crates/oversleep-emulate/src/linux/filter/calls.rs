//! The calls that the filter inspects, and when it stops at each.

/// What makes a call a timed wait.
#[derive(Clone, Copy)]
pub(super) enum When {
    Always,
    /// That argument is a pointer other than null.
    Given(u8),
    /// That argument is a number above zero.
    Positive(u8),
    /// A futex operation that waits, with a timeout.
    Futex,
    /// The clock in that argument advances while the thread isn't running.
    Passing(u8),
    /// That argument has that value.
    Is(u8, u32),
    /// That argument has one of these values.
    Either(u8, [u32; 3]),
    /// The clock in the first argument is one of those that advance in steps.
    Stepped,
    /// The time of day advances in steps.
    SteppedRealtime,
    /// A timeout of a socket.
    SocketTimeout,
    /// That argument has one of these bits.
    AnyBit(u8, u32),
}

/// The first argument of `prctl` by which a program changes the emulated resolution: "ovsR".
pub const PRCTL_RESOLUTION: u32 = 0x6f76_7352;

/// `PR_SET_SYSCALL_USER_DISPATCH`, Linux 5.11.
pub const PRCTL_DISPATCH: u32 = 59;

/// Other timed waits. They stop in an emulated and in an observed program.
pub(super) const WAITS: &[(libc::c_long, When)] = &[
    (libc::SYS_futex, When::Futex),
    (libc::SYS_clock_nanosleep, When::Passing(0)),
    (libc::SYS_nanosleep, When::Given(0)),
    (libc::SYS_poll, When::Positive(2)),
    (libc::SYS_ppoll, When::Given(2)),
    (libc::SYS_pselect6, When::Given(4)),
    (libc::SYS_select, When::Given(4)),
    (libc::SYS_mq_timedsend, When::Given(4)),
    (libc::SYS_mq_timedreceive, When::Given(4)),
    (libc::SYS_futex_waitv, When::Given(3)),
    (FUTEX_WAIT2, When::Given(4)),
];

/// Timed waits that the kernel doesn't repeat after a signal that a traced program ignores, starts of what wouldn't be
/// traced, and page faults of a program's own: whoever reads its memory may have to wait for it. They stop in any case.
pub(super) const UNREPEATED: &[(libc::c_long, When)] = &[
    (libc::SYS_epoll_wait, When::Positive(3)),
    (libc::SYS_epoll_pwait, When::Positive(3)),
    (libc::SYS_epoll_pwait2, When::Given(3)),
    (libc::SYS_rt_sigtimedwait, When::Given(2)),
    (libc::SYS_semtimedop, When::Given(3)),
    (libc::SYS_io_getevents, When::Given(4)),
    (IO_PGETEVENTS, When::Given(4)),
    // Whatever has the filter but no tracer fails with ENOSYS at its first wait.
    (libc::SYS_clone, When::AnyBit(0, libc::CLONE_UNTRACED as u32)),
    (libc::SYS_userfaultfd, When::Always),
];

/// What else matters to an emulated program.
pub(super) const EMULATED: &[(libc::c_long, When)] = &[
    (libc::SYS_timerfd_settime, When::Given(2)),
    (libc::SYS_timer_settime, When::Given(2)),
    (libc::SYS_setitimer, When::Is(0, 0)),
    (libc::SYS_alarm, When::Positive(0)),
    (libc::SYS_timerfd_gettime, When::Given(1)),
    (libc::SYS_timer_gettime, When::Given(1)),
    (libc::SYS_getitimer, When::Is(0, 0)),
    (libc::SYS_setsockopt, When::SocketTimeout),
    (libc::SYS_clock_gettime, When::Stepped),
    (libc::SYS_clock_getres, When::Stepped),
    (libc::SYS_gettimeofday, When::SteppedRealtime),
    (libc::SYS_time, When::SteppedRealtime),
    (libc::SYS_io_uring_setup, When::Always),
    (libc::SYS_ptrace, When::Always),
    (libc::SYS_seccomp, When::Is(0, 1)),
    (libc::SYS_prctl, When::Either(0, [libc::PR_SET_SECCOMP as u32, PRCTL_DISPATCH, PRCTL_RESOLUTION])),
    (libc::SYS_fanotify_init, When::AnyBit(0, libc::FAN_CLASS_CONTENT | libc::FAN_CLASS_PRE_CONTENT)),
];

/// What else matters to an observed program: that a wait goes on after a signal, and that a thread changes its timer slack.
pub(super) const OBSERVED: &[(libc::c_long, When)] =
    &[(libc::SYS_restart_syscall, When::Always), (libc::SYS_prctl, When::Is(0, libc::PR_SET_TIMERSLACK as u32))];

/// Linux 4.18; libc has no name for it here.
pub const IO_PGETEVENTS: libc::c_long = 333;
/// `futex_wait`, Linux 6.7.
pub const FUTEX_WAIT2: libc::c_long = 455;

/// Operations of `futex` that wait: WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2.
pub(super) const FUTEX_WAITS: [u32; 5] = [0, 6, 9, 11, 13];
