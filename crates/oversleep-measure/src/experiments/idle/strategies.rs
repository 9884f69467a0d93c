//! E1: every idle strategy flat out, and paced.

use oversleep_record::ExperimentId;
use oversleep_record::queue_labels;
use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_system::Platform;

use super::shared::Offered;
use super::{LineProbe, chosen, line, window};
use crate::experiment::{Column, Command, Experiment};
use crate::plan::{Depth, Plan};
use crate::probe::Probe;

pub(in crate::experiments) static E1: Experiment = Experiment {
    id: ExperimentId::E1,
    title: "idle strategies",
    question: "What should a worker do while its queue is empty: spin, yield, park or block?",
    method: "A source passes items to a worker through a bounded queue; --workers N puts N workers in a row. A worker \
             does 244 ns of calibrated work per item, so a queue of 1,024 lasts 0.25 ms. Each strategy runs flat out, \
             where the source idles in the same way while the queue is full, and at fixed rates. A paced item is due at \
             a time that doesn't depend on the items before it, and its latency is counted from then, also where the \
             queue was full: nothing is omitted. The paced source spins, so it is exact and needs a CPU of its own. CPU \
             time is that of the workers, and flat out of the source too.",
    quantities: &[Quantity::ItemsPerSecond, Quantity::ItemLatency],
    columns: COLUMNS,
    depth: Depth::Thorough,
    is_slow_to_model: true,
    commands: &[Command::Idle],
    probes,
    ..Experiment::BLANK
};

pub(super) const COLUMNS: &[Column] = &[
    Column { name: queue_labels::RATE.name(), meaning: "Items per second that were due; without it, flat out." },
    Column { name: queue_labels::QUEUE.name(), meaning: "Items that each queue holds." },
    Column { name: queue_labels::WORKERS.name(), meaning: "Workers in a row." },
    Column { name: queue_labels::ITEM.name(), meaning: "The work of each worker for an item, in ns." },
    Column { name: queue_labels::SPINS.name(), meaning: "Idle turns in a row that spin." },
    Column { name: queue_labels::YIELDS.name(), meaning: "Idle turns in a row that yield after these." },
    Column {
        name: queue_labels::PARK_FROM.name(),
        meaning: "The request of the first park, in ns; each further one doubles.",
    },
    Column { name: queue_labels::PARK_TO.name(), meaning: "The longest request of a park, in ns." },
    Column { name: queue_labels::PARK.name(), meaning: "The wait that parks." },
];

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let own = plan.depth.pick(&[1_000][..], &[1_000, 20_000], &[1_000, 5_000, 20_000, 100_000]);
    let rates = if plan.idle.rates.is_empty() { own } else { &plan.idle.rates };
    let flat_out_window = window(platform, plan, [70, 130, 500], [3, 3, 5]);
    let paced_window = window(platform, plan, [50, 70, 500], [3, 3, 5]);
    let mut probes = Vec::new();
    for (name, kind) in chosen(plan) {
        let flat_out = Series::new(E1.id, &name, Quantity::ItemsPerSecond, Unit::Hz);
        let flat_out = Series { key: flat_out.key.clone().word("flat-out"), ..flat_out };
        let probe = |offered, window, series| {
            LineProbe::boxed(platform, plan, line(platform, plan, kind), offered, window, series)
        };
        probes.push(probe(Offered::FlatOut, flat_out_window, flat_out));
        for &rate in rates {
            let paced = Series::new(E1.id, &name, Quantity::ItemLatency, Unit::Ns);
            let paced = Series { key: paced.key.clone().named("rate", rate), ..paced };
            probes.push(probe(Offered::PerSecond(rate), paced_window, paced));
        }
    }
    probes
}
