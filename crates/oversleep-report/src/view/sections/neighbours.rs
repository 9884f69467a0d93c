//! What other processes' settings do to this one (C3, C4).

use oversleep_record::conditions::HeldSettings;
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, label};

use super::neighbour_clocks as clocks;
use crate::view::select::measured;
use crate::view::table::{Cell, Section, Table, figures, words};
use crate::view::words::{UNKNOWN, median, or_dash, value};

/// Sleeps that differ by less are taken for the same: more than any noise of a wake-up, less than any tick.
const SAME: Nanos = Nanos(300_000);

/// What the neighbours of a series held: `2ms`, `none`.
pub fn neighbour(series: &Series) -> Option<HeldSettings> {
    series.label(label::NEIGHBOUR)
}

/// What neighbours held in the steps of an experiment, in the order of its steps.
pub fn steps(file: &ResultFile, experiment: ExperimentId) -> Vec<HeldSettings> {
    let mut steps = Vec::new();
    for held in file.experiment(experiment).filter_map(neighbour) {
        if !steps.contains(&held) {
            steps.push(held);
        }
    }
    steps
}

/// What neighbours hold as a person writes it: `2 ms and 4 ms`, `nothing`.
pub fn in_words(held: &HeldSettings) -> String {
    match held.0.as_slice() {
        [] => "nothing".to_owned(),
        settings => settings.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and "),
    }
}

/// The series of one kind within a step; a coarse clock's has its name.
pub fn of_step<'a>(
    file: &'a ResultFile,
    experiment: ExperimentId,
    step: &'a HeldSettings,
    quantity: Quantity,
) -> impl Iterator<Item = &'a Series> {
    measured(file, experiment)
        .filter(move |series| series.quantity == quantity && neighbour(series).as_ref() == Some(step))
}

/// What this process's own sleep took in a step, as a median.
pub fn slept(file: &ResultFile, experiment: ExperimentId, step: &HeldSettings) -> Option<Nanos> {
    let series = of_step(file, experiment, step, Quantity::Lateness).next()?;
    Some(series.requested_ns? + Nanos(series.distribution.p50()?))
}

pub(crate) fn neighbours(file: &ResultFile) -> Option<Section> {
    let tables: Vec<Table> = [
        (ExperimentId::C3, "This process, which asked for nothing, while one neighbour holds a setting"),
        (ExperimentId::C4, "The same while two neighbours come and the first leaves again"),
    ]
    .into_iter()
    .filter_map(|(experiment, caption)| table(file, experiment, caption))
    .collect();
    let experiments =
        [ExperimentId::C3, ExperimentId::C4].into_iter().filter(|id| measured(file, *id).next().is_some()).collect();
    let notes = [reached(file), clocks::reached(file), lowest(file)].into_iter().flatten().collect();
    (!tables.is_empty()).then_some(Section {
        id: "neighbours",
        title: "Neighbours and their resolution",
        experiments,
        tables,
        notes,
        notes_suffice: false,
    })
}

fn table(file: &ResultFile, experiment: ExperimentId, caption: &str) -> Option<Table> {
    let clocks = clocks::by_interest(file, experiment);
    let asked = measured(file, experiment).find_map(|series| series.requested_ns);
    let sleep = asked.map_or_else(|| "own sleep".to_owned(), |asked| format!("own sleep of {asked}"));
    let mut columns = vec![
        words("neighbour holds", 0),
        words("granted", 2),
        figures("stated here", 1),
        figures(sleep, 0),
        figures("p90", 2),
    ];
    columns.extend(
        clocks
            .iter()
            .enumerate()
            .map(|(index, clock)| figures(format!("step of {clock}"), u8::try_from(index + 1).unwrap_or(u8::MAX))),
    );
    let mut table = Table::new(caption, columns);
    for step in &steps(file, experiment) {
        let sleep = of_step(file, experiment, step, Quantity::Lateness).next();
        let took = |late: Option<i64>| {
            let series = sleep?;
            Some(value(series.unit, series.requested_ns?.0 + late?))
        };
        let p50 = took(sleep.and_then(|series| series.distribution.p50()));
        let is_few = sleep
            .is_some_and(|series| median(series.unit, &series.distribution).is_some_and(|text| text.starts_with('~')));
        let granted = file.experiment(experiment).filter(|series| neighbour(series).as_ref() == Some(step));
        let mut row: Vec<Cell> = vec![
            in_words(step).into(),
            or_dash(granted.filter_map(|series| series.label(label::GRANTED)).next().as_ref().map(in_words)).into(),
            of_step(file, experiment, step, Quantity::StatedResolution).next().map_or_else(
                || UNKNOWN.into(),
                |series| {
                    // One reading per round is all there is to read.
                    Cell::from(or_dash(series.distribution.p50().map(|stated| value(series.unit, stated))))
                },
            ),
            or_dash(p50.map(|text| if is_few { format!("~{text}") } else { text })).into(),
            or_dash(took(sleep.and_then(|series| series.distribution.safe_quantile(0.9)))).into(),
        ];
        row.extend(clocks.iter().map(|clock| Cell::from(or_dash(clocks::step_text(file, experiment, step, clock)))));
        table.row(row);
    }
    let has_values = measured(file, experiment).next().is_some();
    has_values.then(|| table.without_empty_columns())
}

/// Whether what one neighbour held made a difference to this process.
fn reached(file: &ResultFile) -> Option<String> {
    let slept: Vec<Nanos> =
        steps(file, ExperimentId::C3).into_iter().filter_map(|step| slept(file, ExperimentId::C3, &step)).collect();
    let (least, most) = (*slept.iter().min()?, *slept.iter().max()?);
    if slept.len() < 2 {
        return None;
    }
    if most - least <= SAME {
        let (least, most) = (least.to_string(), most.to_string());
        let took = if least == most { least } else { format!("{least} to {most}") };
        return Some(format!("No neighbour's setting reached this process: its sleep took {took} whatever was held."));
    }
    // Where nothing of a neighbour's can reach this process a difference is the machine's doing.
    if !clocks::is_shared(file) {
        return None;
    }
    Some(match beside_finest(file) {
        Some(Beside { held, took, alone, followed: false }) => format!(
            "This process did not follow its neighbours: beside one that held {held} its sleep took {took}, and {alone} \
             alone. A request serves the process that makes it; the sleeps of {least} to {most} are multiples of what was \
             held, near the default."
        ),
        Some(Beside { held, took, alone, followed: true }) => format!(
            "A neighbour's setting reached this process: beside one that held {held} its sleep took {took}, and {alone} \
             alone."
        ),
        None => format!(
            "A neighbour's setting reached this process: its sleep took from {least} to {most}, by what was held."
        ),
    })
}

/// A sleep beside a neighbour whose period is so short that following it or not can't be mistaken.
struct Beside {
    held: Nanos,
    took: Nanos,
    alone: Nanos,
    followed: bool,
}

/// The sleep beside the shortest span that was held; `None` where none is short enough to tell.
fn beside_finest(file: &ResultFile) -> Option<Beside> {
    let alone = slept(file, ExperimentId::C3, &HeldSettings::NOTHING)?;
    let spans = steps(file, ExperimentId::C3).into_iter().filter_map(|step| Some((step.only_span()?, step)));
    let (held, step) = spans.filter(|(_, step)| slept(file, ExperimentId::C3, step).is_some()).min()?;
    let took = slept(file, ExperimentId::C3, &step)?;
    let requested = of_step(file, ExperimentId::C3, &step, Quantity::Lateness).next()?.requested_ns?;
    // Who follows is served by the second tick after the deadline at the latest.
    let latest = requested + held * 2 + SAME;
    (latest < alone - SAME).then_some(Beside { held, took, alone, followed: took <= latest })
}

/// With whose setting alone the sleeps beside two neighbours agree.
fn lowest(file: &ResultFile) -> Option<String> {
    let steps = steps(file, ExperimentId::C4);
    let both = steps.iter().find(|step| step.0.len() > 1)?;
    let [first, second] = both.0.as_slice() else { return None };
    let [first, second] = [first, second].map(|setting| HeldSettings(vec![setting.clone()]));
    let [with_both, with_first, with_second] = [both, &first, &second]
        .map(|step| slept(file, ExperimentId::C4, step))
        .into_iter()
        .collect::<Option<Vec<_>>>()?[..]
    else {
        return None;
    };
    let differ = |a: Nanos, b: Nanos| Nanos((a - b).0.abs()) > SAME;
    if !differ(with_first, with_second) {
        return None;
    }
    let (like, alone) = match (differ(with_both, with_first), differ(with_both, with_second)) {
        (false, true) => (&first, with_first),
        (true, false) => (&second, with_second),
        _ => return None,
    };
    let (first, second, like) = (in_words(&first), in_words(&second), in_words(like));
    Some(format!(
        "While {first} and {second} were both held the sleep took {with_both}, as with {like} alone ({alone})."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_record::testing::Sheet;

    /// `C3` with these sleeps beyond 1 ms, stated resolutions and clock steps, all in ms.
    fn sheet(experiment: ExperimentId, steps: &[(&str, i64, i64)]) -> Sheet {
        let mut sheet = Sheet::windows();
        for (step, late_ms, period_ms) in steps {
            sheet = sheet
                .steady(&format!("{experiment}/sleep/1ms/neighbour={step}"), late_ms * 1_000_000)
                .steady(&format!("{experiment}/resolution/stated/neighbour={step}"), period_ms * 1_000_000)
                .steady(&format!("{experiment}/get-tick-count/step/neighbour={step}"), 15_625_000)
                .steady(&format!("{experiment}/system-time/step/neighbour={step}"), period_ms * 1_000_000);
        }
        sheet
    }

    #[test]
    fn a_machine_wide_resolution_is_told_in_table_and_words() {
        let file = sheet(ExperimentId::C3, &[("none", 14, 15), ("1ms", 1, 1), ("2ms", 1, 2)]).file;
        let section = neighbours(&file).expect("there are values");
        let texts: Vec<Vec<&str>> =
            section.tables[0].rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(
            texts,
            [
                ["nothing", "15 ms", "15 ms", "15 ms", "15.6 ms"],
                ["1 ms", "1 ms", "2 ms", "1 ms", "15.6 ms"],
                ["2 ms", "2 ms", "2 ms", "2 ms", "15.6 ms"],
            ]
        );
        assert_eq!(
            section.notes,
            [
                "A neighbour's setting reached this process: beside one that held 1 ms its sleep took 2 ms, and 15 ms alone.",
                "The step of system-time followed the neighbour's setting; not that of get-tick-count.",
            ]
        );
        assert_eq!(clocks::telling(&file, ExperimentId::C3), Some("system-time"));
        let alike = sheet(ExperimentId::C3, &[("none", 14, 15), ("1ms", 14, 15)]).file;
        let section = neighbours(&alike).expect("there are values");
        assert_eq!(
            section.notes,
            ["No neighbour's setting reached this process: its sleep took 15 ms whatever was held."]
        );
        assert_eq!(clocks::telling(&alike, ExperimentId::C3), Some("get-tick-count"), "of equals the first");
    }

    #[test]
    fn a_busy_linux_is_not_called_a_neighbours_doing() {
        let at = |held, late| (format!("C3/nanosleep/1ms/neighbour={held}"), late);
        let rows = [at("none", 600_000), at("1ns", 1_100_000), at("50us", 66_000)];
        let file = rows.iter().fold(Sheet::linux(), |sheet, (key, late)| sheet.steady(key, *late)).file;
        assert_eq!(reached(&file), None);
    }

    #[test]
    fn steps_seen_together_are_a_bound_in_the_table() {
        let rows = [("none", 4), ("1ns", 8)];
        let key = |held| format!("C3/monotonic-coarse/step/neighbour={held}");
        let file = rows.iter().fold(Sheet::linux(), |sheet, (held, ms)| sheet.steady(&key(held), ms * 1_000_000)).file;
        let section = neighbours(&file).expect("there are values");
        let texts: Vec<&str> = section.tables[0].rows.iter().filter_map(|row| Some(&*row.last()?.text)).collect();
        assert_eq!((texts, section.notes), (vec!["4 ms", "≤ 8 ms"], vec![]));
    }

    #[test]
    fn sleeps_that_differ_by_little_are_a_range_only_where_it_shows() {
        let slept = |alone: i64, beside: i64| {
            let sheet = Sheet::linux().steady("C3/nanosleep/1ms/neighbour=none", alone);
            reached(&sheet.steady("C3/nanosleep/1ms/neighbour=1ms", beside).file).expect("two steps")
        };
        assert!(slept(262_000, 262_300).contains(" took 1.26 ms whatever"), "{}", slept(262_000, 262_300));
        assert!(slept(262_000, 292_000).contains(" took 1.26 ms to 1.29 ms whatever"), "{}", slept(262_000, 292_000));
    }

    #[test]
    fn multiples_of_a_neighbours_period_are_not_called_following_it() {
        // What a process that asked for nothing gets since Windows 10 2004.
        let steps = [("none", 14, 15), ("1ms", 15, 1), ("2ms", 15, 2), ("6ms", 11, 6), ("8ms", 7, 8), ("15ms", 14, 15)];
        assert_eq!(
            reached(&sheet(ExperimentId::C3, &steps).file).as_deref(),
            Some(
                "This process did not follow its neighbours: beside one that held 1 ms its sleep took 16 ms, and 15 ms \
                 alone. A request serves the process that makes it; the sleeps of 8 ms to 16 ms are multiples of what was \
                 held, near the default."
            )
        );
        let coarse_only = [("none", 14, 15), ("8ms", 7, 8)];
        assert_eq!(
            reached(&sheet(ExperimentId::C3, &coarse_only).file).as_deref(),
            Some("A neighbour's setting reached this process: its sleep took from 8 ms to 15 ms, by what was held.")
        );
    }

    #[test]
    fn which_of_two_requests_counts_is_said_only_where_it_shows() {
        let steps = [("none", 14, 15), ("2ms", 1, 2), ("2ms+4ms", 1, 2), ("4ms", 3, 4)];
        let says = "While 2 ms and 4 ms were both held the sleep took 2 ms, as with 2 ms alone (2 ms).";
        assert_eq!(lowest(&sheet(ExperimentId::C4, &steps).file).as_deref(), Some(says));
        let alike = [("none", 0, 1), ("2ms", 0, 1), ("2ms+4ms", 0, 1), ("4ms", 0, 1)];
        assert_eq!(lowest(&sheet(ExperimentId::C4, &alike).file), None);
        assert_eq!(lowest(&sheet(ExperimentId::C4, &steps[..3]).file), None, "a step is missing");
    }
}
