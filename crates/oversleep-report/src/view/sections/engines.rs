//! Streaming engines (R5): items per second flat out, and the latency of paced items, by how the engine's threads park.

use oversleep_explain::runtimes::engines::{EngineRun, runs};
use oversleep_record::{ExperimentId, ResultFile};

use super::Entry;
use crate::view::table::{Columns, Section, ToCell};
use crate::words::{grouped, median, percent, value};

pub const ENTRY: Entry =
    Entry { id: "engines", title: "Streaming engines and their parks", experiments: &[ExperimentId::R5], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let all = runs(file);
    let (flat_out, paced): (Vec<EngineRun>, Vec<EngineRun>) = all.iter().copied().partition(EngineRun::is_flat_out);
    let rate = |of: fn(&EngineRun) -> Option<i64>| move |run: &EngineRun| of(run).map(grouped);
    let by_rate = named()
        .figure("items/s", rate(|run| run.series.distribution.p50()))
        .figure("min", rate(|run| run.series.distribution.min()))
        .rank(3)
        .figure("max", rate(|run| run.series.distribution.max()))
        .rank(3)
        .figure("windows", |run| run.series.counts.recorded)
        .rank(2);
    let latency = |share: f64| {
        move |run: &EngineRun<'_>| run.series.distribution.safe_quantile(share).map(|ns| value(run.series.unit, ns))
    };
    let by_latency = named()
        .figure("items/s due", |run| run.rate().map(|rate| grouped(rate.round() as i64)))
        .rank(2)
        .figure("p50", |run| median(run.series.unit, &run.series.distribution))
        .figure("p99", latency(0.99))
        .figure("max", |run| run.series.distribution.max().map(|ns| value(run.series.unit, ns)))
        .rank(3)
        .figure("items", |run| run.series.counts.recorded)
        .rank(3);
    let has_variants = all.iter().any(|run| run.variant().is_some());
    let note = "“Gain” compares with the engine's own parks in the same run: how many times as many items, or how many times \
                as short a median latency. CPU is that of the whole program, as a share of one CPU.";
    section
        .tables(cost(by_rate, &all).table("Flat out: items that the pipeline counted in each window", flat_out))
        .tables(cost(by_latency, &all).table("Paced: from when an item was due until the sink had it", paced))
        .notes(has_variants.then(|| note.to_owned()))
}

fn named<'a>() -> Columns<'a, EngineRun<'a>> {
    Columns::new()
        .words("engine", |run: &EngineRun| run.runtime.to_string())
        .words("pipeline", |run| run.series.subject.clone())
        .rank(3)
        .words("parks", |run| run.variant().unwrap_or_else(|| "as it comes".to_owned()))
}

fn cost<'a>(columns: Columns<'a, EngineRun<'a>>, all: &'a [EngineRun<'a>]) -> Columns<'a, EngineRun<'a>> {
    columns.figure("CPU", |run| run.cores().map(percent)).figure("gain", move |run| {
        let gain = run.gain(&run.as_it_comes(all)?)?;
        Some(format!("{gain:.2} ×").to_cell())
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::*;
    use crate::view::sections::generic::texts;
    use crate::view::testing::of_an_engine;

    #[test]
    fn each_engine_has_a_row_for_its_own_parks_and_for_others() {
        let file = of_an_engine(Sheet::linux()).file;
        let section = build(&file, Section::new("engines", "Engines"));
        assert_eq!(
            texts(&section.tables[0]),
            [
                vec!["engine", "pipeline", "parks", "items/s", "min", "max", "windows", "CPU", "gain"],
                vec!["jet 3.2.2", "flat-out", "as it comes", "1,000,000", "1,000,000", "1,000,000", "80", "25 %", "–"],
                vec![
                    "jet 3.2.2",
                    "flat-out",
                    "park-1us",
                    "1,100,000",
                    "1,100,000",
                    "1,100,000",
                    "80",
                    "25 %",
                    "1.10 ×"
                ],
            ]
        );
        let paced = texts(&section.tables[1]);
        assert_eq!(paced[0][3..], ["items/s due", "p50", "max", "items", "CPU", "gain"]);
        assert_eq!(paced[2][3..], ["1,000", "200 µs", "200 µs", "80", "25 %", "3.70 ×"]);
        assert_eq!(section.notes.len(), 1);
    }
}
