//! How the settings of other processes affect this one (C3, C4).

use oversleep_record::conditions::HeldSettings;
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series, TwoPeaks, label};

use super::Entry;
use super::neighbour_clocks as clocks;
use super::neighbour_steps::{held_in_words, neighbour, of_step, steps};
use crate::view::bars::bars;
use crate::view::select::{measured, unavailable};
use crate::view::table::{Columns, Section, Table};
use crate::words::{MEDIAN_MIN, value};

/// The section.
pub const ENTRY: Entry = Entry {
    id: "neighbours",
    title: "Neighbours: settings that other processes hold",
    experiments: &[ExperimentId::C3, ExperimentId::C4],
    build,
};

/// Sleeps that differ by less count as equal: more than the noise of a wake-up, less than any tick.
const EQUAL_WITHIN: Nanos = Nanos(300_000);
/// The width of a histogram in a table.
const BARS: usize = 20;

/// The median duration of this process's own sleep in a step.
pub fn slept(file: &ResultFile, experiment: ExperimentId, step: &HeldSettings) -> Option<Nanos> {
    let series = of_step(file, experiment, step, Quantity::Lateness).next()?;
    Some(series.requested_ns? + Nanos(series.distribution.p50()?))
}

fn build(file: &ResultFile, section: Section) -> Section {
    let captions = [
        (
            ExperimentId::C3,
            "This process, which requests nothing, and its own sleep while one neighbour holds a setting",
        ),
        (ExperimentId::C4, "The same with two neighbours: the second starts, then the first exits"),
    ];
    section
        .tables(captions.into_iter().filter_map(|(experiment, caption)| table(file, experiment, caption)))
        .notes(sentences(file))
}

/// The duration of this process's own sleep in a step, in words: its median, or both peaks if it has two.
fn slept_in_words(file: &ResultFile, experiment: ExperimentId, step: &HeldSettings) -> Option<String> {
    let series = of_step(file, experiment, step, Quantity::Lateness).next()?;
    let peaks = TwoPeaks::of(&series.distribution);
    let peaks = peaks.map(|peaks| peaks.words(series.unit, series.requested_ns.unwrap_or_default().0).to_string());
    peaks.or_else(|| Some(slept(file, experiment, step)?.to_string()))
}

/// How a neighbour's setting affects this process, in sentences.
pub fn sentences(file: &ResultFile) -> Vec<String> {
    [reached(file), clocks::reached(file), lowest(file)].into_iter().flatten().collect()
}

fn table(file: &ResultFile, experiment: ExperimentId, caption: &str) -> Option<Table> {
    measured(file, experiment).next()?;
    let sleep = move |step: &HeldSettings| of_step(file, experiment, step, Quantity::Lateness).next();
    let duration = |series: &Series, late: i64| Some(value(series.unit, (series.requested_ns? + Nanos(late)).0));
    let steps = steps(file, experiment);
    let longest =
        steps.iter().filter_map(|step| Some(sleep(step)?.requested_ns? + Nanos(sleep(step)?.distribution.max()?)));
    let longest = longest.max().unwrap_or_default();
    let mut columns = Columns::new()
        .words("held", held_in_words)
        .words("granted", move |step| {
            let beside = file.experiment(experiment).filter(|series| unavailable(series).is_none());
            let mut beside = beside.filter(|series| neighbour(series).as_ref() == Some(step));
            beside.find_map(|series| series.label(label::GRANTED)).as_ref().map(held_in_words)
        })
        .rank(5)
        .figure("stated", move |step| {
            // A round reads it once, so there are only a few values.
            let stated = of_step(file, experiment, step, Quantity::StatedResolution).next()?;
            Some(value(stated.unit, stated.distribution.p50()?))
        })
        .rank(3)
        .figure("mean", move |step| duration(sleep(step)?, sleep(step)?.distribution.mean()?.round() as i64))
        .figure("p50", move |step| {
            let series = sleep(step)?;
            let is_few = series.distribution.count() < MEDIAN_MIN;
            Some(format!("{}{}", if is_few { "~" } else { "" }, duration(series, series.distribution.p50()?)?))
        })
        .figure("p99", move |step| duration(sleep(step)?, sleep(step)?.distribution.safe_quantile(0.99)?))
        .rank(7)
        .figure("max", move |step| duration(sleep(step)?, sleep(step)?.distribution.max()?))
        .rank(6)
        .bar(format!("0 to {longest}"), move |step| {
            sleep(step).map(|series| histogram(series, longest)).unwrap_or_default()
        })
        .rank(1);
    for (index, clock) in clocks::by_interest(file, experiment).into_iter().enumerate() {
        columns = columns
            .figure(format!("step of {clock}"), move |step| clocks::step_text(file, experiment, step, clock))
            .rank(if index == 0 { 2 } else { u8::try_from(index + 7).unwrap_or(u8::MAX) });
    }
    columns.table(caption, steps)
}

/// The durations of the sleeps as bars, from zero to the longest of all.
fn histogram(sleep: &Series, longest: Nanos) -> String {
    let requested = sleep.requested_ns.unwrap_or_default();
    let durations = sleep.distribution.buckets().map(|(late, count)| ((requested + Nanos(late)).0 as f64, count));
    bars(durations, 0.0, longest.0 as f64, BARS).trim_end().to_owned()
}

/// Whether a single neighbour's setting affected this process.
fn reached(file: &ResultFile) -> Option<String> {
    let steps = steps(file, ExperimentId::C3);
    let slept: Vec<Nanos> = steps.iter().filter_map(|step| slept(file, ExperimentId::C3, step)).collect();
    let (least, most) = (*slept.iter().min()?, *slept.iter().max()?);
    if slept.len() < 2 {
        return None;
    }
    if most - least <= EQUAL_WITHIN {
        let (least, most) = (least.to_string(), most.to_string());
        let took = if least == most { least } else { format!("{least} to {most}") };
        return Some(format!("No neighbour's setting reached this process: its sleep took {took} whatever was held."));
    }
    // If a neighbour's setting can't reach this process, the difference comes from the machine itself.
    if !clocks::is_shared(file) {
        return None;
    }
    Some(match beside_finest(file) {
        Some(Beside { held, took, alone, followed: false }) => format!(
            "This process did not follow its neighbours: its sleep took {alone} alone, and {took} while a neighbour \
             held {held}. A request serves only the process that makes it; the sleeps of {least} to {most} are \
             multiples of the setting held, near the default."
        ),
        Some(Beside { held, took, alone, followed: true }) => format!(
            "A neighbour's setting reached this process: its sleep took {alone} alone, and {took} while a neighbour \
             held {held}."
        ),
        None => format!(
            "A neighbour's setting reached this process: its sleep took {least} to {most}, depending on the setting held."
        ),
    })
}

/// A sleep beside a neighbour whose period is short enough to show whether this process follows it.
struct Beside {
    held: Nanos,
    took: String,
    alone: String,
    followed: bool,
}

/// The sleep beside the shortest setting held; `None` if none is short enough to show it.
fn beside_finest(file: &ResultFile) -> Option<Beside> {
    let slept = |step: &HeldSettings| slept(file, ExperimentId::C3, step);
    let alone = slept(&HeldSettings::NOTHING)?;
    let spans = steps(file, ExperimentId::C3).into_iter().filter_map(|step| Some((step.only_span()?, step)));
    let (held, step) = spans.filter(|(_, step)| slept(step).is_some()).min()?;
    let took = slept(&step)?;
    let requested = of_step(file, ExperimentId::C3, &step, Quantity::Lateness).next()?.requested_ns?;
    // A process that follows wakes at the second tick after the deadline at the latest.
    let latest = requested + held * 2 + EQUAL_WITHIN;
    let in_words = |step: &HeldSettings| slept_in_words(file, ExperimentId::C3, step).unwrap_or_default();
    (latest < alone - EQUAL_WITHIN).then(|| Beside {
        held,
        took: in_words(&step),
        alone: in_words(&HeldSettings::NOTHING),
        followed: took <= latest,
    })
}

/// Which of two neighbours' settings alone explains the sleeps beside both.
fn lowest(file: &ResultFile) -> Option<String> {
    let steps = steps(file, ExperimentId::C4);
    let both = steps.iter().find(|step| step.0.len() > 1)?;
    let [first, second] = both.0.as_slice() else { return None };
    let [first, second] = [first, second].map(|setting| HeldSettings(vec![setting.clone()]));
    let slept = |step| slept(file, ExperimentId::C4, step);
    let (with_both, with_first, with_second) = (slept(both)?, slept(&first)?, slept(&second)?);
    let differ = |a: Nanos, b: Nanos| Nanos((a - b).0.abs()) > EQUAL_WITHIN;
    if !differ(with_first, with_second) {
        return None;
    }
    let (like, alone) = match (differ(with_both, with_first), differ(with_both, with_second)) {
        (false, true) => (&first, with_first),
        (true, false) => (&second, with_second),
        _ => return None,
    };
    let [first, second, like] = [&first, &second, like].map(held_in_words);
    Some(format!(
        "While {first} and {second} were both held, the sleep took {with_both}, as with {like} alone ({alone})."
    ))
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::super::generic::texts;
    use super::*;

    fn neighbours(file: &ResultFile) -> Section {
        build(file, Section::new("neighbours", "Neighbours"))
    }

    /// `C3` with these sleeps beyond 1 ms, stated resolutions and clock steps, all in ms.
    fn sheet(experiment: ExperimentId, steps: &[(&str, i64, i64)]) -> Sheet {
        let mut sheet = Sheet::windows();
        for (step, late_ms, period_ms) in steps {
            sheet = sheet
                .steady(format!("{experiment}/sleep/1ms/neighbour={step}"), late_ms * 1_000_000)
                .steady(format!("{experiment}/resolution/stated/neighbour={step}"), period_ms * 1_000_000)
                .steady(format!("{experiment}/get-tick-count/step/neighbour={step}"), 15_625_000)
                .steady(format!("{experiment}/system-time/step/neighbour={step}"), period_ms * 1_000_000);
        }
        sheet
    }

    #[test]
    fn a_neighbour_that_died_granted_nothing_and_reached_nothing() {
        let died = |key: &str| {
            let mut series = oversleep_record::testing::rounds(key, &[14_000_000; 4], 20);
            series.labels.set(label::GRANTED, "1ms".parse().unwrap());
            let reason = oversleep_record::Unavailable::failed("holding the setting", "the process ended (signal: 9)");
            series.status = oversleep_record::series::Status::Unavailable { reason };
            series
        };
        let file = sheet(ExperimentId::C3, &[("none", 14, 15)])
            .series(died("C3/sleep/1ms/neighbour=1ms"))
            .series(died("C3/resolution/stated/neighbour=1ms"))
            .file;
        let section = neighbours(&file);
        assert!(!format!("{:?}", section.notes).contains("reached this process"), "{:?}", section.notes);
        assert_eq!(texts(&section.tables[0])[2][..4], ["1 ms", "–", "–", "–"]);
    }

    #[test]
    fn a_machine_wide_resolution_shows_in_table_and_words() {
        let file = sheet(ExperimentId::C3, &[("none", 14, 15), ("1ms", 1, 1), ("2ms", 1, 2)]).file;
        let section = neighbours(&file);
        assert_eq!(
            texts(&section.tables[0])[1..],
            [
                ["nothing", "15 ms", "15 ms", "15 ms", "15 ms", "                   █", "15 ms", "15.6 ms"],
                ["1 ms", "1 ms", "2 ms", "2 ms", "2 ms", "  █", "1 ms", "15.6 ms"],
                ["2 ms", "2 ms", "2 ms", "2 ms", "2 ms", "  █", "2 ms", "15.6 ms"],
            ]
        );
        assert_eq!(
            section.notes,
            [
                "A neighbour's setting reached this process: its sleep took 15 ms alone, and 2 ms while a neighbour \
                 held 1 ms.",
                "The step of system-time followed the neighbour's setting; that of get-tick-count did not.",
            ]
        );
        assert_eq!(clocks::telling(&file, ExperimentId::C3), Some("system-time"));
        let alike = sheet(ExperimentId::C3, &[("none", 14, 15), ("1ms", 14, 15)]).file;
        assert_eq!(
            neighbours(&alike).notes,
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
        let file = rows.iter().fold(Sheet::linux(), |sheet, (held, ms)| sheet.steady(key(held), ms * 1_000_000)).file;
        let section = neighbours(&file);
        let steps: Vec<&str> = section.tables[0].rows.iter().filter_map(|row| Some(&*row.last()?.text)).collect();
        assert_eq!((steps, section.notes), (vec!["4 ms", "≤ 8 ms"], vec![]));
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
    fn a_sleep_that_is_late_by_all_there_is_lasts_no_less() {
        let file = Sheet::linux().steady("C3/nanosleep/1ms/neighbour=none", i64::MAX).file;
        let section = neighbours(&file);
        assert_eq!(texts(&section.tables[0])[1], ["nothing", "106752 d", "106752 d", "106752 d", "█"]);
        assert!(crate::view::pictures::all(&file).iter().all(|picture| !picture.forms.alone.contains("-9223372")));
    }

    #[test]
    fn multiples_of_a_neighbours_period_are_not_called_following_it() {
        // A process without a request of its own since Windows 10 2004.
        let steps = [("none", 14, 15), ("1ms", 15, 1), ("2ms", 15, 2), ("6ms", 11, 6), ("8ms", 7, 8), ("15ms", 14, 15)];
        assert_eq!(
            reached(&sheet(ExperimentId::C3, &steps).file).as_deref(),
            Some(
                "This process did not follow its neighbours: its sleep took 15 ms alone, and 16 ms while a neighbour \
                 held 1 ms. A request serves only the process that makes it; the sleeps of 8 ms to 16 ms are multiples \
                 of the setting held, near the default."
            )
        );
        let coarse_only = [("none", 14, 15), ("8ms", 7, 8)];
        assert_eq!(
            reached(&sheet(ExperimentId::C3, &coarse_only).file).as_deref(),
            Some(
                "A neighbour's setting reached this process: its sleep took 8 ms to 15 ms, depending on the setting held."
            )
        );
    }

    #[test]
    fn which_of_two_requests_counts_is_stated_only_where_it_shows() {
        let steps = [("none", 14, 15), ("2ms", 1, 2), ("2ms+4ms", 1, 2), ("4ms", 3, 4)];
        let says = "While 2 ms and 4 ms were both held, the sleep took 2 ms, as with 2 ms alone (2 ms).";
        assert_eq!(lowest(&sheet(ExperimentId::C4, &steps).file).as_deref(), Some(says));
        let alike = [("none", 0, 1), ("2ms", 0, 1), ("2ms+4ms", 0, 1), ("4ms", 0, 1)];
        assert_eq!(lowest(&sheet(ExperimentId::C4, &alike).file), None);
        assert_eq!(lowest(&sheet(ExperimentId::C4, &steps[..3]).file), None, "a step is missing");
    }
}
