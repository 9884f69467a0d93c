//! Clocks: the table of all (A1–A6), the steps of the coarse ones (B3), and one sleep seen by two (B1).

use oversleep_explain::verdicts::{ClockVerdict, Validity, clock_table, step_in_words};
use oversleep_record::clock::Drift;
use oversleep_record::{ClockResult, ExperimentId, FactName, ResultFile, Series, label};

use crate::view::select::measured;
use crate::view::table::{Cell, Section, Table, Tone, figures, words};
use crate::view::words::{UNKNOWN, cost, counted, grouped, median_of, or_dash, sentence};

pub fn clocks(file: &ResultFile) -> Option<Section> {
    if file.clocks.is_empty() {
        return None;
    }
    let answer = clock_table(file);
    let mut table = Table::new(
        "Every clock: what a read costs, how it moves, and whether it is valid for measuring time that passes",
        vec![
            words("clock", 0),
            figures("per read", 0),
            figures("×", 3),
            figures("step", 1),
            figures("shows of 100 ms", 2),
            figures("backward", 4),
            figures("drift", 6),
            words("valid?", 0),
        ],
    );
    let readable = answer.rows.iter().filter(|row| row.unavailable.is_none());
    for row in readable {
        table.row(clock_row(row, file.clock(&row.name), answer.fastest_valid.as_deref()));
    }
    let stated = answer
        .rows
        .iter()
        .any(|row| row.unavailable.is_none() && row.step_ns.is_none() && row.stated_step_ns.is_some());
    let absent: Vec<String> =
        answer.rows.iter().filter_map(|row| Some(format!("{} ({})", row.name, row.unavailable.as_ref()?))).collect();
    let absent = (!absent.is_empty()).then(|| format!("Can't be read here: {}.", absent.join("; ")));
    let mut section = Section {
        id: "clocks",
        title: "Clocks",
        experiments: vec![
            ExperimentId::A1,
            ExperimentId::A2,
            ExperimentId::A3,
            ExperimentId::A4,
            ExperimentId::A5,
            ExperimentId::A6,
        ],
        tables: Vec::new(),
        notes: vec![format!("{}.", sentence(&answer.sentence))]
            .into_iter()
            .chain(
                file.environment
                    .text(FactName::OversleepClock)
                    .map(|choice| format!("The oversleep library: {choice}.")),
            )
            .collect(),
        notes_suffice: false,
    };
    section.notes.extend(absent);
    section
        .notes
        .extend(stated.then(|| "A step in brackets is what the system states; it was not observed.".to_owned()));
    if !table.rows.is_empty() {
        section.tables.push(table.without_empty_columns());
    }
    Some(section)
}

/// The step a clock was seen to move by; in brackets the one the system states, where none was seen.
fn step(row: &ClockVerdict) -> String {
    match (row.step_ns, row.stated_step_ns) {
        (Some(seen), stated) => step_in_words(seen, stated),
        (None, Some(stated)) => format!("({stated})"),
        (None, None) => UNKNOWN.to_owned(),
    }
}

fn clock_row(row: &ClockVerdict, clock: Option<&ClockResult>, fastest: Option<&str>) -> Vec<Cell> {
    let shows = row.indicated_ratio.map(|ratio| format!("{:.1} ms", ratio * 100.0));
    let backward = clock.and_then(|clock| clock.steps).map(|steps| {
        let times = steps.backward_on_one_thread.saturating_add(steps.backward_across_cpus);
        Cell::from(grouped(times)).toned(if times > 0 { Tone::Warn } else { Tone::Plain })
    });
    let is_fastest = fastest == Some(row.name.as_str());
    let reasons = row.reasons.join("; ");
    let valid = match row.validity {
        Some(Validity::Valid) => {
            let fastest = if is_fastest { "; the fastest" } else { "" };
            let caution = row.caution.as_ref().map(|caution| format!("; {caution}")).unwrap_or_default();
            Cell::from(format!("yes{fastest}{caution}")).toned(Tone::Good)
        }
        Some(Validity::Unproven) => Cell::from(format!("unproven: {reasons}")).toned(Tone::Soft),
        Some(Validity::Invalid) => Cell::from(format!("no: {reasons}")),
        None => UNKNOWN.into(),
    };
    vec![
        Cell::from(row.name.as_str()).toned(if is_fastest { Tone::Strong } else { Tone::Plain }),
        or_dash(row.cost_ps.map(cost)).into(),
        or_dash(row.ratio_to_fastest.map(|ratio| format!("{ratio:.1}"))).into(),
        step(row).into(),
        or_dash(shows).into(),
        backward.unwrap_or_else(|| UNKNOWN.into()),
        or_dash(clock.and_then(|clock| clock.drift).map(drift)).into(),
        valid,
    ]
}

/// A rate error; one the window can't tell from none is given as the bound.
fn drift(drift: Drift) -> String {
    let (ppm, bound) = (drift.ppm, drift.uncertainty_ppm);
    if ppm.abs() <= bound.abs() || ppm.abs() < 0.05 {
        format!("within {:.1} ppm", bound.abs().max(0.1))
    } else {
        format!("{ppm:+.1} ppm")
    }
}

pub fn coarse_steps(file: &ResultFile) -> Option<Section> {
    let mut table = Table::new(
        "By how much coarse clocks really move at a time",
        vec![
            words("clock", 0),
            words("held", 1),
            figures("stated", 1),
            figures("least", 2),
            figures("median", 0),
            figures("most", 0),
            figures("steps", 3),
        ],
    );
    for series in measured(file, ExperimentId::B3) {
        let held = (!series.conditions.is_as_found()).then(|| series.conditions.to_string());
        let stated = file.clock(&series.subject).and_then(|clock| clock.stated_step_ns);
        table.row(vec![
            series.subject.as_str().into(),
            or_dash(held).into(),
            or_dash(stated).into(),
            extreme(series, series.distribution.min()),
            median_of(series).into(),
            extreme(series, series.distribution.max()),
            grouped(series.counts.recorded).into(),
        ]);
    }
    (!table.rows.is_empty()).then(|| {
        Section::of("coarse-steps", "Steps of the coarse clocks", &[ExperimentId::B3], table.without_empty_columns())
    })
}

pub fn two_clocks(file: &ResultFile) -> Option<Section> {
    let mut table = Table::new(
        "The same sleeps, timed by a coarse and by a precise clock",
        vec![
            words("sleep", 0),
            figures("asked", 1),
            words("timed by", 0),
            figures("least", 2),
            figures("median", 0),
            figures("most", 0),
            figures("sleeps", 3),
        ],
    );
    for series in measured(file, ExperimentId::B1) {
        table.row(vec![
            series.subject.as_str().into(),
            or_dash(series.requested_ns).into(),
            series.clock.as_str().into(),
            extreme(series, series.distribution.min()),
            median_of(series).into(),
            extreme(series, series.distribution.max()),
            grouped(series.counts.recorded).into(),
        ]);
    }
    if table.rows.is_empty() {
        return None;
    }
    let zeros = measured(file, ExperimentId::B1)
        .filter(|series| series.label(label::CLOCK_ROLE) == Some(label::ClockRole::Coarse))
        .find_map(|series| {
            let zeros =
                series.distribution.buckets().filter(|&(value, _)| value == 0).map(|(_, count)| count).sum::<u64>();
            (zeros > 0).then(|| format!("{} shows {} as no time at all.", series.clock, counted(zeros, "sleep")))
        });
    Some(Section::of("two-clocks", "One sleep, two clocks", &[ExperimentId::B1], table).note_if(zeros))
}

/// The least or the most of a series.
pub(super) fn extreme(series: &Series, found: Option<i64>) -> Cell {
    or_dash(found.map(|found| crate::view::words::value(series.unit, found))).into()
}
