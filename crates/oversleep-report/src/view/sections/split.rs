//! The origin of the lateness: the parts of each wait that was observed.

use oversleep_explain::COMMON_REQUEST;
use oversleep_explain::split::{Parts, SplitRow, barely_seen, rows};
use oversleep_record::{ExperimentId, Nanos, ResultFile};

use super::Entry;
use crate::view::table::{Columns, Section};
use crate::words::grouped;

/// The section.
pub const ENTRY: Entry =
    Entry { id: "split", title: "Where the lateness comes from", experiments: &[ExperimentId::B5], build };

/// Characters of the longest bar.
const BAR: usize = 22;
/// One glyph per part, as distinct as a terminal can draw them: timer, run queue, return.
const GLYPHS: [char; 3] = ['█', '▒', '░'];

/// The rows that belong together: those of the waits' own series.
pub fn of_waits(file: &ResultFile) -> Vec<SplitRow> {
    rows(file).into_iter().filter(|row| row.series.is_of(ExperimentId::B5)).collect()
}

/// The common request of those rows, if there is one.
pub fn request(rows: &[SplitRow]) -> Option<Nanos> {
    let first = rows.first()?.requested_ns;
    rows.iter().all(|row| row.requested_ns == first).then_some(first).flatten()
}

fn build(file: &ResultFile, section: Section) -> Section {
    let rows = of_waits(file);
    let Some(longest) = scale(&rows) else { return section };
    let one_request = request(&rows);
    let [timer, queue, wake_return] = GLYPHS;
    let columns = Columns::new()
        .words("wait", |row: &&SplitRow| match row.requested_ns {
            Some(request) if Some(request) != one_request => format!("{} {request}", row.wait),
            _ => row.wait.clone(),
        })
        .figure("lateness", |row| row.medians.total)
        .figure("timer", |row| row.medians.timer)
        .figure("run queue", |row| row.medians.run_queue)
        .figure("return", |row| row.medians.wake_return)
        .bar(format!("{timer}timer {queue}queue {wake_return}return"), |row| bar(&row.medians, longest))
        .rank(1)
        .figure("awake before", |row| row.awake_before)
        .rank(2)
        .figure("count", |row| grouped(row.attributed_count))
        .rank(2)
        .figure("not split", |row| grouped(row.unattributed_count))
        .rank(3);
    let at = one_request.map(|request| format!(" of waits of {request}")).unwrap_or_default();
    let method = rows.first().map(|row| row.method.as_str()).filter(|method| !method.is_empty());
    section
        .tables(columns.table(format!("Lateness{at} by part; medians"), &rows))
        .notes([format!(
            "timer: from the deadline until the thread was ready to run (rounding, slack, interrupt, waking); run queue: waiting \
             for a CPU; return: until the program read its clock. The parts of one wait add up, their medians only \
             roughly. Measured on separate waits of {}.",
            one_request.unwrap_or(COMMON_REQUEST)
        )])
        .notes(spinning(&rows))
        .notes(left_out(file))
        .notes(method.map(|method| format!("Method: {method}.")))
}

/// Waits of which too few could be split to be representative.
pub fn left_out(file: &ResultFile) -> Option<String> {
    let seen = barely_seen(file).into_iter().filter(|row| row.series.is_of(ExperimentId::B5)).map(|row| {
        format!("{} ({} of {})", row.wait, row.attributed_count, row.attributed_count + row.unattributed_count)
    });
    let seen: Vec<String> = seen.collect();
    (!seen.is_empty()).then(|| format!("Left out, because few of their waits could be split: {}.", seen.join(", ")))
}

/// Waits that wake before their deadline by design, which the bars don't show.
pub fn spinning(rows: &[SplitRow]) -> Option<String> {
    let awake: Vec<String> =
        rows.iter().filter_map(|row| Some(format!("{} by {}", row.wait, row.awake_before?))).collect();
    (!awake.is_empty()).then(|| {
        format!(
            "These waits wake before the deadline and spin until it: {}. That time is not lateness, and it hides the timer \
             and the run queue.",
            awake.join(", ")
        )
    })
}

/// The lateness of the longest bar in full: the largest that is at most five times the median one. Longer bars are cut,
/// so that one wait of several ticks doesn't hide all others.
fn scale(rows: &[SplitRow]) -> Option<i64> {
    let mut totals: Vec<i64> = rows.iter().map(|row| row.medians.total.0).collect();
    totals.sort_unstable();
    let usual = totals.get(totals.len() / 2)?.saturating_mul(5);
    totals.into_iter().rev().find(|&total| total <= usual)
}

/// The parts as characters to that scale; `▶` where the bar is cut. Early parts (below zero) have no length.
fn bar(parts: &Parts, longest: i64) -> String {
    let unit = longest.max(1) as f64 / BAR as f64;
    let mut text = String::new();
    let mut end = 0.0;
    for (part, glyph) in [parts.timer, parts.run_queue, parts.wake_return].into_iter().zip(GLYPHS) {
        end += part.0.max(0) as f64 / unit;
        let upto = (end.round() as usize).min(BAR);
        while text.chars().count() < upto {
            text.push(glyph);
        }
    }
    if end > BAR as f64 + 0.5 {
        text.pop();
        text.push('▶');
    }
    text
}

#[cfg(test)]
mod tests {
    use oversleep_record::testing::Sheet;

    use super::*;

    fn split(file: &ResultFile) -> Section {
        build(file, Section::new("split", "Split"))
    }

    #[test]
    fn a_wait_that_spins_says_so_beside_its_bar() {
        let plain = Sheet::linux().steady("B5/nanosleep/1ms", 66_000).split(52_000, 3_000, 11_000);
        assert!(!split(&plain.file).tables[0].columns.iter().any(|column| column.head == "awake before"));
        let mut both = plain.steady("B5/hybrid/1ms", 60).split(0, 0, 60);
        if let Some(split) = both.file.series.last_mut().and_then(|series| series.split.as_mut()) {
            (0..80).for_each(|_| split.awake_before.record(48_000));
        }
        let section = split(&both.file);
        let column = section.tables[0].columns.iter().position(|column| column.head == "awake before").unwrap();
        let shown: Vec<&str> = section.tables[0].rows.iter().map(|row| row[column].text.as_str()).collect();
        assert_eq!(shown, ["48 µs", "–"]);
        assert!(section.notes.iter().any(|note| note.contains("spin until it: hybrid by 48 µs")));
    }

    #[test]
    fn a_wait_of_which_few_were_split_is_named_and_not_drawn() {
        let plain = Sheet::linux().steady("B5/nanosleep/1ms", 66_000).split(52_000, 3_000, 11_000);
        assert_eq!(left_out(&plain.file), None);
        let mut both = plain.steady("B5/oversleep-sleep-until/1ms", 60).split(580_000, 0, 7_000);
        if let Some(split) = both.file.series.last_mut().and_then(|series| series.split.as_mut()) {
            (split.attributed_count, split.unattributed_count) = (2, 16);
        }
        let section = split(&both.file);
        assert_eq!(section.tables[0].rows.len(), 1);
        let note = "Left out, because few of their waits could be split: oversleep-sleep-until (2 of 18).";
        assert!(section.notes.iter().any(|known| known == note), "{:?}", section.notes);
    }

    #[test]
    fn bars_are_to_scale_and_never_overflow() {
        let parts = |timer, run_queue, wake_return| Parts {
            total: Nanos(timer + run_queue + wake_return),
            timer: Nanos(timer),
            run_queue: Nanos(run_queue),
            wake_return: Nanos(wake_return),
        };
        assert_eq!(bar(&parts(11, 0, 11), 22), "███████████░░░░░░░░░░░");
        assert_eq!(bar(&parts(-13, 0, 2), 22), "░░");
        assert_eq!(bar(&parts(1_000, 1_000, 0), 22), "█████████████████████▶");
        assert_eq!(bar(&parts(0, 0, 0), 0), "");
    }
}
