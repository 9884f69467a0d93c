//! Queues and idle strategies (E1, E2): the figures of each, and the rule that throughput follows.

mod published;
mod rule;

use oversleep_record::queue_labels;
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, Idling, Nanos, ResultFile, Series};

pub use published::published;
pub use rule::{ParkRule, Residual, Run, fit, held_out, held_out_by_queue, off_in_words, runs};

/// The figures of one strategy.
#[derive(Clone, Debug)]
pub struct Strategy<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its throughput series.
    pub flat_out: Option<&'a Series>,
    /// At each rate, the lowest first.
    pub paced: Vec<(u64, &'a Series)>,
}

impl Strategy<'_> {
    /// Items per second, flat out.
    pub fn rate(&self) -> Option<i64> {
        self.flat_out?.distribution.p50()
    }

    /// The series at that rate.
    pub fn at(&self, rate: u64) -> Option<&Series> {
        self.paced.iter().find(|(paced, _)| *paced == rate).map(|(_, series)| *series)
    }
}

/// The number of CPUs that the threads of a series kept busy.
pub fn cores(series: &Series) -> Option<f64> {
    series.idling.as_ref()?.cores()
}

/// The mean duration of the parks of a series; `None` if there were none.
pub fn mean_park(series: &Series) -> Option<Nanos> {
    series.idling.as_ref().and_then(Idling::mean_park)
}

/// The strategies of a result, in the order in which they were measured.
pub fn strategies(file: &ResultFile) -> Vec<Strategy<'_>> {
    let mut all: Vec<Strategy> = Vec::new();
    for series in file.experiment(ExperimentId::E1).filter(|series| series.has_values()) {
        let at = all.iter().position(|strategy| strategy.name == series.subject).unwrap_or_else(|| {
            all.push(Strategy { name: &series.subject, flat_out: None, paced: Vec::new() });
            all.len() - 1
        });
        match (series.quantity, series.label(queue_labels::RATE)) {
            (Quantity::ItemsPerSecond, _) => all[at].flat_out = Some(series),
            (_, Some(rate)) => all[at].paced.push((rate, series)),
            _ => {}
        }
    }
    all.iter_mut().for_each(|strategy| strategy.paced.sort_by_key(|(rate, _)| *rate));
    all
}

/// The rates at which items were sent, the lowest first.
pub fn rates(strategies: &[Strategy<'_>]) -> Vec<u64> {
    let mut rates: Vec<u64> = strategies.iter().flat_map(|strategy| &strategy.paced).map(|(rate, _)| *rate).collect();
    rates.sort_unstable();
    rates.dedup();
    rates
}
