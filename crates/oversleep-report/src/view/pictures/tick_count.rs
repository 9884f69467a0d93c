//! The investigation of GetTickCount64 in Free Pascal (R4), red and blue: fork-joins and the work of one thread by two
//! clocks, and the sweep of its sleep.

use oversleep_record::label::ClockRole;
use oversleep_record::words::counted;
use oversleep_record::{ExperimentId, FactName, ResultFile, Series, label};

use super::sweep::points;
use super::{Drawing, Entry, ms};
use crate::picture::{ForkJoin, ForkJoinStyle, Sweep};
use crate::view::sections::tick_count::{by, is_same, is_work};
use crate::view::select::distinct;

pub const WORK: Entry = Entry { name: "tick-count-work", experiment: Some(ExperimentId::R4), draw: work };
pub const SLEEPS: Entry = Entry { name: "tick-count-sleeps", experiment: Some(ExperimentId::R4), draw: sleeps };

/// A picture for each number of threads, because the work alone takes another time.
fn work(file: &ResultFile) -> Vec<Drawing<'_>> {
    let all: Vec<&Series> = by(file, ClockRole::Precise).filter(|series| is_work(series)).collect();
    let threads = distinct(all.iter().filter_map(|series| series.label(label::THREADS)));
    let of = |threads: u64| all.iter().copied().filter(move |series| series.label(label::THREADS) == Some(threads));
    threads.into_iter().filter_map(|threads| drawing(file, threads, of(threads).collect())).collect()
}

fn drawing<'a>(file: &'a ResultFile, threads: u64, all: Vec<&'a Series>) -> Option<Drawing<'a>> {
    let first = *all.first()?;
    let samples = |series: &Series| series.samples.value.iter().map(ms).collect::<Vec<f64>>();
    let coarse = |series: &Series| by(file, ClockRole::Coarse).find(|other| is_same(other, series));
    let style = |series: &&Series| ForkJoinStyle {
        label: series.subject.clone(),
        coarse_ms: coarse(series).map(samples).unwrap_or_default(),
        precise_ms: samples(series),
    };
    let styles: Vec<ForkJoinStyle> = all.iter().map(style).collect();
    let cpus = file.environment.integer(FactName::CpuAllowed).or(file.environment.integer(FactName::CpuCount));
    let workers = cpus.map_or(1, |cpus| cpus.min(i64::try_from(threads).unwrap_or(i64::MAX)).max(1));
    let work = first.label(label::WORK);
    let note = match work {
        Some(work) if threads == 1 => format!("“The work alone” is {work}, the mean of what is drawn."),
        Some(work) => format!(
            "{threads} threads share {work} of work on average; “the work alone” is that over {}.",
            counted(workers as u64, "CPU")
        ),
        None => String::new(),
    };
    let runtime = first.runtime.as_ref().map(ToString::to_string).unwrap_or_default();
    let what = if threads == 1 { "the work of one thread" } else { "fork-join" };
    let heading = format!("{runtime}: {what} by two clocks");
    let (precise_label, coarse_label) = (first.clock.clone(), coarse(first)?.clock.clone());
    let work_ms = work.map(|work| ms(work.0) / workers as f64);
    let svg = move |frame| ForkJoin { frame, coarse_label, precise_label, work_ms, styles };
    Some(Drawing::new(heading, note, svg).of(&first.subject))
}

fn sleeps(file: &ResultFile) -> Vec<Drawing<'_>> {
    let of_sleeps = |role| by(file, role).filter(|series| !is_work(series));
    let waits = distinct(of_sleeps(ClockRole::Precise).map(|series| (series.subject.as_str(), &series.runtime)));
    let drawing = |(wait, runtime): (&str, &_)| {
        let is_meant = move |series: &&Series| series.subject == wait && &series.runtime == runtime;
        let of_wait = |role| of_sleeps(role).filter(is_meant);
        let clock = |role| of_wait(role).next().map(|series| series.clock.clone()).unwrap_or_default();
        let (coarse_label, precise_label) = (clock(ClockRole::Coarse), clock(ClockRole::Precise));
        let (coarse, points) = (points(of_wait(ClockRole::Coarse)), points(of_wait(ClockRole::Precise)));
        let wait_label = wait.to_owned();
        let svg = move |frame| Sweep { frame, wait_label, precise_label, coarse_label, points, coarse, finding: None };
        let runtime = runtime.as_ref().map(ToString::to_string).unwrap_or_default();
        Drawing::new(format!("{runtime}: duration of {wait} for each request: line or steps?"), "", svg).of(wait)
    };
    waits.into_iter().map(drawing).collect()
}
