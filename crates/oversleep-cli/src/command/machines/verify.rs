//! `machines verify`: what others measured, and what the models make of it.

use clap::Args;
use oversleep_lab::verify::{Row, Summary, Tolerance, Verdict, summary, verify};
use serde_json::{Value, json};

use crate::args::help;
use crate::exit::{Exit, Failure};
use crate::output::stdout;
use crate::width::width;
use oversleep_report::listing::{FAINT, GOOD, MISSING, Page};

/// Hold every published observation against the models
///
/// Each observation is measured on the modelled machine it was published for, with the same experiments as on a real
/// one. Those the models don't cover are listed with the reason.
#[derive(Args, Debug)]
#[command(before_help = help::MACHINES_VERIFY, after_help = help::CODES)]
pub struct Verify {
    /// Show those that are reproduced too
    #[arg(long)]
    all: bool,

    /// As one JSON document
    #[arg(long)]
    json: bool,
}

/// Of a hundred observations the models cover they have to reproduce so many.
const REPRODUCED_PERCENT: usize = 95;

/// What a row's verdict is called.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Judged(judged) if judged.reproduced => "reproduced",
        Verdict::Judged(_) => "off",
        Verdict::Broken(_) => "broken",
        Verdict::Uncovered(_) => "not covered",
    }
}

impl Verify {
    /// Runs it. Ends with the code of a failed assertion where the models reproduce too little of what they cover.
    pub fn run(self) -> Result<Exit, Failure> {
        let rows = verify().map_err(Failure::failed)?;
        let sum = summary(&rows);
        if self.json {
            stdout::json(&document(&rows, sum))?;
        } else {
            stdout::text(&text(&rows, sum, self.all, width()))?;
        }
        let is_broken = rows.iter().any(|row| matches!(row.verdict, Verdict::Broken(_)));
        let too_few = sum.reproduced * 100 < sum.covered * REPRODUCED_PERCENT;
        Ok(if is_broken || too_few { Exit::AssertionFailed } else { Exit::Fine })
    }
}

fn text(rows: &[Row], sum: Summary, all: bool, width: usize) -> String {
    let mut page = Page::new(width);
    let part = |kind: &str| rows.iter().filter(|row| word(&row.verdict) == kind).collect::<Vec<_>>();
    for (kind, style) in [("broken", MISSING), ("off", MISSING), ("reproduced", GOOD)] {
        let part = part(kind);
        if part.is_empty() || (kind == "reproduced" && !all) {
            continue;
        }
        page.heading(kind);
        for row in part {
            page.hanging(&format!("  {style}{:14}{style:#}", row.observation.id), 16, &line(row));
        }
    }
    page.heading("not covered");
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in part("not covered") {
        let Verdict::Uncovered(reason) = &row.verdict else { continue };
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, ids)) => ids.push(&row.observation.id),
            None => reasons.push((reason, vec![&row.observation.id])),
        }
    }
    for (reason, ids) in reasons {
        page.hanging(&format!("  {FAINT}{:>4}{FAINT:#}", ids.len()), 8, &format!("{reason}: {}", ids.join(" ")));
    }
    page.heading("held against");
    for (tolerance, reproduced, judged) in by_tolerance(rows) {
        page.line(&format!("  {reproduced:>4} of {judged:<4} {}", tolerance.words()));
    }
    let own = rows.iter().filter(|row| !row.observation.set.is_empty()).count();
    page.gap();
    if own > 0 {
        page.paragraph(
            0,
            &format!("For {own} of them a figure of the profile is the one the source states ('set' with --json)."),
        );
    }
    page.paragraph(0, &conclusion(sum));
    page.finish()
}

/// Rows by how they are judged: how many are reproduced, and how many there are.
fn by_tolerance(rows: &[Row]) -> Vec<(Tolerance, usize, usize)> {
    let judged = |tolerance| {
        let of_it = rows.iter().filter_map(move |row| match &row.verdict {
            Verdict::Judged(judged) if row.observation.expect.as_ref()?.tolerance() == tolerance => {
                Some(judged.reproduced)
            }
            _ => None,
        });
        let verdicts: Vec<bool> = of_it.collect();
        (tolerance, verdicts.iter().filter(|reproduced| **reproduced).count(), verdicts.len())
    };
    Tolerance::ALL.into_iter().map(judged).filter(|&(_, _, judged)| judged > 0).collect()
}

fn line(row: &Row) -> String {
    let observation = &row.observation;
    let model = match &row.verdict {
        Verdict::Judged(judged) => &judged.model,
        Verdict::Broken(reason) | Verdict::Uncovered(reason) => reason,
    };
    let asked = observation.ask.as_ref().map(ToString::to_string).unwrap_or_default();
    let machine = observation.machine.as_deref().unwrap_or_default();
    format!("{}; {machine} {asked}: {model} ({})", observation.published, observation.source)
}

fn conclusion(sum: Summary) -> String {
    let Summary { covered, reproduced, uncovered } = sum;
    let percent = 100.0 * reproduced as f64 / covered.max(1) as f64;
    format!(
        "{reproduced} of {covered} published observations that the models cover are reproduced ({percent:.1} %); \
         {uncovered} more are not covered"
    )
}

fn document(rows: &[Row], sum: Summary) -> Value {
    let by_tolerance = by_tolerance(rows);
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            let observation = &row.observation;
            let (model, reason) = match &row.verdict {
                Verdict::Judged(judged) => (Some(&judged.model), None),
                Verdict::Broken(reason) | Verdict::Uncovered(reason) => (None, Some(reason)),
            };
            json!({
                "id": observation.id,
                "source": observation.source,
                "published": observation.published,
                "machine": observation.machine,
                "set": observation.set,
                "question": observation.ask.as_ref().map(ToString::to_string),
                "verdict": word(&row.verdict),
                "model": model,
                "reason": reason,
                "because": observation.because,
            })
        })
        .collect();
    let tolerances: Vec<Value> = by_tolerance
        .into_iter()
        .map(|(tolerance, reproduced, judged)| {
            json!({ "held_against": tolerance.words(), "rows": judged, "reproduced": reproduced })
        })
        .collect();
    json!({
        "covered": sum.covered,
        "reproduced": sum.reproduced,
        "uncovered": sum.uncovered,
        "tolerances": tolerances,
        "observations": rows,
    })
}
