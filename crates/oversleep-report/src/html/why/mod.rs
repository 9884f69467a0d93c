//! A result of `oversleep why` as a page: findings, every group of waits with its split as a bar, the worst waits as
//! timelines.
//!
//! It runs no script. Rules of the style sheet alone show a part of a timeline under the pointer, and enlarge it when
//! it is chosen. Names of tasks are text of the result like any other, and escaped (`markup`).

mod comparison;
mod groups;
mod rules;
mod timeline;

use oversleep_record::Nanos;
use oversleep_why::findings::name;
use oversleep_why::summary::{Finding, Summary};
use oversleep_why::wait::signed;

use super::markup::{Markup, json_for_script};
use crate::words::{counted, date, grouped, sentence};
pub use comparison::comparison;

/// The whole page.
pub fn report(summary: &Summary) -> String {
    let title = title(summary);
    super::page(&title, &rules::sheet(&summary.worst), |m| {
        m.leaf("a", &[("class", "skip"), ("href", "#main")], "Skip to the findings");
        m.element("header", &[], |m| m.element("div", &[("class", "wide")], |m| top(m, summary, &title)));
        m.element("main", &[("id", "main"), ("class", "wide")], |m| {
            findings(m, summary);
            groups::section(m, summary);
            timeline::section(m, summary);
            seen(m, summary);
        });
        m.element("footer", &[], |m| m.element("div", &[("class", "wide")], |m| embedded(m, summary)));
    })
}

fn title(summary: &Summary) -> String {
    match summary.meta.target.as_str() {
        "" => "oversleep why: all processes".to_owned(),
        target => format!("oversleep why: {target}"),
    }
}

fn top(m: &mut Markup, summary: &Summary, title: &str) {
    m.leaf("h1", &[], title);
    if summary.losses.is_truncated {
        let cut = "The recording ends in the middle of an event; what comes before it was read.";
        m.leaf("p", &[("class", "warning"), ("role", "note")], cut);
    }
    let kernel = Some(&summary.meta.kernel).filter(|kernel| !kernel.is_empty());
    let facts = [
        kernel.map(|kernel| format!("kernel {kernel}")),
        summary.meta.taken_unix_s.and_then(date),
        Some(format!("{} long", Nanos(signed(summary.span_ns)))),
        Some(format!("{} ended by their timer", counted(summary.count(), "wait"))),
        Some(format!("{} for another reason", grouped(summary.otherwise_count()))),
        summary.want_ns.map(|ns| format!("the program meant {}", Nanos(signed(ns)))),
        (summary.left_out != 0).then(|| format!("{} not selected", counted(summary.left_out, "wait"))),
    ];
    m.leaf("p", &[], &facts.into_iter().flatten().collect::<Vec<_>>().join(" · "));
    super::theme(m);
    m.element("nav", &[("aria-label", "On this page")], |m| {
        m.element("ul", &[], |m| {
            for (id, name) in [
                ("findings", "Findings"),
                ("waits", "All waits"),
                ("worst", "The worst waits"),
                ("seen", "What was seen"),
            ] {
                m.element("li", &[], |m| m.leaf("a", &[("href", &format!("#{id}"))], name));
            }
        });
    });
}

fn findings(m: &mut Markup, summary: &Summary) {
    section(m, "findings", "Findings", |m| {
        if summary.findings.is_empty() {
            m.leaf("p", &[], "No part of the lateness is large enough for a finding.");
        }
        m.element("div", &[("class", "cards")], |m| summary.findings.iter().for_each(|finding| card(m, finding)));
    });
}

fn card(m: &mut Markup, finding: &Finding) {
    let class = if finding.total_ns > 0 { "card cost" } else { "card" };
    m.element("article", &[("class", class)], |m| {
        m.element("h4", &[], |m| {
            m.leaf("span", &[("class", "badge")], &finding.about.replace('_', " "));
            m.text(&finding.group.as_ref().map(name).unwrap_or_default());
        });
        m.leaf("p", &[], &sentence(&finding.sentence));
        if !finding.advice.is_empty() {
            m.element("div", &[("class", "remedy")], |m| finding.advice.iter().for_each(|line| m.leaf("p", &[], line)));
        }
        if !finding.evidence.is_empty() {
            m.element("details", &[], |m| {
                m.leaf("summary", &[], "Evidence");
                m.element("ul", &[("class", "evidence")], |m| {
                    finding.evidence.iter().for_each(|line| m.leaf("li", &[], line));
                });
            });
        }
    });
}

/// Lost events, and the limits of this kernel.
fn seen(m: &mut Markup, summary: &Summary) {
    let losses = &summary.losses;
    section(m, "seen", "What was seen", |m| {
        let (count, attributed) = (summary.count(), summary.attributed_count());
        let whole = format!("{} of {} waits are split without a gap.", grouped(attributed), grouped(count));
        m.leaf("p", &[], &whole);
        let lines = [
            (losses.no_room, "events found no room in the buffer"),
            (losses.vanished, "events were sent and did not arrive"),
            (losses.not_run, "times the kernel left the collector out"),
            (losses.unfinished, "waits had not ended, or their end was not seen"),
            (losses.threads_not_followed, "threads were too many to follow"),
        ];
        m.element("ul", &[("class", "evidence")], |m| {
            for (count, what) in lines.into_iter().filter(|(count, _)| *count != 0) {
                m.leaf("li", &[], &format!("{} {what}", grouped(count)));
            }
            summary.meta.by.limits().iter().for_each(|limit| m.leaf("li", &[], limit));
            losses.missing.iter().for_each(|what| m.leaf("li", &[], &format!("not available on this kernel: {what}")));
        });
        m.leaf(
            "p",
            &[("class", "quiet")],
            "The parts of a wait are differences of adjacent times of one clock, so they add up to its lateness. A pause of the \
             hypervisor that it doesn't report as steal looks like interrupts that are off.",
        );
    });
}

fn section(m: &mut Markup, id: &str, title: &str, body: impl FnOnce(&mut Markup)) {
    let heading = format!("{id}-heading");
    m.element("section", &[("id", id), ("aria-labelledby", &heading)], |m| {
        m.leaf("h2", &[("id", &heading)], title);
        body(m);
    });
}

/// The result itself, so that the page alone suffices for a comparison.
fn embedded(m: &mut Markup, summary: &Summary) {
    m.leaf("p", &[], &format!("{} {}", summary.tool.name, summary.tool.version));
    let mut bytes = super::Embedded(Vec::new());
    if summary.write_to(&mut bytes).is_err() {
        m.leaf("p", &[], "The result is too large to embed in this page; it is in its own file.");
        return;
    }
    m.leaf("p", &[], "The result is embedded in this page as JSON, in the element with the id “result”.");
    m.element("script", &[("type", "application/json"), ("id", "result")], |m| {
        m.trusted(&json_for_script(&String::from_utf8_lossy(&bytes.0)));
    });
}

#[cfg(test)]
mod tests;
