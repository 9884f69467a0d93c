//! The measurements as tables.

use oversleep_record::{ResultFile, Series};

use super::bars::{bar, legend};
use super::markup::Markup;
use crate::view::sections;
use crate::view::select;
use crate::view::table::{Cell, Columns, Kind, Section, Table, Tone};
use crate::words::{counted, grouped, value};

/// The longest table that isn't collapsed.
pub(super) const ROWS_OPEN: usize = 26;

/// The longest row heading that is kept on one line, in characters.
const NAME_MAX: usize = 48;

/// A table with longer texts than this, in characters, would have a column of single words on a phone.
const CELL_MAX: usize = 32;

/// A phone has room for so many characters of a row.
const ROW_MAX: usize = 44;

/// A phone shows so many blocks of a table until the reader asks for all; the style sheet hides the others.
pub(super) const BLOCKS_OPEN: usize = 6;

/// So many more aren't worth the question.
const BLOCKS_SPARE: usize = 2;

/// Every section, then every series.
pub(super) fn section(m: &mut Markup, file: &ResultFile) {
    let all = sections::all(file);
    m.element("section", &[("id", "measurements"), ("aria-labelledby", "measurements-heading")], |m| {
        m.leaf("h2", &[("id", "measurements-heading")], "Measurements");
        if all.is_empty() {
            m.leaf("p", &[("class", "quiet")], "Nothing was measured.");
        }
        for section in &all {
            one(m, file, section);
        }
        every_series(m, file);
    });
}

fn one(m: &mut Markup, file: &ResultFile, section: &Section) {
    let id = format!("section-{}", section.id);
    m.element("h3", &[("id", &id)], |m| {
        m.text(&section.title);
        m.text(" ");
        m.leaf("span", &[("class", "id")], &section.ids());
    });
    let notes_first = section.id == "clocks" || section.notes_suffice;
    let notes = |m: &mut Markup| {
        section.notes.iter().for_each(|note| m.leaf("p", &[("class", "quiet any")], note));
    };
    if notes_first {
        notes(m);
    }
    m.element("div", &[("class", "tables")], |m| {
        for table in &section.tables {
            if table.rows.len() > ROWS_OPEN || section.notes_suffice {
                folded(m, table);
            } else {
                draw(m, table, "");
            }
        }
    });
    if !notes_first {
        notes(m);
    }
    let published = sections::published(file, &section.experiments);
    if !published.is_empty() {
        m.element("details", &[], |m| {
            m.leaf(
                "summary",
                &[],
                &format!("{} that others published for such a system", counted(published.len(), "figure")),
            );
            m.element("ul", &[("class", "evidence")], |m| published.iter().for_each(|line| m.leaf("li", &[], line)));
        });
    }
}

/// A table that is collapsed, because it is long; a print leaves it out.
pub(super) fn folded(m: &mut Markup, table: &Table) {
    m.element("details", &[("class", "bulk")], |m| {
        m.leaf("summary", &[], &format!("{} ({} rows)", table.caption, grouped(table.rows.len() as u64)));
        draw(m, table, "");
    });
}

/// The first rows of a long table; the others are collapsed.
pub(super) fn first_open(m: &mut Markup, table: &Table) {
    let (first, rest) = table.rows.split_at(table.rows_brief.min(table.rows.len()));
    draw(m, &Table { rows: first.to_vec(), ..table.clone() }, "");
    m.element("details", &[("class", "bulk")], |m| {
        m.leaf("summary", &[], &format!("{} more rows", grouped(rest.len() as u64)));
        draw(m, &Table { rows: rest.to_vec(), ..table.clone() }, "");
    });
}

/// A table with a caption, and with headings that a screen reader can use.
pub(super) fn draw(m: &mut Markup, table: &Table, class: &str) {
    let shown: Vec<usize> = (0..table.columns.len()).filter(|&index| table.columns[index].kind != Kind::Bar).collect();
    let scroll = [("class", "scroll"), ("tabindex", "0"), ("role", "group"), ("aria-label", table.caption.as_str())];
    m.element("div", &scroll, |m| {
        // A page too narrow for bars, sentences and long names shows each row as a block, with the heads beside the figures.
        let has_blocks = table.columns.iter().any(|column| column.kind == Kind::Split) || is_wide(table, &shown);
        let is_long = has_blocks && table.rows.len() > BLOCKS_OPEN + BLOCKS_SPARE;
        let marks = match (has_blocks, is_long) {
            (_, true) => " blocks long",
            (true, false) => " blocks",
            (false, false) => "",
        };
        let class = format!("{class}{marks}");
        let keys = if has_blocks { keys(table, &shown) } else { Vec::new() };
        m.element("table", &[("class", class.trim())], |m| {
            m.element("caption", &[], |m| m.leaf("span", &[], &table.caption));
            m.element("thead", &[], |m| {
                m.element("tr", &[], |m| {
                    for &index in &shown {
                        let column = &table.columns[index];
                        let class = if column.kind == Kind::Figure { "n" } else { "" };
                        match column.head.is_empty() {
                            true => m.leaf("td", &[], ""),
                            false => m.leaf("th", &[("scope", "col"), ("class", class)], &column.head),
                        }
                    }
                });
            });
            m.element("tbody", &[], |m| {
                for row in &table.rows {
                    m.element("tr", &[], |m| {
                        for (place, &index) in shown.iter().enumerate() {
                            let key = if keys.contains(&index) { " key" } else { "" };
                            let class = format!("{}{key}", class_of(table.columns[index].kind, row[index].tone));
                            if let Some(split) = &row[index].split {
                                m.element("td", &[("class", &class)], |m| bar(m, split));
                            } else if place == 0 {
                                // A name stays on one line; a long list of them may wrap.
                                let is_name = row[index].text.chars().count() <= NAME_MAX;
                                let class = if is_name { class.replace("any", "name") } else { class };
                                let attributes = [("scope", "row"), ("class", class.as_str())];
                                m.element("th", &attributes, |m| m.with_names(&row[index].text));
                            } else {
                                let head = [("class", class.as_str()), ("data-head", &table.columns[index].head)];
                                let is_figure = table.columns[index].kind == Kind::Figure;
                                m.element("td", &head[..1 + usize::from(has_blocks)], |m| match is_figure {
                                    true => m.text(&row[index].text),
                                    false => m.with_names(&row[index].text),
                                });
                            }
                        }
                    });
                }
            });
        });
        if is_long {
            m.element("label", &[("class", "more")], |m| {
                m.void("input", &[("type", "checkbox")]);
                m.text(&format!(" All {} rows", grouped(table.rows.len() as u64)));
            });
        }
    });
    let parts = table.parts();
    if !parts.is_empty() {
        legend(m, parts.into_iter());
    }
}

/// Whether a row, or a cell behind its name, is longer than a phone has room for.
fn is_wide(table: &Table, shown: &[usize]) -> bool {
    let length = |text: &str| text.chars().count();
    let longest = |index: &usize| {
        let cells = table.rows.iter().map(|row: &Vec<Cell>| length(&row[*index].text));
        cells.chain([length(&table.columns[*index].head)]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = shown.iter().map(longest).collect();
    let is_over = widths.iter().map(|width| width + 1).sum::<usize>() > ROW_MAX;
    is_over || widths.iter().skip(1).any(|width| *width > CELL_MAX)
}

/// The columns of words that tell rows of the same name apart.
fn keys(table: &Table, shown: &[usize]) -> Vec<usize> {
    let varies = |index: usize| table.rows.iter().any(|row| row[index].text != table.rows[0][index].text);
    let mut names: Vec<&str> =
        shown.first().map_or_else(Vec::new, |&name| table.rows.iter().map(|row| &*row[name].text).collect());
    names.sort_unstable();
    if names.windows(2).all(|two| two[0] != two[1]) {
        return Vec::new();
    }
    let words = shown.iter().skip(1).copied().filter(|&index| table.columns[index].kind == Kind::Words);
    words.filter(|&index| varies(index)).collect()
}

fn class_of(kind: Kind, tone: Tone) -> String {
    let tone = match tone {
        Tone::Plain => "",
        Tone::Strong => " strong",
        Tone::Soft => " soft",
        Tone::Good => " good",
        Tone::Warn => " warn",
    };
    format!("{}{tone}", if kind == Kind::Figure { "n" } else { "any" })
}

/// One row per series of the result, as it was recorded.
fn every_series(m: &mut Markup, file: &ResultFile) {
    let columns = Columns::new()
        .words("series", |series: &&Series| series.key.as_str())
        .count()
        .figure("min", |series| Some(value(series.unit, series.distribution.min()?)))
        .figure("p50", |series| Some(value(series.unit, series.distribution.p50()?)))
        .percentile("p90", 0.9)
        .percentile("p99", 0.99)
        .percentile("p99.9", 0.999)
        .max()
        .figure("early", |series| series.counts.early)
        .figure("missed", |series| series.counts.expected.map(|_| grouped(series.counts.missed)))
        .words("conditions", |series| match select::unavailable(series) {
            Some(reason) => format!("not available: {reason}"),
            None => select::conditions(&series.conditions).unwrap_or_else(|| "as found".to_owned()),
        });
    let Some(table) = columns.table("Every series of the result, as recorded", &file.series) else { return };
    m.leaf("h3", &[("id", "section-every-series")], "Every series");
    m.element("details", &[("class", "bulk")], |m| {
        m.leaf("summary", &[], &counted(table.rows.len(), "series"));
        draw(m, &table, "");
    });
}
