//! A table in lines: aligned columns, two blanks between them, no rules.
//!
//! If the page is too narrow, columns of the highest rank are left out first; then the last column of words wraps; then
//! heads and names do. Nothing is cut. The result file and the HTML report have what is left out.

use super::style::paint;
use super::text::{clean, columns, longest_piece, longest_word, wrapped};
use crate::view::bars::{are_bars, narrower};
use crate::view::table::{Cell, Column, Kind, Table, Tone};

const GAP: usize = 2;
/// With less room for words than this, other columns are left out first.
const WORDS_MIN: usize = 24;
/// The minimum room for words beside names that would otherwise have to be cut.
const WORDS_LEAST: usize = 14;
/// The minimum room for a name beside others that have more.
const NAME_LEAST: usize = 10;
/// A name that can't be broken gets so much room before figures wrap.
const PIECE_MAX: usize = 16;
/// The minimum room for a name where a figure would have to wrap otherwise.
const NAME_NARROW: usize = 5;
/// A bar of fewer letters doesn't show its parts.
const BAR_LEAST: usize = 8;

/// The lines of a table, heading first.
pub fn lines(table: &Table, width: usize) -> Vec<String> {
    let cleaned = cleaned(table);
    let (shown, widths) = layout(table, &cleaned, width);
    let mut lines = head_lines(table, &shown, &widths);
    for row in &cleaned {
        lines.extend(row_lines(table, row, &shown, &widths));
    }
    lines
}

/// All of a table in lines: heads and names wrap, and columns for which there is still no room follow in tables beneath it.
pub fn whole(table: &Table, width: usize) -> Vec<String> {
    let ranked = |rank: &dyn Fn(usize) -> u8| {
        let mut table = table.clone();
        table.columns.iter_mut().enumerate().for_each(|(at, column)| column.rank = rank(at));
        table
    };
    let wrapping = ranked(&|_| 0);
    if fits(&wrapping, width) {
        return lines(&wrapping, width);
    }
    let is_ranked = table.columns.iter().any(|column| column.rank > 0);
    let names = names(table);
    // Without ranks, the last columns have room last.
    let in_order = |at: usize| if at <= names { 0 } else { u8::try_from(at).unwrap_or(u8::MAX) };
    let table = if is_ranked { table.clone() } else { ranked(&in_order) };
    let mut all = lines(&table, width);
    for part in rest(&table, width) {
        all.push(String::new());
        all.extend(lines(&part.table, width));
    }
    all
}

/// Whether all columns have room where heads and names wrap.
fn fits(table: &Table, width: usize) -> bool {
    let cleaned = cleaned(table);
    let room =
        natural(table, &cleaned).into_iter().zip(least(table, &cleaned)).map(|(natural, least)| natural.min(least));
    room.sum::<usize>() + GAP * table.columns.len().saturating_sub(1) <= width
}

/// How many columns name a row.
fn names(table: &Table) -> usize {
    table.columns.iter().take_while(|column| column.rank == 0 && column.kind == Kind::Words).count().max(1)
}

/// The parts of a table that the page has no room for, each no wider than the page: columns left out, beside those that
/// name a row.
pub fn rest(table: &Table, width: usize) -> Vec<Rest> {
    let names = names(table);
    let mut parts: Vec<Rest> = Vec::new();
    let mut last = table.clone();
    loop {
        let (shown, _) = layout(&last, &cleaned(&last), width);
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

/// How narrow each column may become while others can: a figure stays on one line beneath its head, which wraps.
fn least(table: &Table, cleaned: &[Vec<Cell>]) -> Vec<usize> {
    let of = |(index, column): (usize, &Column)| match column.kind {
        Kind::Figure => {
            let cells = cleaned.iter().map(|row| columns(&row[index].text)).max().unwrap_or(0);
            let words = column.head.split(' ').map(columns).max().unwrap_or(0);
            cells.max(words)
        }
        _ => {
            let pieces = cleaned.iter().map(|row| longest_piece(&row[index].text)).max().unwrap_or(0);
            pieces.clamp(NAME_LEAST, PIECE_MAX)
        }
    };
    table.columns.iter().enumerate().map(of).collect()
}

/// How narrow each column may become before a word of it is broken.
fn unbroken(table: &Table, cleaned: &[Vec<Cell>], least: &[usize]) -> Vec<usize> {
    let of = |(index, column): (usize, &Column)| {
        let texts = cleaned.iter().map(|row| &*row[index].text).filter(|_| column.kind == Kind::Words);
        texts.chain([&*column.head]).map(longest_word).max().unwrap_or(0).max(least[index])
    };
    table.columns.iter().enumerate().map(of).collect()
}

/// Which columns are shown, and how wide each is.
fn layout(table: &Table, cleaned: &[Vec<Cell>], width: usize) -> (Vec<usize>, Vec<usize>) {
    let (all, mut widths, least) = (&table.columns, natural(table, cleaned), least(table, cleaned));
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
    // Then bars become shorter, and the widest wrap until all fit, between words as long as that is enough, names and heads
    // before figures.
    let unbroken = unbroken(table, cleaned, &least);
    while total(&shown, &widths) > width {
        let has_words = |index: &usize| widths[*index] > unbroken[*index];
        let has_room = |index: &usize| widths[*index] > least[*index];
        let widest = |of: &mut dyn Iterator<Item = usize>| of.max_by_key(|&index| widths[index]);
        let is_word = |index: &usize| all[*index].kind != Kind::Figure && widths[*index] > NAME_NARROW;
        let is_bar = |index: &usize| all[*index].kind == Kind::Split && widths[*index] > BAR_LEAST;
        let wide = widest(&mut shown.iter().copied().filter(is_bar))
            .or_else(|| widest(&mut shown.iter().copied().filter(has_words)))
            .or_else(|| widest(&mut shown.iter().copied().filter(has_room)))
            .or_else(|| widest(&mut shown.iter().copied().filter(is_word)))
            .or_else(|| widest(&mut shown.iter().copied()));
        let Some(wide) = wide.filter(|&index| widths[index] > 2) else { break };
        widths[wide] -= 1;
    }
    (shown, widths)
}

fn head_lines(table: &Table, shown: &[usize], widths: &[usize]) -> Vec<String> {
    let of = |&index: &usize| {
        let column = &table.columns[index];
        (wrapped(&clean(&column.head), widths[index]), column.kind, Tone::Soft)
    };
    side_by_side(&shown.iter().map(of).collect::<Vec<_>>(), shown, widths)
}

fn row_lines(table: &Table, row: &[Cell], shown: &[usize], widths: &[usize]) -> Vec<String> {
    let of = |&index: &usize| {
        let (cell, room) = (&row[index], widths[index]);
        let lines = match &cell.split {
            Some(split) if columns(&cell.text) > room => vec![split.letters(room)],
            // Blanks are part of bars.
            _ if columns(&cell.text) <= room => vec![cell.text.clone()],
            _ if are_bars(&cell.text) => vec![narrower(&cell.text, room)],
            _ => wrapped(&cell.text, room),
        };
        (lines, table.columns[index].kind, cell.tone)
    };
    side_by_side(&shown.iter().map(of).collect::<Vec<_>>(), shown, widths)
}

/// Cells of several lines beside one another.
fn side_by_side(cells: &[(Vec<String>, Kind, Tone)], shown: &[usize], widths: &[usize]) -> Vec<String> {
    let highest = cells.iter().map(|(lines, ..)| lines.len()).max().unwrap_or(0).max(1);
    let line = |number: usize| {
        let of = |(lines, kind, tone): &(Vec<String>, Kind, Tone)| {
            (lines.get(number).cloned().unwrap_or_default(), *kind, *tone)
        };
        joined(&cells.iter().map(of).collect::<Vec<_>>(), shown, widths)
    };
    (0..highest).map(line).collect()
}

fn joined(cells: &[(String, Kind, Tone)], shown: &[usize], widths: &[usize]) -> String {
    let mut line = String::new();
    let mut blanks = 0;
    for ((text, kind, tone), &index) in cells.iter().zip(shown) {
        let missing = widths[index].saturating_sub(columns(text));
        let (before, after) = if *kind == Kind::Figure { (missing, 0) } else { (0, missing) };
        if !text.is_empty() {
            line.extend(std::iter::repeat_n(' ', blanks + before));
            line.push_str(&paint(*tone, text));
            blanks = after + GAP;
        } else {
            blanks += missing + GAP;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use oversleep_record::part::Part;

    use super::super::text::without_styles;
    use super::*;
    use crate::view::table::{Columns, Split, ToCell};

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
    fn columns_wrap_between_words_as_long_as_that_is_enough() {
        let of = |row: &[&str; 3], at: usize| row[at].to_owned();
        let columns = Columns::new()
            .words("call", move |row: &[&str; 3]| of(row, 0))
            .words("requested", move |row| of(row, 1))
            .figure("p50", move |row| of(row, 2));
        let rows = [["clock_nanosleep", "until whatever comes", "66.1 µs"], ["mq_timedreceive", "1 ms", "70 µs"]];
        let table = columns.table("t", rows).expect("rows");
        let shown = whole(&table, 36);
        assert!(shown.iter().any(|line| line.starts_with("clock_nanosleep  ")), "{shown:#?}");
        assert!(shown.iter().all(|line| super::columns(&crate::terminal::tests::plain(line)) <= 36), "{shown:#?}");
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
    fn of_a_table_that_is_needed_whole_nothing_is_left_out() {
        assert_eq!(whole(&table(), 100), lines(&table(), 100));
        let mut table = table();
        for ranked in [true, false] {
            for width in [32, 46, 60] {
                let text = whole(&table, width).join("\n");
                for cell in ["66.1 µs", "70 µs", "1.07 ms", "nanosleep", "reason", "p50", "p90", "max"] {
                    assert!(text.contains(cell), "{ranked} {width}: {text}");
                }
            }
            table.columns.iter_mut().for_each(|column| column.rank = 0);
        }
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
    fn names_and_heads_wrap_before_a_figure_does_and_nothing_is_cut() {
        let columns = Columns::new()
            .words("series", |row: &[&str; 3]| row[0].to_owned())
            .figure("each took (p50)", |row| row[1].to_owned())
            .figure("ratio", |row| row[2].to_owned());
        let rows = [["B8/sleep/1ms/policy=idle", "14.6 ms", "0.004"], ["B5/sleep", "62.5 µs", "1"]];
        let table = columns.table("t", rows).expect("rows");
        assert_eq!(
            lines(&table, 34).iter().map(|line| crate::terminal::tests::plain(line)).collect::<Vec<_>>(),
            [
                "series                 each  ratio",
                "                       took",
                "                      (p50)",
                "B8/sleep/1ms/       14.6 ms  0.004",
                "policy=idle",
                "B5/sleep            62.5 µs      1",
            ]
        );
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

    #[test]
    fn a_bar_becomes_shorter_before_a_name_is_broken() {
        let table = Columns::new()
            .words("call", |_: &u32| "clock_nanosleep".to_owned())
            .figure("p50", |_| "109 µs".to_owned())
            .split("split", 16, |_| Split::of(|part| if part == Part::Runq { 1.0 } else { 0.0 }))
            .table("Waits", [1])
            .expect("a row");
        let drawn = |width| lines(&table, width).iter().map(|line| without_styles(line)).collect::<Vec<_>>();
        assert_eq!(drawn(35)[1..], ["clock_nanosleep  109 µs  qqqqqqqqqq"]);
    }
}
