//! Every group of waits as a row, with its split as a bar and its parts on request.

use oversleep_record::{Distribution, Nanos};
use oversleep_why::Part;
use oversleep_why::culprit::policy_words;
use oversleep_why::findings::{name, why_words};
use oversleep_why::group::Group;
use oversleep_why::summary::Summary;
use oversleep_why::text::{COLUMNS, irq_words, letter};
use oversleep_why::wait::signed;

use super::super::markup::Markup;
use super::super::tables::draw;
use crate::view::table::{Columns, Table};
use crate::words::{counted, percent};

/// The number of groups whose parts are listed.
const DETAILED: usize = 40;

/// The section.
pub fn section(m: &mut Markup, summary: &Summary) {
    super::section(m, "waits", "All waits", |m| {
        let groups: Vec<&Group> = summary.groups.iter().filter(|group| group.count != 0).collect();
        if groups.is_empty() {
            m.leaf("p", &[("class", "quiet")], "No wait ended by its timer.");
            return;
        }
        table(m, &groups);
        legend(m, Part::ALL.iter().copied().filter(|&part| groups.iter().any(|group| group.share(part) > 0.0)));
        m.leaf("h3", &[], "Each group in parts");
        groups.iter().take(DETAILED).for_each(|group| detail(m, group));
        if groups.len() > DETAILED {
            let rest = groups.len() - DETAILED;
            m.leaf("p", &[("class", "quiet")], &format!("The result has {} more.", counted(rest, "group")));
        }
    });
}

fn table(m: &mut Markup, groups: &[&Group]) {
    let label = "Lateness by program, thread, call and request";
    m.element("div", &[("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", label)], |m| {
        m.element("table", &[("class", "splits")], |m| {
            m.leaf("caption", &[], label);
            m.element("thead", &[], |m| {
                m.element("tr", &[], |m| {
                    for column in &COLUMNS {
                        m.leaf(
                            "th",
                            &[("scope", "col"), ("class", if column.is_figure { "n" } else { "" })],
                            column.head,
                        );
                    }
                    m.leaf("th", &[("scope", "col")], "split of the lateness");
                });
            });
            m.element("tbody", &[], |m| groups.iter().for_each(|group| row(m, group)));
        });
    });
}

fn row(m: &mut Markup, group: &Group) {
    m.element("tr", &[], |m| {
        for (place, column) in COLUMNS.iter().enumerate() {
            let class = match column.head {
                "program" | "thread" => "any",
                _ if column.is_figure => "n",
                _ => "",
            };
            let (name, role) = if place == 0 { ("th", "row") } else { ("td", "") };
            let attributes = [("scope", role), ("class", class)];
            m.leaf(name, &attributes[usize::from(place != 0)..], &(column.cell)(group));
        }
        m.element("td", &[], |m| bar(m, "", |part| group.share(part)));
    });
}

/// A bar in which each part has the width of its share.
pub fn bar(m: &mut Markup, class: &str, share: impl Fn(Part) -> f64) {
    let parts: Vec<(Part, f64)> =
        Part::ALL.iter().map(|&part| (part, share(part))).filter(|(_, share)| *share > 0.0).collect();
    let words: Vec<String> = parts.iter().map(|(part, share)| format!("{} {}", part.name(), percent(*share))).collect();
    let class = format!("split {class}");
    m.element("div", &[("class", &class), ("role", "img"), ("aria-label", &words.join(", "))], |m| {
        for ((part, share), words) in parts.iter().zip(&words) {
            let width = format!("width:{:.2}%", share * 100.0);
            let title = format!("{words}: {}", part.about());
            let letter = if *share > 0.06 { letter(*part).to_string() } else { String::new() };
            m.leaf("span", &[("class", &format!("p-{}", part.name())), ("style", &width), ("title", &title)], &letter);
        }
    });
}

/// The meaning of the colours and letters.
pub fn legend(m: &mut Markup, parts: impl Iterator<Item = Part>) {
    m.element("ul", &[("class", "legend")], |m| {
        for part in parts {
            m.element("li", &[], |m| {
                m.leaf("span", &[("class", &format!("key p-{}", part.name()))], &letter(part).to_string());
                m.leaf("b", &[], part.name());
                m.text(&format!(" {}", part.about()));
            });
        }
    });
}

fn detail(m: &mut Markup, group: &Group) {
    m.element("details", &[], |m| {
        m.leaf("summary", &[], &name(&group.key));
        if let Some(table) = parts(group) {
            draw(m, &table, "");
        }
        let mut blames: Vec<_> = group.blames.iter().collect();
        blames.sort_by_key(|blame| std::cmp::Reverse(blame.total_ns));
        let columns = Columns::new()
            .words("ran instead", |blame: &&&oversleep_why::group::Blame| blame.name.clone())
            .words("policy", |blame| policy_words(blame.policy, blame.prio))
            .figure("count", |blame| blame.count)
            .figure("in all", |blame| Nanos(signed(blame.total_ns)))
            .figure("at most", |blame| Nanos(signed(blame.max_ns)))
            .words("because", |blame| why_words(blame.why));
        if let Some(table) = columns.table("Who ran while these threads waited for a CPU", &blames) {
            draw(m, &table, "");
        }
        let mut causes: Vec<_> = group.irq_blames.iter().collect();
        causes.sort_by_key(|blame| std::cmp::Reverse(blame.total_ns));
        let columns = Columns::new()
            .words("before the interrupt", |blame: &&&oversleep_why::group::IrqBlame| irq_words(&blame.cause))
            .figure("count", |blame| blame.count)
            .figure("in all", |blame| Nanos(signed(blame.total_ns)))
            .figure("at most", |blame| Nanos(signed(blame.max_ns)));
        if let Some(table) = columns.table("What its CPU did while the timer interrupt was due", &causes) {
            draw(m, &table, "");
        }
        if group.otherwise_count() != 0 {
            let other = counted(group.otherwise_count(), "wait");
            m.leaf(
                "p",
                &[("class", "quiet")],
                &format!("{other} of this kind ended for another reason than their timer."),
            );
        }
    });
}

fn parts(group: &Group) -> Option<Table> {
    let rows: Vec<(Part, &Distribution)> = group.parts.iter().map(|(&part, values)| (part, values)).collect();
    Columns::new()
        .words("part", |(part, _): &&(Part, &Distribution)| part.name())
        .figure("share", |(part, _)| percent(group.share(*part)))
        .figure("p50", |(_, values)| values.p50().map(Nanos))
        .figure("p99", |(_, values)| values.p99().map(Nanos))
        .figure("max", |(_, values)| values.max().map(Nanos))
        .figure("in all", |(part, _)| Nanos(group.total_ns.get(part).copied().unwrap_or(0)))
        .words("what it is", |(part, _)| part.about())
        .table("Parts of the lateness", &rows)
}
