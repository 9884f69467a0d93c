//! Where verdicts go, and how the command ends.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use oversleep_record::assertion::{Assertions, Judged, Verdict};
use oversleep_report::document::{self, GITHUB, JUNIT, Layout, MARKDOWN};

use super::{Assert, FormatArg, Inconclusive};
use crate::args::{DocumentArgs, Named};
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::Delivery;

/// Where GitHub shows what a step says.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Checks every destination before anything is read or measured.
pub fn prepare(assert: &Assert, read: &[PathBuf]) -> Result<Delivery, Failure> {
    let mut documents: DocumentArgs = (*assert.documents).clone();
    let stays = documents.named.is_empty();
    if let Some(path) = &assert.junit {
        documents.named.push(Named { option: "junit", format: &JUNIT, path: path.clone() });
    }
    if assert.format == Some(FormatArg::Github) {
        documents.named.push(Named { option: "format", format: &GITHUB, path: PathBuf::from("-") });
    }
    let inputs: Vec<PathBuf> = read.iter().chain(&assert.file).chain(&assert.baseline).cloned().collect();
    // A build's log should say why it failed, also where JUnit's file is for another program.
    match stays {
        true => Delivery::prepare_in(&documents, false, crate::output::place::Places::reading(&inputs)?),
        false => Delivery::only_named(&documents, &inputs),
    }
}

/// Delivers the verdicts. Returns how the command ends.
pub fn deliver(assert: &Assert, delivery: &Delivery, judged: Vec<Judged>) -> Result<Exit, Failure> {
    let all = Assertions::of(judged);
    delivery.deliver(&all, "oversleep-assertions")?;
    if assert.format == Some(FormatArg::Github)
        && let Some(path) = env::var_os(SUMMARY).filter(|path| !path.is_empty()).map(PathBuf::from)
    {
        let table = document::bytes(&all, &MARKDOWN, &Layout::default());
        let added =
            OpenOptions::new().append(true).create(true).open(&path).and_then(|mut file| file.write_all(&table));
        if let Err(error) = added {
            message::warning(&format!("can't add to the summary of the step, '{}': {error}", path.display()));
        }
    }
    Ok(match (all.verdict, assert.inconclusive) {
        (Verdict::Pass, _) | (Verdict::Undecided, Some(Inconclusive::Pass)) => Exit::Fine,
        (Verdict::Fail, _) | (Verdict::Undecided, Some(Inconclusive::Fail)) => Exit::AssertionFailed,
        (Verdict::Undecided, None) => Exit::TooDisturbed,
    })
}
