//! Answers to questions, as text and as JSON: the values of a wait, a clock or a fork-join on a machine, and the rule
//! that decides them.

use oversleep_lab::ask::{Answer, Help, Meaning, Subject, Versions};
use oversleep_record::Nanos;
use serde::Serialize;
use serde_json::{Value, json};

use crate::listing::{FAINT, Page, STRONG};
use crate::view::bars::bars;
use crate::view::select::distinct;
use crate::view::sheet::Column;
use crate::words::counted;

mod page;

pub use page::{pictures, view};

/// One machine's answer to one question.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The machine's name.
    pub machine: String,
    /// The model with every change; `None` for a real machine.
    pub modelled: Option<String>,
    /// What was changed of the model: the same for all machines.
    pub changes: Vec<String>,
    /// The question.
    pub question: Subject,
    /// The deviations from an undisturbed machine: `neighbour` → `2 ms`, `pace` → `periodic`.
    pub under: Vec<(&'static str, String)>,
    /// The answer, or why there is none.
    pub answer: Result<Answer, String>,
    /// What would make the wait end closer to its time, as tried on that model.
    pub helps: Vec<Help>,
    /// Why nothing would, if the wait is late.
    pub nothing_helps: Option<String>,
    /// The version of the runtime whose call it is, and what other versions answer.
    pub versions: Option<Versions>,
}

/// Replies grouped by question: figures with a histogram for each machine, then the rules.
pub fn text(replies: &[Reply], width: usize) -> String {
    let mut page = Page::new(width);
    let longest = replies.iter().map(|reply| reply.machine.chars().count()).max().unwrap_or(0);
    let mut questions = distinct(replies.iter().map(|reply| reply.question.to_string()));
    questions.sort_unstable();
    for question in questions {
        let group: Vec<&Reply> = replies.iter().filter(|reply| reply.question.to_string() == question).collect();
        page.heading(&heading(&group));
        let has = |column: &&FigureColumn| group.iter().any(|reply| figure(reply, column).is_some());
        let columns: Vec<&FigureColumn> = COLUMNS.iter().filter(has).collect();
        // Without room beside its name, a machine's figures stand beneath it.
        let figures_room = (FIGURE + 1) * columns.len();
        let indent = if longest + 4 + figures_room <= width { longest + 2 } else { 0 };
        let heads: Vec<String> = columns.iter().map(|(head, _)| format!("{head:>8}")).collect();
        page.line(&format!("{FAINT}  {:indent$}{}{FAINT:#}", "", heads.join(" ")));
        for (reply, answer) in group.iter().filter_map(|reply| Some((reply, reply.answer.as_ref().ok()?))) {
            let figures = columns.iter().filter_map(|column| figure(reply, column));
            let figures: Vec<String> = figures.map(|ns| format!("{:>8}", duration(ns))).collect();
            if indent == 0 {
                page.line(&format!("  {STRONG}{}{STRONG:#}", reply.machine));
                page.line(&format!("  {}", figures.join(" ")));
            } else {
                page.line(&format!("  {STRONG}{:indent$}{STRONG:#}{}", reply.machine, figures.join(" ")));
            }
            let histogram = histogram(answer, width.saturating_sub(indent + 2));
            page.line(&format!("  {:indent$}{FAINT}{histogram}{FAINT:#}", ""));
            if answer.stopped() > Nanos::ZERO {
                let stopped = format!("this process was stopped for {} meanwhile; ask again", answer.stopped());
                page.hanging("", longest + 4, &stopped);
            }
        }
        for (reply, reason) in group.iter().filter_map(|reply| Some((reply, reply.reason()?))) {
            page.hanging(&format!("  {}", reply.machine), longest + 4, reason);
        }
        for (reply, versions) in group.iter().filter_map(|reply| Some((reply, reply.versions.as_ref()?))) {
            let on = if group.len() > 1 { format!("on {}: ", reply.machine) } else { String::new() };
            page.hanging("  version", longest + 4, &format!("{on}{versions}"));
        }
        for reply in group.iter().filter(|reply| !reply.helps.is_empty()) {
            let on = if group.len() > 1 { format!(" on {}", reply.machine) } else { String::new() };
            page.hanging("  helps", longest + 4, &format!("tried{on}: {}", reply.tried()));
        }
        for (reply, why) in group.iter().filter_map(|reply| Some((reply, reply.nothing_helps.as_ref()?))) {
            let on = if group.len() > 1 { format!("on {}: ", reply.machine) } else { String::new() };
            page.hanging("  helps", longest + 4, &format!("{on}nothing: {why}"));
        }
        let cited = group.iter().filter_map(|reply| reply.answer.as_ref().ok()).flat_map(Answer::sources);
        for source in places(cited.map(|cited| cited.source.as_str())) {
            page.hanging("  from", longest + 4, source);
        }
    }
    page.finish()
}

/// Each place once, with the shortest of what it is cited for: a source ends with its address.
fn places<'a>(sources: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut places: Vec<&str> = Vec::new();
    let place = |source: &'a str| source.rsplit(' ').next().unwrap_or(source);
    for source in sources {
        match places.iter_mut().find(|known| place(known) == place(source)) {
            Some(known) if source.len() < known.len() => *known = source,
            Some(_) => {}
            None => places.push(source),
        }
    }
    places
}

/// A head and its figure of an answer, ns.
type FigureColumn = (&'static str, fn(&Reply, &Answer) -> Option<f64>);

/// The figures of an answer as text.
const COLUMNS: [FigureColumn; 6] = [
    ("mean", |_, answer| Some(answer.mean_ns())),
    ("min", |_, answer| Some(answer.min_ns())),
    ("p50", |_, answer| Some(answer.quantile_ns(0.5))),
    ("p99", |_, answer| percentile_ns(answer, 0.99)),
    ("max", |_, answer| Some(answer.max_ns())),
    // With three digits, a long duration hides its lateness.
    ("lateness", |reply, _| reply.lateness_ns()),
];

/// A percentile, or `None` if fewer than ten values lie beyond it.
fn percentile_ns(answer: &Answer, share: f64) -> Option<f64> {
    let beyond = answer.count() as f64 * (1.0 - share);
    (beyond + 1e-9 >= 10.0).then(|| answer.quantile_ns(share))
}

fn figure(reply: &Reply, (_, figure): &FigureColumn) -> Option<f64> {
    figure(reply, reply.answer.as_ref().ok()?)
}

/// All replies as one JSON document.
pub fn document(replies: &[Reply]) -> Value {
    replies.iter().map(Reply::document).collect()
}

/// The columns of replies as a table for other programs.
pub fn columns<'a>() -> [Column<&'a Reply>; 12] {
    [
        ("machine", |reply| reply.machine.clone()),
        ("question", |reply| reply.question.to_string()),
        ("quantity", |reply| reply.answer.as_ref().map_or_else(|_| String::new(), |_| reply.quantity().to_owned())),
        ("count", |reply| reply.field(|answer| answer.count())),
        ("mean_ns", |reply| reply.field(Answer::mean_ns)),
        ("min_ns", |reply| reply.field(Answer::min_ns)),
        ("p50_ns", |reply| reply.field(|answer| answer.quantile_ns(0.5))),
        ("p90_ns", |reply| reply.field(|answer| percentile_ns(answer, 0.9))),
        ("p99_ns", |reply| reply.field(|answer| percentile_ns(answer, 0.99))),
        ("max_ns", |reply| reply.field(Answer::max_ns)),
        ("rule", |reply| reply.answer.as_ref().ok().and_then(Answer::rule).unwrap_or_default().to_owned()),
        ("reason", |reply| reply.answer.as_ref().err().cloned().unwrap_or_default()),
    ]
}

/// The heading of replies to one question: that of the first machine with an answer.
fn heading(group: &[&Reply]) -> String {
    group.iter().find(|reply| reply.answer.is_ok()).unwrap_or(&group[0]).heading()
}

impl Reply {
    /// A figure of the answer as the text of a field.
    fn field<T: Serialize>(&self, figure: impl Fn(&Answer) -> T) -> String {
        match self.answer.as_ref().map(|answer| json!(figure(answer))) {
            Err(_) | Ok(Value::Null) => String::new(),
            Ok(figure) => figure.to_string(),
        }
    }

    /// The lateness of the median, if the answer is a duration.
    fn lateness_ns(&self) -> Option<f64> {
        let answer = self.answer.as_ref().ok().filter(|answer| answer.meaning() == Meaning::Itself)?;
        match self.question {
            Subject::Wait { request, .. } => Some(answer.quantile_ns(0.5) - request.0 as f64),
            _ => None,
        }
    }

    /// The question with its conditions, and the models that answer.
    fn heading(&self) -> String {
        let mut heading = self.question.to_string();
        for (what, how) in &self.under {
            heading += &format!(", {what} {how}");
        }
        if self.quantity() == "lateness" {
            heading += ": lateness of each deadline";
        }
        // The rows name the machines.
        match (&self.modelled, self.changes.is_empty()) {
            (None, _) => {}
            (Some(_), true) => heading += " (modelled)",
            (Some(_), false) => heading += &format!(" (modelled with {})", self.changes.join(", ")),
        }
        heading
    }

    /// The rule, or why there is no answer.
    fn reason(&self) -> Option<&str> {
        match &self.answer {
            Ok(answer) => answer.rule(),
            Err(reason) => Some(reason),
        }
    }

    /// The quantity, in the words of the record.
    fn quantity(&self) -> &'static str {
        if matches!(&self.answer, Ok(answer) if answer.meaning() == Meaning::Lateness) {
            return "lateness";
        }
        match self.question {
            Subject::Wait { .. } | Subject::Yield { .. } | Subject::ForkJoin { .. } | Subject::Shows { .. } => {
                "duration"
            }
            Subject::Step { .. } => "step",
            Subject::Cost { .. } => "cost",
            Subject::Resolution => "resolution",
        }
    }

    /// What was tried, each with what it gave.
    fn tried(&self) -> String {
        let help = |help: &Help| format!("{}: {}", help.what, duration(help.p50_ns));
        self.helps.iter().map(help).collect::<Vec<_>>().join("; ")
    }

    fn document(&self) -> Value {
        let question = self.question.to_string();
        let mut document = json!({ "machine": self.machine, "modelled": self.modelled, "question": question });
        if !self.under.is_empty() {
            document["under"] = self.under.iter().map(|(what, how)| ((*what).to_owned(), json!(how))).collect();
        }
        match &self.answer {
            Err(reason) => document["reason"] = json!(reason),
            Ok(answer) => {
                document["rule"] = json!(answer.rule());
                if !answer.sources().is_empty() {
                    document["sources"] = answer.sources().iter().map(|cited| json!(cited.to_string())).collect();
                }
                if let Some(versions) = &self.versions {
                    let other = |(versions, p50_ns): &(String, f64)| json!({ "versions": versions, "p50_ns": p50_ns });
                    let others: Value = versions.others.iter().map(other).collect();
                    document["version"] =
                        json!({ "of": versions.of, "is_assumed": versions.is_assumed, "others": others });
                    if let Some(needs) = &versions.needs {
                        document["version"]["needs"] = json!(needs);
                    }
                }
                if !self.helps.is_empty() {
                    let help = |help: &Help| json!({ "what": help.what, "p50_ns": help.p50_ns });
                    document["helps"] = self.helps.iter().map(help).collect();
                }
                if let Some(why) = &self.nothing_helps {
                    document["nothing_helps"] = json!(why);
                }
                document["quantity"] = json!(self.quantity());
                document["count"] = json!(answer.count());
                document["mean_ns"] = json!(answer.mean_ns());
                document["min_ns"] = json!(answer.min_ns());
                document["p50_ns"] = json!(answer.quantile_ns(0.5));
                for (name, share) in [("p90_ns", 0.9), ("p99_ns", 0.99)] {
                    if let Some(ns) = percentile_ns(answer, share) {
                        document[name] = json!(ns);
                    }
                }
                document["max_ns"] = json!(answer.max_ns());
                if answer.stopped() > Nanos::ZERO {
                    document["stopped_ns"] = json!(answer.stopped().0);
                }
            }
        }
        document
    }
}

const BARS: usize = 48;
/// The least number, on a page of any width.
const BARS_MIN: usize = 8;
/// The columns of a figure.
const FIGURE: usize = 8;

/// The values from min to max as bars, and their count, in that many columns.
fn histogram(answer: &Answer, room: usize) -> String {
    let (min, max) = (answer.min_ns(), answer.max_ns());
    if max - min < 1.0 {
        return match answer.count() {
            1 => "one value".to_owned(),
            count => format!("all {} are {}", counted(count, "value"), duration(min)),
        };
    }
    let (low, high) = (duration(min), format!("{}, {}", duration(max), counted(answer.count(), "value")));
    let taken = low.chars().count() + high.chars().count() + 2;
    let bars = bars(answer.counted_ns(), min, max, room.saturating_sub(taken).clamp(BARS_MIN, BARS));
    format!("{low} {bars} {high}")
}

/// A duration; below a microsecond with one decimal, which costs of clock reads need.
fn duration(ns: f64) -> String {
    if ns.abs() < 1_000.0 { format!("{ns:.1} ns") } else { Nanos(ns as i64).to_string() }
}

#[cfg(test)]
mod tests {
    use oversleep_lab::ask::{Question, ask};
    use oversleep_lab::machines;

    use super::*;

    fn reply() -> Reply {
        let lab = machines::load("linux-hz250", &[], 7).expect("a modelled machine");
        let question: Subject = "nanosleep(1ms)".parse().expect("a question");
        let answer = ask(&lab, &Question::of(question.clone())).expect("an answer");
        let machine = "linux-hz250".to_owned();
        Reply {
            machine,
            modelled: None,
            changes: Vec::new(),
            question,
            under: Vec::new(),
            answer: Ok(answer),
            helps: Vec::new(),
            nothing_helps: None,
            versions: None,
        }
    }

    #[test]
    fn what_helps_stands_in_every_form_that_has_sentences() {
        let help = Help { what: "slack 1 ns".to_owned(), p50_ns: 1_010_000.0 };
        let nothing = Reply { nothing_helps: Some("its clock does".to_owned()), ..reply() };
        assert_eq!(nothing.document()["nothing_helps"], "its clock does");
        let said = |replies: &[Reply]| crate::terminal::without_styles(&text(replies, 100));
        let alone = said(std::slice::from_ref(&nothing));
        assert!(alone.contains(" nothing: its clock does") && !alone.contains("on linux-hz250: nothing"), "{alone}");
        assert!(said(&[nothing.clone(), reply()]).contains(" on linux-hz250: nothing: its clock does"));
        assert_eq!(view(&[nothing]).summary, ["Nothing helps on linux-hz250: its clock does."]);
        let replies = [Reply { helps: vec![help], ..reply() }];
        assert!(crate::terminal::without_styles(&text(&replies, 100)).contains("tried: slack 1 ns: 1.01 ms"));
        assert_eq!(view(&replies).summary, ["What helps, tried on linux-hz250: slack 1 ns: 1.01 ms."]);
        assert_eq!(replies[0].document()["helps"][0]["what"], "slack 1 ns");
    }

    #[test]
    fn only_an_address_is_wider_than_the_page() {
        for width in [60, 80, 120] {
            let text = crate::terminal::without_styles(&text(&[reply()], width));
            for line in text.lines().filter(|line| !line.contains("https://")) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            for (head, _) in COLUMNS {
                assert!(text.contains(&format!(" {head}")), "{width}: {head}");
            }
        }
        let narrow = crate::terminal::without_styles(&text(&[reply()], 60));
        let lines: Vec<&str> = narrow.lines().collect();
        assert_eq!(lines[2], "  linux-hz250", "its figures stand beneath it");
        assert_eq!(lines[1].trim_end().chars().count(), lines[3].chars().count(), "and beneath their heads");
    }

    #[test]
    fn every_figure_is_beneath_its_head() {
        let reply = reply();
        let document = reply.document();
        let ns = |name: &str| document[format!("{name}_ns")].as_f64();
        let stated = COLUMNS.map(|(head, _)| match head {
            "lateness" => ns("p50").map(|p50| p50 - 1e6),
            head => ns(head),
        });
        assert_eq!(COLUMNS.map(|column| figure(&reply, &column)), stated);
        assert_eq!(distinct(stated.iter().map(|ns| ns.map(f64::to_bits))).len(), COLUMNS.len(), "{stated:?}");
        let named = |share: f64| reply.answer.as_ref().map(|answer| answer.quantile_ns(share)).ok();
        assert_eq!(["min", "p50", "p90", "p99", "max"].map(ns), [0.0, 0.5, 0.9, 0.99, 1.0].map(named));
        let fields = columns().map(|(head, field)| (head, field(&&reply)));
        for (head, field) in fields.iter().filter(|(head, _)| head.ends_with("_ns")) {
            assert_eq!(field.parse().ok(), document[head].as_f64(), "{head}");
        }
    }
}
