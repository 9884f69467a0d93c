//! Idle strategies: the action of a worker in a turn that found no item. Decisions only, so the tests take no time.

use oversleep::algorithm::{LearnedParks, Park};
use oversleep_record::Nanos;

/// When to spin, to yield and to park, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Idle turns in a row that spin.
    pub spins: u64,
    /// Idle turns that yield after these.
    pub yields: u64,
    /// The request of the first park; each further one is twice as long.
    pub park_from: Nanos,
    /// The longest request of a park.
    pub park_to: Nanos,
}

/// The kind of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Spins, then yields, then parks for longer and longer.
    Fixed(Backoff),
    /// The same, but every park is timed: no park may take longer than `park_to` in total, including its lateness; if
    /// even the first would, the worker yields instead.
    Learned(Backoff),
    /// Blocks until the other side signals.
    Blocking,
}

/// A strategy in the list.
#[derive(Debug)]
pub struct Strategy {
    /// Its name, as typed.
    pub name: &'static str,
    /// Its equivalent in a program.
    pub call: &'static str,
    /// What it is, and who uses it.
    pub doc: &'static str,
    /// The page that documents its figures; empty for strategies without a particular origin.
    pub page: &'static str,
    /// Its kind.
    pub kind: Kind,
}

impl Strategy {
    /// Its figures, in the order to show them.
    pub fn properties(&self) -> Vec<(&'static str, String)> {
        let (Kind::Fixed(backoff) | Kind::Learned(backoff)) = self.kind else { return Vec::new() };
        let Backoff { spins, yields, park_from, park_to } = backoff;
        let endless = |turns: u64| if turns == u64::MAX { "endless".to_owned() } else { turns.to_string() };
        let mut properties = vec![("spins", endless(spins))];
        if spins < u64::MAX {
            properties.push(("yields", endless(yields)));
        }
        if spins < u64::MAX && yields < u64::MAX {
            let parks = if park_from == park_to { park_to.to_string() } else { format!("{park_from} to {park_to}") };
            properties.push(("parks", parks));
        }
        properties
    }
}

const US: Nanos = Nanos(1_000);
const MS: Nanos = Nanos(1_000_000);

/// The name of a strategy that the user specifies.
pub const CUSTOM: &str = "custom";

const fn backoff(spins: u64, yields: u64, park_from: Nanos, park_to: Nanos) -> Backoff {
    Backoff { spins, yields, park_from, park_to }
}

/// The defaults of `custom`: those of `typical` in [`STRATEGIES`].
pub const TYPICAL: Backoff = backoff(100, 10, US, MS);

/// Every strategy. Those of a streaming engine or a ring buffer have the figures of its source; turns in which the
/// original only changes state are not counted here.
pub const STRATEGIES: &[Strategy] = &[
    Strategy {
        name: "spin",
        call: "while queue.is_empty() { pause }",
        doc: "Executes the pause hint until there is an item. Nothing is faster, and it uses a whole CPU.",
        page: "",
        kind: Kind::Fixed(backoff(u64::MAX, 0, US, US)),
    },
    Strategy {
        name: "yield",
        call: "while queue.is_empty() { yield }",
        doc: "Yields until there is an item. It uses a whole CPU too, unless another thread wants it.",
        page: "",
        kind: Kind::Fixed(backoff(0, u64::MAX, US, US)),
    },
    Strategy {
        name: "park",
        call: "while queue.is_empty() { park(1 µs) }",
        doc: "Parks for the shortest time that the machine knows until there is an item.",
        page: "",
        kind: Kind::Fixed(backoff(0, 0, US, US)),
    },
    Strategy {
        name: "typical",
        call: "100 spins, 10 yields, parks of 1 µs to 1 ms",
        doc: "Spins, then yields, then parks for longer and longer, as programs do that copied the idea.",
        page: "",
        kind: Kind::Fixed(TYPICAL),
    },
    Strategy {
        name: "jet",
        call: "new BackoffIdleStrategy(0, 0, 1 µs, 1 ms)",
        doc: "The cooperative workers of Hazelcast Jet up to 3.1: they park at once, for longer and longer.",
        page: "https://github.com/hazelcast/hazelcast-jet",
        kind: Kind::Fixed(backoff(0, 0, US, MS)),
    },
    Strategy {
        name: "jet-3.2",
        call: "jet.idle.cooperative.min.microseconds=25, jet.idle.cooperative.max.microseconds=500",
        doc: "The cooperative workers of Hazelcast Jet since 3.2, and of Hazelcast 5: parks of 25 to 500 µs.",
        page: "https://docs.hazelcast.org/docs/jet/3.2/manual/",
        kind: Kind::Fixed(backoff(0, 0, Nanos(25_000), Nanos(500_000))),
    },
    Strategy {
        name: "aeron",
        call: "new BackoffIdleStrategy()",
        doc: "The default of Agrona, which Aeron's agents idle with: 10 spins, 5 yields, parks of 1 µs to 1 ms.",
        page: "https://github.com/aeron-io/agrona/blob/master/agrona/src/main/java/org/agrona/concurrent/\
               BackoffIdleStrategy.java",
        kind: Kind::Fixed(backoff(10, 5, US, MS)),
    },
    Strategy {
        name: "disruptor",
        call: "new SleepingWaitStrategy()",
        doc: "The LMAX Disruptor's strategy that saves CPU time without a lock: 100 spins, 100 yields, then parks of \
              100 ns.",
        page: "https://github.com/LMAX-Exchange/disruptor/blob/master/src/main/java/com/lmax/disruptor/\
               SleepingWaitStrategy.java",
        kind: Kind::Fixed(backoff(100, 100, Nanos(100), Nanos(100))),
    },
    Strategy {
        name: "condvar",
        call: "wait on a condition variable; the producer signals",
        doc: "Blocks until the other side signals, which it does only if somebody waits: no timer takes part.",
        page: "",
        kind: Kind::Blocking,
    },
    Strategy {
        name: "oversleep",
        call: "oversleep::Backoff::new()",
        doc: "The back-off of the oversleep library, which times its parks: where one would take longer than 1 ms in \
              total, it yields instead.",
        page: "https://docs.rs/oversleep",
        kind: Kind::Learned(TYPICAL),
    },
];

/// The strategy of that name.
pub fn find(name: &str) -> Option<&'static Strategy> {
    STRATEGIES.iter().find(|strategy| strategy.name == name)
}

/// The action of an idle turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Spin,
    Yield,
    Park(Nanos),
    Block,
}

/// A strategy at work in one thread.
#[derive(Clone, Debug)]
pub(super) struct Idler {
    kind: Kind,
    /// Idle turns in a row.
    turn: u64,
    learned: LearnedParks,
}

impl Idler {
    pub(super) fn new(kind: Kind) -> Idler {
        Idler { kind, turn: 0, learned: LearnedParks::default() }
    }

    /// Call this after a turn that found an item.
    pub(super) fn reset(&mut self) {
        self.turn = 0;
    }

    /// Call this after a turn that found none. Returns what to do; `now` says what time it is, if that matters.
    pub(super) fn next(&mut self, now: impl FnOnce() -> Nanos) -> Step {
        let (backoff, is_learned) = match self.kind {
            Kind::Fixed(backoff) => (backoff, false),
            Kind::Learned(backoff) => (backoff, true),
            Kind::Blocking => return Step::Block,
        };
        let turn = self.turn;
        self.turn = turn.saturating_add(1);
        let Some(turn) = turn.checked_sub(backoff.spins) else { return Step::Spin };
        let Some(turn) = turn.checked_sub(backoff.yields) else { return Step::Yield };
        let first = backoff.park_from.max(Nanos(1));
        let mut longest = backoff.park_to;
        if is_learned {
            let [first_ns, absence_ns] = [first, longest].map(ns);
            match self.learned.affordable_ns(first_ns, absence_ns) {
                Some(affordable_ns) => longest = Nanos(affordable_ns as i64),
                None if self.learned.probes(ns(now())) => return Step::Park(first.min(longest).max(Nanos(1))),
                None => return Step::Yield,
            }
        }
        let doublings = u32::try_from(turn).unwrap_or(u32::MAX);
        let doubled = first.0.checked_shl(doublings).filter(|ns| *ns > 0 && ns >> doublings == first.0);
        Step::Park(doubled.map_or(longest, |ns| Nanos(ns).min(longest)).max(Nanos(1)))
    }

    /// Learns from the duration of a park that ended then.
    pub(super) fn learn(&mut self, requested: Nanos, took: Nanos, end: Nanos) {
        // A park that ended early says nothing about lateness.
        if let Kind::Learned(backoff) = self.kind
            && took >= requested
        {
            let [first_ns, absence_ns] = [backoff.park_from.max(Nanos(1)), backoff.park_to].map(ns);
            let [requested_ns, lateness_ns, end_ns] = [requested, took - requested, end].map(ns);
            self.learned.learn(first_ns, absence_ns, Park { requested_ns, lateness_ns, end_ns });
        }
    }
}

fn ns(span: Nanos) -> u64 {
    u64::try_from(span.0).unwrap_or(0)
}

#[cfg(test)]
mod tests;
