//! Shares of the lateness: how large each part is, and what it is called.

use oversleep_record::Nanos;
use oversleep_record::part::Part;

use super::{all_lateness, nanos, parts_of};
use crate::observed::Kind;

/// A part is named in the verdict if it has this share of the lateness; the largest one always is.
const NAMED_MIN: f64 = 0.1;
/// The most parts that are named.
const NAMED_MAX: usize = 3;

/// A part's share of the lateness of all waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The part.
    pub part: Part,
    /// Its sum over all waits.
    pub total: Nanos,
    /// Its share of the sums of all parts.
    pub share: f64,
    /// How much of it is the kernel's tick, on which timeouts of sockets end; the rest of timer slack is that of threads.
    pub tick: Nanos,
}

impl Share {
    /// What it is, in a few words.
    pub fn about(&self) -> &'static str {
        match self.tick.0 {
            0 => self.part.about(),
            tick if tick == self.total.0 => TICK,
            _ => "timer slack, and the kernel's tick",
        }
    }

    /// The tick's share, and what is left without it; each only if it is there.
    fn by_tick(self) -> impl Iterator<Item = Share> {
        let of = |total: i64, tick: Nanos| {
            let share = self.share * total as f64 / self.total.0.max(1) as f64;
            Share { total: Nanos(total), share, tick, ..self }
        };
        let both = [of(self.tick.0, self.tick), of(self.total.0 - self.tick.0, Nanos::ZERO)];
        both.into_iter().filter(|share| share.total > Nanos::ZERO)
    }

    pub(super) fn is_tick(&self) -> bool {
        self.tick > Nanos::ZERO
    }
}

/// What slack is where a timeout ends on the tick.
const TICK: &str = "the kernel's tick";

pub(super) fn shares(kinds: &[Kind<'_>]) -> Vec<Share> {
    let parts = parts_of(kinds);
    let all = all_lateness(&parts) as f64;
    let on_tick = kinds.iter().filter(|kind| kind.is_on_tick()).map(|kind| kind.sum(Part::Slack));
    let on_tick = nanos(on_tick.fold(0, i128::saturating_add));
    let tick = |part: Part| if part == Part::Slack { on_tick } else { Nanos::ZERO };
    let of = |(part, sum)| Share { part, total: nanos(sum), share: sum as f64 / all, tick: tick(part) };
    parts.into_iter().map(of).collect()
}

/// The parts to name, the largest first; the tick is one of its own.
pub(super) fn named(shares: &[Share]) -> Vec<Share> {
    let mut largest: Vec<Share> = shares.iter().flat_map(|share| share.by_tick()).collect();
    largest.sort_by_key(|share| std::cmp::Reverse(share.total));
    largest
        .into_iter()
        .enumerate()
        .filter(|(at, of)| *at == 0 || of.share >= NAMED_MIN)
        .map(|(_, of)| of)
        .take(NAMED_MAX)
        .collect()
}

/// A part within a sentence.
pub(super) fn in_words(part: Part, is_tick: bool) -> &'static str {
    match part {
        Part::Slack if is_tick => TICK,
        Part::Api => "entering the call and rounding",
        Part::Stop => "stops",
        Part::Signal => "interruptions by signals",
        Part::Irq => "late timer interrupts",
        Part::Irqbody => "other work of the timer interrupt",
        Part::Wake => "waking the threads",
        Part::Ipi => "waking them across CPUs",
        Part::Quota => "a CPU quota",
        Part::Unattributed => "time that was not observed",
        other => other.about(),
    }
}
