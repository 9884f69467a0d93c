//! E2: throughput by the size of the queue and the duration of a park.

use oversleep_record::queue_labels;
use oversleep_record::series::{Quantity, Series, Unit};
use oversleep_record::{ExperimentId, Nanos};
use oversleep_system::Platform;

use super::shared::{Line, Offered};
use super::strategies::COLUMNS;
use super::strategy::{Backoff, Kind, find};
use super::{LineProbe, QUEUE, chosen, line, own_backoff, window};
use crate::experiment::{Column, Command, Experiment};
use crate::plan::{Depth, Plan};
use crate::probe::Probe;

pub(in crate::experiments) static E2: Experiment = Experiment {
    id: ExperimentId::E2,
    title: "throughput by queue and park",
    question: "How much throughput does a park cost, by its length and by the size of the queue?",
    method: "The back-off of Hazelcast Jet, which parks at once, runs flat out with queues of several sizes. It parks as \
             this machine does, and with parks that end on a grid of 1 ms and of 15.625 ms, the two timer resolutions \
             of Windows that matter: oversleep puts off the end of each park to the next point of the grid. A worker \
             that has emptied its queue, or a source that has filled it, is away for a park, and at most a queue of \
             items is processed meanwhile. So throughput should be min(CPU rate, Q / park), with the park as it was \
             measured, and without the parks in vain, after which there was still nothing to do. oversleep fits the CPU rate and the effective Q to the measured rates, and shows what is left.",
    quantities: &[Quantity::ItemsPerSecond],
    columns: {
        const ALL: &[Column] = &[
            Column {
                name: queue_labels::GRID.name(),
                meaning: "The grid that parks end on, in ns; without it, as found.",
            },
            COLUMNS[1],
            COLUMNS[2],
            COLUMNS[3],
            COLUMNS[8],
        ];
        ALL
    },
    depth: Depth::Thorough,
    is_slow_to_model: true,
    commands: &[Command::Idle],
    probes,
    ..Experiment::BLANK
};

/// The grids to which parks are delayed: two timer resolutions of Windows.
const GRIDS: [Nanos; 2] = [Nanos::from_millis(1), Nanos(15_625_000)];

fn probes(platform: &dyn Platform, plan: &Plan) -> Vec<Box<dyn Probe>> {
    let jet = || find("jet").map(|jet| (jet.name.to_owned(), jet.kind));
    let parks = |(_, kind): &(String, Kind)| {
        let Kind::Fixed(Backoff { spins, yields, .. }) = kind else { return false };
        *spins < u64::MAX && *yields < u64::MAX
    };
    // If the user chose strategies, the first of them that always parks.
    let is_own = !plan.subjects.is_empty() || own_backoff(&plan.idle).is_some();
    let own = is_own.then(|| chosen(plan).into_iter().find(parks));
    let Some((name, kind)) = own.unwrap_or_else(jet) else { return Vec::new() };
    let queue = plan.idle.queue.unwrap_or(QUEUE);
    // A queue that lasts about as long as a park is at the knee, where neither limit holds by itself: with the default
    // work that is between these sizes, for the parks of every grid.
    let sizes = plan.depth.pick(&[1, 256][..], &[1, 16, 256], &[1, 2, 4, 8, 16, 32, 64, 128, 256]);
    let mut sizes: Vec<u64> = sizes.iter().map(|share| (queue * 16 / share).max(1)).rev().collect();
    sizes.dedup();
    let window = window(platform, plan, [110, 200, 500], [3, 4, 6]);
    let mut probes = Vec::new();
    for grid in [None].into_iter().chain(GRIDS.map(Some)) {
        for &queue in &sizes {
            let series = Series::new(E2.id, &name, Quantity::ItemsPerSecond, Unit::Hz);
            let key = grid.map_or(series.key.clone(), |grid| series.key.clone().named("grid", grid.as_typed()));
            let series = Series { key: key.named("queue", queue), ..series };
            let queue = usize::try_from(queue).unwrap_or(usize::MAX);
            let line = Line { grid, queue, ..line(platform, plan, kind) };
            probes.push(LineProbe::boxed(platform, plan, line, Offered::FlatOut, window, series));
        }
    }
    probes
}
