//! Every parameter a profile can state: its path, its kind and what it means.

use super::processor::NAMES;
use super::value::Kind;

/// One parameter, or a family of them if the path ends in `*`.
pub(super) struct Parameter {
    pub path: &'static str,
    pub kind: Kind,
    pub doc: &'static str,
    /// The only system whose rules use it, if there is one.
    pub only_on: Option<&'static str>,
}

use Kind::{Cost, Flag, Integer, Ladder, Policy, Share, Span, Spread, Text, Tiers, Word};

/// A table of parameters: the path, the only system whose rules use it if there is one, the kind, and the meaning.
macro_rules! parameters {
    ($($path:literal $(on $os:literal)?: $kind:expr => $doc:literal,)*) => {
        &[$(Parameter { path: $path, kind: $kind, doc: $doc, only_on: [$(Some($os),)? None][0] }),*]
    };
}

/// All of them.
pub(super) const PARAMETERS: &[Parameter] = parameters! {
    "machine.os": Word(&["linux", "windows", "macos"]) => "The operating system whose rules the model follows.",
    "machine.arch": Word(&["x86_64", "aarch64", "arm"]) => "The processor's architecture.",
    "cpus.count": Integer => "Number of CPUs. Threads beyond that number take turns.",
    "cpus.efficiency": Integer => "How many of the CPUs are efficiency cores.",
    "cpus.mhz": Integer =>
        "Clock rate of the processor, in MHz. What reading a clock costs is a number of cycles, so the costs of machines \
         whose rate is known are scaled to it.",
    "cpus.processor": Word(&NAMES) =>
        "The processor's microarchitecture. It decides what reads of clocks take, and on bare metal which idle states there \
         are and what leaving them takes.",
    "cpus.counter-trap": Cost =>
        "What a read of the processor's counter takes longer because the hypervisor traps it. 0: none does.",
    "cpus.idle-states": Flag =>
        "Whether processors that idle enter idle states (C-states). Without them no wake-up waits for one to be left, and \
         no near miss of a timer interrupt ends a wait.",
    "scheduler.kind": Word(&["fair", "eevdf", "cfs", "round-robin"]) =>
        "The rule by which threads take turns on a CPU.",
    "scheduler.slice": Span =>
        "How long a thread runs while another of the same rank waits. On Linux this is the figure for one CPU: \
         multiply it by 1 + log2(CPUs, at most 8); the slice then lasts until the next tick.",
    "scheduler.latency" on "linux": Span =>
        "The period in which every thread on a CPU gets a turn (kind cfs), stated for one CPU.",
    "scheduler.wakeup-granularity" on "linux": Span =>
        "How much more CPU time than the waking thread the running one must have had before it is displaced (kind \
         cfs), stated for one CPU.",
    "scheduler.preempt-delay": Spread => "Time from becoming ready to run until displacing another thread.",
    "scheduler.wake-cpu" on "linux": Span =>
        "CPU time that each wake-up adds to the share of the thread that wakes up.",
    "scheduler.starving": Span =>
        "How long threads of higher rank can keep a thread from running before it gets a slice.",
    "scheduler.starving-look": Span => "How often the system looks for starving threads.",
    "scheduler.policy": Policy => "The scheduling policy that a program starts with, and its priority.",
    "timers.slack" on "linux": Span => "Timer slack of a new thread.",
    "timers.poll-share" on "linux": Share =>
        "The share of the timeout that select, poll and epoll_wait add as slack.",
    "timers.poll-share-nice" on "linux": Share => "That share for a thread with a positive nice value.",
    "timers.poll-share-most" on "linux": Span => "The longest slack that this share adds.",
    "timers.hz" on "linux": Integer => "Ticks per second of the kernel: the step of coarse clocks.",
    "timers.high-resolution" on "linux": Flag =>
        "Whether the kernel has high-resolution timers; without them every wait ends on its tick.",
    "timers.tick" on "windows": Span => "Period of the timer interrupt when no process requests another.",
    "timers.tick-shortest" on "windows": Span => "The shortest period that a program can request.",
    "timers.timer-hz" on "windows": Integer =>
        "Frequency of the timer behind the tick: grants are multiples of 128 of its cycles. 0: any multiple of 100 \
         ns.",
    "timers.base" on "windows": Word(&["call", "last-tick"]) =>
        "What a wait counts from. A wait that counts from the last tick can end early.",
    "timers.p-two-tick" on "windows": Share =>
        "Share of waits that take one more tick if a tick comes before their end by less than the margin.",
    "timers.margin" on "windows": Span =>
        "How far before a wait's end a tick can come and still sometimes end the wait.",
    "timers.requests-reach" on "windows": Word(&["everyone", "asker"]) =>
        "Which processes a requested resolution reaches.",
    "timers.held-by-others" on "windows": Span =>
        "The timer resolution that another process holds all the time. 0: none does.",
    "timers.tick-ends-waits" on "windows": Flag =>
        "Whether the timer interrupt ends waits. Under Wine it doesn't: calls report it, and waits are those of the host.",
    "timers.drops-hidden" on "windows": Flag => "Whether the requests of a program with a hidden window are ignored.",
    "timers.window-hidden" on "windows": Flag => "Whether this program's window is hidden.",
    "timers.grid": Span => "One-shot timers end on multiples of this.",
    "timers.grid-aligned-most": Span =>
        "The longest span whose timer keeps to the grid of those before it; that of a longer one can begin anywhere. 0: \
         all keep to it.",
    "timers.one-shot-ends": Word(&["on-grid", "when-due"]) =>
        "Where one-shot timers end: on the grid, or when they are due, except for those that come a grid step late.",
    "timers.one-shot-slack" on "windows": Span =>
        "How much later a timer may end, where waits are those of a host with timer slack (Wine).",
    "timers.grid-p-late": Share => "Share of one-shot timers that end one grid step late.",
    "timers.others-hz": Integer =>
        "Interrupts per second on a CPU that have nothing to do with the program's waits. Each ends the waits whose slack or \
         leeway has begun.",
    "timers.counter" on "windows": Word(&["tsc", "hpet", "acpi-pm"]) =>
        "The counter behind QueryPerformanceCounter. With the system's version it decides the frequency.",
    "timers.tiers" on "macos": Tiers =>
        "Latency tiers, a thread's own first: the name, the right shift of the request, and the longest delay.",
    "timers.kernel-tier" on "macos": Tiers =>
        "The latency tier of waits that the kernel makes itself, whatever the thread's: poll and kevent.",
    "wake.cost": Spread => "Time from a timer's end until the thread runs on a free CPU.",
    "wake.cost-awake": Spread => "What wake.cost is where processors enter no idle states.",
    "wake.real-time": Spread => "What wake.cost is under a real-time policy.",
    "wake.idle-exits": Ladder => "Time that leaving an idle state adds, by how long the CPU expected to be idle.",
    "wake.real-time-idle-exits": Ladder => "What wake.idle-exits is under a real-time policy.",
    "wake.expiry-thread": Spread =>
        "Time until the thread of the kernel runs in which timers of ordinary threads end (PREEMPT_RT). 0: they end in the \
         interrupt.",
    "wake.handoff": Spread => "Time from a signal, or from a thread's end, until the waiting thread runs.",
    "wake.yield": Spread => "Duration of a yield when no other thread wants the CPU.",
    "wake.thread-start": Span => "Time from a thread's creation until it runs.",
    "work.unit": Span => "Duration of one unit of work.",
    "work.relax": Span => "Duration of one turn of a spin loop.",
    "work.timer-load": Span =>
        "CPU time that a thread of the load 'timers' uses per wake-up, context switches included.",
    "costs.other": Cost => "Cost of reading a clock for which no cost is stated.",
    "costs.*": Cost => "Cost of reading this clock: at least that of the clock that it reads.",
    "steps.*": Span => "The step of this clock, if it differs from the step of what the clock follows.",
    "frequencies.*": Integer => "Ticks per second of this counter.",
    "extra.*": Spread => "What this wait costs beyond the wake-up; negative if it costs less.",
    "shortest.*": Span => "The shortest span that this wait takes.",
    "units.*": Span => "The unit that this wait's span is rounded up to, beyond the call's own.",
    "tolerance.*": Span => "How far the system may delay this wait.",
    "grids.*": Span => "This wait ends only on multiples of this span.",
    "raises.*": Span => "The resolution that this wait holds while it waits.",
    "since.*": Text => "The version that introduced this clock or wait; this machine is older.",
    "facts.*": Text => "A fact about the machine, as a real one reports it.",
};

/// Default values, for figures that every machine needs but no source states. Other missing figures switch their rule
/// off.
pub(super) const DEFAULTS: &[(&str, &str)] = &[
    ("cpus.count", "4"),
    ("scheduler.slice", "10ms"),
    ("scheduler.starving", "1s"),
    ("timers.high-resolution", "true"),
    ("timers.hz", "250"),
    ("timers.slack", "50us"),
    ("timers.p-two-tick", "1"),
    ("timers.tick", "15.625ms"),
    ("timers.tick-shortest", "500us"),
    ("wake.cost", "5us"),
    ("wake.real-time", "5us"),
    ("wake.handoff", "5us"),
    ("wake.yield", "1us"),
    ("wake.thread-start", "25us"),
    ("work.unit", "1us"),
    ("work.relax", "40ns"),
    ("work.timer-load", "10us"),
    ("costs.other", "30ns"),
];

/// The parameter of that path.
pub(super) fn parameter_of(path: &str) -> Option<&'static Parameter> {
    let exact = PARAMETERS.iter().find(|known| known.path == path);
    exact.or_else(|| PARAMETERS.iter().find(|known| is_of(known.path, path)))
}

/// Whether the path is that one, or of that family.
pub(super) fn is_of(family: &str, path: &str) -> bool {
    let in_family = |prefix: &str| path.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty());
    family.strip_suffix('*').map_or(family == path, in_family)
}

/// The path for what was typed: the whole path, or its last part if it is unique. `_` is `-`.
///
/// # Errors
/// A sentence that lists the possibilities.
pub(super) fn path_of(typed: &str) -> Result<String, String> {
    let path = if typed.starts_with("facts.") { typed.to_owned() } else { typed.replace('_', "-") };
    if parameter_of(&path).is_some() {
        return Ok(path);
    }
    let known = PARAMETERS.iter().map(|known| known.path);
    let fits: Vec<&str> = known.clone().filter(|known| known.rsplit('.').next() == Some(path.as_str())).collect();
    match fits[..] {
        [only] => Ok(only.to_owned()),
        [] => Err(match nearest(&path) {
            Some(near) => format!("'{typed}' is not a figure of a modelled machine; did you mean '{near}'?"),
            None => {
                let known = known.collect::<Vec<_>>().join(", ");
                format!("'{typed}' is not a figure of a modelled machine; choose from {known}")
            }
        }),
        _ => Err(format!("'{typed}' can be {}; write its full name", fits.join(" or "))),
    }
}

/// The parameter whose last part is the most similar to what was typed, if one is.
fn nearest(typed: &str) -> Option<&'static str> {
    let last = |path: &'static str| path.rsplit('.').next().unwrap_or(path);
    let lasts: Vec<&str> = PARAMETERS.iter().map(|known| last(known.path)).collect();
    let near = oversleep_record::nearest(typed.rsplit('.').next().unwrap_or(typed), &lasts)?;
    PARAMETERS.iter().map(|known| known.path).find(|path| last(path) == near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_by_path_and_by_their_last_part() {
        assert_eq!(path_of("tick").unwrap(), "timers.tick");
        assert_eq!(path_of("p_two_tick").unwrap(), "timers.p-two-tick");
        assert_eq!(path_of("costs.tsc").unwrap(), "costs.tsc");
        assert_eq!(path_of("facts.timer.slack_ns").unwrap(), "facts.timer.slack_ns");
        for (typed, meant) in [("tock", "timers.tick"), ("hidden-window", "timers.window-hidden")] {
            let said = path_of(typed).unwrap_err();
            assert!(said.ends_with(&format!("did you mean '{meant}'?")), "{said}");
        }
        assert!(path_of("foo").unwrap_err().contains("choose from machine.os"));
        assert!(path_of("costs.").is_err());
        for known in PARAMETERS {
            assert!(known.doc.ends_with('.'), "{}", known.path);
        }
    }
}
