//! Loops of a short sleep (B4): how far each falls behind, and on which kind of CPU.

use oversleep_record::label::{self, CpuKind};
use oversleep_record::words::percent;
use oversleep_record::{ExperimentId, Nanos, ResultFile, Series};

use super::Entry;
use crate::view::select::{self, measured};
use crate::view::table::{Columns, Section};
use crate::words::counted;

/// The section.
pub const ENTRY: Entry = Entry { id: "usleep", title: "Loops of a sleep", experiments: &[ExperimentId::B4], build };

/// The number of calls for which the drift of a loop is stated.
const CALLS: i64 = 1_000;

fn build(file: &ResultFile, section: Section) -> Section {
    let by_the_user = select::set_by_the_user(file);
    let refusals = |series: &Series| select::refusals(series, |name| !by_the_user.contains(name));
    let (shown, refused): (Vec<&Series>, Vec<&Series>) =
        measured(file, ExperimentId::B4).partition(|series| refusals(series).is_empty());
    let columns = Columns::new()
        .subject("wait")
        .requested()
        .words("CPU", |series: &&Series| cpu(series))
        .values()
        .figure(format!("{} calls", crate::words::grouped(CALLS)), |series| loop_of(series).map(|(took, _)| took))
        .rank(1);
    let mut refused: Vec<String> = refused.into_iter().flat_map(refusals).collect();
    refused.dedup();
    section
        .tables(columns.table("Lateness of each call, and how long a loop of them takes", shown.iter().copied()))
        .notes(drifts(&shown))
        .notes(kinds(&shown))
        .notes(refused.into_iter().map(|refusal| format!("Refused here, so not shown: {refusal}.")))
}

/// The kind of CPU that a loop was pinned to.
fn cpu(series: &Series) -> &'static str {
    match series.label(label::CPU_KIND) {
        Some(CpuKind::Performance) => "P-core",
        Some(CpuKind::Efficiency) => "E-core",
        Some(CpuKind::Uniform) | None => "any",
    }
}

/// How long a loop of calls takes, and by which share that is longer than requested.
fn loop_of(series: &Series) -> Option<(Nanos, f64)> {
    let requested = series.requested_ns.filter(|&requested| requested > Nanos::ZERO)?;
    let each = requested.0 as f64 + series.distribution.mean()?;
    Some((Nanos((each * CALLS as f64) as i64), each / requested.0 as f64 - 1.0))
}

/// Which request drifts, and how far.
fn drifts(shown: &[&Series]) -> Option<String> {
    let as_found = || shown.iter().filter(|series| series.label(label::CPU_KIND).is_none());
    let told = as_found().filter_map(|series| {
        let (took, share) = loop_of(series)?;
        let requested = series.requested_ns?;
        Some(format!(
            "{} of {requested} take {took} instead of {} ({})",
            counted(CALLS, "call"),
            requested * CALLS,
            longer(share)
        ))
    });
    let told: Vec<String> = told.collect();
    let wait = as_found().next().map(|series| series.subject.as_str())?;
    (!told.is_empty()).then(|| {
        format!("A loop of {wait} drifts, since each call begins when the last one ended: {}.", told.join("; "))
    })
}

fn longer(share: f64) -> String {
    if share < 0.0 { format!("{} less", percent(-share)) } else { format!("{} more", percent(share)) }
}

/// How an efficiency core affects a loop, compared with a performance core.
fn kinds(shown: &[&Series]) -> Option<String> {
    let of = |kind, like: &Series| {
        let is_like =
            |series: &&&Series| series.label(label::CPU_KIND) == Some(kind) && series.requested_ns == like.requested_ns;
        shown.iter().find(is_like).and_then(|series| series.distribution.p50()).map(Nanos)
    };
    let on_both = |series: &&Series| {
        Some((series.requested_ns?, of(CpuKind::Performance, series)?, of(CpuKind::Efficiency, series)?))
    };
    let (requested, performance, efficiency) = shown.iter().find_map(on_both)?;
    Some(format!(
        "P-cores are the fast ones, E-cores the thrifty ones, whose clock rate is lower. A call of {requested} was \
         {performance} late on a P-core and {efficiency} on an E-core: the timer is the same, and what the core has to do \
         to wake up takes it longer or shorter."
    ))
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::super::generic::texts;
    use super::*;

    #[test]
    fn a_loop_says_how_far_each_request_drifts_and_on_which_core() {
        let mut sheet = Sheet::macos().steady("B4/usleep/1ms", 250_000).steady("B4/usleep/300us", 80_000);
        for (kind, late) in [(CpuKind::Performance, 10_000), (CpuKind::Efficiency, 30_000)] {
            let mut series = oversleep_record::testing::rounds("B4/usleep/1ms", &[late; 4], 20);
            series.key = series.key.named("cpu_kind", kind);
            series.labels.set(label::CPU_KIND, kind);
            sheet = sheet.series(series);
        }
        let section = build(&sheet.file, Section::new("usleep", "Loops"));
        let cores: Vec<&str> = texts(&section.tables[0])[1..].iter().map(|row| row[2]).collect();
        assert_eq!(cores, ["any", "any", "P-core", "E-core"]);
        assert!(
            section.notes[0]
                .contains("1,000 calls of 1 ms take 1.25 s instead of 1 s (25 % more); 1,000 calls of 300 µs"),
            "{:?}",
            section.notes
        );
        assert!(section.notes[1].contains("10 µs late on a P-core and 30 µs on an E-core"), "{:?}", section.notes);
    }
}
