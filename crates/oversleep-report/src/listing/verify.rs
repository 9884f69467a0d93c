//! The models' answers beside published figures.

use std::collections::BTreeSet;

use oversleep_lab::machines::Source;
use oversleep_lab::verify::{Basis, COLLECTIONS, Kind, Row, Summary, Tally, Tolerance, Verdict, summary};
use oversleep_record::words::percent;
use serde_json::{Value, json};

use super::{FAINT, GOOD, Listing, MISSING, Page, Rows};

/// The verdict on a row, in a word or two.
fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Judged(judged) if judged.reproduced => "reproduced",
        Verdict::Judged(_) => "off",
        Verdict::Broken(_) => "broken",
        Verdict::Uncovered(_) => "not covered",
        Verdict::Outside(_) => "outside",
    }
}

/// The observations with the models' answers. With `leaves_out`, the models answered without their own sources; with
/// `all`, the text has those that are reproduced, too.
pub fn listing(rows: &[Row], leaves_out: bool, all: bool) -> Listing<'_> {
    Listing {
        title: "published observations".to_owned(),
        text: Box::new(move |width| text(rows, leaves_out, all, width)),
        data: document(rows, leaves_out),
        rows: Rows::In("/observations"),
        columns: &["id", "machine", "question", "published", "model", "verdict", "basis", "reason", "citation"],
    }
}

/// As text; the observations that are reproduced only with `all`. With `leaves_out`, the rows were asked of models without
/// their own sources.
pub fn text(rows: &[Row], leaves_out: bool, all: bool, width: usize) -> String {
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
    unanswered(&mut page, rows, MISSED);
    unanswered(&mut page, rows, "nothing that a model could say");
    if leaves_out {
        page.heading("figures that one source states alone");
        for Alone { machine, figures, ids } in of_one_source(rows) {
            let figures: Vec<&str> = figures.into_iter().collect();
            page.hanging(&format!("  {machine:20}"), 22, &format!("{}: {}", figures.join(", "), ids.join(" ")));
        }
    }
    page.heading("reproduced, by tolerance");
    for (tolerance, reproduced, judged) in by_tolerance(rows) {
        page.line(&format!("  {reproduced:>4} of {judged:<4} rows {}", tolerance.words()));
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
    conclude(&mut page, rows, leaves_out);
    page.finish()
}

const MISSED: &str = "not covered, and so missed";

/// The rows that no model was asked, by reason: those that count as missed, or those that don't count.
fn unanswered(page: &mut Page, rows: &[Row], heading: &str) {
    let counts = heading == MISSED;
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows {
        let reason = match &row.verdict {
            Verdict::Uncovered(reason) if counts => reason,
            Verdict::Outside(reason) if !counts => reason,
            _ => continue,
        };
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, ids)) => ids.push(&row.observation.id),
            None => reasons.push((reason, vec![&row.observation.id])),
        }
    }
    if !reasons.is_empty() {
        page.heading(heading);
    }
    for (reason, ids) in reasons {
        page.hanging(&format!("  {FAINT}{:>4}{FAINT:#}", ids.len()), 8, &format!("{reason}: {}", ids.join(" ")));
    }
}

/// What one source states alone about a machine.
struct Alone<'a> {
    machine: &'a str,
    figures: BTreeSet<&'a str>,
    /// The rows of that source which need these figures.
    ids: Vec<&'a str>,
}

/// By machine, the figures behind the rows' answers that no other source states.
fn of_one_source(rows: &[Row]) -> Vec<Alone<'_>> {
    let mut machines: Vec<Alone> = Vec::new();
    for row in rows.iter().filter(|row| row.is_of_one_source()) {
        let machine = row.observation.machine.as_deref().unwrap_or_default();
        let figures = row.without.iter().filter(|figure| figure.source.is_none()).map(|figure| figure.path.as_str());
        let at = machines.iter().position(|known| known.machine == machine).unwrap_or_else(|| {
            machines.push(Alone { machine, figures: BTreeSet::new(), ids: Vec::new() });
            machines.len() - 1
        });
        machines[at].figures.extend(figures);
        machines[at].ids.push(&row.observation.id);
    }
    machines
}

/// How many rows are reproduced, and of how many, by tolerance.
fn by_tolerance(rows: &[Row]) -> Vec<(Tolerance, usize, usize)> {
    let count = |tolerance| {
        let verdicts: Vec<bool> = rows
            .iter()
            .filter_map(|row| match &row.verdict {
                Verdict::Judged(judged) => {
                    let own = row.observation.expect.as_ref()?.tolerance();
                    let held_to = if judged.of_machines.is_some() { Tolerance::Machines } else { own };
                    (held_to == tolerance).then_some(judged.reproduced)
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
        Verdict::Broken(reason) | Verdict::Uncovered(reason) | Verdict::Outside(reason) => reason,
    };
    let question = observation.ask.as_ref().map(ToString::to_string).unwrap_or_default();
    let machine = observation.machine.as_deref().unwrap_or_default();
    let source = citation(&observation.source, observation.by.as_deref());
    let held_to = match &row.verdict {
        Verdict::Judged(judged) if !judged.held_to.is_empty() => format!("; held to {}", judged.held_to),
        _ => String::new(),
    };
    format!("{}; {machine} {question}: {model} ({}{held_to}; {source})", observation.published, basis(row))
}

/// The source, and the reporter if it has several.
fn citation(id: &str, by: Option<&str>) -> String {
    let citation = Source::find(id).map_or(id.to_owned(), Source::citation);
    by.map_or(citation.clone(), |by| format!("{citation}, {by}"))
}

/// `fitted`, `predicted`, or nothing for a row that has no answer.
fn basis(row: &Row) -> &'static str {
    match &row.basis {
        Some(Basis::Fitted(_)) if row.without.is_empty() => "fitted",
        Some(Basis::Fitted(_)) if row.is_of_one_source() => "without its source, which alone states a figure of it",
        Some(Basis::Fitted(_)) => "without its source",
        Some(Basis::Shared(_)) => "predicted, its own source left out of a mean",
        Some(Basis::Predicted) => "predicted",
        None => "",
    }
}

fn conclude(page: &mut Page, rows: &[Row], leaves_out: bool) {
    let sum = summary(rows);
    let share = |tally: Tally| {
        let share = percent(tally.reproduced as f64 / tally.covered.max(1) as f64);
        format!("{} of {} ({share})", tally.reproduced, tally.covered)
    };
    let parts = match leaves_out {
        true => format!(
            "Without its own source, each of {} published observations that the models cover is predicted from the others: \
             {} are reproduced. Of {} there is other evidence: {}. The others have a figure that one source states alone, \
             and the model falls back to a rule's default: {}.",
            sum.all.covered,
            share(sum.all),
            sum.all.less(sum.of_one_source).covered,
            share(sum.all.less(sum.of_one_source)),
            share(sum.of_one_source),
        ),
        false => format!(
            "Fitted, because a figure of the profile is from the same source: {} reproduced. Predicted, because none is: {} \
             reproduced.",
            share(sum.fitted),
            share(sum.predicted),
        ),
    };
    let of_kind = |kind: Kind| {
        let known = Tally::with_other_evidence(rows, kind);
        let known =
            if leaves_out { format!(", {} where there is other evidence", share(known)) } else { String::new() };
        format!("{}: {}{known}", kind.words(), share(Tally::of_kind(rows, kind)))
    };
    let kinds = Kind::ALL.map(of_kind);
    let exact = format!(
        "Held to how exactly each source measured and printed, with no factor for other machines, {} are reproduced.",
        share(sum.as_exactly)
    );
    let collections = COLLECTIONS.map(|letter| format!("{letter} {}", share(Tally::of_collection(rows, letter))));
    page.paragraph(
        0,
        &format!(
            "{parts} By kind, {}. {exact} {} more are not covered and count as missed: of all that a model could say, {}. By \
             collection, as ids begin, the oldest first: {}. {} say nothing that a model could.",
            kinds.join("; "),
            sum.uncovered,
            share(sum.counted()),
            collections.join(", "),
            sum.outside,
        ),
    );
}

/// As one JSON document.
pub fn document(rows: &[Row], leaves_out: bool) -> Value {
    let sum: Summary = summary(rows);
    let row = |row: &Row| {
        let observation = &row.observation;
        let (model, reason) = match &row.verdict {
            Verdict::Judged(judged) => (Some(&judged.model), None),
            Verdict::Broken(reason) | Verdict::Uncovered(reason) | Verdict::Outside(reason) => (None, Some(reason)),
        };
        let held_to = match &row.verdict {
            Verdict::Judged(judged) => Some(&judged.held_to),
            _ => None,
        };
        let (basis, fitted) = match &row.basis {
            Some(Basis::Fitted(figures)) => (Some("fitted"), figures.as_slice()),
            Some(Basis::Shared(figures)) => (Some("predicted"), figures.as_slice()),
            Some(Basis::Predicted) => (Some("predicted"), [].as_slice()),
            None => (None, [].as_slice()),
        };
        let without = row
            .without
            .iter()
            .map(|figure| json!({ "key": figure.path, "value": figure.value, "source": figure.source }));
        json!({
            "id": observation.id,
            "source": observation.source,
            "citation": citation(&observation.source, observation.by.as_deref()),
            "published": observation.published,
            "kind": observation.kind.map(Kind::id),
            "machine": observation.machine,
            "set": observation.set,
            "question": observation.ask.as_ref().map(ToString::to_string),
            "basis": basis,
            "fitted_figures": fitted,
            "without_source": without.collect::<Value>(),
            "verdict": word(&row.verdict),
            "model": model,
            "reason": reason,
            "held_to": held_to,
            "as_exactly": row.is_as_exact(),
            "of_one_source": row.is_of_one_source(),
            "because": observation.because,
        })
    };
    let tally = |tally: Tally| json!({ "covered": tally.covered, "reproduced": tally.reproduced });
    let tolerances = by_tolerance(rows).into_iter().map(
        |(tolerance, reproduced, rows)| json!({ "tolerance": tolerance.words(), "rows": rows, "reproduced": reproduced }),
    );
    let kinds = Kind::ALL.map(|kind| (kind.id().to_owned(), tally(Tally::of_kind(rows, kind))));
    let collections = COLLECTIONS.map(|letter| (letter.to_string(), tally(Tally::of_collection(rows, letter))));
    json!({
        "left_out": leaves_out,
        "covered": sum.all.covered,
        "reproduced": sum.all.reproduced,
        "uncovered": sum.uncovered,
        "outside": sum.outside,
        "fitted": tally(sum.fitted),
        "predicted": tally(sum.predicted),
        "as_exactly": tally(sum.as_exactly),
        "of_one_source": tally(sum.of_one_source),
        "kinds": kinds.into_iter().collect::<Value>(),
        "collections": collections.into_iter().collect::<Value>(),
        "tolerances": tolerances.collect::<Value>(),
        "observations": rows.iter().map(row).collect::<Value>(),
    })
}
