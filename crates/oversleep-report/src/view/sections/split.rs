//! Where the lateness went: the parts of each wait that was watched.

use oversleep_explain::split::{Parts, SplitRow, barely_seen, rows};
use oversleep_record::{ExperimentId, Nanos, ResultFile};

use crate::view::select::COMMON_REQUEST;
use crate::view::table::{Cell, Column, Kind, Section, Table, figures, words};
use crate::view::words::{grouped, sentence};

/// Characters of the longest bar.
const BAR: usize = 22;
/// One glyph per part, as far apart as a terminal can draw them: timer, run queue, return.
const GLYPHS: [char; 3] = ['█', '▒', '░'];

/// The rows that belong together: those of the waits' own series.
pub fn of_waits(file: &ResultFile) -> Vec<SplitRow> {
    rows(file).into_iter().filter(|row| row.series.is_of(ExperimentId::B5)).collect()
}

/// The request those rows were asked for, where it is the same for all.
pub fn request(rows: &[SplitRow]) -> Option<Nanos> {
    let first = rows.first()?.requested_ns;
    rows.iter().all(|row| row.requested_ns == first).then_some(first).flatten()
}

pub(crate) fn split(file: &ResultFile) -> Option<Section> {
    let rows = of_waits(file);
    let longest = scale(&rows)?;
    let one_request = request(&rows);
    let at = one_request.unwrap_or(COMMON_REQUEST);
    let mut table = Table::new(
        match one_request {
            Some(request) => format!("Where the lateness went at {request}: medians of each part"),
            None => "Where the lateness went: medians of each part".to_owned(),
        },
        vec![
            words("wait", 0),
            figures("late", 0),
            figures("timer", 0),
            figures("queue", 0),
            figures("return", 0),
            Column {
                head: format!("{}timer {}queue {}return", GLYPHS[0], GLYPHS[1], GLYPHS[2]),
                kind: Kind::Bar,
                rank: 1,
            },
            figures("awake before", 2),
            figures("waits", 2),
            figures("not seen", 3),
        ],
    );
    for row in &rows {
        let name = match row.requested_ns {
            Some(request) if Some(request) != one_request => format!("{} {request}", row.wait),
            _ => row.wait.clone(),
        };
        table.row(vec![
            name.into(),
            row.medians.total.to_string().into(),
            row.medians.timer.to_string().into(),
            row.medians.run_queue.to_string().into(),
            row.medians.wake_return.to_string().into(),
            Cell::from(bar(&row.medians, longest)),
            row.awake_before.map(|span| span.to_string()).unwrap_or_default().into(),
            grouped(row.attributed_count).into(),
            grouped(row.unattributed_count).into(),
        ]);
    }
    let method = rows.first().map(|row| row.method.as_str()).filter(|method| !method.is_empty());
    let method = method.map(|method| format!("Seen by: {method}."));
    let mut section =
        Section::of("split", "Where the lateness goes", &[ExperimentId::B5], table.without_empty_columns());
    section.notes.push(sentence(&format!(
        "timer: rounding, slack, the timer and waking (until the thread could run); queue: waiting for a CPU; return: until \
         the program read its clock. The parts of each wait add up; their medians do so only roughly. \
         Measured on waits of their own at {at}."
    )));
    section.notes.extend(spinning(&rows));
    section.notes.extend(left_out(file));
    section.notes.extend(method);
    Some(section)
}

/// The waits of which too few could be split to stand for all.
pub fn left_out(file: &ResultFile) -> Option<String> {
    let seen = barely_seen(file).into_iter().filter(|row| row.series.is_of(ExperimentId::B5)).map(|row| {
        format!("{} (seen in {} of {})", row.wait, row.attributed_count, row.attributed_count + row.unattributed_count)
    });
    let seen: Vec<String> = seen.collect();
    (!seen.is_empty()).then(|| format!("Not split, for most of its waits could not be: {}.", seen.join(", ")))
}

/// The waits that are awake before their deadline on purpose, which a reader of the bars can't see.
pub fn spinning(rows: &[SplitRow]) -> Option<String> {
    let awake: Vec<String> =
        rows.iter().filter_map(|row| Some(format!("{} by {}", row.wait, row.awake_before?))).collect();
    (!awake.is_empty()).then(|| {
        format!(
            "Woken before the deadline, and spinning until it: {}. That time is no part of the lateness; nothing of the \
             timer or the queue is left in it.",
            awake.join(", ")
        )
    })
}

/// What the longest whole bar stands for: the longest row that is no more than five times the median one. Longer rows are
/// cut, so that one wait of several ticks doesn't turn all others into dust.
fn scale(rows: &[SplitRow]) -> Option<i64> {
    let mut totals: Vec<i64> = rows.iter().map(|row| row.medians.total.0).collect();
    totals.sort_unstable();
    let usual = totals.get(totals.len() / 2)?.saturating_mul(5);
    totals.into_iter().rev().find(|&total| total <= usual)
}

/// The parts as characters, to that scale; `▶` where the bar goes on. Early parts (below zero) have no length.
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
    use super::*;

    #[test]
    fn a_wait_that_spins_says_so_beside_its_bar() {
        use oversleep_record::testing::Sheet;

        let plain = Sheet::linux().steady("B5/nanosleep/1ms", 66_000).split(52_000, 3_000, 11_000);
        assert!(!split(&plain.file).unwrap().tables[0].columns.iter().any(|column| column.head == "awake before"));
        let mut both = plain.steady("B5/hybrid/1ms", 60).split(0, 0, 60);
        if let Some(split) = both.file.series.last_mut().and_then(|series| series.split.as_mut()) {
            (0..80).for_each(|_| split.awake_before.record(48_000));
        }
        let section = split(&both.file).unwrap();
        let column = section.tables[0].columns.iter().position(|column| column.head == "awake before").unwrap();
        let shown: Vec<&str> = section.tables[0].rows.iter().map(|row| row[column].text.as_str()).collect();
        assert_eq!(shown, ["48 µs", ""]);
        assert!(section.notes.iter().any(|note| note.contains("spinning until it: hybrid by 48 µs")));
    }

    #[test]
    fn a_wait_of_which_few_were_split_is_named_and_not_drawn() {
        use oversleep_record::testing::Sheet;

        let plain = Sheet::linux().steady("B5/nanosleep/1ms", 66_000).split(52_000, 3_000, 11_000);
        assert_eq!(left_out(&plain.file), None);
        let mut both = plain.steady("B5/oversleep-sleep-until/1ms", 60).split(580_000, 0, 7_000);
        if let Some(split) = both.file.series.last_mut().and_then(|series| series.split.as_mut()) {
            (split.attributed_count, split.unattributed_count) = (2, 16);
        }
        let section = split(&both.file).unwrap();
        assert_eq!(section.tables[0].rows.len(), 1);
        let said = "Not split, for most of its waits could not be: oversleep-sleep-until (seen in 2 of 18).";
        assert!(section.notes.iter().any(|note| note == said), "{:?}", section.notes);
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
