//! The worst waits as timelines: the thread with the parts of its lateness, and the activity of its CPU meanwhile.
//!
//! Positions are shares of the whole span from the request to the end. Two numbers, `--from` and `--span`, select the
//! visible section; a rule sets them for the chosen view.

use oversleep_explain::verdict::lacks_waits;
use oversleep_record::observed::culprit::{ActivityKind, Span, policy_words};
use oversleep_record::observed::wait::{Wait, signed};
use oversleep_record::part::{Part, Segment};
use oversleep_record::{Nanos, ResultFile};

use super::super::markup::Markup;
use crate::view::observed::{
    WAITS_NOT_RECORDED, about_stacks, part_note, purpose, stacks, stolen, wait_in_words, why_words,
};
use crate::view::table::letter;
use crate::words::{capitalised, counted};

/// The whole span of a drawn wait.
pub struct Timeline<'a> {
    wait: &'a Wait,
    /// The time of the request, or of the first event.
    begin: i64,
    end: i64,
    /// The time from which the wait is late.
    due: i64,
}

/// A section that can be chosen.
pub struct View {
    pub name: &'static str,
    pub from: f64,
    pub span: f64,
    /// Its ends, relative to the deadline.
    ends: (Nanos, Nanos),
}

impl View {
    /// The id of the control that chooses it.
    pub fn id(&self, number: usize) -> String {
        format!("w{number}-{}", self.name)
    }
}

impl Timeline<'_> {
    pub fn of(wait: &Wait) -> Timeline<'_> {
        let end = signed(wait.end);
        let due = end.saturating_sub(wait.lateness_ns).min(end);
        let entered = wait.marks.entered.map_or(due, signed);
        let begin = entered.min(due).max(due.saturating_sub(i64::MAX / 4));
        Timeline { wait, begin, end: end.max(begin.saturating_add(1)), due }
    }

    /// A time as a share of the span.
    fn at(&self, t: i64) -> f64 {
        let all = self.end.saturating_sub(self.begin).max(1);
        t.clamp(self.begin, self.end).saturating_sub(self.begin) as f64 / all as f64
    }

    fn view(&self, name: &'static str, from: i64, to: i64) -> View {
        // The view includes a small margin.
        let margin = to.saturating_sub(from).max(1) / 12;
        let (from, to) = (from.saturating_sub(margin).max(self.begin), to.saturating_add(margin).min(self.end));
        let span = (self.at(to) - self.at(from)).max(1e-9);
        let ends = (Nanos(from.saturating_sub(self.due)), Nanos(to.saturating_sub(self.due)));
        View { name, from: self.at(from), span, ends }
    }

    /// The lateness, everything, then each part.
    pub fn views(&self) -> Vec<View> {
        let mut views = vec![self.view("late", self.due, self.end), self.view("all", self.begin, self.end)];
        for &part in Part::ALL {
            let own = || self.wait.segments.iter().filter(|segment| segment.part == part);
            let first = own().map(|segment| segment.from_ns).min();
            let last = own().map(|segment| segment.to_ns).max();
            views.extend(first.zip(last).map(|(first, last)| self.view(part.name(), first, last)));
        }
        views
    }

    fn place(&self, from: i64, to: i64) -> String {
        let (from, to) = (self.at(from), self.at(to));
        format!("--a:{from:.9};--w:{:.9}", (to - from).max(0.0))
    }

    fn relative(&self, t: i64) -> String {
        let from = Nanos(t.saturating_sub(self.due));
        if from.0 > 0 { format!("+{from}") } else { from.to_string() }
    }
}

/// The section.
pub fn section(m: &mut Markup, file: &ResultFile, worst: &[Wait]) {
    super::section(m, "worst", "The worst waits", |m| {
        if worst.is_empty() {
            let none = if lacks_waits(file) { WAITS_NOT_RECORDED } else { "No wait ended by its timer." };
            m.leaf("p", &[("class", "quiet")], none);
            return;
        }
        m.leaf(
            "p",
            &[("class", "quiet")],
            "Each bar begins when the wait should have ended. Choose a part to enlarge it and to read about it. Times count from the deadline.",
        );
        (1..).zip(worst).for_each(|(number, wait)| one(m, file, number, wait));
        if let Some(note) = about_stacks(worst) {
            m.leaf("p", &[("class", "quiet")], note);
        }
    });
}

fn one(m: &mut Markup, file: &ResultFile, number: usize, wait: &Wait) {
    let timeline = Timeline::of(wait);
    let views = timeline.views();
    let title = wait_in_words(number, wait);
    m.element("article", &[("class", "wait"), ("id", &format!("wait-{number}"))], |m| {
        m.leaf("h3", &[], &title);
        purpose(file, wait).iter().for_each(|purpose| m.leaf("p", &[("class", "quiet")], purpose));
        zoom(m, number, &views);
        m.element("div", &[("class", "lane")], |m| {
            m.leaf("span", &[("title", &wait.thread)], &wait.thread);
            m.element("div", &[("class", "track")], |m| parts(m, number, &timeline));
        });
        lanes(m, &timeline);
        for view in &views {
            m.element("div", &[("class", &format!("scale s-{}", view.name))], |m| {
                m.leaf("span", &[], &view.ends.0.to_string());
                m.leaf("span", &[], &format!("{} shown", Nanos(view.ends.1.0.saturating_sub(view.ends.0.0))));
                m.leaf("span", &[], &view.ends.1.to_string());
            });
        }
        about(m, wait);
        in_words(m, &timeline);
    });
}

fn zoom(m: &mut Markup, number: usize, views: &[View]) {
    m.element("fieldset", &[("class", "zoom")], |m| {
        m.leaf("legend", &[], "Show");
        for view in views {
            let (id, name) = (view.id(number), format!("view-{number}"));
            let class = format!("z-{}", view.name);
            let input = [("type", "radio"), ("name", name.as_str()), ("id", &id), ("class", &class), ("checked", "")];
            m.void("input", if view.name == "late" { &input } else { &input[..4] });
            let words = match view.name {
                "late" => "the lateness",
                "all" => "everything since the call",
                part => part,
            };
            m.leaf("label", &[("for", &id)], words);
        }
    });
}

/// The text of the call's own tooltip.
fn called_from(wait: &Wait) -> String {
    let lines = stacks(wait).map(|(place, frames)| format!("\n{place}:\n  {}", frames.join("\n  ")));
    std::iter::once("the time that was requested".to_owned()).chain(lines).collect()
}

fn parts(m: &mut Markup, number: usize, timeline: &Timeline) {
    let due = format!("--d:{:.9}", timeline.at(timeline.due));
    let request = timeline.place(timeline.begin, timeline.due);
    m.leaf("span", &[("class", "seg other request"), ("style", &request), ("title", &called_from(timeline.wait))], "");
    for segment in &timeline.wait.segments {
        let Segment { part, from_ns, to_ns } = *segment;
        let words = format!("{}: {}", part.name(), Nanos(to_ns.saturating_sub(from_ns)));
        let attributes = [
            ("class", &*format!("seg p-{}", part.name())),
            ("for", &format!("w{number}-{}", part.name())),
            ("style", &timeline.place(from_ns, to_ns)),
            ("title", &words),
        ];
        m.element("label", &attributes, |m| m.leaf("span", &[], &letter(part).to_string()));
    }
    m.leaf("span", &[("class", "deadline"), ("style", &due), ("title", "the deadline")], "");
}

/// The activity of its CPUs: tasks while it waited for one, and what preceded its timer interrupt.
fn lanes(m: &mut Markup, timeline: &Timeline) {
    let wait = timeline.wait;
    let drawn = |m: &mut Markup, span: Span, name: &str, words: &str| {
        let place = timeline.place(signed(span.from_ns), signed(span.to_ns));
        let attributes = [("class", "seg other"), ("style", place.as_str()), ("title", words)];
        m.element("span", &attributes, |m| m.leaf("span", &[], name));
    };
    let lane = |m: &mut Markup, head: &str, body: &dyn Fn(&mut Markup)| {
        m.element("div", &[("class", "lane")], |m| {
            m.leaf("span", &[("title", head)], head);
            m.element("div", &[("class", "track")], |m| body(m));
        });
    };
    let cpu = |cpu: Option<u16>| cpu.map_or_else(|| "its CPU".to_owned(), |cpu| format!("CPU {cpu}"));
    if !wait.before_interrupt.is_empty() {
        lane(m, &format!("{}, timer", cpu(wait.timer_cpu)), &|m| {
            for activity in &wait.before_interrupt {
                let words = activity_words(activity.what, &activity.name);
                drawn(m, activity.span, &words, &format!("{words}: {}", length(activity.span)));
            }
        });
    }
    if !wait.culprits.is_empty() {
        lane(m, &format!("{}, tasks", cpu(wait.cpu)), &|m| {
            for culprit in &wait.culprits {
                for &turn in &culprit.turns {
                    let policy = policy_words(culprit.policy, culprit.prio);
                    let who = match culprit.is_task() {
                        true => format!("{} ({}, {policy})", culprit.name, culprit.tid),
                        false => culprit.name.clone(),
                    };
                    let why = if culprit.is_task() { why_words(culprit.why) } else { "no task is named" };
                    let words = format!("{who} ran {}: {why}", length(turn));
                    drawn(m, turn, &culprit.name, &words);
                }
            }
        });
    }
}

fn length(span: Span) -> Nanos {
    Nanos(signed(span.to_ns.saturating_sub(span.from_ns)))
}

fn activity_words(what: ActivityKind, name: &str) -> String {
    match what {
        ActivityKind::Interrupt => format!("interrupt {name}"),
        ActivityKind::Softirq => format!("softirq {name}"),
        ActivityKind::Idle => format!("idle (state {name})"),
    }
}

/// A text about each part; the page shows one at a time.
fn about(m: &mut Markup, wait: &Wait) {
    m.element("div", &[("class", "about"), ("aria-live", "polite")], |m| {
        for (part, ns) in wait.parts.iter().filter(|(_, ns)| *ns != 0) {
            let main = if part == wait.parts.largest() { " main" } else { "" };
            m.element("p", &[("class", &format!("a-{}{main}", part.name()))], |m| {
                m.leaf("span", &[("class", &format!("key p-{}", part.name()))], &letter(part).to_string());
                m.leaf("b", &[], &format!("{} {}", part.name(), Nanos(ns)));
                m.text(&format!(": {}.{}", part.about(), note(part, wait)));
            });
        }
    });
}

fn note(part: Part, wait: &Wait) -> String {
    let note = part_note(part, wait);
    if note.is_empty() { note } else { format!(" {note}.") }
}

/// The time line in words, for readers without a pointer, and on paper.
fn in_words(m: &mut Markup, timeline: &Timeline) {
    let wait = timeline.wait;
    m.element("details", &[("class", "bulk")], |m| {
        m.leaf("summary", &[], "In words");
        m.element("ol", &[("class", "evidence")], |m| {
            for segment in &wait.segments {
                let text = format!(
                    "{}: {} {} ({}){}",
                    timeline.relative(segment.from_ns),
                    segment.part.name(),
                    Nanos(segment.to_ns.saturating_sub(segment.from_ns)),
                    segment.part.about(),
                    note(segment.part, wait)
                );
                m.leaf("li", &[], text.trim_end_matches('.'));
            }
            m.leaf("li", &[], &format!("{}: the end", timeline.relative(timeline.end)));
        });
        for (place, frames) in stacks(wait) {
            m.leaf("p", &[], &format!("{}: {}.", capitalised(place), frames.join(" ← ")));
        }
        stolen(wait).iter().for_each(|stolen| m.leaf("p", &[], stolen));
        if wait.lost_events != 0 {
            let lost = counted(wait.lost_events, "event");
            m.leaf("p", &[], &format!("{lost} of this wait did not arrive; what lies between is unattributed."));
        }
    });
}
