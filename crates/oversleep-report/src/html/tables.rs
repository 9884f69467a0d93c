//! The measurements as tables.

use oversleep_record::{ResultFile, Series};

use super::markup::Markup;
use crate::view::head::heading;
use crate::view::sections;
use crate::view::select;
use crate::view::table::{Kind, Section, Table, Tone, figures, words};
use crate::view::words::{grouped, or_dash, value};

/// Longest table that is shown without being asked for.
const ROWS_OPEN: usize = 26;

/// Longest row heading that is kept in one line, in letters.
const NAME_MAX: usize = 48;

/// Every section, then every series.
pub(super) fn section(m: &mut Markup, file: &ResultFile) {
    let all = sections::all(file);
    m.element("section", &[("id", "measurements"), ("aria-labelledby", "measurements-heading")], |m| {
        m.leaf("h2", &[("id", "measurements-heading")], &heading(file, "Measurements"));
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
        m.text(&heading(file, section.title));
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
    for table in &section.tables {
        if table.rows.len() > ROWS_OPEN || section.notes_suffice {
            m.element("details", &[], |m| {
                m.leaf("summary", &[], &format!("{} ({} rows)", table.caption, table.rows.len()));
                draw(m, table, "");
            });
        } else {
            draw(m, table, "");
        }
    }
    if !notes_first {
        notes(m);
    }
    let published = sections::published(file, &section.experiments);
    if !published.is_empty() {
        m.element("details", &[], |m| {
            m.leaf("summary", &[], "Figures others published for this system");
            m.element("ul", &[("class", "evidence")], |m| published.iter().for_each(|line| m.leaf("li", &[], line)));
        });
    }
}

/// A table with caption and headings a screen reader can use.
pub(super) fn draw(m: &mut Markup, table: &Table, class: &str) {
    let shown: Vec<usize> = (0..table.columns.len()).filter(|&index| table.columns[index].kind != Kind::Bar).collect();
    let scroll = [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", table.caption.as_str())];
    m.element("div", &scroll, |m| {
        m.element("table", &[("class", class)], |m| {
            m.leaf("caption", &[], &table.caption);
            m.element("thead", &[], |m| {
                m.element("tr", &[], |m| {
                    for &index in &shown {
                        let column = &table.columns[index];
                        let class = if column.kind == Kind::Figure { "n" } else { "" };
                        m.leaf("th", &[("scope", "col"), ("class", class)], &column.head);
                    }
                });
            });
            m.element("tbody", &[], |m| {
                for row in &table.rows {
                    m.element("tr", &[], |m| {
                        for (place, &index) in shown.iter().enumerate() {
                            let class = class_of(table.columns[index].kind, row[index].tone);
                            if place == 0 {
                                // Names stay in one piece; a long list of them may wrap.
                                let is_name = row[index].text.chars().count() <= NAME_MAX;
                                let class = if is_name { class.replace("any", "name") } else { class };
                                m.leaf("th", &[("scope", "row"), ("class", &class)], &row[index].text);
                            } else {
                                m.leaf("td", &[("class", &class)], &row[index].text);
                            }
                        }
                    });
                }
            });
        });
    });
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
    if file.series.is_empty() {
        return;
    }
    let mut table = Table::new(
        "Every series of the result, as recorded",
        vec![
            words("series", 0),
            figures("values", 0),
            figures("min", 0),
            figures("p50", 0),
            figures("p90", 0),
            figures("p99", 0),
            figures("p99.9", 0),
            figures("max", 0),
            figures("early", 0),
            figures("missed", 0),
            words("conditions", 0),
        ],
    );
    file.series.iter().for_each(|series| table.row(row(series)));
    m.leaf("h3", &[("id", "section-every-series")], &heading(file, "Every series"));
    m.element("details", &[], |m| {
        m.leaf("summary", &[], &format!("{} series", file.series.len()));
        draw(m, &table, "");
    });
}

fn row(series: &Series) -> Vec<crate::view::table::Cell> {
    let all = &series.distribution;
    let figure = |found: Option<i64>| or_dash(found.map(|found| value(series.unit, found))).into();
    let conditions = match select::unavailable(series) {
        Some(reason) => format!("not measured: {reason}"),
        None => select::conditions(&series.conditions).unwrap_or_else(|| "as found".to_owned()),
    };
    vec![
        series.key.as_str().into(),
        grouped(series.counts.recorded).into(),
        figure(all.min()),
        figure(all.p50()),
        figure(all.safe_quantile(0.9)),
        figure(all.safe_quantile(0.99)),
        figure(all.safe_quantile(0.999)),
        figure(all.max()),
        grouped(series.counts.early).into(),
        or_dash(series.counts.expected.map(|_| grouped(series.counts.missed))).into(),
        conditions.into(),
    ]
}
