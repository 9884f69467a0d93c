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

const fn parameter(path: &'static str, kind: Kind, doc: &'static str) -> Parameter {
    Parameter { path, kind, doc, only_on: None }
}

impl Parameter {
    const fn only_on(mut self, os: &'static str) -> Parameter {
        self.only_on = Some(os);
        self
    }
}

use Kind::{Cost, Flag, Integer, Ladder, Policy, Share, Span, Spread, Text, Tiers, Word};

/// All of them.
pub(super) const PARAMETERS: &[Parameter] = &[
    parameter("machine.os", Word(&["linux", "windows", "macos"]), "Whose rules hold."),
    parameter("machine.arch", Word(&["x86_64", "aarch64"]), "The processor's architecture."),
    parameter("cpus.count", Integer, "Number of CPUs; more threads than that take turns."),
    parameter("cpus.efficiency", Integer, "How many of them are efficiency cores."),
    parameter(
        "scheduler.kind",
        Word(&["fair", "eevdf", "cfs", "round-robin"]),
        "The rule by which threads take turns on a CPU.",
    ),
    parameter(
        "scheduler.slice",
        Span,
        "How long a thread runs while another of its rank waits. On Linux for one CPU: times 1 + log2(CPUs, at most 8), \
        and until the next tick.",
    ),
    parameter(
        "scheduler.latency",
        Span,
        "The period in which each thread of a CPU has a turn (kind cfs), for one CPU.",
    )
    .only_on("linux"),
    parameter(
        "scheduler.wakeup-granularity",
        Span,
        "How much more CPU time than the waking thread another must have had to be displaced (kind cfs), for one CPU.",
    )
    .only_on("linux"),
    parameter("scheduler.preempt-delay", Spread, "From being ready to run until displacing another thread."),
    parameter(
        "scheduler.wake-cpu",
        Span,
        "CPU time of a wake-up that counts toward the share of the thread that wakes up.",
    )
    .only_on("linux"),
    parameter(
        "scheduler.starving",
        Span,
        "A thread that threads of higher rank keep from running gets a slice after this long.",
    ),
    parameter("scheduler.starving-look", Span, "How often the system looks for such threads."),
    parameter("scheduler.policy", Policy, "The scheduling policy that a program starts under, with its priority."),
    parameter("timers.slack", Span, "Timer slack of a new thread.").only_on("linux"),
    parameter("timers.poll-share", Share, "The share of the timeout that select, poll and epoll_wait add as slack.")
        .only_on("linux"),
    parameter("timers.poll-share-nice", Share, "The same for a thread of positive nice value.").only_on("linux"),
    parameter("timers.poll-share-most", Span, "The longest span that this share comes to.").only_on("linux"),
    parameter("timers.hz", Integer, "Ticks per second of the kernel: the step of coarse clocks.").only_on("linux"),
    parameter(
        "timers.high-resolution",
        Flag,
        "Whether the kernel has high-resolution timers; without them every wait ends on its tick.",
    )
    .only_on("linux"),
    parameter("timers.tick", Span, "Period of the timer interrupt when no process requests another.")
        .only_on("windows"),
    parameter("timers.tick-shortest", Span, "The shortest period that a program can request.").only_on("windows"),
    parameter(
        "timers.timer-hz",
        Integer,
        "Frequency of the timer behind the tick: grants are multiples of 128 of its \
        cycles. 0: any multiple of 100 ns.",
    )
    .only_on("windows"),
    parameter(
        "timers.base",
        Word(&["call", "last-tick"]),
        "What a wait counts from; from the last tick it can end early.",
    )
    .only_on("windows"),
    parameter(
        "timers.p-two-tick",
        Share,
        "Share of waits that take one tick more where a tick misses them by less than the \
        margin.",
    )
    .only_on("windows"),
    parameter(
        "timers.margin",
        Span,
        "How long before a wait's end a tick may come and still, sometimes, end the wait.",
    )
    .only_on("windows"),
    parameter("timers.requests-reach", Word(&["everyone", "asker"]), "Which processes a requested resolution reaches.")
        .only_on("windows"),
    parameter("timers.drops-hidden", Flag, "Whether the requests of a program whose window is hidden are ignored.")
        .only_on("windows"),
    parameter("timers.window-hidden", Flag, "Whether this program's window is hidden.").only_on("windows"),
    parameter("timers.grid", Span, "One-shot timers end on multiples of this."),
    parameter("timers.grid-p-late", Share, "Share of one-shot timers that end one step of the grid later."),
    parameter(
        "timers.tiers",
        Tiers,
        "Latency tiers: name, shift of the request to the right, longest delay; a thread's own \
        first.",
    )
    .only_on("macos"),
    parameter("wake.cost", Spread, "From a timer's end until the thread runs, on a free CPU."),
    parameter("wake.real-time", Spread, "The same under a real-time policy."),
    parameter("wake.idle-exits", Ladder, "What leaving an idle state adds, by how long the CPU expected to idle."),
    parameter("wake.real-time-idle-exits", Ladder, "The same under a real-time policy."),
    parameter("wake.handoff", Spread, "From a post, or a thread's end, until the waiter runs."),
    parameter("wake.yield", Spread, "Giving the CPU away when no other thread wants it."),
    parameter("wake.thread-start", Span, "From a thread's creation until it runs."),
    parameter("work.unit", Span, "One unit of work."),
    parameter("work.relax", Span, "One turn of a spin loop."),
    parameter(
        "work.timer-load",
        Span,
        "What a thread of the load 'timers' computes per wake-up, context switches included.",
    ),
    parameter("costs.other", Cost, "Reading a clock whose cost is not stated."),
    parameter("costs.*", Cost, "Reading the clock of that name."),
    parameter(
        "steps.*",
        Span,
        "The step of the clock of that name, where it differs from that of what the clock follows.",
    ),
    parameter("frequencies.*", Integer, "Ticks per second of the counter of that name."),
    parameter("extra.*", Spread, "What the wait of that name costs beyond the wake-up; negative where it costs less."),
    parameter("shortest.*", Span, "The shortest span the wait of that name takes."),
    parameter("tolerance.*", Span, "How far the system may delay the wait of that name."),
    parameter("grids.*", Span, "The wait of that name ends only on multiples of this."),
    parameter("raises.*", Span, "The resolution the wait of that name holds while it waits."),
    parameter("since.*", Text, "The version that brought the clock or wait of that name: this machine is older."),
    parameter("facts.*", Text, "A fact about the machine, as a real one states it."),
];

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
