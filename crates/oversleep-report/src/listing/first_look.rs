//! What the models answered before the published figures were read.

use oversleep_lab::verify::first_look::{FirstLook, Ledger, Outcome, Share, shares};
use oversleep_record::words::percent;
use serde_json::{Value, json};

use super::{GOOD, Listing, MISSING, Page, Rows};

/// The shares at which the models were right, and each first look; the text has those at which they were right only with
/// `all`.
pub fn listing(ledger: &Ledger, all: bool) -> Listing<'_> {
    Listing {
        title: "first looks".to_owned(),
        text: Box::new(move |width| text(ledger, all, width)),
        data: document(ledger),
        rows: Rows::In("/looks"),
        columns: &[
            "question",
            "system",
            "command",
            "published",
            "model",
            "verdict",
            "grade",
            "models",
            "source",
            "says",
        ],
    }
}

fn word(look: &FirstLook) -> &'static str {
    match look.outcome {
        Outcome::Answered { agrees: true, .. } => "right",
        Outcome::Answered { .. } => "off",
        Outcome::Uncovered(_) => "not covered",
    }
}

fn model(look: &FirstLook) -> String {
    match &look.outcome {
        Outcome::Answered { ns, .. } => in_unit_of(*ns, &look.found.figure),
        Outcome::Uncovered(reason) => reason.clone(),
    }
}

/// In the unit of the published figure.
fn in_unit_of(ns: f64, figure: &str) -> String {
    let unit = figure.split(' ').next_back().unwrap_or_default();
    let scale = [("us", 1e3), ("ms", 1e6), ("s", 1e9)].into_iter().find(|(known, _)| *known == unit);
    let (unit, scale) = scale.unwrap_or(("ns", 1.0));
    format!("{:.4} {unit}", ns / scale).replace(".0000", "")
}

fn published(look: &FirstLook) -> String {
    let late = if look.found.late { "late by " } else { "" };
    format!("{late}{}", look.found.figure)
}

fn text(ledger: &Ledger, all: bool, width: usize) -> String {
    let mut page = Page::new(width);
    for (kind, style) in [("not covered", MISSING), ("off", MISSING), ("right", GOOD)] {
        let looks: Vec<&FirstLook> = ledger.looks.iter().filter(|look| word(look) == kind).collect();
        if looks.is_empty() || (kind == "right" && !all) {
            continue;
        }
        page.heading(kind);
        for look in looks {
            let line = format!(
                "{}: {} (grade {}, {}); {}: {}",
                look.found.says,
                published(look),
                look.found.grade.letter(),
                look.found.source,
                look.question.command(),
                model(look),
            );
            page.hanging(&format!("  {style}{:7}{style:#}", look.question.id), 9, &line);
        }
    }
    for group in shares(&ledger.looks) {
        page.heading(group.by);
        for share in group.shares {
            page.hanging(&format!("  {:>4} of {:<4}", share.right, share.of), 14, &line(&share));
        }
    }
    page.gap();
    page.paragraph(
        0,
        &format!(
            "Each of {} questions was answered by the models of the named commit before the figures were read. {} published \
             figures answer one. A rule must agree within 2 % or its source's rounding; of a cost or wake-up, what the rules \
             leave must agree within a factor of 2. What no model covers is missed. The intervals hold in 99 of 100 cases. \
             Figures of grade C are counted in no other share.",
            ledger.questions,
            ledger.looks.len(),
        ),
    );
    page.finish()
}

fn line(share: &Share) -> String {
    let right = percent(share.right as f64 / share.of as f64);
    format!("{right} ({} to {}): {}", percent(share.low), percent(share.high), share.what)
}

fn document(ledger: &Ledger) -> Value {
    let look = |look: &FirstLook| {
        json!({
            "question": look.question.id,
            "system": look.question.system,
            "command": look.question.command(),
            "kind": look.question.kind.map(|kind| kind.id()),
            "date": look.date,
            "models": look.models,
            "published": published(look),
            "model": model(look),
            "verdict": word(look),
            "grade": look.found.grade.letter(),
            "source": look.found.source,
            "says": look.found.says,
        })
    };
    let groups = shares(&ledger.looks).into_iter().map(|group| {
        let shares = group.shares.into_iter().map(|share| {
            json!({ "what": share.what, "right": share.right, "of": share.of, "low": share.low, "high": share.high })
        });
        (group.by.to_owned(), shares.collect::<Value>())
    });
    json!({
        "questions": ledger.questions,
        "shares": groups.collect::<Value>(),
        "looks": ledger.looks.iter().map(look).collect::<Value>(),
    })
}
