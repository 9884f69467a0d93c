//! Remedies a programmer applies in the program itself.

use oversleep_record::conditions::Setting;
use oversleep_record::{Conditions, ExperimentId, Nanos};

use super::super::advice;
use super::super::entry::Scope;
use super::{Harmless, RemedyEntry};

fn slack_of_one() -> Conditions {
    Conditions::as_found().with("slack", Setting::Nanos(Nanos(1)))
}

fn lowest_fifo() -> Conditions {
    Conditions::as_found().with("policy", Setting::Policy { policy: "fifo".into(), priority: 1 })
}

/// Calls that take nanoseconds, each beside the one it replaces.
const FINER_CALLS: [(&str, &str); 2] = [("epoll-wait", "epoll-pwait2"), ("poll", "ppoll")];

pub(super) const REMEDIES: &[RemedyEntry] = &[
    RemedyEntry {
        id: "lower-timer-slack",
        scope: Scope::LinuxSlack,
        summary: "Sleeps and timeouts of the thread end without the delay the kernel adds to batch wake-ups.",
        how: "Set the timer slack of each thread that waits to 1 ns; 0 means the default, and threads inherit it from \
              the one that creates them.",
        example: Some(
            "/* C */\n#include <sys/prctl.h>\nprctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);\n\n\
             // Rust\nunsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };",
        ),
        harmless: Harmless::TryHere(slack_of_one),
        compare: None,
    },
    RemedyEntry {
        id: "real-time-policy",
        scope: Scope::LinuxOrdinary,
        summary: "The thread runs as soon as its timer fires, before every ordinary task, and its waits have no slack.",
        how: "Run the thread that must be on time under SCHED_FIFO; keep what it does between two waits short.",
        example: Some(
            "/* C */\n#include <sched.h>\nstruct sched_param p = { .sched_priority = 1 };\n\
             sched_setscheduler(0, SCHED_FIFO, &p);\n\n\
             // Rust\nlet p = libc::sched_param { sched_priority: 1 };\n\
             unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &p) };\n\n\
             # command\nchrt --fifo 1 ./app",
        ),
        harmless: Harmless::TryHere(lowest_fifo),
        compare: None,
    },
    RemedyEntry {
        id: "forbid-deep-idle",
        scope: Scope::LinuxKernel,
        summary: "A processor that waits stays in an idle state it leaves within the stated latency.",
        how: "Hold /dev/cpu_dma_latency open with the longest acceptable exit latency in it (0 µs: none) for as long as \
              punctual wake-ups matter; it costs power.",
        example: Some(
            "/* C */\n#include <fcntl.h>\n#include <stdint.h>\n#include <unistd.h>\n\
             int fd = open(\"/dev/cpu_dma_latency\", O_WRONLY);\n\
             int32_t us = 0;\nwrite(fd, &us, sizeof us); /* in force until fd is closed */\n\n\
             // Rust\nlet mut bound = std::fs::OpenOptions::new().write(true).open(\"/dev/cpu_dma_latency\")?;\n\
             std::io::Write::write_all(&mut bound, &0_i32.to_ne_bytes())?; // in force until dropped",
        ),
        harmless: Harmless::NotTriedBecause(
            "it keeps every CPU of the machine awake; `oversleep check --dma-latency 0` measures it",
        ),
        compare: None,
    },
    RemedyEntry {
        id: "choose-exact-primitive",
        scope: Scope::Os("linux"),
        summary: "The kernel programs these timers exactly; the thread's slack does not apply to them.",
        how: "Wait on a timerfd (also in an event loop, beside the other descriptors) instead of on the timeout of the \
              call.",
        example: Some(
            "/* C */\n#include <sys/timerfd.h>\n#include <unistd.h>\n\
             int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);\n\
             struct itimerspec in_1ms = { .it_value = { .tv_nsec = 1000000 } }; /* zero would disarm it */\n\
             timerfd_settime(fd, 0, &in_1ms, NULL);\n\
             uint64_t expirations;\nread(fd, &expirations, sizeof expirations);",
        ),
        harmless: Harmless::MeasuredBy(ExperimentId::B5, super::super::findings::EXACT_WAITS),
        compare: Some(|file| {
            let before = advice::wait_named(file, "nanosleep")?;
            let after = advice::first_wait(file, super::super::findings::EXACT_WAITS)?;
            Some(advice::measured(before, after))
        }),
    },
    RemedyEntry {
        id: "finer-timeout-call",
        scope: Scope::Os("linux"),
        summary: "The timeout is taken in nanoseconds instead of whole milliseconds.",
        how: "Call epoll_pwait2 (Linux 5.11, glibc 2.35) instead of epoll_wait, and ppoll instead of poll.",
        example: Some(
            "/* C */\n#define _GNU_SOURCE\n#include <sys/epoll.h>\n\
             struct timespec timeout = { .tv_nsec = 300000 };\n\
             epoll_pwait2(epoll_fd, events, 64, &timeout, NULL);",
        ),
        harmless: Harmless::MeasuredBy(ExperimentId::B5, &["epoll-pwait2", "ppoll"]),
        compare: Some(|file| {
            let (before, after) =
                FINER_CALLS.iter().find_map(|&(coarse, fine)| advice::shortest_common(file, coarse, fine))?;
            Some(advice::measured(before, after))
        }),
    },
    RemedyEntry {
        id: "poll-before-receive",
        scope: Scope::Os("linux"),
        summary: "The receive timeout runs on a high-resolution timer instead of on the kernel's tick.",
        how: "Leave SO_RCVTIMEO unset; wait with ppoll or epoll_pwait2 for the socket, then receive without blocking.",
        example: Some(
            "/* C */\n#define _GNU_SOURCE\n#include <poll.h>\n#include <sys/socket.h>\n\
             struct pollfd ready = { .fd = socket_fd, .events = POLLIN };\n\
             struct timespec timeout = { .tv_nsec = 1000000 };\n\
             if (ppoll(&ready, 1, &timeout, NULL) == 1)\n    recv(socket_fd, buffer, sizeof buffer, MSG_DONTWAIT);",
        ),
        harmless: Harmless::MeasuredBy(ExperimentId::B5, &["so-rcvtimeo", "ppoll"]),
        compare: Some(|file| {
            let before = advice::wait_named(file, "so-rcvtimeo")?;
            let after = advice::wait_like(file, "ppoll", before)?;
            Some(advice::measured(before, after))
        }),
    },
    RemedyEntry {
        id: "absolute-timerfd-for-long-timeouts",
        scope: Scope::Os("linux"),
        summary: "A long timeout ends on time: no share of it is added as slack.",
        how: "Put a timerfd with the deadline into the set that select, poll or epoll waits for, and give the call no \
              timeout of its own.",
        example: Some(
            "/* C */\nint fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);\n\
             timerfd_settime(fd, TFD_TIMER_ABSTIME, &deadline, NULL);\n\
             epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &readable);\nepoll_wait(epoll_fd, events, 64, -1);",
        ),
        harmless: Harmless::MeasuredBy(ExperimentId::B5, &["timerfd"]),
        compare: Some(|file| {
            let (before, after) = advice::longest_common(file, "poll", "timerfd")?;
            Some(advice::measured(before, after))
        }),
    },
    RemedyEntry {
        id: "hybrid-wait",
        scope: Scope::Anywhere,
        summary: "The operating system's wait covers most of the time, a short spin the rest: exact to well below a µs.",
        how: "Sleep until the deadline minus what this machine's sleeps are usually late, then spin on the clock with a \
              pause instruction.",
        example: Some(
            "// Rust\nif let Some(most) = (deadline - MARGIN).checked_duration_since(std::time::Instant::now()) {\n    \
             std::thread::sleep(most);\n}\nwhile std::time::Instant::now() < deadline {\n    std::hint::spin_loop();\n}",
        ),
        harmless: Harmless::MeasuredBy(ExperimentId::B12, &["hybrid"]),
        compare: Some(|file| {
            let after = advice::hybrid(file)?;
            let before = advice::sleep_like(file, after)?;
            Some(advice::measured(before, after))
        }),
    },
    RemedyEntry {
        id: "sleep-with-oversleep",
        scope: Scope::Anywhere,
        summary: "Learns how late this machine's waits are and spins only the rest; never early.",
        how: "Link the oversleep library and sleep to deadlines with its Sleeper; it keeps the timer slack low while it \
              waits and stops spinning where the machine is oversubscribed.",
        example: Some(
            "// Rust\nlet mut sleeper = oversleep::Sleeper::new();\n\
             let deadline = oversleep::Instant::now() + std::time::Duration::from_millis(1);\n\
             sleeper.sleep_until(deadline);",
        ),
        harmless: Harmless::MeasuredBy(ExperimentId::B5, &["oversleep-sleep-until"]),
        compare: Some(|file| {
            let before = advice::plain_sleep(file)?;
            let after = advice::wait_like(file, "oversleep-sleep-until", before)?;
            Some(advice::measured(before, after))
        }),
    },
    RemedyEntry {
        id: "use-elapsed-clock",
        scope: Scope::Anywhere,
        summary: "The figure is time that passed, not CPU time somebody used.",
        how: "Time with a monotonic clock of elapsed time; keep CPU-time clocks for how much work was done.",
        example: Some(
            "/* C */ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);\n\
             // C++\nauto t = std::chrono::steady_clock::now();\n// Rust\nlet t = std::time::Instant::now();",
        ),
        harmless: Harmless::NotTriedBecause("the clock table shows every clock beside the reference"),
        compare: None,
    },
    RemedyEntry {
        id: "use-precise-clock",
        scope: Scope::Except("windows"),
        summary: "Readings differ by nanoseconds instead of by whole ticks.",
        how: "Time anything shorter than a hundred ticks with the precise clock; keep the coarse one for time stamps \
              where a tick does not matter.",
        example: Some("/* C */ clock_gettime(CLOCK_MONOTONIC, &t); /* not CLOCK_MONOTONIC_COARSE */"),
        harmless: Harmless::NotTriedBecause("the two-clocks experiment shows both readings of the same sleeps"),
        compare: None,
    },
    RemedyEntry {
        id: "compare-within-one-clock",
        scope: Scope::Except("windows"),
        summary: "A wait and the code that checks it agree on when the deadline is.",
        how: "Compute the deadline on the clock the wait runs on, read that same clock afterwards, and wait again for \
              what is left.",
        example: Some(
            "/* C */\nclock_gettime(CLOCK_MONOTONIC, &deadline); /* then add the span */\n\
             while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)\n    ;",
        ),
        harmless: Harmless::NotTriedBecause("it is a change of the program, not of the machine"),
        compare: None,
    },
    RemedyEntry {
        id: "read-with-a-fence",
        scope: Scope::Anywhere,
        summary: "The processor can't move the read of its counter across what stands around it.",
        how: "Where two threads compare bare counter values, read the counter in order: rdtscp, or lfence before rdtsc; on \
              one thread, and for durations well above 100 ns, the plain read will do.",
        example: Some("// Rust\nlet mut aux = 0;\nlet ticks = unsafe { core::arch::x86_64::__rdtscp(&mut aux) };"),
        harmless: Harmless::NotTriedBecause("the clock table shows the fenced reads beside the plain one"),
        compare: None,
    },
    RemedyEntry {
        id: "use-os-clock",
        scope: Scope::Anywhere,
        summary: "The operating system corrects, orders and checks its clock; the bare counter has none of that.",
        how: "Read CLOCK_MONOTONIC, on Windows QueryPerformanceCounter (std::time::Instant, std::chrono::steady_clock) \
              instead of the counter.",
        example: None,
        harmless: Harmless::NotTriedBecause("the clock table shows both"),
        compare: None,
    },
    RemedyEntry {
        id: "read-clock-less",
        scope: Scope::Anywhere,
        summary: "Fewer reads of an expensive clock.",
        how: "Read the clock once per batch, frame or request and pass the value on.",
        example: None,
        harmless: Harmless::NotTriedBecause("it is a change of the program, not of the machine"),
        compare: None,
    },
    RemedyEntry {
        id: "block-instead-of-polling",
        scope: Scope::Anywhere,
        summary: "The waiting thread wakes when the work is done, not at the next step of a poll.",
        how: "Join with a condition variable, a futex or thread::join; where a state must be polled, let the last worker \
              signal it.",
        example: Some("// Rust\nfor worker in workers {\n    worker.join().unwrap();\n}"),
        harmless: Harmless::NotTriedBecause("the fork–join experiment measures both ways side by side"),
        compare: None,
    },
    RemedyEntry {
        id: "block-instead-of-yield",
        scope: Scope::Anywhere,
        summary: "A thread that has nothing to do costs no CPU and wakes when it has.",
        how: "Wait on a futex, condition variable or semaphore; yield only inside a lock that is held for less than a \
              context switch.",
        example: None,
        harmless: Harmless::NotTriedBecause("it is a change of the program, not of the machine"),
        compare: None,
    },
    RemedyEntry {
        id: "keep-nice-at-zero",
        scope: Scope::Os("linux"),
        summary: "Timeouts of select, poll and epoll keep their 0.1 % of slack instead of 0.5 %.",
        how: "Do not start a program with punctual timeouts under nice; bound its CPU with a cgroup weight instead, or \
              wait on a timerfd.",
        example: Some("# command\nsystemd-run --property=CPUWeight=50 ./app"),
        harmless: Harmless::NotTriedBecause("a nice value once raised cannot be lowered again without CAP_SYS_NICE"),
        compare: None,
    },
];
