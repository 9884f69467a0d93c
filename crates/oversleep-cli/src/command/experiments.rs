//! `experiments`: what is measured, how, and what others published.

use clap::Args;
use oversleep_measure::{Experiment, registry};
use serde_json::{Value, json};

use crate::args::help;
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request::experiments::find;
use crate::width::width;
use oversleep_report::listing::{Page, STRONG};

/// List the experiments, or explain one: its question, method and published figures
#[derive(Args, Debug)]
#[command(before_help = help::EXPERIMENTS)]
pub struct Experiments {
    /// Id of the experiment to explain, like B2 [default: list all]
    id: Option<String>,

    /// As one JSON document
    #[arg(long)]
    json: bool,
}

impl Experiments {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let one = self.id.as_deref().map(find).transpose()?;
        match (one, self.json) {
            (None, false) => stdout::text(&list(width()))?,
            (Some(experiment), false) => stdout::text(&explain(experiment, width()))?,
            (None, true) => stdout::json(&Value::Array(registry().iter().copied().map(document).collect()))?,
            (Some(experiment), true) => stdout::json(&document(experiment))?,
        }
        Ok(Exit::Fine)
    }
}

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

fn explain(experiment: &Experiment, width: usize) -> String {
    let mut page = Page::new(width);
    page.line(&format!("{STRONG}{} {}{STRONG:#}", experiment.id, experiment.title));
    page.paragraph(0, experiment.question);
    page.heading("Method");
    page.paragraph(2, experiment.method);
    if !experiment.published.is_empty() {
        page.heading("Published by others");
        for published in experiment.published {
            page.hanging(
                &format!("  {}", published.os),
                12,
                &format!("{}: {} ({})", published.what, published.value, published.source),
            );
        }
    }
    page.heading("Run it");
    page.line(&format!("  oversleep check --only {}", experiment.id));
    page.finish()
}

fn document(experiment: &Experiment) -> Value {
    let published: Vec<Value> = experiment
        .published
        .iter()
        .map(|one| json!({ "os": one.os, "what": one.what, "value": one.value, "source": one.source }))
        .collect();
    json!({
        "id": experiment.id,
        "title": experiment.title,
        "question": experiment.question,
        "method": experiment.method,
        "published": published,
    })
}
