//! A table in lines: aligned columns, two blanks between them, no rules.
//!
//! If the page is too narrow, columns of the highest rank are left out first; then the last column of words wraps; then
//! names are cut. The result file and the HTML report have what is left out.

use super::style::paint;
use super::text::{clean, columns, fitted, wrapped};
use crate::view::table::{Cell, Column, Kind, Table, Tone};

const GAP: usize = 2;
/// With less room for words than this, other columns are left out first.
const WORDS_MIN: usize = 24;
/// The minimum room for words beside names that would otherwise have to be cut.
const WORDS_LEAST: usize = 14;

/// The lines of a table, heading first.
pub fn lines(table: &Table, width: usize) -> Vec<String> {
    let cleaned = cleaned(table);
    let (shown, widths) = layout(&table.columns, natural(table, &cleaned), width);
    let mut lines = vec![head(table, &shown, &widths)];
    for row in &cleaned {
        lines.extend(row_lines(table, row, &shown, &widths));
    }
    lines
}

/// The parts of a table that the page has no room for, each no wider than the page: columns left out, beside those that
/// name a row.
pub fn rest(table: &Table, width: usize) -> Vec<Rest> {
    let names = table.columns.iter().take_while(|column| column.rank == 0 && column.kind == Kind::Words).count().max(1);
    let mut parts: Vec<Rest> = Vec::new();
    let mut last = table.clone();
    loop {
        let (shown, _) = layout(&last.columns, natural(&last, &cleaned(&last)), width);
        let is_kept = |index: &usize| *index < names || !shown.contains(index);
        let kept: Vec<usize> = (0..last.columns.len()).filter(is_kept).collect();
        if kept.len() == names {
            return parts;
        }
        let mut columns: Vec<Column> = kept.iter().map(|&index| last.columns[index].clone()).collect();
        // Each part shows at least one more column.
        columns[names].rank = 0;
        let rows = last.rows.iter().map(|row| kept.iter().map(|&index| row[index].clone()).collect()).collect();
        last = Table { columns, rows, ..last };
        parts.push(Rest { names, table: last.clone() });
    }
}

/// What the parts before it have no room for.
pub struct Rest {
    /// The number of columns that name a row.
    names: usize,
    /// Those columns, and the ones left out.
    pub table: Table,
}

impl Rest {
    /// The heads of the columns left out.
    pub fn heads(&self) -> Vec<&str> {
        self.table.columns[self.names..].iter().map(|column| column.head.as_str()).collect()
    }
}

fn cleaned(table: &Table) -> Vec<Vec<Cell>> {
    let clean_cell = |cell: &Cell| Cell { text: clean(&cell.text), ..cell.clone() };
    table.rows.iter().map(|row| row.iter().map(clean_cell).collect()).collect()
}

/// How wide each column is where there is room.
fn natural(table: &Table, cleaned: &[Vec<Cell>]) -> Vec<usize> {
    let of = |(index, column): (usize, &Column)| {
        let cells = cleaned.iter().map(|row| columns(&row[index].text)).max().unwrap_or(0);
        cells.max(columns(&column.head))
    };
    table.columns.iter().enumerate().map(of).collect()
}

/// Which columns are shown, and how wide each is.
fn layout(all: &[Column], mut widths: Vec<usize>, width: usize) -> (Vec<usize>, Vec<usize>) {
    let mut shown: Vec<usize> = (0..all.len()).collect();
    let total = |shown: &[usize], widths: &[usize]| {
        shown.iter().map(|&index| widths[index]).sum::<usize>() + GAP * shown.len().saturating_sub(1)
    };
    // The last column that is shown may wrap if it holds words, so it needs less than its natural width.
    let wrapping =
        |shown: &[usize]| shown.last().copied().filter(|&last| shown.len() > 1 && all[last].kind == Kind::Words);
    let needed = |shown: &[usize], widths: &[usize]| match wrapping(shown) {
        Some(last) => total(shown, widths) - widths[last] + widths[last].min(WORDS_MIN),
        None => total(shown, widths),
    };
    while needed(&shown, &widths) > width {
        let Some(victim) =
            shown.iter().copied().filter(|&index| all[index].rank > 0).max_by_key(|&index| (all[index].rank, index))
        else {
            break;
        };
        shown.retain(|&index| index != victim);
    }
    if let Some(last) = wrapping(&shown) {
        let others = total(&shown, &widths) - widths[last];
        widths[last] = widths[last].min(width.saturating_sub(others).max(WORDS_MIN.min(widths[last])));
    }
    // Only columns that are never left out remain. Narrow words are still readable; a cut name may be mistaken for
    // another.
    if let Some(last) = wrapping(&shown) {
        let over = total(&shown, &widths).saturating_sub(width);
        widths[last] = widths[last].saturating_sub(over).max(WORDS_LEAST.min(widths[last]));
    }
    // Then the widest are cut until all fit.
    while total(&shown, &widths) > width {
        let Some(widest) = shown.iter().copied().max_by_key(|&index| widths[index]).filter(|&index| widths[index] > 2)
        else {
            break;
        };
        widths[widest] -= 1;
    }
    (shown, widths)
}

fn head(table: &Table, shown: &[usize], widths: &[usize]) -> String {
    let cells: Vec<(String, Kind, Tone)> =
        shown.iter().map(|&index| (clean(&table.columns[index].head), table.columns[index].kind, Tone::Soft)).collect();
    joined(&cells, shown, widths)
}

fn row_lines(table: &Table, row: &[Cell], shown: &[usize], widths: &[usize]) -> Vec<String> {
    let last = shown.last().copied().filter(|&index| table.columns[index].kind == Kind::Words && shown.len() > 1);
    let tail = last.map(|index| wrapped(&row[index].text, widths[index])).unwrap_or_default();
    (0..tail.len().max(1))
        .map(|line| {
            let cells: Vec<(String, Kind, Tone)> = shown
                .iter()
                .map(|&index| {
                    let text = match (line, Some(index) == last) {
                        (_, true) => tail.get(line).cloned().unwrap_or_default(),
                        (0, false) => row[index].text.clone(),
                        _ => String::new(),
                    };
                    (text, table.columns[index].kind, row[index].tone)
                })
                .collect();
            joined(&cells, shown, widths)
        })
        .collect()
}

fn joined(cells: &[(String, Kind, Tone)], shown: &[usize], widths: &[usize]) -> String {
    let mut line = String::new();
    let mut blanks = 0;
    for ((text, kind, tone), &index) in cells.iter().zip(shown) {
        let text = fitted(text, widths[index]);
        let missing = widths[index] - columns(&text);
        let (before, after) = if *kind == Kind::Figure { (missing, 0) } else { (0, missing) };
        if !text.is_empty() {
            line.extend(std::iter::repeat_n(' ', blanks + before));
            line.push_str(&paint(*tone, &text));
            blanks = after + GAP;
        } else {
            blanks += missing + GAP;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::table::{Columns, ToCell};

    fn table() -> Table {
        let columns = Columns::new()
            .words("wait", |row: &[&str; 5]| row[0].to_owned())
            .figure("p50", |row| row[1].to_owned())
            .figure("p90", |row| row[2].to_owned())
            .rank(2)
            .figure("max", |row| row[3].to_owned())
            .rank(1)
            .words("why", |row| row[4].to_owned());
        let why = "a long reason that has to be wrapped to fit";
        let rows = [["nanosleep", "66.1 µs", "70 µs", "1.07 ms", ""], ["poll", "–", "–", "–", why]];
        columns.table("t", rows).expect("rows")
    }

    #[test]
    fn figures_stand_to_the_right_and_words_to_the_left() {
        assert_eq!(
            lines(&table(), 100)[1..],
            [
                "nanosleep  66.1 µs  70 µs  1.07 ms",
                "poll             –      –        –  a long reason that has to be wrapped to fit"
            ]
        );
    }

    #[test]
    fn columns_go_by_rank_and_the_last_words_wrap() {
        let narrow = lines(&table(), 46);
        assert_eq!(
            narrow[1..],
            [
                "nanosleep  66.1 µs",
                "poll             –  a long reason that has to",
                "                    be wrapped to fit"
            ]
        );
    }

    #[test]
    fn the_last_words_shown_wrap_whatever_was_left_out_behind_them() {
        let mut table = table();
        table.columns.push(Column { head: "count".to_owned(), kind: Kind::Figure, rank: 4 });
        table.rows.iter_mut().for_each(|row| row.push("1,000".to_cell()));
        assert!(lines(&table, 60)[2].ends_with("a long reason that has"), "{:?}", lines(&table, 60));
    }

    #[test]
    fn what_has_no_room_follows_beside_the_names() {
        assert!(rest(&table(), 100).is_empty());
        let parts = rest(&table(), 46);
        assert_eq!(parts.iter().map(Rest::heads).collect::<Vec<_>>(), [["p90", "max"]]);
        assert_eq!(lines(&parts[0].table, 46)[1..], ["nanosleep  70 µs  1.07 ms", "poll           –        –"]);
        let narrow = rest(&table(), 19);
        assert_eq!(narrow.iter().map(Rest::heads).collect::<Vec<_>>(), [vec!["p90", "max"], vec!["max"]]);
    }

    #[test]
    fn names_are_not_cut_for_words_that_can_wrap() {
        let mut table = table();
        table.rows[0][0] = "unbiased-interrupt-time-precise".to_cell();
        table.rows[1][0] = "unbiased-interrupt-time".to_cell();
        let narrow = lines(&table, 58);
        assert!(narrow[1].starts_with("unbiased-interrupt-time-precise  66.1 µs"), "{}", narrow[1]);
        assert_eq!(narrow[2], "unbiased-interrupt-time                –  a long reason");
    }

    #[test]
    fn nothing_is_ever_wider_than_the_room() {
        let mut wide = table();
        wide.rows[0][0] = "a-name-that-is-longer-than-any-terminal-is-wide-and-goes-on-and-on".to_cell();
        for width in 20..120 {
            for line in lines(&wide, width) {
                assert!(columns(&crate::terminal::tests::plain(&line)) <= width, "{width}: {line}");
            }
        }
    }
}
