//! What the figures of observed programs don't cover, by who followed or recorded them.

use oversleep_explain::verdict::lacks_waits;
use oversleep_explain::way;
use oversleep_record::environment::Os;
use oversleep_record::observed::{By, Observation};
use oversleep_record::{Nanos, ResultFile};

/// What the figures don't cover: the limits of the follower and of the kernel.
pub fn limits(file: &ResultFile, observation: &Observation) -> Vec<String> {
    let by = match observation.by {
        By::Kernel => &[][..],
        By::Recorder if is_of_windows(file, observation) => &[],
        By::Recorder => &[RECORDED],
        By::Supervisor => &[SPAN_WITH_SWITCHES, PARTS, CALLS],
        By::SupervisorWithoutSwitches => &[SPAN_WITHOUT_SWITCHES, SWITCHES, PARTS, CALLS],
    };
    let rounded = observation.resolution_ns.filter(|&unit| unit >= COARSE);
    let rounded =
        rounded.map(|unit| format!("The recorder rounds times to {unit}: each part may be wrong by as much."));
    let unseen: Vec<&str> = observation.unseen.iter().map(|part| part.name()).collect();
    let unseen = (!unseen.is_empty()).then(|| format!("Not recorded: {}.", unseen.join(", ")));
    let missing = &observation.losses.missing;
    let is_below_head = is_of_windows(file, observation) || is_of_scheduler(observation);
    let lacks = lacks(observation, way(file)).filter(|_| !is_below_head);
    let unseen_waits = unseen_waits(observation).filter(|_| !is_below_head);
    let missing = (observation.by != By::Recorder && !missing.is_empty())
        .then(|| format!("Not available on this kernel: {}.", missing.join("; ")));
    by.iter()
        .map(|&limit| limit.to_owned())
        .chain(rounded)
        .chain(unseen)
        .chain(lacks)
        .chain(unseen_waits)
        .chain(missing)
        .collect()
}

/// That programs are threads: whoever delays a program may be a thread of its own.
pub fn of_programs(file: &ResultFile) -> Option<String> {
    file.observation.as_ref().is_some_and(|observation| observation.lacks_processes).then(|| PROGRAMS.to_owned())
}

fn is_of_windows(file: &ResultFile, observation: &Observation) -> bool {
    observation.by == By::Recorder && file.platform.is(Os::Windows)
}

/// What a recording lacks, and how to record it.
fn lacks(observation: &Observation, way: &str) -> Option<String> {
    let missing = &observation.losses.missing;
    (observation.by == By::Recorder && !missing.is_empty()).then(|| {
        let missing = missing.join(", ");
        format!("The recording lacks {missing}. `oversleep why --how-to-record {way}` prints what records them.")
    })
}

/// Which waits can't be seen in a recording of Linux, because of what it lacks.
fn unseen_waits(observation: &Observation) -> Option<String> {
    if observation.by != By::Recorder {
        return None;
    }
    let lacks = |names: &[&'static str]| -> Vec<&'static str> {
        let missing = &observation.losses.missing;
        names.iter().copied().filter(|name| missing.iter().any(|missing| missing == name)).collect()
    };
    if !lacks(TIMERS).is_empty() {
        return Some(MILLISECONDS_ALONE.to_owned());
    }
    let without = lacks(OF_PROGRAMS_TIMERS);
    (!without.is_empty()).then(|| {
        let without = without.join(", ");
        format!("Waits for timers that a program sets itself (timerfd, POSIX timers, setitimer) can't be seen without {without}.")
    })
}

/// Without these, no timer is seen.
const TIMERS: &[&str] = &["timer:hrtimer_start"];
const MILLISECONDS_ALONE: &str = "Without timer:hrtimer_start, only waits are seen that request milliseconds of their call \
    (poll, epoll_wait).";
/// What tells that a program's own timer was set, fired and woke a thread.
const OF_PROGRAMS_TIMERS: &[&str] = &[
    "raw_syscalls:sys_enter",
    "raw_syscalls:sys_exit",
    "timer:hrtimer_expire_entry",
    "timer:hrtimer_expire_exit",
    "sched:sched_waking",
];

/// A recorder's resolution is told from here on.
pub const COARSE: Nanos = Nanos(1_000);

/// Whether a recording has the scheduler's events alone: it shows who waited for a CPU after waking up, whatever woke it.
pub fn is_of_scheduler(observation: &Observation) -> bool {
    let lacks = |name: &str| observation.losses.missing.iter().any(|missing| missing == name);
    let lacks_calls = ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"].into_iter().any(lacks);
    observation.by == By::Recorder && lacks("timer:hrtimer_start") && lacks_calls
}

/// What such a recording shows, and what it lacks: every figure depends on it.
pub fn of_scheduler(file: &ResultFile) -> Vec<String> {
    let Some(observation) = file.observation.as_ref().filter(|of| is_of_scheduler(of)) else { return Vec::new() };
    let shown = if lacks_waits(file) { RECORDED_SWITCHES } else { RECORDED_SCHEDULER };
    std::iter::once(shown.to_owned()).chain(lacks(observation, way(file))).collect()
}

/// What a recording of Windows is read for, and what it lacks: every figure depends on it.
pub fn of_windows(file: &ResultFile) -> Vec<String> {
    let Some(observation) = file.observation.as_ref().filter(|of| is_of_windows(file, of)) else { return Vec::new() };
    let meant = if observation.want_ns.is_some() { RECORDED_WANTED } else { RECORDED_WINDOWS };
    let meant = (!file.series.is_empty()).then(|| meant.to_owned());
    meant.into_iter().chain(lacks(observation, way(file))).collect()
}

const RECORDED: &str = "Another tool recorded the kernel's events. What a `timespec` requests is not among them: such a wait \
    counts from its timer's deadline, and its request is read from the timer, up to 3 µs short. A CPU quota looks like \
    waiting for a CPU.";
const RECORDED_SCHEDULER: &str = "The recording has the scheduler's events alone. They show how long threads waited for a CPU \
    after waking up, whatever woke them; how late their timers were is not recorded.";
const RECORDED_SWITCHES: &str = "The recording has the scheduler's switches alone. They show what idle CPUs wake up for, and \
    which threads have a period; how long threads waited for a CPU is not recorded, nor how late their timers were.";
const PROGRAMS: &str = "The recording doesn't say which threads are of one process: a program has the name of its thread, and another thread of \
     its own looks like a stranger.";
const RECORDED_WINDOWS: &str = "Windows' records don't hold what a call requests, so lateness counts from the interrupt that \
    ended the wait, and the tick that it waited for isn't seen. State what the program meant: --want 1ms.";
const RECORDED_WANTED: &str = "Windows' records don't hold what a call requests, so lateness counts from what you state: from \
    the beginning of every sleep on, whoever makes it. Choose the program's with --only program=NAME.";
const SPAN_WITH_SWITCHES: &str = "A supervisor saw these waits: it stops the program before and after each one. A span counts \
    from when the program goes on after the first stop, a deadline is the program's own; a wait ends when the program has \
    stopped again. Nothing is subtracted.";
const SPAN_WITHOUT_SWITCHES: &str = "A supervisor saw these waits: it stops the program before and after each one. A span \
    counts from when it lets the program go on after the first stop, a deadline is the program's own; a wait ends when the \
    supervisor notices the second stop, so its own waking is included. Nothing is subtracted.";
const SWITCHES: &str = "This process gets no records of context switches (perf_event_open), so only the time in the run queue \
    is told from the rest of the lateness, which is unattributed. With kernel.perf_event_paranoid at 2, or outside of a \
    container, it may get them.";
const PARTS: &str = "Timer slack, late interrupts, CPU quotas and who ran instead can be seen in the kernel's events only, \
    which need privileges.";
const CALLS: &str = "Not seen: timers that the program sets itself (timerfd, POSIX timers, setitimer), timeouts of sockets, \
    io_uring, and 32-bit programs.";
