//! Linux as programs see it, WSL included.

use oversleep_record::Nanos;

use super::{System, wait};
use crate::sim::loads::TimerLoad;
use crate::sim::machine::TunableModel;
use crate::sim::scheduler::{OnWake, Policy, PriorityIs};
use oversleep_system::{Family, Granularity, SlackRule, WaitInfo, ZeroMeans, clocks};

/// Linux.
pub static SYSTEM: System = System {
    os: "linux",
    reference_clock: "monotonic",
    clocks: clocks::LINUX,
    waits,
    policies,
    handoffs: &["futex", "condvar", "semaphore", "eventfd", "pipe", "thread-park"],
    timer_load: TimerLoad { wait: "timerfd", span: Nanos(100_000), is_periodic: true },
    tunables: &[
        TunableModel::Slack,
        TunableModel::Policy,
        TunableModel::Pin,
        TunableModel::LockMemory,
        TunableModel::DmaLatency,
    ],
};

fn policies() -> Vec<Policy> {
    let fair = |name: &str, weight| Policy {
        name: name.to_owned(),
        priority: (-20, 19),
        rank: 0,
        priority_is: PriorityIs::Nice,
        weight,
        is_real_time: false,
        on_wake: OnWake::Displaces,
    };
    let real_time = |name: &str| Policy {
        name: name.to_owned(),
        priority: (1, 99),
        rank: 100,
        priority_is: PriorityIs::Rank,
        weight: 1_024,
        is_real_time: true,
        on_wake: OnWake::Displaces,
    };
    vec![
        fair("other", 1_024),
        // Neither displaces a thread of another policy by waking up: check_preempt_wakeup_fair in kernel/sched/fair.c.
        Policy { on_wake: OnWake::Waits, ..fair("batch", 1_024) },
        // WEIGHT_IDLEPRIO in kernel/sched/sched.h.
        Policy { priority: (0, 0), priority_is: PriorityIs::Nothing, on_wake: OnWake::GivesWay, ..fair("idle", 3) },
        real_time("fifo"),
        real_time("rr"),
    ]
}

/// A page of the manual's section on system calls.
macro_rules! man {
    ($page:literal) => {
        concat!("https://man7.org/linux/man-pages/man", $page, ".html")
    };
}

fn waits() -> Vec<WaitInfo> {
    use Family::{Lock, Message, Poll, Sleep, Timer, Yield};
    use SlackRule::{NoTimer, None, ThreadSlack, ThreadSlackOrShare};
    use ZeroMeans::{Disarms, NoArgument, SleepsSlack};
    let absolute = |info: WaitInfo| WaitInfo { absolute: true, ..info };
    let micros = |info: WaitInfo| WaitInfo { granularity: Granularity::MICROSECOND, ..info };
    let millis = |info: WaitInfo| WaitInfo { granularity: Granularity::MILLISECOND, ..info };
    let zero = |zero: ZeroMeans, info: WaitInfo| WaitInfo { zero, ..info };
    let page = |page: &'static str, info: WaitInfo| WaitInfo { page, since: "Linux", ..info };
    let plain = |name, call, family, doc| zero(SleepsSlack, wait(name, call, family, ThreadSlack, doc));
    let polling = |name, call, doc| wait(name, call, Poll, ThreadSlackOrShare, doc);
    let timer = |name, call, doc| zero(Disarms, wait(name, call, Timer, None, doc));
    vec![
        page(man!("2/nanosleep.2"), plain("nanosleep", "nanosleep", Sleep, "What most languages' sleeps end in.")),
        page(
            man!("2/clock_nanosleep.2"),
            plain("clock-nanosleep", "clock_nanosleep(CLOCK_MONOTONIC, 0)", Sleep, "nanosleep with a choice of clock."),
        ),
        page(
            man!("2/clock_nanosleep.2"),
            absolute(plain(
                "clock-nanosleep-abs",
                "clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)",
                Sleep,
                "Sleeps until a point in time: a loop of it does not drift.",
            )),
        ),
        page(man!("3/usleep.3"), micros(plain("usleep", "usleep", Sleep, "nanosleep in microseconds."))),
        page(
            "https://doc.rust-lang.org/std/thread/fn.sleep.html",
            zero(
                ZeroMeans::ReturnsAtOnce,
                plain("thread-sleep", "std::thread::sleep", Sleep, "Rust's sleep: clock_nanosleep."),
            ),
        ),
        page(
            man!("2/select.2"),
            micros(polling("select", "select(0, NULL, NULL, NULL, timeout)", "Slack grows with the timeout.")),
        ),
        page(man!("2/pselect.2"), polling("pselect", "pselect(0, NULL, NULL, NULL, timeout, NULL)", "select in ns.")),
        page(man!("2/poll.2"), millis(polling("poll", "poll(NULL, 0, timeout)", "Whole milliseconds."))),
        page(man!("2/ppoll.2"), polling("ppoll", "ppoll(NULL, 0, timeout, NULL)", "poll in ns.")),
        page(man!("2/epoll_wait.2"), millis(polling("epoll-wait", "epoll_wait", "Whole milliseconds: most servers."))),
        page(man!("2/epoll_pwait2.2"), polling("epoll-pwait2", "epoll_pwait2", "epoll_wait in ns.")),
        page(
            man!("7/socket.7"),
            WaitInfo {
                zero: ZeroMeans::WaitsForEver,
                granularity: Granularity::MICROSECOND,
                ..wait("so-rcvtimeo", "recv with SO_RCVTIMEO", Poll, SlackRule::Tick, "On the kernel's timer wheel.")
            },
        ),
        page(
            man!("2/futex.2"),
            plain("futex", "futex(FUTEX_WAIT_PRIVATE, timeout)", Lock, "Beneath every lock with a timeout."),
        ),
        page(
            man!("2/futex.2"),
            absolute(plain(
                "futex-abs",
                "futex(FUTEX_WAIT_BITSET_PRIVATE, deadline)",
                Lock,
                "The same with a deadline.",
            )),
        ),
        page(
            man!("3/pthread_cond_timedwait.3p"),
            absolute(plain(
                "cond-timedwait",
                "pthread_cond_timedwait (CLOCK_MONOTONIC)",
                Lock,
                "Thread pools, queues, LockSupport.parkNanos.",
            )),
        ),
        page(
            man!("3/sem_timedwait.3"),
            absolute(plain("sem-timedwait", "sem_timedwait", Lock, "POSIX semaphores, on the time of day.")),
        ),
        page(
            man!("2/sigwaitinfo.2"),
            zero(ZeroMeans::ReturnsAtOnce, plain("sigtimedwait", "sigtimedwait", Message, "Waits for a signal.")),
        ),
        page(
            man!("3/mq_receive.3"),
            absolute(zero(
                ZeroMeans::ReturnsAtOnce,
                wait("mq-timedreceive", "mq_timedreceive", Message, None, "Waits for a message; ignores slack."),
            )),
        ),
        page(
            man!("2/timerfd_create.2"),
            absolute(timer("timerfd", "timerfd_settime(TFD_TIMER_ABSTIME) + read", "Event loops; ignores slack.")),
        ),
        page(
            man!("2/timer_create.2"),
            absolute(timer("timer-create", "timer_create + timer_settime", "POSIX timers; ignores slack.")),
        ),
        page(man!("2/setitimer.2"), micros(timer("setitimer", "setitimer(ITIMER_REAL)", "Old timers; ignores slack."))),
        page(
            man!("3/io_uring_prep_timeout.3"),
            wait("io-uring", "io_uring IORING_OP_TIMEOUT", Timer, None, "Timeouts of a ring; ignores slack."),
        ),
        page(
            man!("2/sched_yield.2"),
            zero(NoArgument, wait("sched-yield", "sched_yield", Yield, NoTimer, "Gives the CPU away.")),
        ),
    ]
}
