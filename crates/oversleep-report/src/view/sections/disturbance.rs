//! The other activity of the machine during the run.

use oversleep_record::processor::{degrees, rates};
use oversleep_record::{Disturbance, ExperimentId, Nanos, ProcessorState, ResultFile, Series};

use super::Entry;
use crate::view::select::{self, distinct};
use crate::view::table::{Columns, Section};
use crate::words::{counted, grouped, percent, sentence};

pub const ENTRY: Entry = Entry { id: "disturbance", title: "Meanwhile on this machine", experiments: &[], build };

/// Everything that could be observed, in one line; `None` if nothing could.
pub fn summary(seen: &Disturbance) -> Option<String> {
    let share = |part| seen.share(part).map(percent);
    let mut parts = Vec::new();
    parts.extend(share(seen.steal_ns).map(|text| format!("steal {text}")));
    parts.extend(share(seen.cpu_pressure_ns).map(|text| format!("CPU pressure {text}")));
    parts.extend(seen.other_cpu_share().map(percent).map(|text| format!("other processes {text} of a CPU")));
    parts.extend(share(seen.run_delay_ns).map(|text| format!("waiting for a CPU {text}")));
    parts.extend(seen.involuntary_switches.map(|count| match count {
        0 => "never preempted".to_owned(),
        count => format!("preempted {}", counted(count, "time")),
    }));
    parts.extend(seen.major_faults.filter(|&count| count > 0).map(|count| counted(count, "major page fault")));
    parts.extend(seen.throttled_periods.map(|count| match count {
        0 => "never throttled".to_owned(),
        count => format!("throttled in {}", counted(count, "period")),
    }));
    let whole = |span: Option<Nanos>| span.filter(|&span| span > Nanos::ZERO);
    parts.extend(whole(seen.stalled_ns).map(|span| format!("stopped for {span}")));
    parts.extend(whole(seen.suspended_ns).map(|span| format!("suspended for {span}")));
    let processor = &seen.processor;
    parts.extend(clock(processor).map(|rates| format!("CPU clock {rates}")));
    parts.extend(processor.temperature_max_millicelsius.map(|max| format!("processor up to {}", degrees(max))));
    parts.extend(processor.thermal_throttles.map(|count| match count {
        0 => "never slowed by heat".to_owned(),
        count => format!("slowed by heat {}", counted(count, "time")),
    }));
    parts.extend(processor.thermal_pressure.map(|pressure| format!("thermal pressure {}", pressure.name())));
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn clock(processor: &ProcessorState) -> Option<String> {
    Some(rates(processor.clock_min_hz?, processor.clock_max_hz?))
}

fn build(file: &ResultFile, mut section: Section) -> Section {
    // Under oversleep's own load the figures show that load, not the machine's other activity.
    let unloaded = file.series.iter().filter(|series| series.conditions.load.is_empty() && series.has_values());
    let Some(line) = summary(&select::disturbance(unloaded)) else { return section };
    let columns = Columns::new()
        .words("experiment", |row: &Row| row.name.clone())
        .figure("measured for", |row| row.seen.window_ns)
        .rank(2)
        .figure("steal", |row| row.share(row.seen.steal_ns))
        .figure("CPU pressure", |row| row.share(row.seen.cpu_pressure_ns))
        .figure("other processes", |row| row.seen.other_cpu_share().map(percent))
        .rank(1)
        .figure("waiting for a CPU", |row| row.share(row.seen.run_delay_ns))
        .rank(1)
        .figure("preempted", |row| row.seen.involuntary_switches)
        .rank(2)
        .figure("throttled", |row| row.share(row.seen.throttled_ns))
        .rank(3)
        .figure("stopped", |row| row.seen.stalled_ns.filter(|&span| span > Nanos::ZERO))
        .rank(1)
        .figure("CPU clock", |row| clock(&row.seen.processor))
        .rank(3)
        .figure("max temperature", |row| row.seen.processor.temperature_max_millicelsius.map(degrees))
        .rank(3)
        .figure("slowed by heat", |row| row.seen.processor.thermal_throttles.map(grouped))
        .rank(2);
    let measured = file.series.iter().filter(|series| series.has_values());
    let ids = distinct(measured.map(|series| series.experiment));
    section.notes_suffice = true;
    section
        .tables(columns.table(
            "What else the machine did, as shares of the time measured",
            ids.into_iter().map(|id| row(file, id)),
        ))
        .notes([sentence(&format!("{line} (all series without oversleep's own load)"))])
}

/// The machine's other activity during one experiment.
struct Row {
    name: String,
    seen: Disturbance,
}

impl Row {
    fn share(&self, part: Option<Nanos>) -> Option<String> {
        self.seen.share(part).map(percent)
    }
}

fn row(file: &ResultFile, id: ExperimentId) -> Row {
    let has_load = select::measured(file, id).any(|series: &Series| !series.conditions.load.is_empty());
    Row {
        name: if has_load { format!("{id} (own load)") } else { id.to_string() },
        seen: select::disturbance(select::measured(file, id)),
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::processor::ThermalPressure;
    use oversleep_record::testing::{Sheet, rounds};

    use super::*;

    #[test]
    fn what_was_not_observed_is_left_out() {
        assert_eq!(summary(&Disturbance { window_ns: Nanos(100), ..Disturbance::default() }), None);
        let seen = Disturbance {
            window_ns: Nanos(1_000),
            steal_ns: Some(Nanos(0)),
            cpu_pressure_ns: Some(Nanos(41)),
            involuntary_switches: Some(1),
            ..Disturbance::default()
        };
        assert_eq!(summary(&seen).as_deref(), Some("steal 0 %, CPU pressure 4.1 %, preempted 1 time"));
        let of_others = |ms| Disturbance {
            window_ns: Nanos::from_millis(ms),
            other_cpu_ns: Some(Nanos::ZERO),
            ..Disturbance::default()
        };
        assert_eq!(summary(&of_others(1)), None, "no tick of CPU time fits into it");
        assert_eq!(summary(&of_others(100)).as_deref(), Some("other processes 0 % of a CPU"));
    }

    #[test]
    fn a_process_that_was_stopped_says_so() {
        let seen = Disturbance {
            window_ns: Nanos::from_secs(2),
            involuntary_switches: Some(0),
            stalled_ns: Some(Nanos::from_millis(972)),
            suspended_ns: Some(Nanos::ZERO),
            ..Disturbance::default()
        };
        assert_eq!(summary(&seen).as_deref(), Some("never preempted, stopped for 972 ms"));
    }

    #[test]
    fn clock_rate_and_heat_are_shown_where_they_were_read() {
        let processor = ProcessorState {
            clock_min_hz: Some(800_000_000),
            clock_max_hz: Some(3_600_000_000),
            temperature_max_millicelsius: Some(97_000),
            thermal_throttles: Some(2),
            thermal_pressure: Some(ThermalPressure::Heavy),
            ..ProcessorState::default()
        };
        let seen = Disturbance { window_ns: Nanos(1_000), processor, ..Disturbance::default() };
        assert_eq!(
            summary(&seen).as_deref(),
            Some("CPU clock 800 MHz to 3.6 GHz, processor up to 97 °C, slowed by heat 2 times, thermal pressure heavy")
        );
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        series.rounds.iter_mut().for_each(|round| round.disturbance.processor = processor);
        let table = |sheet: Sheet| format!("{:?}", build(&sheet.file, Section::new("d", "D")).tables);
        let with = table(Sheet::linux().series(series));
        for figure in ["CPU clock", "800 MHz to 3.6 GHz", "max temperature", "97 °C", "slowed by heat", "\"8\""] {
            assert!(with.contains(figure), "{figure}: {with}");
        }
        assert!(!table(Sheet::linux().steady("B5/nanosleep/1ms", 66_000)).contains("CPU clock"));
    }
}
