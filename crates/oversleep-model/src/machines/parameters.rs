//! Every parameter a profile can state: its path, its kind and what it means.

use super::value::Kind;

/// One parameter, or a family of them where the path ends in `*`.
pub(super) struct Parameter {
    pub path: &'static str,
    pub kind: Kind,
    pub doc: &'static str,
    /// The system whose rules use it, where only one does.
    pub only_on: Option<&'static str>,
}

use Kind::{Cost, Flag, Integer, Ladder, Policy, Share, Span, Spread, Text, Tiers, Word};

/// A table of parameters: the path, the system whose rules use it where only one does, the kind, and what it means.
macro_rules! parameters {
    ($($path:literal $(on $os:literal)?: $kind:expr => $doc:literal,)*) => {
        &[$(Parameter { path: $path, kind: $kind, doc: $doc, only_on: [$(Some($os),)? None][0] }),*]
    };
}

/// All of them.
pub(super) const PARAMETERS: &[Parameter] = parameters! {
    "machine.os": Word(&["linux", "windows", "macos"]) => "Whose rules hold.",
    "machine.arch": Word(&["x86_64", "aarch64"]) => "The processor's architecture.",
    "cpus.count": Integer => "Number of CPUs; more threads than that take turns.",
    "cpus.efficiency": Integer => "How many of them are efficiency cores.",
    "scheduler.kind": Word(&["fair", "eevdf", "cfs", "round-robin"]) =>
        "The rule by which threads take turns on a CPU.",
    "scheduler.slice": Span =>
        "How long a thread runs while another of its rank waits. On Linux for one CPU: times 1 + log2(CPUs, at most \
         8), and until the next tick.",
    "scheduler.latency" on "linux": Span =>
        "The period in which each thread of a CPU has a turn (kind cfs), for one CPU.",
    "scheduler.wakeup-granularity" on "linux": Span =>
        "How much more CPU time than the waking thread another must have had to be displaced (kind cfs), for one CPU.",
    "scheduler.preempt-delay": Spread => "From being ready to run until displacing another thread.",
    "scheduler.wake-cpu" on "linux": Span =>
        "CPU time of a wake-up that counts toward the share of the thread that wakes up.",
    "scheduler.starving": Span =>
        "A thread that threads of higher rank keep from running gets a slice after this long.",
    "scheduler.starving-look": Span => "How often the system looks for such threads.",
    "scheduler.policy": Policy => "The scheduling policy that a program starts under, with its priority.",
    "timers.slack" on "linux": Span => "Timer slack of a new thread.",
    "timers.poll-share" on "linux": Share => "The share of the timeout that select, poll and epoll_wait add as slack.",
    "timers.poll-share-nice" on "linux": Share => "The same for a thread of positive nice value.",
    "timers.poll-share-most" on "linux": Span => "The longest span that this share comes to.",
    "timers.hz" on "linux": Integer => "Ticks per second of the kernel: the step of coarse clocks.",
    "timers.high-resolution" on "linux": Flag =>
        "Whether the kernel has high-resolution timers; without them every wait ends on its tick.",
    "timers.tick" on "windows": Span => "Period of the timer interrupt when no process requests another.",
    "timers.tick-shortest" on "windows": Span => "The shortest period that a program can request.",
    "timers.timer-hz" on "windows": Integer =>
        "Frequency of the timer behind the tick: grants are multiples of 128 of its cycles. 0: any multiple of 100 ns.",
    "timers.base" on "windows": Word(&["call", "last-tick"]) =>
        "What a wait counts from; from the last tick it can end early.",
    "timers.p-two-tick" on "windows": Share =>
        "Share of waits that take one tick more where a tick misses them by less than the margin.",
    "timers.margin" on "windows": Span =>
        "How long before a wait's end a tick may come and still, sometimes, end the wait.",
    "timers.requests-reach" on "windows": Word(&["everyone", "asker"]) =>
        "Which processes a requested resolution reaches.",
    "timers.drops-hidden" on "windows": Flag => "Whether the requests of a program whose window is hidden are ignored.",
    "timers.window-hidden" on "windows": Flag => "Whether this program's window is hidden.",
    "timers.grid": Span => "One-shot timers end on multiples of this.",
    "timers.grid-p-late": Share => "Share of one-shot timers that end one step of the grid later.",
    "timers.tiers" on "macos": Tiers =>
        "Latency tiers: name, shift of the request to the right, longest delay; a thread's own first.",
    "wake.cost": Spread => "From a timer's end until the thread runs, on a free CPU.",
    "wake.real-time": Spread => "The same under a real-time policy.",
    "wake.idle-exits": Ladder => "What leaving an idle state adds, by how long the CPU expected to idle.",
    "wake.real-time-idle-exits": Ladder => "The same under a real-time policy.",
    "wake.handoff": Spread => "From a post, or a thread's end, until the waiter runs.",
    "wake.yield": Spread => "Giving the CPU away when no other thread wants it.",
    "wake.thread-start": Span => "From a thread's creation until it runs.",
    "work.unit": Span => "One unit of work.",
    "work.relax": Span => "One turn of a spin loop.",
    "work.timer-load": Span => "What a thread of the load 'timers' computes per wake-up, context switches included.",
    "costs.other": Cost => "Reading a clock whose cost is not stated.",
    "costs.*": Cost => "Reading the clock of that name.",
    "steps.*": Span => "The step of the clock of that name, where it differs from that of what the clock follows.",
    "frequencies.*": Integer => "Ticks per second of the counter of that name.",
    "extra.*": Spread => "What the wait of that name costs beyond the wake-up; negative where it costs less.",
    "shortest.*": Span => "The shortest span the wait of that name takes.",
    "tolerance.*": Span => "How far the system may delay the wait of that name.",
    "grids.*": Span => "The wait of that name ends only on multiples of this.",
    "raises.*": Span => "The resolution the wait of that name holds while it waits.",
    "since.*": Text => "The version that brought the clock or wait of that name: this machine is older.",
    "facts.*": Text => "A fact about the machine, as a real one states it.",
};

/// The parameter of that path.
pub(super) fn parameter_of(path: &str) -> Option<&'static Parameter> {
    let exact = PARAMETERS.iter().find(|known| known.path == path);
    exact.or_else(|| {
        let family = |known: &&Parameter| {
            let Some(prefix) = known.path.strip_suffix('*') else { return false };
            path.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty())
        };
        PARAMETERS.iter().find(family)
    })
}

/// The path meant by what was typed: whole, or its last part where that is enough. `_` is `-`.
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
            Some(near) => format!("'{typed}' is not a parameter; did you mean '{near}'?"),
            None => format!("'{typed}' is not a parameter; there are {}", known.collect::<Vec<_>>().join(", ")),
        }),
        _ => Err(format!("'{typed}' can be {}; write its full name", fits.join(" or "))),
    }
}

/// The parameter whose last part shares most pairs of letters with what was typed, if it shares enough of them.
fn nearest(typed: &str) -> Option<&'static str> {
    let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_lowercase();
    let pairs = |text: &str| text.as_bytes().windows(2).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let given = pairs(&last(typed));
    let alike = |known: &str| {
        let known = pairs(&last(known));
        let shared = given.iter().filter(|pair| known.contains(pair)).count();
        2.0 * shared as f64 / (given.len() + known.len()).max(1) as f64
    };
    let all = PARAMETERS.iter().map(|known| (known.path, alike(known.path)));
    let (near, likeness) = all.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (likeness >= 0.3).then_some(near)
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
        assert!(path_of("foo").unwrap_err().contains("there are machine.os"));
        assert!(path_of("costs.").is_err());
        for known in PARAMETERS {
            assert!(known.doc.ends_with('.'), "{}", known.path);
        }
    }
}
