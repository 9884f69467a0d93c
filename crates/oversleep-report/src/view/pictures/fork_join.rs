//! A fork-join by how the main thread waits (D1), and the work of one thread alone (D2), each by two clocks.

use oversleep_record::label::ClockRole;
use oversleep_record::words::counted;
use oversleep_record::{ExperimentId, FactName, ResultFile, label};

use super::{Drawing, Entry, ms};
use crate::picture::{ForkJoin, ForkJoinStyle};
use crate::view::select::{distinct, measured};

pub const ENTRY: Entry = Entry {
    name: "fork-join",
    experiment: Some(ExperimentId::D1),
    draw: |file| drawing(file, ExperimentId::D1, "Fork-join by how the main thread waits").into_iter().collect(),
};

pub const SINGLE: Entry = Entry {
    name: "one-thread",
    experiment: Some(ExperimentId::D2),
    draw: |file| drawing(file, ExperimentId::D2, "The work of one thread by two clocks").into_iter().collect(),
};

fn drawing<'a>(file: &'a ResultFile, experiment: ExperimentId, heading: &str) -> Option<Drawing<'a>> {
    let of_role = |role: ClockRole| {
        measured(file, experiment).filter(move |series| series.label(label::CLOCK_ROLE) == Some(role))
    };
    let samples = |style: &str, role| -> Vec<f64> {
        let series = of_role(role).find(|series| series.subject == style);
        series.into_iter().flat_map(|series| &series.samples.value).map(ms).collect()
    };
    let style = |style: &str| ForkJoinStyle {
        label: style.to_owned(),
        coarse_ms: samples(style, ClockRole::Coarse),
        precise_ms: samples(style, ClockRole::Precise),
    };
    let styles = distinct(measured(file, experiment).map(|series| series.subject.as_str()));
    let styles: Vec<ForkJoinStyle> = styles.into_iter().map(style).collect();
    if styles.iter().all(|style| style.precise_ms.is_empty()) {
        return None;
    }
    let clock = |role| of_role(role).next().map_or_else(|| "none".to_owned(), |series| series.clock.clone());
    let first = measured(file, experiment).next()?;
    let work = first.label(label::WORK);
    let threads = first.label(label::THREADS).and_then(|threads| i64::try_from(threads).ok());
    let cpus = file.environment.integer(FactName::CpuAllowed).or(file.environment.integer(FactName::CpuCount));
    let workers = threads.zip(cpus).map(|(threads, cpus)| threads.min(cpus).max(1));
    let note = match (work, threads, workers) {
        (Some(work), Some(1), _) => format!("“The work alone” is {work}, the mean of what is drawn."),
        (Some(work), Some(threads), Some(workers)) => format!(
            "{threads} threads share {work} of work on average; “the work alone” is that over {}.",
            counted(workers, "CPU")
        ),
        _ => String::new(),
    };
    let (coarse_label, precise_label) = (clock(ClockRole::Coarse), clock(ClockRole::Precise));
    let work_ms = work.zip(workers).map(|(work, workers)| ms(work.0) / workers as f64);
    Some(Drawing::new(heading, note, move |frame| ForkJoin { frame, coarse_label, precise_label, work_ms, styles }))
}
