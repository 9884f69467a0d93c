//! What else the machine did meanwhile.

use oversleep_record::{Disturbance, ResultFile, Series};

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
    (!parts.is_empty()).then(|| parts.join(", "))
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
        ],
    );
    let mut ids: Vec<&str> = Vec::new();
    for series in file.series.iter().filter(|series| series.has_values()) {
        if !ids.contains(&series.experiment.as_str()) {
            ids.push(&series.experiment);
        }
    }
    for id in ids {
        let seen = select::disturbance(select::measured(file, id));
        let loaded = select::measured(file, id).any(|series| !series.conditions.load.is_empty());
        let cell = |share: Option<f64>| Cell::from(or_dash(share.map(percent)));
        let share = |part| cell(seen.share(part));
        table.row(vec![
            if loaded { format!("{id}, own load") } else { id.to_owned() }.into(),
            seen.window_ns.to_string().into(),
            share(seen.steal_ns),
            share(seen.cpu_pressure_ns),
            cell(seen.other_cpu_share()),
            share(seen.run_delay_ns),
            or_dash(seen.involuntary_switches.map(grouped)).into(),
            share(seen.throttled_ns),
        ]);
    }
    let mut section = Section::of("disturbance", "Meanwhile on this machine", &[], table.without_empty_columns());
    section.notes_suffice = true;
    Some(section.note(format!("{}, over all series without a load of our own.", crate::view::words::sentence(&line))))
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

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
}
