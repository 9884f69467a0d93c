//! `docs/faults.md`: the table with its results.

use std::path::Path;
use std::process::Command;

use super::row::Row;
use super::{Outcome, Ran};

const HEAD: &str = "\
<!-- Written by `cargo prove faults --all --docs`. -->

# The fault table

What happens when something goes wrong: a signal at any moment, an output that fails, a part of the system that is missing,
a limit, a hostile file or text. Each row is staged in one or more runs of the command and compared with its expectation.
Besides what a row says, every run ends, without a panic or a crash; it leaves no half-written file, changes nothing that it
was given, and prints nothing that a terminal would obey.

`cargo prove faults` runs a sample, a kind or a part of a name runs those rows alone, `--all` runs everything, and `--all --docs`
writes this page. The rows are in [`proving/src/faults/table/`](../proving/src/faults/table/).
";

/// Writes the page.
///
/// # Errors
/// It could not be written.
pub fn write(root: &Path, all: bool, ran: &[(&Row, Ran)]) -> Result<(), String> {
    let mut text = format!("{HEAD}\n{}\n", summary(all, ran));
    let mut kind = "";
    for (row, ran) in ran {
        if row.kind != kind {
            kind = row.kind;
            let mut letters = kind.chars();
            let heading: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
            text.push_str(&format!("\n## {heading}\n\n| fault | expected | runs | result |\n|---|---|---|---|\n"));
        }
        let result = match &ran.outcome {
            Outcome::Skipped(reason) => format!("not staged: {reason}"),
            Outcome::Ran { failed } if failed.is_empty() => "as expected".to_owned(),
            Outcome::Ran { failed } => format!("{} not as expected: {}", failed.len(), failed[0].1),
        };
        let cell = |text: &str| text.replace('|', "\\|");
        text.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            cell(&row.name),
            cell(&row.expect.sentence()),
            ran.runs,
            cell(&result)
        ));
    }
    std::fs::write(root.join("docs/faults.md"), text).map_err(|error| format!("docs/faults.md: {error}"))
}

fn summary(all: bool, ran: &[(&Row, Ran)]) -> String {
    let runs: usize = ran.iter().map(|(_, ran)| ran.runs).sum();
    let is_skipped = |ran: &Ran| matches!(ran.outcome, Outcome::Skipped(_));
    let skipped = ran.iter().filter(|(_, ran)| is_skipped(ran)).count();
    let failed: usize = ran.iter().map(|(_, ran)| ran.failed()).sum();
    format!(
        "{}, on {}, {}: {} rows, {runs} runs, {failed} not as expected, {skipped} rows not staged.",
        output("date", &["-u", "+%Y-%m-%d"]),
        output("uname", &["-srm"]),
        if all { "everything" } else { "the sample" },
        ran.len()
    )
}

fn output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}
