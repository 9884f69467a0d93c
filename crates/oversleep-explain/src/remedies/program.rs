//! Remedies that a program applies on any system.

use oversleep_record::{ExperimentId, Os};

use super::CHANGES_CODE;
use crate::entry::{RemedyEntry, Scope, Trial};
use crate::names::{HYBRID, OVERSLEEP};
use crate::read;

pub(crate) static HYBRID_WAIT: RemedyEntry = RemedyEntry {
    id: "hybrid-wait",
    scope: Scope::Anywhere,
    summary: "The thread sleeps for most of the time and spins for the rest: it wakes well within a microsecond of its \
              deadline.",
    how: "Sleep until a margin before the deadline, then spin on the clock with a pause instruction. Make the margin as \
          long as this machine's sleeps are usually late.",
    example: Some(
        "// Rust\nif let Some(most) = (deadline - MARGIN).checked_duration_since(std::time::Instant::now()) {\n    \
         std::thread::sleep(most);\n}\nwhile std::time::Instant::now() < deadline {\n    std::hint::spin_loop();\n}",
    ),
    trial: Trial::ByExperiment { experiment: ExperimentId::B12, waits: &[HYBRID], compare: read::sleep_and_hybrid },
};

pub(crate) static SLEEP_WITH_OVERSLEEP: RemedyEntry = RemedyEntry {
    id: "sleep-with-oversleep",
    scope: Scope::Anywhere,
    summary: "The library learns how late this machine's waits are and spins for only that long; it never returns early.",
    how: "Link the oversleep library and sleep to deadlines with its Sleeper. It keeps the timer slack low while it waits, \
          and it stops spinning while more threads are runnable than there are CPUs.",
    example: Some(
        "// Rust\nlet mut sleeper = oversleep::Sleeper::new();\n\
         let deadline = oversleep::Instant::now() + std::time::Duration::from_millis(1);\n\
         sleeper.sleep_until(deadline);",
    ),
    trial: Trial::ByExperiment {
        experiment: ExperimentId::B5,
        waits: &[OVERSLEEP],
        compare: |file| read::sleep_and(file, OVERSLEEP),
    },
};

pub(crate) static USE_ELAPSED_CLOCK: RemedyEntry = RemedyEntry {
    id: "use-elapsed-clock",
    scope: Scope::Anywhere,
    summary: "The figure is elapsed time, not CPU time.",
    how: "Measure durations with a monotonic clock of elapsed time. Use CPU-time clocks to measure the cost of work.",
    example: Some(
        "/* C */ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);\n\
         // C++\nauto t = std::chrono::steady_clock::now();\n// Rust\nlet t = std::time::Instant::now();",
    ),
    trial: Trial::Never("the clock table shows each clock next to the reference"),
};

pub(crate) static USE_PRECISE_CLOCK: RemedyEntry = RemedyEntry {
    id: "use-precise-clock",
    scope: Scope::Except(Os::Windows),
    summary: "Readings differ by nanoseconds instead of whole ticks.",
    how: "Use the precise clock for anything shorter than a hundred ticks. Keep the coarse clock for timestamps for \
          which a tick does not matter.",
    example: Some("/* C */ clock_gettime(CLOCK_MONOTONIC, &t); /* not CLOCK_MONOTONIC_COARSE */"),
    trial: Trial::Never("experiment B1 shows both clocks' readings of the same sleeps"),
};

pub(crate) static COMPARE_WITHIN_ONE_CLOCK: RemedyEntry = RemedyEntry {
    id: "compare-within-one-clock",
    scope: Scope::Except(Os::Windows),
    summary: "A wait and the code that checks it agree on when the deadline is.",
    how: "Compute the deadline on the clock that the wait uses, read that same clock after the wait, and wait again for \
          the rest.",
    example: Some(
        "/* C */\nclock_gettime(CLOCK_MONOTONIC, &deadline); /* then add the duration */\n\
         while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)\n    ;",
    ),
    trial: Trial::Never(CHANGES_CODE),
};

pub(crate) static READ_WITH_A_FENCE: RemedyEntry = RemedyEntry {
    id: "read-with-a-fence",
    scope: Scope::Anywhere,
    summary: "The processor can't move the read of its counter past the instructions around it.",
    how: "If two threads compare counter values, read the counter in order: rdtscp, or lfence before rdtsc. The plain \
          read is fine on one thread and for durations well above 100 ns.",
    example: Some("// Rust\nlet mut aux = 0;\nlet ticks = unsafe { core::arch::x86_64::__rdtscp(&mut aux) };"),
    trial: Trial::Never("the clock table shows the fenced reads next to the plain one"),
};

pub(crate) static USE_OS_CLOCK: RemedyEntry = RemedyEntry {
    id: "use-os-clock",
    scope: Scope::Anywhere,
    summary: "The operating system corrects, orders and checks its clock; nothing does that for the bare counter.",
    how: "Read the operating system's clock instead of the counter: CLOCK_MONOTONIC, or QueryPerformanceCounter on \
          Windows (std::time::Instant, std::chrono::steady_clock).",
    example: None,
    trial: Trial::Never("the clock table shows both"),
};

pub(crate) static READ_CLOCK_LESS: RemedyEntry = RemedyEntry {
    id: "read-clock-less",
    scope: Scope::Anywhere,
    summary: "The program reads an expensive clock less often.",
    how: "Read the clock once per batch, frame or request and pass the value on.",
    example: None,
    trial: Trial::Never(CHANGES_CODE),
};

pub(crate) static BLOCK_INSTEAD_OF_POLLING: RemedyEntry = RemedyEntry {
    id: "block-instead-of-polling",
    scope: Scope::Anywhere,
    summary: "The waiting thread wakes when the work is done, not at the next poll.",
    how: "Join with a condition variable, a futex or thread::join. If you must poll a state, have the last worker \
          signal it.",
    example: Some("// Rust\nfor worker in workers {\n    worker.join().unwrap();\n}"),
    trial: Trial::Never("experiment D1 measures both side by side"),
};

pub(crate) static TIME_THE_PARKS: RemedyEntry = RemedyEntry {
    id: "time-the-parks",
    scope: Scope::Anywhere,
    summary: "The worker parks only where a park is as short as it can afford, whatever the machine's tick is.",
    how: "Idle with oversleep's Backoff, which times its parks and yields instead where one would take longer than its \
          limit. With a back-off of your own, time one park at the start and choose what to do by that.",
    example: Some(
        "// Rust\nlet mut backoff = oversleep::Backoff::new();\nloop {\n    match queue.pop() {\n        \
         Some(item) => {\n            backoff.reset();\n            handle(item);\n        }\n        None => {\n            \
         backoff.idle();\n        }\n    }\n}",
    ),
    trial: Trial::Never("experiment E1 measures it beside the others"),
};

pub(crate) static BLOCK_INSTEAD_OF_PARKING: RemedyEntry = RemedyEntry {
    id: "block-instead-of-parking",
    scope: Scope::Anywhere,
    summary: "The other side wakes the worker at once, so no timer takes part.",
    how: "Wait on a condition variable and have the other side signal it. Let it signal only if somebody waits, so that a \
          busy queue costs no system call.",
    example: None,
    trial: Trial::Never("experiment E1 measures it beside the others"),
};

pub(crate) static BLOCK_INSTEAD_OF_YIELD: RemedyEntry = RemedyEntry {
    id: "block-instead-of-yield",
    scope: Scope::Anywhere,
    summary: "A thread with nothing to do uses no CPU and wakes when it has work.",
    how: "Wait on a futex, condition variable or semaphore. Yield only inside a lock that is held for less time than a \
          context switch takes.",
    example: None,
    trial: Trial::Never(CHANGES_CODE),
};
