//! The same waits under load (B9), with the figure without it.

use oversleep_record::{ExperimentId, FactName, Nanos, ResultFile, Series};
use oversleep_system::loads;

use super::Entry;
use crate::view::select::{self, measured};
use crate::view::table::{Columns, Section};
use crate::words::{counted, median, value};

/// Smallest gain under load that needs an explanation, and as a share of the lateness without it.
const GAIN_MIN: Nanos = Nanos(1_000);
const GAIN_SHARE_MIN: f64 = 0.1;

pub const ENTRY: Entry = Entry { id: "load", title: "Under load", experiments: &[ExperimentId::B9], build };

fn build(file: &ResultFile, section: Section) -> Section {
    let columns = Columns::new()
        .subject("wait")
        .requested()
        .words("load", |series: &&Series| select::load(series))
        .values()
        .figure("p50 idle", |series| {
            let idle = idle_twin(file, series)?;
            median(idle.unit, &idle.distribution)
        })
        .rank(1);
    let section =
        section.tables(columns.table("Lateness with and without busy threads", measured(file, ExperimentId::B9)));
    let cpus = file.environment.integer(FactName::CpuAllowed).or(file.environment.integer(FactName::CpuCount));
    let note = |cpus| format!("Load is given as kind:threads; this process may use {}.", counted(cpus, "CPU"));
    let has_rows = !section.tables.is_empty();
    section.notes(cpus.filter(|_| has_rows).map(note)).notes(improved(file))
}

/// Why a wait ends earlier under load, if one does.
fn improved(file: &ResultFile) -> Option<String> {
    let better = |idle: i64, loaded: i64| {
        let gain = idle.saturating_sub(loaded);
        gain >= GAIN_MIN.0 && gain as f64 >= idle as f64 * GAIN_SHARE_MIN
    };
    let (series, idle, loaded) = measured(file, ExperimentId::B9)
        .filter_map(|series| Some((series, idle_twin(file, series)?.distribution.p50()?, series.distribution.p50()?)))
        .find(|(_, idle, loaded)| better(*idle, *loaded))?;
    let fires_timers =
        |kind: &str| loads::of(&file.platform.os).iter().any(|info| info.name == kind && info.timer.is_some());
    let has_timers = series.conditions.load.iter().any(|load| fires_timers(&load.kind));
    let (idle, loaded) = (value(series.unit, idle), value(series.unit, loaded));
    let also =
        if has_timers { ", and an interrupt of the load's timers ends other waits that may end by then" } else { "" };
    Some(format!(
        "{} was {loaded} late beside busy threads, and {idle} on idle CPUs: a busy CPU enters no idle state, so waking up \
         takes no exit from one{also}. Load does not make timers better.",
        series.subject
    ))
}

/// The same wait and request without the load.
fn idle_twin<'a>(file: &'a ResultFile, series: &Series) -> Option<&'a Series> {
    [ExperimentId::B5, ExperimentId::B12].into_iter().flat_map(|id| measured(file, id)).find(|other| {
        other.subject == series.subject
            && other.requested_ns == series.requested_ns
            && other.conditions.requested == series.conditions.requested
            && other.conditions.load.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::*;

    #[test]
    fn a_wait_that_gains_by_load_is_explained() {
        let file = |idle, loaded| {
            Sheet::linux().steady("B5/nanosleep/1ms", idle).steady("B9/nanosleep/1ms/load=spin:2", loaded).file
        };
        let why = improved(&file(80_000, 57_000)).expect("earlier");
        assert!(
            why.starts_with("nanosleep was 57 µs late beside busy threads, and 80 µs on idle CPUs: a busy CPU"),
            "{why}"
        );
        assert_eq!(improved(&file(57_000, 56_500)), None);
        assert_eq!(improved(&file(57_000, 80_000)), None);
    }
}
