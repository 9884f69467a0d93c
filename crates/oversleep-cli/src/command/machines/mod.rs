//! `machines`: the modelled machines, what they are made of, and how well they do.

mod verify;

use clap::{Args, Subcommand};
use oversleep_lab::machines::{self, Description};
use serde_json::{Value, json};

use crate::args::{help, value};
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::request::machine;
use crate::width::width;
use oversleep_report::listing::{FAINT, Page, STRONG};

/// List the modelled machines, or explain one: every figure with its source
///
/// They stand in for machines you don't have: `--on NAME` runs any measurement on one, in virtual time.
#[derive(Args, Debug)]
#[command(before_help = help::MACHINES, after_help = help::CODES, args_conflicts_with_subcommands = true)]
pub struct Machines {
    /// Machine to explain, like windows-11 [default: list all]
    name: Option<String>,

    /// Change a figure, like tick=1ms, to see what it comes to
    #[arg(long, value_name = "KEY=VALUE", value_parser = value::change, requires = "name")]
    set: Vec<String>,

    /// As one JSON document
    #[arg(long)]
    json: bool,

    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Debug, Subcommand)]
enum Task {
    Verify(verify::Verify),
}

impl Machines {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        if let Some(Task::Verify(task)) = self.task {
            return task.run();
        }
        let names = match &self.name {
            Some(name) => {
                machine::known(name)?;
                vec![name.as_str()]
            }
            None => machines::names(),
        };
        let described = |name| machines::describe(name, &self.set).map_err(|error| Failure::usage(error.to_string()));
        let all: Vec<Description> = names.into_iter().map(described).collect::<Result<_, _>>()?;
        match (&self.name, self.json) {
            (None, true) => stdout::json(&Value::Array(all.iter().map(document).collect()))?,
            (Some(_), true) => stdout::json(&document(&all[0]))?,
            (None, false) => stdout::text(&list(&all, width()))?,
            (Some(_), false) => stdout::text(&explain(&all[0], width()))?,
        }
        Ok(Exit::Fine)
    }
}

fn list(all: &[Description], width: usize) -> String {
    let mut page = Page::new(width);
    let longest = all.iter().map(|one| one.name.len()).max().unwrap_or(0);
    for one in all {
        page.hanging(&format!("{:longest$}", one.name), longest + 2, &one.title);
    }
    page.gap();
    page.paragraph(
        0,
        "`oversleep machines NAME` shows what one is made of; `oversleep check --on NAME` measures on it; `oversleep \
         machines verify` holds them against what others published.",
    );
    page.finish()
}

fn explain(one: &Description, width: usize) -> String {
    let mut page = Page::new(width);
    page.line(&format!("{STRONG}{}{STRONG:#}: {}", one.name, one.title));
    let mut part = "";
    for figure in &one.figures {
        let (head, key) = figure.path.split_once('.').unwrap_or(("", &figure.path));
        if head != part {
            page.heading(head);
            part = head;
        }
        page.hanging(&format!("  {key}"), 26, &format!("{} · {}", figure.value, figure.doc));
        page.hanging("", 26, &format!("{FAINT}{}{FAINT:#}", figure.source));
    }
    page.heading("Change one");
    page.line(&format!("  oversleep check --on {} --set KEY=VALUE", one.name));
    page.finish()
}

fn document(one: &Description) -> Value {
    let figures: Vec<Value> = one
        .figures
        .iter()
        .map(
            |figure| json!({ "key": figure.path, "value": figure.value, "means": figure.doc, "source": figure.source }),
        )
        .collect();
    json!({ "name": one.name, "title": one.title, "figures": figures })
}
