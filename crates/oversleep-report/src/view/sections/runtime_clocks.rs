//! Clocks of language runtimes (R3): cost, step, and whether each instrument runs at the right rate.

use oversleep_explain::runtimes::instrument::{Instrument, Validity, instruments};
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::Entry;
use crate::view::select::measured;
use crate::view::table::{Columns, Section, ToCell, Tone};
use crate::words::{median, median_of};

pub const ENTRY: Entry =
    Entry { id: "runtime-clocks", title: "Clocks of language runtimes", experiments: &[ExperimentId::R3], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let runtime = |series: &&Series| series.runtime.as_ref().map(ToString::to_string);
    let costs = measured(file, ExperimentId::R3).filter(|series| series.quantity == Quantity::Cost);
    let step = |of: &Series| {
        let is_same = |series: &&Series| series.subject == of.subject && series.runtime == of.runtime;
        let mut steps = measured(file, ExperimentId::R3).filter(|series| series.quantity == Quantity::Step);
        let series = steps.find(is_same)?;
        median(series.unit, &series.distribution)
    };
    let clocks = Columns::new()
        .words("clock", |series: &&Series| series.subject.as_str())
        .words("runtime", runtime)
        .figure("cost", |series| median_of(series))
        .figure("step", move |series| step(series))
        .count();
    let rates = Columns::new()
        .words("runtime", |one: &Instrument<'_>| one.second.runtime.as_ref().map(ToString::to_string))
        .words("its clock", |one| one.second.clock.as_str())
        .figure("a second", |one| {
            let shown = Nanos(one.second.distribution.p50()?);
            Some(format!("{:.6} s", shown.as_secs_f64()))
        })
        .figure("error", |one| one.rate_error().map(|error| format!("{:+.3} %", error * 100.0).replace('-', "−")))
        .figure("step at most", Instrument::step)
        .words("for durations", |one| {
            let validity = one.validity()?;
            Some(validity.to_string().toned(if validity == Validity::Valid { Tone::Good } else { Tone::Warn }))
        })
        .figure("count", |one| one.second.counts.recorded)
        .rank(4);
    section.tables(clocks.table("Cost and step of each clock; medians", costs)).tables(rates.table(
        "The clock that each program times its waits with: what it shows of a second, and its step",
        instruments(file).into_iter().filter(|one| one.validity().is_some()),
    ))
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::*;
    use crate::view::testing::of_runtimes;

    #[test]
    fn an_instrument_that_runs_slow_is_marked() {
        let file = of_runtimes(Sheet::linux(), 880_000_000).file;
        let section = build(&file, Section::new("runtime-clocks", "Clocks"));
        let texts = |at: usize| -> Vec<Vec<&str>> {
            section.tables[at].rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect()
        };
        assert_eq!(texts(0)[0][..4], ["System.nanoTime", "java 17.0.15", "31 ns", "20 ns"]);
        let slow = &section.tables[1].rows[0];
        assert_eq!(
            (slow[2].text.as_str(), slow[3].text.as_str(), slow[4].text.as_str(), slow[4].tone),
            ("0.880000 s", "−12.000 %", "runs slow", Tone::Warn)
        );
    }
}
