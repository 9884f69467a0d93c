//! Puts questions to the models, for the ledger of first looks: a list of `questions` from the standard input, with their
//! answers to the standard output. A question that no model answers says so, and counts as missed.
//!
//! `cargo run -p oversleep-lab --example first-look < questions.toml`

use std::io::Read;

use oversleep_lab::verify::first_look::Answered;

#[derive(serde::Deserialize)]
struct Questions {
    questions: Vec<toml::Value>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    for mut question in toml::from_str::<Questions>(&text)?.questions {
        let answered: Answered = question.clone().try_into()?;
        let table = question.as_table_mut().ok_or("a question is a table")?;
        if answered.uncovered.is_none() {
            match answered.answered() {
                Ok(Answered { kind, ns: Some(ns), rule, .. }) => {
                    table.extend(kind.map(|kind| ("kind".to_owned(), kind.id().into())));
                    table.insert("ns".to_owned(), ns.map(rounded).to_vec().into());
                    if rule > 0.0 {
                        table.insert("rule".to_owned(), rounded(rule));
                    }
                }
                Ok(_) => {}
                Err(reason) => {
                    table.insert("uncovered".to_owned(), reason.into());
                }
            }
        }
        let order =
            ["id", "system", "on", "ask", "set", "own", "neighbours", "load", "kind", "ns", "rule", "uncovered"];
        let fields = order.iter().filter_map(|key| Some(format!("{key} = {}", table.get(*key)?)));
        println!("  {{ {} }},", fields.collect::<Vec<_>>().join(", "));
    }
    Ok(())
}

/// Whole nanoseconds, and tenths below a microsecond.
fn rounded(ns: f64) -> toml::Value {
    if ns.abs() < 1e3 { ((ns * 10.0).round() / 10.0).into() } else { (ns.round() as i64).into() }
}
