//! The models beside the figures that others published.

use oversleep_lab::verify::{Row, Summary, Tolerance, Verdict};
use oversleep_record::words::percent;
use serde_json::{Value, json};

use super::{FAINT, GOOD, MISSING, Page};

/// The verdict on a row, in a word or two.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Judged(judged) if judged.reproduced => "reproduced",
        Verdict::Judged(_) => "off",
        Verdict::Broken(_) => "broken",
        Verdict::Uncovered(_) => "not covered",
    }
}

/// As text; the observations that are reproduced only with `all`.
pub fn text(rows: &[Row], sum: Summary, all: bool, width: usize) -> String {
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
    page.heading("reproduced, by tolerance");
    for (tolerance, reproduced, judged) in by_tolerance(rows) {
        page.line(&format!("  {reproduced:>4} of {judged:<4} {}", tolerance.words()));
    }
    let set = rows.iter().filter(|row| !row.observation.set.is_empty()).count();
    page.gap();
    if set > 0 {
        let rows = if set == 1 { "1 row" } else { &format!("{set} rows") };
        page.paragraph(
            0,
            &format!("In {rows} a figure of the profile is set to the one its source states (`set` in --json)."),
        );
    }
    page.paragraph(0, &conclusion(sum));
    page.finish()
}

/// How many rows are reproduced and how many there are, by how they are judged.
fn by_tolerance(rows: &[Row]) -> Vec<(Tolerance, usize, usize)> {
    let count = |tolerance| {
        let verdicts: Vec<bool> = rows
            .iter()
            .filter_map(|row| match &row.verdict {
                Verdict::Judged(judged) if row.observation.expect.as_ref()?.tolerance() == tolerance => {
                    Some(judged.reproduced)
                }
                _ => None,
            })
            .collect();
        (tolerance, verdicts.iter().filter(|reproduced| **reproduced).count(), verdicts.len())
    };
    Tolerance::ALL.into_iter().map(count).filter(|&(_, _, judged)| judged > 0).collect()
}

fn line(row: &Row) -> String {
    let observation = &row.observation;
    let model = match &row.verdict {
        Verdict::Judged(judged) => &judged.model,
        Verdict::Broken(reason) | Verdict::Uncovered(reason) => reason,
    };
    let question = observation.ask.as_ref().map(ToString::to_string).unwrap_or_default();
    let machine = observation.machine.as_deref().unwrap_or_default();
    format!("{}; {machine} {question}: {model} ({})", observation.published, observation.source)
}

fn conclusion(sum: Summary) -> String {
    let Summary { covered, reproduced, uncovered } = sum;
    let share = percent(reproduced as f64 / covered.max(1) as f64);
    format!(
        "The models reproduce {reproduced} of the {covered} published observations that they cover ({share}); \
         {uncovered} more are not covered."
    )
}

/// As one JSON document.
pub fn document(rows: &[Row], sum: Summary) -> Value {
    let row = |row: &Row| {
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
    };
    let tolerances = by_tolerance(rows).into_iter().map(
        |(tolerance, reproduced, rows)| json!({ "tolerance": tolerance.words(), "rows": rows, "reproduced": reproduced }),
    );
    json!({
        "covered": sum.covered,
        "reproduced": sum.reproduced,
        "uncovered": sum.uncovered,
        "tolerances": tolerances.collect::<Value>(),
        "observations": rows.iter().map(row).collect::<Value>(),
    })
}
