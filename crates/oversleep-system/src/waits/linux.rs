//! The waits of Linux, WSL included. Spans and deadlines are counted on `CLOCK_MONOTONIC` unless an entry says otherwise.

use super::library::SLEEP_UNTIL;
use crate::{Family, Granularity, SlackRule, Takes, WaitInfo, ZeroMeans};

const SLEEPS: WaitInfo = WaitInfo { zero: ZeroMeans::SleepsShortest, slack: SlackRule::ThreadSlack, ..WaitInfo::BLANK };
const POLLS: WaitInfo = WaitInfo { family: Family::Poll, slack: SlackRule::ThreadSlackOrShare, ..WaitInfo::BLANK };
const LOCKS: WaitInfo = WaitInfo { family: Family::Lock, ..SLEEPS };
const TIMERS: WaitInfo = WaitInfo { family: Family::Timer, zero: ZeroMeans::Disarms, ..WaitInfo::BLANK };
const MESSAGES: WaitInfo = WaitInfo { family: Family::Message, ..WaitInfo::BLANK };

/// The waits of Linux, in the order in which they are listed.
pub const LINUX: &[WaitInfo] = &[
    WaitInfo {
        name: "nanosleep",
        call: "nanosleep",
        doc: "Most languages' sleeps end in this call, as do sleep() and usleep(). A loop of relative sleeps drifts, \
              because the lateness of each delays the next. A request of zero still sleeps through the timer slack.",
        since: "Linux 2.0",
        page: "https://man7.org/linux/man-pages/man2/nanosleep.2.html",
        ..SLEEPS
    },
    WaitInfo {
        name: "clock-nanosleep",
        call: "clock_nanosleep(CLOCK_MONOTONIC, 0)",
        doc: "nanosleep with a choice of clock; glibc's nanosleep calls it. It is relative, so a loop of it drifts.",
        since: "Linux 2.6",
        page: "https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html",
        ..SLEEPS
    },
    WaitInfo {
        name: "clock-nanosleep-abs",
        call: "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)",
        doc: "The call for periodic work: real-time loops, audio engines and cyclictest use it. The deadline stays \
              where it is even if the previous wait was late. If the deadline passed less than the slack ago, the call \
              still sleeps for the rest of the slack.",
        takes: Takes::Deadline,
        since: "Linux 2.6",
        page: "https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html",
        ..SLEEPS
    },
    WaitInfo {
        name: "usleep",
        call: "usleep",
        doc: "nanosleep in whole microseconds, for old C code and shell-like tools. POSIX removed it in 2008 and lets \
              it reject a second or more; Linux accepts up to 71 minutes.",
        granularity: Granularity::MICROSECOND,
        since: "Linux 2.0",
        page: "https://man7.org/linux/man-pages/man3/usleep.3.html",
        ..SLEEPS
    },
    WaitInfo {
        name: "thread-sleep",
        call: "std::thread::sleep",
        doc: "Rust's sleep. It calls the system's relative sleep, and calls it again for the rest when a signal ends \
              it, so signals never shorten it.",
        zero: ZeroMeans::ReturnsAtOnce,
        since: "Linux 2.0",
        page: "https://doc.rust-lang.org/std/thread/fn.sleep.html",
        ..SLEEPS
    },
    WaitInfo {
        name: "select",
        call: "select(0, NULL, NULL, NULL, timeout)",
        doc: "Portable sleeps and old event loops use it, as do Perl and CPython's time.sleep before 3.11. Its slack \
              grows with the timeout: 0.1 % of it, 0.5 % in a nice process, at most 100 ms.",
        granularity: Granularity::MICROSECOND,
        since: "Linux 2.0",
        page: "https://man7.org/linux/man-pages/man2/select.2.html",
        ..POLLS
    },
    WaitInfo {
        name: "pselect",
        call: "pselect(0, NULL, NULL, NULL, timeout, NULL)",
        doc: "select in nanoseconds, with a signal mask. The unit is finer; the slack is the same as select's.",
        since: "Linux 2.6.16",
        page: "https://man7.org/linux/man-pages/man2/pselect.2.html",
        ..POLLS
    },
    WaitInfo {
        name: "poll",
        call: "poll(NULL, 0, timeout)",
        doc: "Event loops and network code use it everywhere. It counts in whole milliseconds, so 300 µs becomes \
              1 ms. The slack is the same as select's.",
        granularity: Granularity::MILLISECOND,
        since: "Linux 2.2",
        page: "https://man7.org/linux/man-pages/man2/poll.2.html",
        ..POLLS
    },
    WaitInfo {
        name: "ppoll",
        call: "ppoll(NULL, 0, timeout, NULL)",
        doc: "poll in nanoseconds, with a signal mask: use it where poll's millisecond is too coarse. The slack is \
              the same as select's.",
        since: "Linux 2.6.16",
        page: "https://man7.org/linux/man-pages/man2/ppoll.2.html",
        ..POLLS
    },
    WaitInfo {
        name: "epoll-wait",
        call: "epoll_wait",
        doc: "libuv, Netty, nginx, tokio and most servers wait with it, so their timers count in whole milliseconds \
              too. The slack is the same as select's.",
        granularity: Granularity::MILLISECOND,
        since: "Linux 2.6",
        page: "https://man7.org/linux/man-pages/man2/epoll_wait.2.html",
        ..POLLS
    },
    WaitInfo {
        name: "epoll-pwait2",
        call: "epoll_pwait2",
        doc: "epoll_wait in nanoseconds, for event loops with timers below a millisecond. Older kernels and some \
              seccomp filters lack it, so a program needs a fallback. The slack is the same as select's.",
        since: "Linux 5.11",
        page: "https://man7.org/linux/man-pages/man2/epoll_pwait2.2.html",
        ..POLLS
    },
    WaitInfo {
        name: "so-rcvtimeo",
        call: "setsockopt(SO_RCVTIMEO) + recv",
        doc: "Blocking network clients set it: Rust's set_read_timeout, database drivers. The kernel rounds the \
              timeout up to scheduler ticks and may add one, so 1 ms takes 4 to 8 ms at 250 Hz, whatever the slack is. \
              oversleep waits on a local datagram socket; changing the timeout takes a setsockopt, which counts as \
              part of the wait.",
        granularity: Granularity::MICROSECOND,
        zero: ZeroMeans::WaitsForEver,
        slack: SlackRule::Tick,
        since: "Linux 2.4",
        page: "https://man7.org/linux/man-pages/man7/socket.7.html",
        ..POLLS
    },
    WaitInfo {
        name: "futex",
        call: "futex(FUTEX_WAIT_PRIVATE, timeout)",
        doc: "Every lock, condition variable and thread park with a timeout ends in a futex wait. This is the \
              relative form, which hand-made locks and Go's runtime use.",
        since: "Linux 2.6",
        page: "https://man7.org/linux/man-pages/man2/futex.2.html",
        ..LOCKS
    },
    WaitInfo {
        name: "futex-abs",
        call: "futex(FUTEX_WAIT_BITSET_PRIVATE, deadline)",
        doc: "The futex wait with a deadline instead of a span. glibc's condition variables and Rust's parking and \
              locks use it.",
        takes: Takes::Deadline,
        since: "Linux 2.6.25",
        page: "https://man7.org/linux/man-pages/man2/futex.2.html",
        ..LOCKS
    },
    WaitInfo {
        name: "cond-timedwait",
        call: "pthread_cond_timedwait (CLOCK_MONOTONIC)",
        doc: "Thread pools, queues, LockSupport.parkNanos and C++ condition variables use it. Its default clock is \
              CLOCK_REALTIME, whose deadlines move when the wall clock is set; oversleep chooses CLOCK_MONOTONIC. \
              Signals don't end it.",
        takes: Takes::Deadline,
        since: "Linux 2.6",
        page: "https://man7.org/linux/man-pages/man3/pthread_cond_timedwait.3p.html",
        ..LOCKS
    },
    WaitInfo {
        name: "sem-timedwait",
        call: "sem_timedwait",
        doc: "C programs and emulation layers wait for POSIX semaphores with it. Its deadline is on CLOCK_REALTIME, so \
              setting the wall clock shortens or lengthens the wait. oversleep converts the deadline at each call, \
              which counts as part of the wait.",
        takes: Takes::TimeOfDay,
        since: "Linux 2.6",
        page: "https://man7.org/linux/man-pages/man3/sem_timedwait.3.html",
        ..LOCKS
    },
    WaitInfo {
        name: "sigtimedwait",
        call: "sigtimedwait",
        doc: "Daemons and init systems receive signals in a loop with it. The signal must be blocked in every thread; \
              oversleep waits for a real-time signal that nobody sends.",
        slack: SlackRule::ThreadSlack,
        since: "Linux 2.2",
        page: "https://man7.org/linux/man-pages/man2/sigtimedwait.2.html",
        ..MESSAGES
    },
    WaitInfo {
        name: "mq-timedreceive",
        call: "mq_timedreceive",
        doc: "Embedded and real-time programs wait for messages with it. Its deadline is on CLOCK_REALTIME, so \
              setting the wall clock moves it; oversleep converts the deadline at each call. It ignores timer slack.",
        takes: Takes::TimeOfDay,
        since: "Linux 2.6.6",
        page: "https://man7.org/linux/man-pages/man3/mq_receive.3.html",
        ..MESSAGES
    },
    WaitInfo {
        name: "timerfd",
        call: "timerfd_settime(TFD_TIMER_ABSTIME) + read",
        doc: "Event loops (systemd, libevent, asio) keep their timers in it. It ignores timer slack, at the price of \
              two system calls. A time of zero disarms it, so a wait for it never ends.",
        takes: Takes::Deadline,
        since: "Linux 2.6.25",
        page: "https://man7.org/linux/man-pages/man2/timerfd_create.2.html",
        ..TIMERS
    },
    WaitInfo {
        name: "timer-create",
        call: "timer_settime(TIMER_ABSTIME) + sigwaitinfo",
        doc: "Real-time programs with several periods and sampling profilers use POSIX timers. This one sends a \
              real-time signal to the thread that waits for it (SIGEV_THREAD_ID). It ignores timer slack.",
        takes: Takes::Deadline,
        since: "Linux 2.6",
        page: "https://man7.org/linux/man-pages/man2/timer_create.2.html",
        ..TIMERS
    },
    WaitInfo {
        name: "setitimer",
        call: "setitimer(ITIMER_REAL) + SIGALRM",
        doc: "alarm(), old profilers and games use it. A process has one such timer, and its signal interrupts any \
              thread that doesn't block SIGALRM, which ends that thread's wait early. It ignores timer slack.",
        granularity: Granularity::MICROSECOND,
        since: "Linux 2.0",
        page: "https://man7.org/linux/man-pages/man2/setitimer.2.html",
        ..TIMERS
    },
    WaitInfo {
        name: "io-uring",
        call: "io_uring_enter (IORING_OP_TIMEOUT)",
        doc: "io_uring runtimes (tokio-uring, monoio, Seastar, TigerBeetle) keep their timers in the ring. It ignores \
              timer slack. Many containers forbid io_uring.",
        zero: ZeroMeans::ReturnsAtOnce,
        since: "Linux 5.4",
        page: "https://man7.org/linux/man-pages/man3/io_uring_prep_timeout.3.html",
        ..TIMERS
    },
    WaitInfo {
        name: "sched-yield",
        call: "sched_yield",
        doc: "Spin locks back off with it; std::thread::yield_now and Java's Thread.yield call it. With no other \
              thread to run it returns at once and burns CPU; with competition the scheduler decides how long it \
              takes.",
        family: Family::Yield,
        takes: Takes::Nothing,
        zero: ZeroMeans::NoArgument,
        slack: SlackRule::NoTimer,
        since: "Linux 2.0",
        page: "https://man7.org/linux/man-pages/man2/sched_yield.2.html",
        ..WaitInfo::BLANK
    },
    SLEEP_UNTIL,
];
