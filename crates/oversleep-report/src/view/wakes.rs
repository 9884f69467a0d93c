//! Wake-ups in recordings of every switch: those of idle CPUs by program and timer, and threads with a rhythm.

use oversleep_record::ResultFile;
use oversleep_record::observed::wakes::{IdleWakes, Rhythm, Wakes, WokenBy};

use super::observed::SomeIf;
use super::table::{Columns, Table};
use crate::words::counted;

/// The caption of wake-ups of idle CPUs.
pub const IDLE: &str = "Wake-ups of idle CPUs by program and timer";
/// The caption of threads with a period.
pub const RHYTHMS: &str = "Threads that wake up regularly, by their timers where those were recorded";

fn of(file: &ResultFile) -> Option<&Wakes> {
    file.observation.as_ref()?.wakes.as_ref()
}

/// What woke it, in words.
pub fn by(row: &IdleWakes) -> String {
    match (row.by, &row.timer) {
        (WokenBy::Timer, Some(timer)) => format!("timer: {timer}"),
        (WokenBy::Timer, None) => "timer, unnamed".to_owned(),
        (WokenBy::Other, _) => "no timer".to_owned(),
        (WokenBy::Unseen, _) => "not recorded".to_owned(),
    }
}

/// The program, or that it was the kernel for itself.
pub fn program(row: &IdleWakes) -> String {
    if row.program.is_empty() { "(no thread)".to_owned() } else { row.program.clone() }
}

/// A rate with as many digits as it has sense.
pub fn rate(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.2}") } else { format!("{rate:.1}") }
}

/// Wake-ups of idle CPUs.
pub fn idle(file: &ResultFile) -> Option<Table> {
    let wakes = of(file)?;
    let all = wakes.idle_count();
    let columns = Columns::new()
        .words("woken for", |row: &&IdleWakes| program(row))
        .words("by", |row| by(row))
        .figure("count", |row| row.count)
        .rank(1)
        .figure("per second", |row| wakes.per_second(row.count).map(rate))
        .figure("share", |row| format!("{:.0} %", row.count as f64 * 100.0 / all.max(1) as f64))
        .rank(2);
    columns.table(IDLE, &wakes.idle)
}

/// All wake-ups of idle CPUs together, in a sentence.
pub fn in_all(file: &ResultFile) -> Option<String> {
    let wakes = of(file)?;
    let count = wakes.idle_count();
    let rate = wakes.per_second(count).filter(|_| count != 0).map(rate)?;
    Some(format!("{} of idle CPUs in {}: {rate} per second.", counted(count, "wake-up"), wakes.span_ns))
}

/// The wake-ups in all, and who was woken most, where the tables aren't shown.
pub fn in_brief(file: &ResultFile) -> Option<String> {
    let wakes = of(file)?;
    let all = in_all(file)?;
    let named = |row: &IdleWakes| {
        let rate = wakes.per_second(row.count).map(rate).unwrap_or_default();
        format!("{rate} for {} ({})", program(row), by(row))
    };
    let most: Vec<String> = wakes.idle.iter().take(2).map(named).collect();
    Some(format!(
        "{}, of them {} (--full: all of them, and threads with a period).",
        all.trim_end_matches('.'),
        most.join(" and ")
    ))
}

/// Threads that wake up by their timers at nearly equal distances.
pub fn rhythms(file: &ResultFile) -> Option<Table> {
    let wakes = of(file)?;
    let columns = Columns::new()
        .words("program", |row: &&Rhythm| row.program.clone())
        .words("thread", |row| row.thread.clone().some_if(row.thread != row.program))
        .rank(3)
        .figure("intervals", |row| row.count)
        .rank(2)
        .figure("period (p50)", |row| row.p50_ns)
        .figure("p10", |row| row.p10_ns)
        .rank(4)
        .figure("p90", |row| row.p90_ns)
        .rank(4)
        .figure("jitter (p90 − p10)", |row| row.jitter());
    columns.table(RHYTHMS, &wakes.rhythms)
}
