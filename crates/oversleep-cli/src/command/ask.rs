//! `ask`: one question to one or several machines: what would this wait, clock or fork-join give there, and why?

use clap::Args;
use oversleep_lab::Laboratory;
use oversleep_lab::ask::{Answer, Meaning, NoAnswer, Question, Subject, ask};
use oversleep_record::Nanos;
use oversleep_record::conditions::Setting;
use serde_json::{Value, json};

use crate::args::{ConditionArgs, ModelArgs, PaceArg, help, value};
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request;
use crate::width::width;
use oversleep_report::listing::{FAINT, Page, STRONG};

/// Ask a machine: how long does this take there, and by which rule?
///
/// On a modelled machine the answer comes in virtual time, at once; without --on, this machine is measured.
#[derive(Args, Debug)]
#[command(before_help = help::ask(), after_help = help::CODES)]
pub struct Ask {
    /// Questions: 'sleep(1ms)', 'WAIT(SPAN)', 'yield(NAME)', 'step(CLOCK)', 'cost(CLOCK)', 'shows(CLOCK)',
    /// 'forkjoin(blocked)', 'resolution()'
    ///
    /// Waits and clocks go by their names here, by their calls (WaitForSingleObject, CLOCK_MONOTONIC_COARSE), and waits by
    /// what runtimes call them: parkNanos, Thread.sleep, time.sleep, sleep_for, setTimeout, WM_TIMER.
    #[arg(value_name = "QUESTION", required = true)]
    questions: Vec<Subject>,

    /// Modelled machines to ask, side by side, like windows-10-2004,windows-11 [default: this machine]
    #[arg(long, value_name = "MACHINE", value_delimiter = ',')]
    on: Vec<String>,

    #[command(flatten)]
    model: ModelArgs,

    /// What another process holds of the timer resolution meanwhile, like 2ms; once for each such process
    #[arg(long, value_name = "SETTING", value_parser = value::setting, value_delimiter = ',')]
    neighbour: Vec<Setting>,

    /// Values to take
    #[arg(long, value_name = "N", value_parser = value::count, default_value = "1000", allow_hyphen_values = true)]
    count: u64,

    /// How the waits follow one another
    #[arg(long, value_name = "PACE", value_enum, default_value = "back-to-back")]
    pace: PaceArg,

    #[command(flatten)]
    conditions: ConditionArgs,

    /// As one JSON document
    #[arg(long)]
    json: bool,
}

/// One machine's answer to one question.
struct Told {
    machine: String,
    /// What it is a model of, with what was changed; nothing where it is a machine.
    modelled: Option<String>,
    question: String,
    /// The span that was asked of a wait.
    request: Option<Nanos>,
    /// What the question was asked under.
    under: Vec<(&'static str, String)>,
    answer: Result<Answer, String>,
}

impl Ask {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let mut told = Vec::new();
        for (name, lab) in self.machines()? {
            for subject in &self.questions {
                let question = Question {
                    conditions: request::conditions::conditions(&lab, &self.conditions)?,
                    neighbours: self.neighbour.clone(),
                    pace: Some(self.pace.pace()),
                    count: self.count,
                    clock: self.conditions.clock.clone(),
                    ..Question::of(subject.clone())
                };
                let answer = ask(&lab, &question).map_err(|reason| with_suggestion(&lab, &reason));
                told.push(Told {
                    machine: name.clone(),
                    modelled: lab.platform_id().modelled,
                    question: subject.to_string(),
                    request: match subject {
                        Subject::Wait { request, .. } => Some(*request),
                        _ => None,
                    },
                    under: self.under(&question),
                    answer,
                });
            }
        }
        if let [Told { answer: Err(reason), .. }] = &told[..] {
            return Err(Failure::failed(reason.clone()));
        }
        if self.json {
            stdout::json(&Value::Array(told.iter().map(document).collect()))?;
        } else {
            stdout::text(&text(&told, width()))?;
        }
        Ok(Exit::Fine)
    }

    /// The conditions of a question in words, those only that differ from none.
    fn under(&self, question: &Question) -> Vec<(&'static str, String)> {
        let mut under = Vec::new();
        let neighbours: Vec<String> = question.neighbours.iter().map(ToString::to_string).collect();
        if !neighbours.is_empty() {
            under.push(("neighbour", neighbours.join(" and ")));
        }
        if !question.conditions.is_as_found() {
            under.push(("conditions", question.conditions.to_string()));
        }
        if !matches!(self.pace, PaceArg::BackToBack) {
            under.push(("pace", format!("{:?}", self.pace).to_lowercase()));
        }
        under.extend(question.clock.clone().map(|clock| ("clock", clock)));
        under
    }

    fn machines(&self) -> Result<Vec<(String, Laboratory)>, Failure> {
        if self.on.is_empty() {
            if !self.model.set.is_empty() || self.model.seed.is_some() {
                return Err(Failure::usage("--set and --seed change a modelled machine; name one with --on"));
            }
            return Ok(vec![("this machine".to_owned(), Laboratory::on(oversleep_native::here()))]);
        }
        self.on.iter().map(|name| Ok((name.clone(), request::machine::modelled(name, &self.model)?))).collect()
    }
}

/// Why there is no answer, with the name that was probably meant.
fn with_suggestion(lab: &Laboratory, reason: &NoAnswer) -> String {
    let near = match reason {
        NoAnswer::Unknown { kind, name, .. } => request::names::nearest(name, &request::names::of(lab, *kind)),
        NoAnswer::Unavailable { .. } => None,
    };
    match near {
        Some(near) => format!("{reason}; did you mean '{near}'?"),
        None => reason.to_string(),
    }
}

fn text(told: &[Told], width: usize) -> String {
    let mut page = Page::new(width);
    let longest = told.iter().map(|one| one.machine.chars().count()).max().unwrap_or(0);
    let mut questions: Vec<&str> = told.iter().map(|one| one.question.as_str()).collect();
    questions.dedup();
    questions.sort_unstable();
    questions.dedup();
    for question in questions {
        let of_it = told.iter().filter(|one| one.question == question);
        page.heading(&of_it.map(heading).next().unwrap_or_default());
        let names = ["mean", "p50", "p99", "least", "most", "p50 late"];
        // Of a long span nothing but its own length would show in three digits.
        let columns = if told.iter().any(|one| one.question == question && late(one).is_some()) { 6 } else { 5 };
        let names: Vec<String> = names[..columns].iter().map(|name| format!("{name:>8}")).collect();
        page.line(&format!("{FAINT}  {:longest$}  {}{FAINT:#}", "", names.join(" ")));
        for one in told.iter().filter(|one| one.question == question) {
            let Ok(answer) = &one.answer else { continue };
            let figures =
                [answer.mean_ns(), answer.quantile_ns(0.5), answer.quantile_ns(0.99), answer.min_ns(), answer.max_ns()];
            let figures = figures.into_iter().chain(late(one));
            let figures: Vec<String> = figures.map(|ns| format!("{:>8}", shown(ns))).collect();
            page.line(&format!("  {STRONG}{:longest$}{STRONG:#}  {}", one.machine, figures.join(" ")));
            page.line(&format!("  {:longest$}  {FAINT}{}{FAINT:#}", "", histogram(answer)));
        }
        for one in told.iter().filter(|one| one.question == question) {
            let Some(said) = said(one) else { continue };
            page.hanging(&format!("  {}", one.machine), longest + 4, said);
        }
    }
    page.finish()
}

/// How much longer than asked most waits took, where the answer is how long they took.
fn late(told: &Told) -> Option<f64> {
    let answer = told.answer.as_ref().ok().filter(|answer| answer.meaning() == Meaning::Itself)?;
    Some(answer.quantile_ns(0.5) - told.request?.0 as f64)
}

/// The question with what it was asked under, whether models answer it and what was changed of them, which is the same
/// for all of them.
fn heading(told: &Told) -> String {
    let mut heading = told.question.clone();
    for (what, how) in &told.under {
        heading += &format!(", {what} {how}");
    }
    if matches!(&told.answer, Ok(answer) if answer.meaning() == Meaning::Lateness) {
        heading += ": how late each deadline was served";
    }
    if let Some(model) = &told.modelled {
        heading += &format!(" (modelled{})", model.strip_prefix(told.machine.as_str()).unwrap_or_default());
    }
    heading
}

/// The rule, or why there is no answer.
fn said(told: &Told) -> Option<&str> {
    match &told.answer {
        Ok(answer) => answer.rule(),
        Err(reason) => Some(reason),
    }
}

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const COLUMNS: usize = 48;

/// The values from least to most, as bars, and how many they are.
fn histogram(answer: &Answer) -> String {
    let (least, most) = (answer.min_ns(), answer.max_ns());
    if most - least < 1.0 {
        return match answer.count() {
            1 => "one value".to_owned(),
            count => format!("all {count} values the same: {}", shown(least)),
        };
    }
    let mut columns = [0_usize; COLUMNS];
    for (value, count) in answer.counted_ns() {
        let column = ((value - least) / (most - least) * COLUMNS as f64) as usize;
        columns[column.min(COLUMNS - 1)] += usize::try_from(count).unwrap_or(0);
    }
    let highest = columns.iter().copied().max().unwrap_or(1).max(1);
    let bar = |&count: &usize| match count {
        0 => ' ',
        count => BARS[(count * (BARS.len() - 1)).div_ceil(highest).min(BARS.len() - 1)],
    };
    let bars: String = columns.iter().map(bar).collect();
    format!("{} {bars} {}, {} values", shown(least), shown(most), answer.count())
}

fn shown(ns: f64) -> String {
    if ns.abs() < 1_000.0 { format!("{ns:.1} ns") } else { Nanos(ns as i64).to_string() }
}

fn document(told: &Told) -> Value {
    let mut document = json!({ "machine": told.machine, "modelled": told.modelled, "question": told.question });
    if !told.under.is_empty() {
        document["under"] = told.under.iter().map(|(what, how)| ((*what).to_owned(), json!(how))).collect();
    }
    match &told.answer {
        Err(reason) => document["reason"] = json!(reason),
        Ok(answer) => {
            document["rule"] = json!(answer.rule());
            document["count"] = json!(answer.count());
            let quantiles = [("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99)];
            for (name, share) in quantiles {
                document[name] = json!(answer.quantile_ns(share));
            }
            document["values"] = json!(match answer.meaning() {
                Meaning::Itself => "as asked",
                Meaning::Lateness => "lateness",
            });
            document["mean_ns"] = json!(answer.mean_ns());
            document["min_ns"] = json!(answer.min_ns());
            document["max_ns"] = json!(answer.max_ns());
        }
    }
    document
}
