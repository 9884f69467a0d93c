//! What else the machine did meanwhile.

use oversleep_record::processor::{degrees, rates};
use oversleep_record::{Disturbance, ExperimentId, ProcessorState, ResultFile, Series};

use crate::view::select;
use crate::view::table::{Cell, Section, Table, figures, words};
use crate::view::words::{counted, grouped, or_dash, percent};

/// Everything that could be seen, in one line; `None` where nothing could be.
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
    let processor = &seen.processor;
    parts.extend(clock(processor).map(|rates| format!("CPU clock {rates}")));
    parts.extend(processor.temperature_max_millicelsius.map(|most| format!("processor at most {}", degrees(most))));
    parts.extend(processor.thermal_throttles.map(|count| match count {
        0 => "never slowed down for heat".to_owned(),
        count => format!("slowed down for heat {}", counted(count, "time")),
    }));
    parts.extend(processor.thermal_pressure.map(|pressure| format!("thermal pressure {}", pressure.name())));
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn clock(processor: &ProcessorState) -> Option<String> {
    Some(rates(processor.clock_min_hz?, processor.clock_max_hz?))
}

/// Series under a load of ours tell what our load does, not what the machine did.
fn without_load(file: &ResultFile) -> impl Iterator<Item = &Series> {
    file.series.iter().filter(|series| series.conditions.load.is_empty() && series.has_values())
}

pub fn disturbance(file: &ResultFile) -> Option<Section> {
    let all = select::disturbance(without_load(file));
    let line = summary(&all)?;
    let mut table = Table::new(
        "What else the machine did while each experiment ran, as shares of the time measured",
        vec![
            words("experiment", 0),
            figures("measured for", 2),
            figures("steal", 0),
            figures("CPU pressure", 0),
            figures("other processes", 1),
            figures("waiting for a CPU", 1),
            figures("preempted", 2),
            figures("throttled", 3),
            figures("CPU clock", 3),
            figures("at most", 3),
            figures("slowed for heat", 2),
        ],
    );
    let mut ids: Vec<ExperimentId> = Vec::new();
    for series in file.series.iter().filter(|series| series.has_values()) {
        if !ids.contains(&series.experiment) {
            ids.push(series.experiment);
        }
    }
    for id in ids {
        let seen = select::disturbance(select::measured(file, id));
        let loaded = select::measured(file, id).any(|series| !series.conditions.load.is_empty());
        let cell = |share: Option<f64>| Cell::from(or_dash(share.map(percent)));
        let share = |part| cell(seen.share(part));
        table.row(vec![
            if loaded { format!("{id}, own load") } else { id.to_string() }.into(),
            seen.window_ns.to_string().into(),
            share(seen.steal_ns),
            share(seen.cpu_pressure_ns),
            cell(seen.other_cpu_share()),
            share(seen.run_delay_ns),
            or_dash(seen.involuntary_switches.map(grouped)).into(),
            share(seen.throttled_ns),
            or_dash(clock(&seen.processor)).into(),
            or_dash(seen.processor.temperature_max_millicelsius.map(degrees)).into(),
            or_dash(seen.processor.thermal_throttles.map(grouped)).into(),
        ]);
    }
    let mut section = Section::of("disturbance", "Meanwhile on this machine", &[], table.without_empty_columns());
    section.notes_suffice = true;
    Some(section.note(format!("{}, over all series without a load of our own.", crate::view::words::sentence(&line))))
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;
    use oversleep_record::processor::ThermalPressure;
    use oversleep_record::testing::{Sheet, rounds};

    use super::*;

    #[test]
    fn what_can_not_be_seen_is_not_there() {
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
    fn clock_rate_and_heat_are_told_where_they_were_read() {
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
            Some(
                "CPU clock 800 MHz to 3.6 GHz, processor at most 97 °C, slowed down for heat 2 times, thermal pressure heavy"
            )
        );
        let mut series = rounds("B5/nanosleep/1ms", &[66_000; 4], 20);
        series.rounds.iter_mut().for_each(|round| round.disturbance.processor = processor);
        let section = disturbance(&Sheet::linux().series(series).file).expect("a section");
        let said = format!("{section:?}");
        for figure in ["CPU clock", "800 MHz to 3.6 GHz", "at most", "97 °C", "slowed for heat", "\"8\""] {
            assert!(said.contains(figure), "{figure}: {said}");
        }
        let without = disturbance(&Sheet::linux().steady("B5/nanosleep/1ms", 66_000).file).expect("a section");
        assert!(!format!("{without:?}").contains("CPU clock"));
    }
}
