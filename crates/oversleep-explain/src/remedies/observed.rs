//! Remedies for observed programs: changes to the program, to its neighbours, and to what delays its CPU.
//! A finding words them with the names and numbers of its instance.

use super::CHANGES_CODE;
use crate::entry::{RemedyEntry, Scope, Trial};
use crate::tried::UNASKED;

/// A remedy that is only advised.
const fn advised(
    id: &'static str,
    summary: &'static str,
    how: &'static str,
    example: Option<&'static str>,
) -> RemedyEntry {
    RemedyEntry { id, scope: Scope::Observed, summary, how, example, trial: Trial::Never(UNASKED) }
}

pub(crate) static SET_ABSOLUTE_DEADLINE: RemedyEntry = RemedyEntry {
    trial: Trial::Never(CHANGES_CODE),
    ..advised(
        "set-absolute-deadline",
        "An interruption on the way into the call no longer moves the end of the wait.",
        "Compute the deadline first and pass it to a call that takes a point in time.",
        Some("/* C */ clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);"),
    )
};

pub(crate) static PASS_FINER_TIMEOUT: RemedyEntry = RemedyEntry {
    trial: Trial::Never(CHANGES_CODE),
    ..advised(
        "pass-finer-timeout",
        "The kernel gets the time that the program meant.",
        "Use a call that takes nanoseconds: epoll_pwait2 (Linux 5.11) instead of epoll_wait, ppoll instead of poll, pselect \
         instead of select. A runtime may round to whole milliseconds before it calls the kernel.",
        None,
    )
};

pub(crate) static WAIT_ON_MONOTONIC: RemedyEntry = RemedyEntry {
    trial: Trial::Never(CHANGES_CODE),
    ..advised(
        "wait-on-monotonic",
        "Setting the time of day no longer moves the end of the wait.",
        "Wait on CLOCK_MONOTONIC: pthread_condattr_setclock or pthread_cond_clockwait, steady_clock in C++, a \
         timer that is created with CLOCK_MONOTONIC.",
        Some(
            "/* C */ pthread_condattr_t a; pthread_condattr_init(&a);\n\
             pthread_condattr_setclock(&a, CLOCK_MONOTONIC); pthread_cond_init(&cond, &a);",
        ),
    )
};

pub(crate) static BLOCK_SIGNAL: RemedyEntry = RemedyEntry {
    trial: Trial::Never(CHANGES_CODE),
    ..advised(
        "block-signal",
        "The signal no longer ends the waits of these threads.",
        "Block the signal in the threads that wait, and take it in another thread or from a signalfd.",
        Some(
            "/* C */ sigset_t set; sigemptyset(&set); sigaddset(&set, SIGALRM); pthread_sigmask(SIG_BLOCK, &set, NULL);",
        ),
    )
};

pub(crate) static FIND_WHO_STOPS_IT: RemedyEntry = advised(
    "find-who-stops-it",
    "Nothing stops the threads while their time runs out.",
    "Find who sends SIGSTOP: a debugger, the job control of a shell, or a container that is paused.",
    Some("# command\nperf trace -a -e kill,tkill,tgkill,ptrace"),
);

pub(crate) static MOVE_INTERRUPT: RemedyEntry = advised(
    "move-interrupt",
    "The interrupt is handled on another CPU than the one that the program's timers are on.",
    "Move the interrupt to another CPU, and stop irqbalance from moving it back.",
    Some("# command\necho 3 > /proc/irq/24/smp_affinity_list"),
);

pub(crate) static MOVE_SOFTIRQ: RemedyEntry = advised(
    "move-softirq",
    "Deferred work of drivers no longer runs before the program's timer interrupt.",
    "Move the interrupts that cause it to another CPU, or use a kernel with PREEMPT_RT, which runs it in threads.",
    Some("# command\ngrep . /proc/irq/*/smp_affinity_list"),
);

pub(crate) static SEPARATE_TASK_OR_HOST: RemedyEntry = advised(
    "separate-task-or-host",
    "The CPU takes the timer interrupt when it is due.",
    "If it is the same task each time, the task keeps interrupts off: pin it to another CPU. If it is any task, the \
     hypervisor had the CPU: compare with steal time, and ask for dedicated CPUs.",
    Some("# command, with the number of the CPU\ntaskset -cp N PID"),
);

pub(crate) static FOLLOW_LONG_WAITS: RemedyEntry = advised(
    "follow-long-waits",
    "The worst waits show what their CPU did.",
    "Follow the program again with --only '>1ms' and read the worst waits.",
    Some("# command\noversleep why --only '>1ms' -- ./app"),
);

pub(crate) static SPREAD_TIMERS: RemedyEntry = advised(
    "spread-timers",
    "The timer interrupt has less to do before it ends the wait.",
    "Spread the timers that expire in the same interrupt, or pin the thread to a CPU without them.",
    None,
);

pub(crate) static REDUCE_TRACING: RemedyEntry = advised(
    "reduce-tracing",
    "The timer's callback wakes the thread at once.",
    "Stop other tracers, and compare with steal time. Locks of the run queue, tracing, or the hypervisor held the callback \
     up.",
    Some("# command\nbpftool prog list"),
);

pub(crate) static PIN_THREAD: RemedyEntry = advised(
    "pin-thread",
    "The timer fires on the CPU on which the thread runs.",
    "Pin the thread: its run queue is on another CPU than its timer.",
    Some("# command, with the number of the CPU\ntaskset -c N ./app"),
);

pub(crate) static RESTORE_PRIORITY: RemedyEntry = advised(
    "restore-priority",
    "The thread gets its share of a CPU when its timer fires.",
    "Run the program with an ordinary policy and nice value: not SCHED_IDLE, and nice 0.",
    None,
);

pub(crate) static RAISE_GROUP_WEIGHT: RemedyEntry = advised(
    "raise-group-weight",
    "The control group of the program gets its share of a CPU beside others.",
    "Give the group the share that others have: cpu.weight 100 (version 1: cpu.shares 1024), or CPUWeight=100 in its systemd \
     unit. A larger one lets it go before them.",
    Some("# command\nsystemctl set-property app.service CPUWeight=100"),
);

pub(crate) static SEPARATE_CPUS: RemedyEntry = advised(
    "separate-cpus",
    "The program's threads find a free CPU when their timers fire.",
    "Keep the task that ran instead away from the CPUs of this program, with taskset or a cpuset for either of them.",
    Some("# command, with the number of the CPU\ntaskset -c N ./app"),
);

pub(crate) static RUN_FIRST: RemedyEntry = advised(
    "run-first",
    "The program's thread runs as soon as it is woken, before the task that kept it waiting.",
    "Give the thread a policy or a priority that goes first, or the other task one that goes last.",
    Some("# command\nchrt --fifo 10 ./app"),
);

pub(crate) static SWITCH_SOONER: RemedyEntry = advised(
    "switch-sooner",
    "The kernel switches to the woken thread sooner.",
    "Use a kernel with PREEMPT or PREEMPT_RT: the task that ran goes after this thread, and the kernel could not switch yet.",
    None,
);

pub(crate) static SHORTEN_RETURN: RemedyEntry = advised(
    "shorten-return",
    "The call ends soon after its thread has a CPU.",
    "Wait for fewer descriptors, lock the program's memory, and stop other tracers. The time is the kernel's own work on the \
     way out: checking many descriptors, page faults, or tracing.",
    Some("# command\noversleep run --lock-memory -- ./app"),
);

pub(crate) static SHORTEN_WORK: RemedyEntry = RemedyEntry {
    trial: Trial::Never(CHANGES_CODE),
    ..advised(
        "shorten-work",
        "The program calls its wait before the deadline.",
        "What the program does between two waits, or what runs in its place then, takes longer than its period: make it \
         shorter, or the period longer.",
        None,
    )
};

pub(crate) static TOUCH_MEMORY_FIRST: RemedyEntry = advised(
    "touch-memory-first",
    "The loop finds its memory in place.",
    "Touch all memory before the loop begins and lock it (mlockall), keep buffers instead of returning them to the kernel, \
     and read files before they are needed.",
    Some("# command\noversleep run --lock-memory -- ./app"),
);

pub(crate) static BLOCK_ELSEWHERE: RemedyEntry = RemedyEntry {
    trial: Trial::Never(CHANGES_CODE),
    ..advised(
        "block-elsewhere",
        "The loop no longer sleeps in calls beside its own wait.",
        "Make calls that may sleep in another thread, and hand the result over. Hold a lock that the loop takes for as short \
         as possible, or take it with a try.",
        None,
    )
};

pub(crate) static PACE_BY_DEADLINES: RemedyEntry = RemedyEntry {
    trial: Trial::Never(CHANGES_CODE),
    ..advised(
        "pace-by-deadlines",
        "Each period is as long as it is meant to be, whatever the loop does meanwhile.",
        "Add the period to the last deadline and wait until then, instead of waiting for a span.",
        Some(
            "/* C */ next.tv_nsec += period_ns; /* carry */ clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);",
        ),
    )
};

pub(crate) static SHARE_INTERPRETER: RemedyEntry = RemedyEntry {
    trial: Trial::Never(CHANGES_CODE),
    ..advised(
        "share-interpreter",
        "A thread that waited gets the interpreter sooner.",
        "Let the threads change places more often with sys.setswitchinterval, which costs the one that computes some time, or \
         compute in another process.",
        Some("# Python\nimport sys; sys.setswitchinterval(0.0005)"),
    )
};

pub(crate) static COMPARE_WITHOUT_SLACK: RemedyEntry = advised(
    "compare-without-slack",
    "Two runs show how much of the lateness is timer slack.",
    "Run the program with and without slack.",
    Some("# command\noversleep run --slack 1ns --measure -- ./app"),
);

pub(crate) static FOLLOW_LESS: RemedyEntry =
    advised("follow-less", "Every step of every wait arrives.", "Follow fewer processes, or for a shorter time.", None);
