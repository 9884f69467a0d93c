//! Answers as a page and as pictures.

use super::{COLUMNS, Reply, duration, figure, heading};
use crate::picture::{AnswerRow, Answers, Frame, Shape};
use crate::view::comparison::View;
use crate::view::overview::Headline;
use crate::view::pictures::{Picture, Wanted, source_of};
use crate::view::select::distinct;
use crate::view::table::{Columns, Section};

/// The replies as pictures, one for each question that a machine answered: a self-contained SVG document each.
pub fn pictures(replies: &[Reply]) -> Vec<Picture> {
    let questions = distinct(replies.iter().map(|reply| reply.question.to_string()));
    let picture = |(i, question): (usize, &String)| {
        let group: Vec<&Reply> = replies.iter().filter(|reply| reply.question.to_string() == *question).collect();
        let row = |reply: &&Reply| {
            let label = reply.machine.clone();
            match &reply.answer {
                Ok(answer) => AnswerRow {
                    label,
                    values_us: answer.counted_ns().into_iter().map(|(ns, count)| (ns / 1e3, count)).collect(),
                    p50_us: answer.quantile_ns(0.5) / 1e3,
                    remark: answer.rule().unwrap_or_default().to_owned(),
                },
                Err(reason) => AnswerRow { label, p50_us: f64::NAN, remark: reason.clone(), ..AnswerRow::default() },
            }
        };
        let (id, note) = (format!("ask-{i}"), source_of("ask"));
        let frame = Frame { id, heading: heading(&group), note, ..Frame::default() };
        let has_answer = group.iter().any(|reply| reply.answer.is_ok());
        has_answer.then(|| Picture {
            kind: "answer",
            part: question.clone(),
            name: format!("answer-{}", i + 1),
            heading: heading(&group),
            caption: String::new(),
            forms: Answers { frame, rows: group.iter().map(row).collect() }.forms(&heading(&group), "", Wanted::All),
        })
    };
    questions.iter().enumerate().filter_map(picture).collect()
}

/// The replies as tables, one for each question.
pub fn view(replies: &[Reply]) -> View {
    let mut questions = distinct(replies.iter().map(|reply| reply.question.to_string()));
    questions.sort_unstable();
    let section = |(at, question): (usize, &String)| {
        let group: Vec<&Reply> = replies.iter().filter(|reply| reply.question.to_string() == *question).collect();
        let heading = heading(&group);
        let columns = COLUMNS
            .iter()
            .fold(Columns::new().words("machine", |reply: &&Reply| reply.machine.as_str()), |columns, column| {
                columns.figure(column.0, move |reply: &&Reply| figure(reply, column).map(duration))
            });
        let columns = columns.words("rule", |reply| reply.reason().unwrap_or_default());
        let caption = format!("Each machine's {}, and the rule that decides it", group[0].quantity());
        Section::new(format!("question-{at}"), heading).tables(columns.table(caption, group))
    };
    View {
        title: format!("oversleep ask: {}", questions.join(", ")),
        headlines: headlines(replies),
        summary: replies.iter().flat_map(|reply| [version(reply), helps(reply)]).flatten().collect(),
        sections: questions.iter().enumerate().map(section).collect(),
        pictures: pictures(replies).into_iter().map(|picture| vec![picture]).collect(),
        ..View::default()
    }
}

/// The most answers that a page begins with.
const HEADLINES_MAX: usize = 4;

/// The medians, each with the rule that decides it; none of more answers than are read at a glance.
fn headlines(replies: &[Reply]) -> Vec<Headline> {
    let one = |reply: &Reply| {
        let answer = reply.answer.as_ref().ok()?;
        let late = if reply.quantity() == "lateness" { " lateness" } else { "" };
        Some(Headline {
            what: format!("median{late} of {} on {}", reply.question, reply.machine),
            figure: duration(answer.quantile_ns(0.5)),
            of: answer.rule().unwrap_or_default().to_owned(),
        })
    };
    let all: Vec<Headline> = replies.iter().filter_map(one).collect();
    if all.len() > HEADLINES_MAX { Vec::new() } else { all }
}

/// What would make the wait end closer to its time, or why nothing does, in a sentence.
fn helps(reply: &Reply) -> Option<String> {
    if let Some(why) = &reply.nothing_helps {
        return Some(format!("Nothing helps on {}: {why}.", reply.machine));
    }
    (!reply.helps.is_empty()).then(|| format!("What helps, tried on {}: {}.", reply.machine, reply.tried()))
}

/// The version that an answer is about, in a sentence.
fn version(reply: &Reply) -> Option<String> {
    Some(format!("Version on {}: {}.", reply.machine, reply.versions.as_ref()?))
}
