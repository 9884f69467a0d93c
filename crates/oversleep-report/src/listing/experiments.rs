//! The experiments: question, method, and figures that others published.

use oversleep_lab::verify::of_experiment;
use oversleep_measure::{Column, Experiment, registry};
use serde_json::{Value, json};

use super::{Listing, Page, Rows, STRONG};

/// The columns of experiments, whether all or one.
const COLUMNS: &[&str] = &["id", "title", "question"];

/// The list of all.
pub fn all() -> Listing<'static> {
    Listing {
        title: "experiments".to_owned(),
        text: Box::new(list),
        data: registry().iter().copied().map(document).collect(),
        rows: Rows::In(""),
        columns: COLUMNS,
    }
}

/// One of them.
pub fn listing(experiment: &'static Experiment) -> Listing<'static> {
    Listing {
        title: format!("experiment {} {}", experiment.id, experiment.title),
        text: Box::new(|width| text(experiment, width)),
        data: document(experiment),
        rows: Rows::In(""),
        columns: COLUMNS,
    }
}

/// All of them, a line or a few each.
fn list(width: usize) -> String {
    let mut page = Page::new(width);
    let longest = registry().iter().map(|experiment| experiment.title.chars().count()).max().unwrap_or(0);
    for experiment in registry() {
        let head = format!("{:4} {:longest$}", experiment.id, experiment.title);
        page.hanging(&head, 5 + longest + 2, experiment.question);
    }
    page.gap();
    page.paragraph(0, "`oversleep experiments ID` explains one; `oversleep check --only ID,ID` runs some of them.");
    page.finish()
}

/// As text.
fn text(experiment: &Experiment, width: usize) -> String {
    let mut page = Page::new(width);
    page.line(&format!("{STRONG}{} {}{STRONG:#}", experiment.id, experiment.title));
    page.paragraph(0, experiment.question);
    page.heading("Method");
    page.paragraph(2, experiment.method);
    if !experiment.columns.is_empty() {
        page.heading("Columns");
    }
    let longest = experiment.columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    for column in experiment.columns {
        page.hanging(&format!("  {}", column.name), longest + 4, column.meaning);
    }
    let published = of_experiment(experiment.id);
    if !published.is_empty() {
        page.heading("Published by others");
    }
    for one in &published {
        page.hanging(&format!("  {}", one.whole()), 8, &format!("{} ({})", one.published, one.source_in_words()));
    }
    page.heading("Run it");
    experiment.commands.iter().for_each(|command| page.line(&format!("  {}", command.typed())));
    page.line(&format!("  oversleep check --only {}", experiment.id));
    page.finish()
}

/// As JSON.
fn document(experiment: &Experiment) -> Value {
    let column = |column: &Column| json!({ "name": column.name, "meaning": column.meaning });
    let published = of_experiment(experiment.id).into_iter().map(|one| {
        json!({ "id": one.whole(), "machine": one.machine, "published": one.published, "source": one.source_in_words() })
    });
    json!({
        "id": experiment.id,
        "title": experiment.title,
        "question": experiment.question,
        "method": experiment.method,
        "columns": experiment.columns.iter().map(column).collect::<Value>(),
        "published": published.collect::<Value>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_experiment_says_all_that_it_states() {
        for experiment in registry() {
            let (text, document) = (text(experiment, usize::MAX), document(experiment));
            assert_eq!(document["columns"].as_array().map(Vec::len), Some(experiment.columns.len()));
            let words = |value: &Value| value.as_str().map(str::to_owned);
            let all = ["id", "title", "question", "method"].map(|field| words(&document[field]));
            let rows = ["columns", "published"].into_iter().filter_map(|rows| document[rows].as_array()).flatten();
            let cells =
                rows.flat_map(|row| ["name", "meaning", "id", "published", "source"].map(|cell| words(&row[cell])));
            let commands = experiment.commands.iter().map(|command| Some(command.typed().to_string()));
            for stated in all.into_iter().chain(cells).chain(commands).flatten() {
                assert!(text.contains(&stated), "{}: {stated}\n{text}", experiment.id);
            }
        }
    }
}
