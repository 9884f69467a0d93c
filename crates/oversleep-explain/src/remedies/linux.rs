//! Remedies that a program applies on Linux.

use oversleep_record::conditions::Setting;
use oversleep_record::{Conditions, FactName, Nanos, Os};

use crate::entry::{RemedyEntry, Scope, Trial};
use crate::names::{
    EPOLL_PWAIT2, EPOLL_WAIT, LINUX_EXACT, LINUX_SLEEPS, LOCK_WAITS, POLL, PPOLL, SOCKET_TIMEOUT, TIMERFD, tunable,
};
use crate::read;

/// The effect of lowering a slack below this is indistinguishable from noise.
const SLACK_MIN: Nanos = Nanos(1_000);
/// The shortest timeout that shows the slack of long ones.
const LONG_TIMEOUT_MIN: Nanos = Nanos::from_millis(20);

pub(crate) static LOWER_TIMER_SLACK: RemedyEntry = RemedyEntry {
    id: "lower-timer-slack",
    scope: Scope::OsWhere(Os::Linux, read::may_have_slack),
    summary: "The thread's sleeps and timeouts end on time, without the delay that the kernel adds to batch wake-ups.",
    how: "Set the timer slack of each thread that waits to 1 ns. A value of 0 means the default, and a new thread \
          inherits the slack of the thread that creates it.",
    example: Some(
        "/* C */\n#include <sys/prctl.h>\nprctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);\n\n\
         // Rust\nunsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };",
    ),
    trial: Trial::Here {
        conditions: || Conditions::as_found().with(tunable::SLACK, Setting::Nanos(Nanos(1))),
        waits: &[LINUX_SLEEPS, LOCK_WAITS, &[EPOLL_PWAIT2, PPOLL, POLL]],
        is_worth_it: |file| read::slack_as_found(file).is_none_or(|slack| slack >= SLACK_MIN),
    },
};

pub(crate) static REAL_TIME_POLICY: RemedyEntry = RemedyEntry {
    id: "real-time-policy",
    scope: Scope::OsWhere(Os::Linux, read::is_ordinary_thread),
    summary: "The thread runs as soon as its timer fires, ahead of every ordinary task, and its waits have no slack.",
    how: "Run the thread that must be on time under SCHED_FIFO, which also ends its timer slack, and keep the work between \
          two of its waits short.",
    example: Some(
        "/* C */\n#include <sched.h>\nstruct sched_param p = { .sched_priority = 1 };\n\
         sched_setscheduler(0, SCHED_FIFO, &p);\n\n\
         // Rust\nlet p = libc::sched_param { sched_priority: 1 };\n\
         unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &p) };\n\n\
         # command\nchrt --fifo 1 ./app",
    ),
    trial: Trial::Here {
        conditions: || {
            Conditions::as_found().with(tunable::POLICY, Setting::Policy { policy: "fifo".into(), priority: 1 })
        },
        waits: &[LINUX_SLEEPS],
        is_worth_it: |file| file.environment.flag(FactName::SchedRtPermitted) == Some(true),
    },
};

pub(crate) static FORBID_DEEP_IDLE: RemedyEntry = RemedyEntry {
    id: "forbid-deep-idle",
    scope: Scope::OsWhere(Os::Linux, read::is_linux_kernel),
    summary: "Idle processors use only states that they can leave within a latency you choose.",
    how: "Open /dev/cpu_dma_latency, write the longest exit latency you accept (0 µs: no idle states), and hold the \
          file open for as long as wake-ups must be on time. It costs power.",
    example: Some(
        "/* C */\n#include <fcntl.h>\n#include <stdint.h>\n#include <unistd.h>\n\
         int fd = open(\"/dev/cpu_dma_latency\", O_WRONLY);\n\
         int32_t us = 0;\nwrite(fd, &us, sizeof us); /* in force until fd is closed */\n\n\
         // Rust\nlet mut bound = std::fs::OpenOptions::new().write(true).open(\"/dev/cpu_dma_latency\")?;\n\
         std::io::Write::write_all(&mut bound, &0_i32.to_ne_bytes())?; // in force until dropped",
    ),
    trial: Trial::Never("it keeps every CPU of the machine awake; `oversleep check --dma-latency 0` measures it"),
};

pub(crate) static CHOOSE_EXACT_PRIMITIVE: RemedyEntry = RemedyEntry {
    id: "choose-exact-primitive",
    scope: Scope::Os(Os::Linux),
    summary: "The kernel programs these timers for exactly their expiry time; the thread's slack does not apply to \
              them.",
    how: "Wait on a timerfd instead of using a call's timeout. In an event loop, add it to the other descriptors.",
    example: Some(
        "/* C */\n#include <sys/timerfd.h>\n#include <unistd.h>\n\
         int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);\n\
         struct itimerspec in_1ms = { .it_value = { .tv_nsec = 1000000 } }; /* zero would disarm it */\n\
         timerfd_settime(fd, 0, &in_1ms, NULL);\n\
         uint64_t expirations;\nread(fd, &expirations, sizeof expirations);",
    ),
    trial: Trial::beside(LINUX_EXACT, |file| {
        Some((read::sound_wait(file, LINUX_SLEEPS[0])?, read::first_wait(file, LINUX_EXACT)?))
    }),
};

pub(crate) static FINER_TIMEOUT_CALL: RemedyEntry = RemedyEntry {
    id: "finer-timeout-call",
    scope: Scope::OsWhere(Os::Linux, |file| read::may_have(file, EPOLL_PWAIT2)),
    summary: "The call takes its timeout in nanoseconds instead of whole milliseconds.",
    how: "Call epoll_pwait2 (Linux 5.11, glibc 2.35) instead of epoll_wait, and ppoll instead of poll.",
    example: Some(
        "/* C */\n#define _GNU_SOURCE\n#include <sys/epoll.h>\n\
         struct timespec timeout = { .tv_nsec = 300000 };\n\
         epoll_pwait2(epoll_fd, events, 64, &timeout, NULL);",
    ),
    trial: Trial::beside(&[EPOLL_PWAIT2, PPOLL], |file| {
        let shortest = |(coarse, fine)| read::common_requests(file, coarse, fine).into_iter().next();
        [(EPOLL_WAIT, EPOLL_PWAIT2), (POLL, PPOLL)].into_iter().find_map(shortest)
    }),
};

pub(crate) static POLL_THE_EPOLL_DESCRIPTOR: RemedyEntry = RemedyEntry {
    id: "poll-the-epoll-descriptor",
    scope: Scope::OsWhere(Os::Linux, |file| !read::may_have(file, EPOLL_PWAIT2)),
    summary: "ppoll takes its timeout in nanoseconds, and waits for the events of an epoll descriptor, too.",
    how: "Call ppoll instead of poll. Wait for the epoll descriptor itself with ppoll, then call epoll_wait with a timeout \
          of 0.",
    example: Some(
        "/* C */\n#define _GNU_SOURCE\n#include <poll.h>\n#include <sys/epoll.h>\n\
         struct pollfd ready = { .fd = epoll_fd, .events = POLLIN };\n\
         struct timespec timeout = { .tv_nsec = 300000 };\n\
         if (ppoll(&ready, 1, &timeout, NULL) == 1)\n    epoll_wait(epoll_fd, events, 64, 0);",
    ),
    trial: Trial::beside(&[PPOLL], |file| read::common_requests(file, POLL, PPOLL).into_iter().next()),
};

pub(crate) static POLL_BEFORE_RECEIVE: RemedyEntry = RemedyEntry {
    id: "poll-before-receive",
    scope: Scope::Os(Os::Linux),
    summary: "The receive timeout runs on a high-resolution timer instead of on the kernel's tick.",
    how: "Wait for the socket with ppoll and a timeout, or with poll beside a timerfd, then receive or send without \
          blocking. Leave SO_RCVTIMEO and SO_SNDTIMEO unset.",
    example: Some(
        "/* C */\n#define _GNU_SOURCE\n#include <poll.h>\n#include <sys/socket.h>\n\
         struct pollfd ready = { .fd = socket_fd, .events = POLLIN };\n\
         struct timespec timeout = { .tv_nsec = 1000000 };\n\
         if (ppoll(&ready, 1, &timeout, NULL) == 1)\n    recv(socket_fd, buffer, sizeof buffer, MSG_DONTWAIT);",
    ),
    trial: Trial::beside(&[SOCKET_TIMEOUT, PPOLL], |file| read::two_waits(file, SOCKET_TIMEOUT, PPOLL)),
};

pub(crate) static TIMERFD_FOR_LONG_TIMEOUTS: RemedyEntry = RemedyEntry {
    id: "absolute-timerfd-for-long-timeouts",
    scope: Scope::Os(Os::Linux),
    summary: "A long timeout ends on time: the kernel adds no share of it as slack.",
    how: "Set a timerfd to the deadline and add it to the descriptors that select, poll or epoll waits for. Give the \
          call itself no timeout.",
    example: Some(
        "/* C */\nint fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);\n\
         timerfd_settime(fd, TFD_TIMER_ABSTIME, &deadline, NULL);\n\
         epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &readable);\nepoll_wait(epoll_fd, events, 64, -1);",
    ),
    trial: Trial::beside(&[TIMERFD], |file| {
        let longest = read::common_requests(file, POLL, TIMERFD).into_iter().next_back();
        longest.filter(|(poll, _)| poll.requested_ns >= Some(LONG_TIMEOUT_MIN))
    }),
};

pub(crate) static KEEP_NICE_AT_ZERO: RemedyEntry = RemedyEntry {
    id: "keep-nice-at-zero",
    scope: Scope::Os(Os::Linux),
    summary: "Timeouts of select, poll and epoll keep a slack of 0.1 % instead of 0.5 %.",
    how: "Don't run a program under nice if its timeouts must end on time. Limit its CPU time with a cgroup weight \
          instead, or wait on a timerfd.",
    example: Some("# command\nsystemd-run --property=CPUWeight=50 ./app"),
    trial: Trial::Never("lowering a nice value again requires CAP_SYS_NICE"),
};
