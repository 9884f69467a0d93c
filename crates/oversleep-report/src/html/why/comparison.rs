//! A page that compares runs: how the parts of each group changed.

use oversleep_record::Nanos;
use oversleep_why::Part;
use oversleep_why::compare::words::{OTHER_WAY, change_words, moved_words};
use oversleep_why::compare::{Against, Change, Comparison, GroupChange, Moved, Run, Verdict};
use oversleep_why::findings::name;

use super::super::markup::Markup;
use super::super::tables::draw;
use super::groups::{bar, legend};
use super::rules;
use crate::view::table::{Cell, Columns, ToCell, Tone};
use crate::words::{counted, date, grouped};

/// The whole page; `names` are the names of the files.
pub fn comparison(comparison: &Comparison, names: &[String]) -> String {
    let title = format!("oversleep why: {} compared", counted(comparison.against_base.len() + 1, "result"));
    super::super::page(&title, &rules::sheet(&[]), |m| {
        m.leaf("a", &[("class", "skip"), ("href", "#main")], "Skip to the comparison");
        m.element("header", &[], |m| {
            m.element("div", &[("class", "wide")], |m| {
                m.leaf("h1", &[], &title);
                let runs = std::iter::once(&comparison.base).chain(comparison.against_base.iter().map(|one| &one.run));
                for (n, run) in runs.enumerate() {
                    let name = names.get(n).map_or("", String::as_str);
                    m.element("p", &[], |m| {
                        m.leaf("strong", &[], &format!("{}. {name}", n + 1));
                        m.text(&format!(": {}", described(run)));
                    });
                }
                super::super::theme(m);
            });
        });
        m.element("main", &[("id", "main"), ("class", "wide")], |m| {
            for (n, against) in comparison.against_base.iter().enumerate() {
                one(m, n + 2, against, against.run.by != comparison.base.by);
            }
        });
    })
}

fn described(run: &Run) -> String {
    let target = if run.target.is_empty() { "all processes" } else { &run.target };
    let kernel = if run.kernel.is_empty() { String::new() } else { format!(" · kernel {}", run.kernel) };
    let taken = run.taken_unix_s.and_then(date).map(|taken| format!(" · {taken}")).unwrap_or_default();
    format!("{target}{kernel}{taken} · {}", counted(run.count, "wait"))
}

fn one(m: &mut Markup, number: usize, against: &Against, is_other_way: bool) {
    super::section(m, &format!("against-{number}"), &format!("Result {number} against result 1"), |m| {
        if against.groups.is_empty() {
            m.leaf("p", &[], "The results have no waits in common: same program, thread, call and request.");
        }
        if is_other_way {
            m.leaf("p", &[], OTHER_WAY);
        }
        let has = |part: Part| against.groups.iter().any(|group| group.parts.iter().any(|of| of.part == part));
        legend(m, Part::ALL.iter().copied().filter(|&part| has(part)));
        against.groups.iter().for_each(|group| changed(m, group));
        for (keys, words) in [(&against.only_in_base, "In result 1 only"), (&against.only_here, "In this result only")]
        {
            if !keys.is_empty() {
                m.element("details", &[], |m| {
                    m.leaf("summary", &[], &format!("{words}: {}", counted(keys.len(), "group")));
                    m.element("ul", &[("class", "evidence")], |m| {
                        keys.iter().for_each(|key| m.leaf("li", &[], &name(key)))
                    });
                });
            }
        }
    });
}

fn changed(m: &mut Markup, group: &GroupChange) {
    m.leaf("h3", &[], &name(&group.before));
    if group.before != group.after {
        m.leaf(
            "p",
            &[("class", "quiet")],
            &format!("Compared with the only other waits of this thread: {}.", name(&group.after)),
        );
    }
    m.leaf("p", &[("class", "lead")], &change_words(group));
    let longest = mean_sum(group, true).max(mean_sum(group, false)).max(1.0);
    m.element("div", &[("class", "gain")], |m| {
        for (words, count, is_before) in [("before", group.before_count, true), ("after", group.after_count, false)] {
            m.leaf("span", &[], &format!("{words} ({})", grouped(count)));
            bar(m, "whole", |part| mean(group, part, is_before).max(0.0) / longest);
            m.leaf("span", &[], &Nanos(mean_sum(group, is_before).round() as i64).to_string());
        }
    });
    type Row<'a> = (&'a str, &'a Change);
    let rows: Vec<Row> = std::iter::once(("lateness", &group.lateness))
        .chain(group.parts.iter().map(|part| (part.part.about(), &part.change)))
        .collect();
    let columns = Columns::new()
        .words("part", |row: &&Row| row.0)
        .figure("p50 before", |row| Nanos(row.1.p50.before_ns))
        .figure("after", |row| Nanos(row.1.p50.after_ns))
        .words("p50", |row| verdict(&row.1.p50))
        .figure("p99 before", |row| row.1.p99.map(|p99| Nanos(p99.before_ns)))
        .figure("after", |row| row.1.p99.map(|p99| Nanos(p99.after_ns)))
        .words("p99", |row| row.1.p99.map(|p99| verdict(&p99)))
        .figure("mean before", |row| Nanos(row.1.before_mean_ns.round() as i64))
        .figure("after", |row| Nanos(row.1.after_mean_ns.round() as i64));
    if let Some(table) = columns.table("Each part; the means add up", &rows) {
        draw(m, &table, "");
    }
}

fn verdict(figure: &Moved) -> Cell {
    let tone = match figure.verdict {
        Verdict::Shrank => Tone::Good,
        Verdict::Grew => Tone::Warn,
        Verdict::Overlap | Verdict::TooFew => Tone::Soft,
    };
    moved_words(figure).toned(tone)
}

fn mean(group: &GroupChange, part: Part, is_before: bool) -> f64 {
    let found = group.parts.iter().find(|of| of.part == part);
    found.map_or(0.0, |of| if is_before { of.change.before_mean_ns } else { of.change.after_mean_ns })
}

fn mean_sum(group: &GroupChange, is_before: bool) -> f64 {
    Part::ALL.iter().map(|&part| mean(group, part, is_before).max(0.0)).sum()
}
