//! The latency of a streaming engine's items against its CPU time, by how its threads park (R5).

use oversleep_explain::runtimes::engines::{EngineRun, runs};
use oversleep_record::{ExperimentId, ResultFile};

use super::{Drawing, Entry, us};
use crate::picture::{LatencyCpu, LatencyPoint, StrategyCurve};

pub const ENTRY: Entry =
    Entry { name: "engines", experiment: Some(ExperimentId::R5), draw: |file| drawing(file).into_iter().collect() };

fn drawing(file: &ResultFile) -> Option<Drawing<'_>> {
    let curves: Vec<StrategyCurve> = runs(file).iter().filter_map(curve).collect();
    let note = "A point per engine and per way of parking. CPU time is that of the whole program.";
    (!curves.is_empty()).then(|| {
        let svg = move |frame| LatencyCpu { frame, curves };
        Drawing::new("Latency of an item against the CPU time of the engine", note, svg)
    })
}

fn curve(run: &EngineRun<'_>) -> Option<StrategyCurve> {
    let distribution = &run.series.distribution;
    let point = LatencyPoint {
        rate_per_s: run.rate()?,
        cpus: run.cores()?,
        p50_us: us(distribution.p50()?),
        p99_us: distribution.safe_quantile(0.99).map(us),
    };
    let variant = run.variant().map(|variant| format!(" {variant}")).unwrap_or_default();
    Some(StrategyCurve { label: format!("{}{variant}", run.runtime), points: vec![point] })
}
