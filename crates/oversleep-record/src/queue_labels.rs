//! The labels of series about queues and idle strategies.

use crate::label::Label;
use crate::units::Nanos;

/// How many items are sent per second. Series without it send as many as the queue takes.
pub const RATE: Label<u64> = Label::named("rate_per_s");
/// How many items a queue holds.
pub const QUEUE: Label<u64> = Label::named("queue");
/// How many workers pass items on, one after another.
pub const WORKERS: Label<u64> = Label::named("workers");
/// The work of each worker for one item.
pub const ITEM: Label<Nanos> = Label::named("item_ns");
/// Idle turns in a row that spin.
pub const SPINS: Label<u64> = Label::named("spins");
/// Idle turns in a row that yield, after those that spin.
pub const YIELDS: Label<u64> = Label::named("yields");
/// The request of the first park.
pub const PARK_FROM: Label<Nanos> = Label::named("park_from_ns");
/// The longest request of a park.
pub const PARK_TO: Label<Nanos> = Label::named("park_to_ns");
/// Registry name of the wait that parks.
pub const PARK: Label<String> = Label::named("park");
/// The grid to which the ends of parks are delayed. Series without it park as the machine does.
pub const GRID: Label<Nanos> = Label::named("grid_ns");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Labels;

    #[test]
    fn labels_of_queues_read_back() {
        for (label, name) in [(RATE, "rate_per_s"), (QUEUE, "queue"), (WORKERS, "workers"), (SPINS, "spins")] {
            assert_eq!((Labels::new().with(label, 1_000).get(label), label.name()), (Some(1_000), name));
        }
        assert_eq!(Labels::new().with(YIELDS, 10).get(YIELDS), Some(10));
        for label in [ITEM, PARK_FROM, PARK_TO, GRID] {
            assert_eq!(Labels::new().with(label, Nanos(244)).iter().collect::<Vec<_>>(), [(label.name(), "244")]);
        }
        assert_eq!(Labels::new().with(PARK, "futex".to_owned()).get(PARK).as_deref(), Some("futex"));
    }
}
