//! The waits of Linux, WSL included. Spans and deadlines are counted on `CLOCK_MONOTONIC` unless an entry says otherwise.

use super::library::SLEEP_UNTIL;
use crate::catalogue::{entry, man7};
use crate::{Family, Granularity, Longest, SlackRule, Takes, WaitInfo, ZeroMeans};

const SLEEPS: WaitInfo = WaitInfo { zero: ZeroMeans::SleepsShortest, slack: SlackRule::ThreadSlack, ..WaitInfo::BLANK };
const POLLS: WaitInfo = WaitInfo { family: Family::Poll, slack: SlackRule::ThreadSlackOrShare, ..WaitInfo::BLANK };
const LOCKS: WaitInfo = WaitInfo { family: Family::Lock, ..SLEEPS };
const TIMERS: WaitInfo = WaitInfo { family: Family::Timer, zero: ZeroMeans::Disarms, ..WaitInfo::BLANK };
const MESSAGES: WaitInfo = WaitInfo { family: Family::Message, ..WaitInfo::BLANK };

/// The waits of Linux, in the order in which they are listed.
pub const LINUX: &[WaitInfo] = &[
    entry! { SLEEPS: "nanosleep" => "nanosleep", since: "Linux 2.0", page: man7!("2/nanosleep.2"),
    "Most languages' sleeps end in this call, as do sleep() and usleep(). A loop of relative sleeps drifts, \
     because the lateness of each delays the next. A request of zero still sleeps through the timer slack." },
    entry! { SLEEPS: "clock-nanosleep" => "clock_nanosleep(CLOCK_MONOTONIC, 0)", since: "Linux 2.6",
    page: man7!("2/clock_nanosleep.2"),
    "nanosleep with a choice of clock; glibc's nanosleep calls it. It is relative, so a loop of it drifts." },
    entry! { SLEEPS: "clock-nanosleep-abs" => "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)", takes: Takes::Deadline,
    since: "Linux 2.6", page: man7!("2/clock_nanosleep.2"),
    "The call for periodic work: real-time loops, audio engines and cyclictest use it. The deadline stays where it \
     is even if the previous wait was late. If the deadline passed less than the slack ago, the call still sleeps \
     for the rest of the slack." },
    entry! { SLEEPS: "usleep" => "usleep", granularity: Granularity::MICROSECOND, longest: Some(Longest::U32Micros),
    since: "Linux 2.0",
    page: man7!("3/usleep.3"),
    "nanosleep in whole microseconds, for old C code and shell-like tools. POSIX removed it in 2008 and lets it \
     reject a second or more; Linux accepts up to 71 minutes." },
    entry! { SLEEPS: "thread-sleep" => "std::thread::sleep", zero: ZeroMeans::ReturnsAtOnce, since: "Linux 2.0",
    page: "https://doc.rust-lang.org/std/thread/fn.sleep.html",
    "Rust's sleep. It calls the system's relative sleep, and calls it again for the rest when a signal ends it, so \
     signals never shorten it." },
    entry! { POLLS: "select" => "select(0, NULL, NULL, NULL, timeout)", granularity: Granularity::MICROSECOND,
    since: "Linux 2.0", page: man7!("2/select.2"),
    "Portable sleeps and old event loops use it, as do Perl and CPython's time.sleep before 3.11. Its slack grows \
     with the timeout: 0.1 % of it, 0.5 % in a nice process, at most 100 ms." },
    entry! { POLLS: "pselect" => "pselect(0, NULL, NULL, NULL, timeout, NULL)", since: "Linux 2.6.16",
    page: man7!("2/pselect.2"),
    "select in nanoseconds, with a signal mask. The unit is finer; the slack is the same as select's." },
    entry! { POLLS: "poll" => "poll(NULL, 0, timeout)", granularity: Granularity::MILLISECOND,
    longest: Some(Longest::I32Millis), since: "Linux 2.2",
    page: man7!("2/poll.2"),
    "Event loops and network code use it everywhere. It counts in whole milliseconds, so 300 µs becomes 1 ms. The \
     slack is the same as select's." },
    entry! { POLLS: "ppoll" => "ppoll(NULL, 0, timeout, NULL)", since: "Linux 2.6.16", page: man7!("2/ppoll.2"),
    "poll in nanoseconds, with a signal mask: use it where poll's millisecond is too coarse. The slack is the same \
     as select's." },
    entry! { POLLS: "epoll-wait" => "epoll_wait", granularity: Granularity::MILLISECOND,
    longest: Some(Longest::I32Millis), since: "Linux 2.6",
    page: man7!("2/epoll_wait.2"),
    "libuv, Netty, nginx, tokio and most servers wait with it, so their timers count in whole milliseconds too. \
     The slack is the same as select's." },
    entry! { POLLS: "epoll-pwait2" => "epoll_pwait2", since: "Linux 5.11", page: man7!("2/epoll_pwait2.2"),
    "epoll_wait in nanoseconds, for event loops with timers below a millisecond. Older kernels and some seccomp \
     filters lack it, so a program needs a fallback. The slack is the same as select's." },
    entry! { POLLS: "so-rcvtimeo" => "setsockopt(SO_RCVTIMEO) + recv", granularity: Granularity::MICROSECOND,
    zero: ZeroMeans::WaitsForEver, slack: SlackRule::Tick, since: "Linux 2.4", page: man7!("7/socket.7"),
    "Blocking network clients set it: Rust's set_read_timeout, database drivers. The kernel rounds the timeout up \
     to scheduler ticks and may add one, so 1 ms takes 4 to 8 ms at 250 Hz, whatever the slack is. oversleep waits \
     on a local datagram socket; changing the timeout takes a setsockopt, which counts as part of the wait." },
    entry! { LOCKS: "futex" => "futex(FUTEX_WAIT_PRIVATE, timeout)", since: "Linux 2.6", page: man7!("2/futex.2"),
    "Every lock, condition variable and thread park with a timeout ends in a futex wait. This is the relative \
     form, which hand-made locks and Go's runtime use." },
    entry! { LOCKS: "futex-abs" => "futex(FUTEX_WAIT_BITSET_PRIVATE, deadline)", takes: Takes::Deadline,
    since: "Linux 2.6.25", page: man7!("2/futex.2"),
    "The futex wait with a deadline instead of a span. glibc's condition variables and Rust's parking and locks \
     use it." },
    entry! { LOCKS: "cond-timedwait" => "pthread_cond_timedwait (CLOCK_MONOTONIC)", takes: Takes::Deadline,
    since: "Linux 2.6", page: man7!("3/pthread_cond_timedwait.3p"),
    "Thread pools, queues, LockSupport.parkNanos and C++ condition variables use it. Its default clock is \
     CLOCK_REALTIME, whose deadlines move when the wall clock is set; oversleep chooses CLOCK_MONOTONIC. Signals \
     don't end it." },
    entry! { LOCKS: "sem-timedwait" => "sem_timedwait", takes: Takes::TimeOfDay, since: "Linux 2.6",
    page: man7!("3/sem_timedwait.3"),
    "C programs and emulation layers wait for POSIX semaphores with it. Its deadline is on CLOCK_REALTIME, so \
     setting the wall clock shortens or lengthens the wait. oversleep converts the deadline at each call, which \
     counts as part of the wait." },
    entry! { MESSAGES: "sigtimedwait" => "sigtimedwait", slack: SlackRule::ThreadSlack, since: "Linux 2.2",
    page: man7!("2/sigtimedwait.2"),
    "Daemons and init systems receive signals in a loop with it. The signal must be blocked in every thread; \
     oversleep waits for a real-time signal that nobody sends." },
    entry! { MESSAGES: "mq-timedreceive" => "mq_timedreceive", takes: Takes::TimeOfDay, since: "Linux 2.6.6",
    page: man7!("3/mq_receive.3"),
    "Embedded and real-time programs wait for messages with it. Its deadline is on CLOCK_REALTIME, so setting the \
     wall clock moves it; oversleep converts the deadline at each call. It ignores timer slack." },
    entry! { TIMERS: "timerfd" => "timerfd_settime(TFD_TIMER_ABSTIME) + read", takes: Takes::Deadline,
    since: "Linux 2.6.25", page: man7!("2/timerfd_create.2"),
    "Event loops (systemd, libevent, asio) keep their timers in it. It ignores timer slack, at the price of two \
     system calls. A time of zero disarms it, so a wait for it never ends." },
    entry! { TIMERS: "timer-create" => "timer_settime(TIMER_ABSTIME) + sigwaitinfo", takes: Takes::Deadline,
    since: "Linux 2.6", page: man7!("2/timer_create.2"),
    "Real-time programs with several periods and sampling profilers use POSIX timers. This one sends a real-time \
     signal to the thread that waits for it (SIGEV_THREAD_ID). It ignores timer slack." },
    entry! { TIMERS: "setitimer" => "setitimer(ITIMER_REAL) + SIGALRM", granularity: Granularity::MICROSECOND,
    since: "Linux 2.0", page: man7!("2/setitimer.2"),
    "alarm(), old profilers and games use it. A process has one such timer, and its signal interrupts any thread \
     that doesn't block SIGALRM, which ends that thread's wait early. It ignores timer slack." },
    entry! { TIMERS: "io-uring" => "io_uring_enter (IORING_OP_TIMEOUT)", zero: ZeroMeans::ReturnsAtOnce,
    since: "Linux 5.4", page: man7!("3/io_uring_prep_timeout.3"),
    "io_uring runtimes (tokio-uring, monoio, Seastar, TigerBeetle) keep their timers in the ring. It ignores timer \
     slack. Many containers forbid io_uring." },
    entry! { WaitInfo::BLANK: "sched-yield" => "sched_yield", family: Family::Yield, takes: Takes::Nothing,
    zero: ZeroMeans::NoArgument, slack: SlackRule::NoTimer, since: "Linux 2.0", page: man7!("2/sched_yield.2"),
    "Spin locks back off with it; std::thread::yield_now and Java's Thread.yield call it. With no other thread to \
     run it returns at once and burns CPU; with competition the scheduler decides how long it takes." },
    SLEEP_UNTIL,
];
