//! The cost of waiting for items, for the threads that wait, beside a rate or a latency.

use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
use crate::units::Nanos;

/// What the threads of a pipeline did while they had no item, summed over all rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Idling {
    /// For how long they were watched.
    pub window_ns: Nanos,
    /// Items that the last of them took meanwhile.
    pub items: u64,
    /// CPU time of these threads together; `None` where the machine doesn't count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<Nanos>,
    /// Idle turns that executed the pause hint.
    #[serde(default)]
    pub spins: u64,
    /// Idle turns that yielded the CPU.
    #[serde(default)]
    pub yields: u64,
    /// Idle turns that blocked until another thread signalled.
    #[serde(default)]
    pub blocks: u64,
    /// The durations of all parks together.
    #[serde(default)]
    pub parked_ns: Nanos,
    /// Parks in vain: after them there was still nothing to do, so the thread parked again. `None` if not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vain_parks: Option<u64>,
    /// How much longer than requested each park took, in ns.
    #[serde(default)]
    pub park_overshoot: Distribution,
}

impl Idling {
    /// The number of parks.
    pub fn parks(&self) -> u64 {
        self.park_overshoot.count()
    }

    /// The mean duration of a park; `None` if there was none.
    pub fn mean_park(&self) -> Option<Nanos> {
        let parks = i64::try_from(self.parks()).ok().filter(|&parks| parks > 0)?;
        Some(Nanos(self.parked_ns.0 / parks))
    }

    /// The share of the parks that ended in vain; `None` if there was none or they were not counted.
    pub fn vain_share(&self) -> Option<f64> {
        let parks = Some(self.parks()).filter(|&parks| parks > 0)?;
        Some(self.vain_parks? as f64 / parks as f64)
    }

    /// The number of parks per second.
    pub fn parks_per_second(&self) -> Option<f64> {
        self.per_second(self.parks() as f64)
    }

    /// The number of CPUs that they kept busy.
    pub fn cores(&self) -> Option<f64> {
        Some(self.per_second(1.0)? * self.cpu_ns?.as_secs_f64())
    }

    /// The CPU time per item, including the wait for it.
    pub fn cpu_per_item(&self) -> Option<Nanos> {
        let items = i64::try_from(self.items).ok().filter(|&items| items > 0)?;
        Some(Nanos(self.cpu_ns?.0 / items))
    }

    /// Adds another thread of the same round. The window and the items are those of the whole pipeline, so they are not
    /// added.
    pub fn add_thread(&mut self, thread: &Idling) {
        self.cpu_ns = self.cpu_ns.zip(thread.cpu_ns).map(|(all, one)| all + one);
        self.spins = self.spins.saturating_add(thread.spins);
        self.yields = self.yields.saturating_add(thread.yields);
        self.blocks = self.blocks.saturating_add(thread.blocks);
        self.parked_ns += thread.parked_ns;
        self.vain_parks = self.vain_parks.zip(thread.vain_parks).map(|(all, one)| all.saturating_add(one));
        self.park_overshoot.merge(&thread.park_overshoot);
    }

    /// Adds another round of the same pipeline.
    pub fn add_round(&mut self, round: &Idling) {
        self.window_ns += round.window_ns;
        self.items = self.items.saturating_add(round.items);
        self.add_thread(round);
    }

    fn per_second(&self, count: f64) -> Option<f64> {
        (self.window_ns > Nanos::ZERO).then(|| count / self.window_ns.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_all_threads_and_rounds() {
        let thread = |cpu, park: i64| Idling {
            cpu_ns: Some(Nanos(cpu)),
            parked_ns: Nanos(park),
            vain_parks: Some(u64::from(park > 70_000)),
            park_overshoot: Distribution::of_counts([(park - 1_000, 1)]),
            ..Idling::default()
        };
        let mut round = Idling { window_ns: Nanos::from_millis(1), items: 10, ..thread(500_000, 60_000) };
        round.add_thread(&thread(100_000, 80_000));
        let mut all = round.clone();
        all.add_round(&round);
        assert_eq!((all.parks(), all.mean_park(), all.items), (4, Some(Nanos(70_000)), 20));
        assert_eq!((all.cores(), all.cpu_per_item()), (Some(0.6), Some(Nanos(60_000))));
        assert_eq!((all.parks_per_second(), all.vain_share()), (Some(2_000.0), Some(0.5)));
    }

    #[test]
    fn what_is_not_counted_is_unknown() {
        let nothing = Idling::default();
        assert_eq!((nothing.mean_park(), nothing.cores(), nothing.parks_per_second()), (None, None, None));
        let mut counted = Idling { cpu_ns: Some(Nanos(1)), ..nothing.clone() };
        counted.add_thread(&nothing);
        assert_eq!((nothing.vain_share(), counted.vain_parks), (None, None));
        assert_eq!(counted.cpu_ns, None, "a part of it would be no figure of the whole");
    }

    #[test]
    fn what_threads_did_is_added_up_each_by_itself() {
        let mut sum = Idling { spins: 1, yields: 2, blocks: 3, ..Idling::default() };
        sum.add_thread(&Idling { spins: 10, yields: 20, blocks: 30, ..Idling::default() });
        assert_eq!((sum.spins, sum.yields, sum.blocks), (11, 22, 33));
    }
}
