//! The latency of items against the CPU time of their workers, by idle strategy (E1).

use oversleep_explain::idle::{Strategy, cores, strategies};
use oversleep_record::{ExperimentId, ResultFile};

use super::{Drawing, Entry, us};
use crate::picture::{LatencyCpu, LatencyPoint, StrategyCurve};

pub const ENTRY: Entry =
    Entry { name: "idle", experiment: Some(ExperimentId::E1), draw: |file| drawing(file).into_iter().collect() };

fn drawing(file: &ResultFile) -> Option<Drawing<'_>> {
    let curves: Vec<StrategyCurve> =
        strategies(file).iter().map(curve).filter(|curve| !curve.points.is_empty()).collect();
    let note = "A curve per strategy, a point per rate. CPU time is that of the workers.";
    (!curves.is_empty()).then(|| {
        let svg = move |frame| LatencyCpu { frame, curves };
        Drawing::new("Latency of an item against the CPU time of waiting for it", note, svg)
    })
}

fn curve(strategy: &Strategy) -> StrategyCurve {
    let point = |(rate, series): &(u64, &oversleep_record::Series)| {
        Some(LatencyPoint {
            rate_per_s: *rate as f64,
            cpus: cores(series)?,
            p50_us: us(series.distribution.p50()?),
            p99_us: series.distribution.safe_quantile(0.99).map(us),
        })
    };
    StrategyCurve { label: strategy.name.to_owned(), points: strategy.paced.iter().filter_map(point).collect() }
}
