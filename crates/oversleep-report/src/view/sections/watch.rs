//! What `resolution watch` observed (C7): each change, and the figures of the whole run.

use oversleep_record::change::Change;
use oversleep_record::series::{Quantity, Series};
use oversleep_record::{ExperimentId, Nanos, ResultFile};

use super::Entry;
use crate::view::select::measured;
use crate::view::table::{Columns, Section};
use crate::words::{counted, value};

/// This section.
pub const ENTRY: Entry =
    Entry { id: "watch", title: "What changed while the machine was used", experiments: &[ExperimentId::C7], build };

/// The quantity of a series of the watch: `resolution`, `step(qpc)`, `sleep(1ms)`.
pub fn name(series: &Series) -> String {
    match (series.quantity, series.requested_ns) {
        (Quantity::Step, _) => format!("step({})", series.subject),
        (Quantity::Lateness, Some(requested)) => format!("{}({})", series.subject, requested.as_typed()),
        _ => series.subject.clone(),
    }
}

/// The time since the watch began: `0:00:07.2`.
pub fn since(at: Nanos) -> String {
    let tenths = at.0.max(0) / 100_000_000;
    let seconds = tenths / 10;
    format!("{}:{:02}:{:02}.{}", seconds / 3_600, seconds / 60 % 60, seconds % 60, tenths % 10)
}

/// The time since a recording began: `7.250 s`.
fn since_in_ms(at: Nanos) -> String {
    let ms = at.0.max(0) / 1_000_000;
    format!("{}.{:03} s", ms / 1_000, ms % 1_000)
}

/// A change in a line, without its time: `resolution  15.6 ms → 1 ms`.
pub fn in_a_line(change: &Change) -> String {
    let before = change.before.as_ref().map(|before| format!("{before} → ")).unwrap_or_default();
    format!("{:<24}  {before}{}", change.what, change.after)
}

fn build(file: &ResultFile, section: Section) -> Section {
    // The duration of a sleep is its request plus its lateness.
    let span = |series: &&Series, of: Option<i64>| {
        let base = if series.quantity == Quantity::Lateness { series.requested_ns?.0 } else { 0 };
        Some(value(series.unit, of?.saturating_add(base)))
    };
    let figures = Columns::new()
        .words("what", |series: &&Series| name(series))
        .figure("min", move |series| span(series, series.distribution.min()))
        .figure("p50", move |series| span(series, series.distribution.p50()))
        .figure("p99", move |series| span(series, series.distribution.safe_quantile(0.99)))
        .figure("max", move |series| span(series, series.distribution.max()))
        .figure("count", |series| series.counts.recorded);
    let section = section.tables(figures.table("Over the whole time", measured(file, ExperimentId::C7)));
    // Those of a recording are told beside its waits.
    if file.observation.is_some() { section } else { changes(file, section, CAPTIONS) }
}

/// The first changes as a table, and how many there are if they are more; the captions of all and of the first ones.
pub fn changes(file: &ResultFile, section: Section, [all, first]: [&str; 2]) -> Section {
    // A recording is short, and times in it are compared with those of its waits.
    let when = if file.observation.is_some() { since_in_ms } else { since };
    let columns = Columns::new()
        .figure("at", move |change: &&Change| when(change.at_ns))
        .words("what", |change| change.what.clone())
        .words("before", |change| change.before.clone())
        .words("after", |change| change.after.clone());
    let count = file.changes.len() as u64 + file.changes_beyond;
    let (shown, more) = file.changes.split_at(file.changes.len().min(CHANGES_SHOWN));
    let caption = if more.is_empty() { all } else { first };
    section.tables(columns.table(caption, shown)).notes(
        (count > shown.len() as u64)
            .then(|| format!("{} in all; the result file lists them.", counted(count, "change"))),
    )
}

const CAPTIONS: [&str; 2] = ["Each change, as it was seen", "The first changes, as they were seen"];
/// Changes in the table.
const CHANGES_SHOWN: usize = 100;

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::*;

    #[test]
    fn times_and_changes_read_as_people_say_them() {
        assert_eq!(
            [0, 7_250, 3_723_900, 90_000_000].map(|ms| since(Nanos::from_millis(ms))),
            ["0:00:00.0", "0:00:07.2", "1:02:03.9", "25:00:00.0"]
        );
        assert_eq!([7_250, 3_723_900].map(|ms| since_in_ms(Nanos::from_millis(ms))), ["7.250 s", "3723.900 s"]);
        let change = |before: Option<&str>| Change {
            at_ns: Nanos::ZERO,
            what: "resolution".to_owned(),
            before: before.map(str::to_owned),
            after: "1 ms".to_owned(),
        };
        assert_eq!(in_a_line(&change(Some("15.6 ms"))), "resolution                15.6 ms → 1 ms");
        assert_eq!(in_a_line(&change(None)), "resolution                1 ms");
        let mut file = Sheet::windows().file;
        file.changes = vec![change(Some("15.6 ms"))];
        let section = build(&file, Section::new("watch", "t"));
        assert_eq!(section.tables.len(), 1);
    }
}
