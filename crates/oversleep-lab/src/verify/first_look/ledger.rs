//! Reads the ledger, and judges each published figure by the answer that was written down before it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::Kind;
use super::round::{Answered, FACTOR, Found, Of, Round};

const LEDGER: &str = include_str!("../../../first-look.toml");
/// Begins a table of figures.
const HEAD: &str = "\n[[figures]]\n";

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    round: Vec<Round>,
    #[serde(default)]
    figures: Vec<Figures>,
}

/// Published figures that were read together.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Figures {
    /// The day.
    date: String,
    /// The digest of all text above this table.
    seals: String,
    /// The figures.
    found: Vec<Found>,
}

/// Every first look.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The published figures with what the models had said.
    pub looks: Vec<FirstLook>,
    /// How many questions there are, with those that no figure has been found for.
    pub questions: usize,
}

/// A published figure beside the models' earlier answer.
#[derive(Clone, Debug)]
pub struct FirstLook {
    /// The question and the answer.
    pub question: Answered,
    /// The figure.
    pub found: Found,
    /// The day of the question.
    pub date: String,
    /// The commit of the models that answered.
    pub models: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a first look.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The models' figure in ns, and whether it agrees.
    Answered {
        /// In ns, of what the published figure is of.
        ns: f64,
        /// Whether it is within the tolerance.
        agrees: bool,
    },
    /// No model answers: it counts as missed.
    Uncovered(String),
}

impl FirstLook {
    /// Whether the models were right.
    pub fn agrees(&self) -> bool {
        matches!(self.outcome, Outcome::Answered { agrees: true, .. })
    }
}

/// The ledger.
///
/// # Errors
/// What is wrong in the file.
pub fn ledger() -> Result<Ledger, String> {
    read(LEDGER).map_err(|error| format!("first-look.toml: {error}"))
}

fn read(text: &str) -> Result<Ledger, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let heads: Vec<usize> = text.match_indices(HEAD).map(|(at, _)| at + 1).collect();
    if heads.len() != file.figures.len() {
        return Err("each table of figures begins with a line [[figures]]".to_owned());
    }
    // The first place of each: a later round that asks it again is refused.
    let (before, mut places) = ("id = \"", BTreeMap::new());
    for (at, _) in text.match_indices(before) {
        let id = text[at + before.len()..].split('"').next().unwrap_or_default();
        places.entry(id).or_insert(at);
    }
    let mut questions: BTreeMap<&str, (&Round, &Answered, usize)> = BTreeMap::new();
    for round in &file.round {
        if [&round.date, &round.models, &round.plan].iter().any(|text| text.trim().is_empty()) {
            return Err("a round has a date, the models' commit and a plan".to_owned());
        }
        for question in &round.questions {
            let at = *places.get(question.id.as_str()).ok_or_else(|| format!("{} has no line", question.id))?;
            if questions.insert(&question.id, (round, question, at)).is_some() {
                return Err(format!("{} is asked twice", question.id));
            }
        }
    }
    let mut looks = Vec::new();
    for (table, head) in file.figures.iter().zip(heads) {
        let digest = digest(&text[..head]);
        if table.seals != digest {
            return Err(format!(
                "what stands above the figures of {} was changed after they were read: seals = \"{digest}\" would be true",
                table.date
            ));
        }
        for found in &table.found {
            let (round, question, at) =
                questions.get(found.to.as_str()).ok_or_else(|| format!("{} is not asked", found.to))?;
            if *at > head {
                return Err(format!("{} was asked after its figure was read", found.to));
            }
            looks.push(FirstLook {
                outcome: outcome(question, found)?,
                question: (*question).clone(),
                found: found.clone(),
                date: round.date.clone(),
                models: round.models.clone(),
            });
        }
    }
    Ok(Ledger { looks, questions: questions.len() })
}

fn outcome(question: &Answered, found: &Found) -> Result<Outcome, String> {
    if let Some(reason) = &question.uncovered {
        return Ok(Outcome::Uncovered(reason.clone()));
    }
    let (Some([min, p50, mean, max]), Some(kind)) = (question.ns, question.kind) else {
        return Err(format!("{} has neither an answer nor a reason", question.id));
    };
    let ns = match found.of {
        Of::Min => min,
        Of::P50 => p50,
        Of::Mean => mean,
        Of::Max => max,
    };
    let (published, rounding) = found.ns()?;
    let model = if found.late { ns - question.request_ns() } else { ns };
    let whole = if found.late { published + question.request_ns() } else { published };
    let agrees = match kind {
        Kind::Rule => (ns - whole).abs() <= rounding.max(0.02 * whole.abs()),
        Kind::Cost => {
            let (left, answered) = (whole - question.rule, ns - question.rule);
            let late = (whole - question.request_ns()).abs();
            (ns - whole).abs() <= rounding.max(0.02 * late)
                || (left > 0.0 && (left / FACTOR..=left * FACTOR).contains(&answered))
        }
    };
    Ok(Outcome::Answered { ns: model, agrees })
}

/// FNV-1a with 64 bits: it seals what stands above a table of figures.
fn digest(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTIONS: &str = "[[round]]\ndate = \"2026-11-29\"\nmodels = \"0123abcd\"\nplan = \"sleeps\"\nquestions = [\n\
        { id = \"A1\", system = \"windows\", on = \"windows-11\", ask = \"sleep(1ms)\", kind = \"rule\", \
          ns = [15.0e6, 15.625e6, 15.6e6, 15.7e6] },\n\
        { id = \"A2\", system = \"linux\", on = \"linux-hz250\", ask = \"nanosleep(1ms)\", kind = \"cost\", rule = 1.05e6, \
          ns = [1.05e6, 1.06e6, 1.06e6, 1.1e6] },\n\
        { id = \"A3\", system = \"freebsd\", uncovered = \"no model of FreeBSD\" },\n]\n";

    fn with(found: &str) -> String {
        let seals = digest(&format!("{QUESTIONS}\n"));
        format!("{QUESTIONS}{HEAD}date = \"2026-11-30\"\nseals = \"{seals}\"\nfound = [\n{found}\n]\n")
    }

    fn found(to: &str, of: &str, figure: &str, late: bool) -> String {
        format!(
            "{{ to = \"{to}\", of = \"{of}\", figure = \"{figure}\", late = {late}, grade = \"A\", source = \"https://a\", \
             says = \"s\" }},\n"
        )
    }

    #[test]
    fn the_ledger_is_sealed_and_every_figure_has_its_question() {
        let ledger = ledger().unwrap();
        for FirstLook { found, question, .. } in &ledger.looks {
            assert!(found.source.starts_with("https://"), "{}", found.to);
            assert!((1..=15).contains(&found.says.split_whitespace().count()), "{}: {}", found.to, found.says);
            assert!(question.uncovered.is_some() || question.command().contains(" --on "), "{}", question.id);
        }
    }

    #[test]
    fn a_rule_is_held_to_its_rounding_and_a_cost_to_a_factor_of_what_the_rule_leaves() {
        let agrees = |to: &str, of: &str, figure: &str, late: bool| {
            read(&with(&found(to, of, figure, late))).unwrap().looks[0].agrees()
        };
        assert!(agrees("A1", "mean", "15.6 ms", false) && agrees("A1", "mean", "16 ms", false));
        assert!(!agrees("A1", "mean", "16.0 ms", false) && agrees("A1", "p50", "14.6 ms", true));
        assert!(agrees("A2", "mean", "65 us", true) && agrees("A2", "mean", "1.055 ms", false));
        assert!(!agrees("A2", "mean", "75 us", true) && !agrees("A2", "mean", "50 us", true));
        assert!(!agrees("A3", "mean", "1 ms", false));
        let many = read(&with(&(found("A1", "mean", "15.6 ms", false) + &found("A1", "min", "3 ms", false)))).unwrap();
        assert_eq!((many.looks.len(), many.questions), (2, 3));
    }

    #[test]
    fn a_figure_before_its_question_or_an_answer_that_changed_is_refused() {
        let whole = with(&found("A1", "mean", "15.6 ms", false));
        let says = |text: &str| read(text).unwrap_err();
        assert!(says(&whole.replace("15.625e6", "15.6e6")).contains("was changed after they were read"));
        assert!(says(&whole.replace("to = \"A1\"", "to = \"A9\"")).contains("A9 is not asked"));
        let later = QUESTIONS.replace("\"A", "\"B");
        let known = whole.replace("to = \"A1\"", "to = \"B1\"") + &later;
        assert!(says(&known).contains("B1 was asked after its figure was read"));
        assert!(says(&(whole.clone() + QUESTIONS)).contains("A1 is asked twice"));
        assert!(says(&whole.replace("15.6 ms", "about 16")).contains("is no figure"));
    }
}
