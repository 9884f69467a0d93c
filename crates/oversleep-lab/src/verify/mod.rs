//! Every published observation compared with the models. A row is judged by its tolerance, or says why it can't be: its
//! model is broken or doesn't cover it, or no model could make such a statement. A judged row was fitted to its own
//! source, or predicted: from other sources alone, or from means without it. `first_look` has figures that nobody had
//! read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::Deserialize;

mod allowance;
mod decides;
mod evidence;
mod expect;
mod figures;
pub mod first_look;
mod judge;
mod observation;
mod published;
mod summary;
mod tolerance;

use crate::machines::{self, Description};
use judge::judge;

pub use allowance::FACTOR_MAX;
pub use decides::decides;
pub use evidence::Basis;
pub use expect::{Expect, Other};
pub use figures::Figures;
#[cfg(test)]
pub(crate) use judge::measured;
pub use observation::{Kind, Observation};
pub use published::{Beside, beside, of_experiment};
pub use summary::{COLLECTIONS, Summary, Tally, summary};
pub use tolerance::{Judged, Tolerance};

/// The observations, by subject. Add a new one to one of these files.
const FILES: &[(&str, &str)] = &[
    ("clocks", include_str!("../../observations/clocks.toml")),
    ("linux", include_str!("../../observations/linux.toml")),
    ("macos", include_str!("../../observations/macos.toml")),
    ("windows-7-to-1909", include_str!("../../observations/windows-7-to-1909.toml")),
    ("windows-2004-on", include_str!("../../observations/windows-2004-on.toml")),
    ("other-programs", include_str!("../../observations/other-programs.toml")),
    ("clocks-second", include_str!("../../observations/clocks-second.toml")),
    ("linux-second", include_str!("../../observations/linux-second.toml")),
    ("macos-second", include_str!("../../observations/macos-second.toml")),
    ("windows-second", include_str!("../../observations/windows-second.toml")),
    ("wsl-second", include_str!("../../observations/wsl-second.toml")),
    ("uncovered-second", include_str!("../../observations/uncovered-second.toml")),
    ("third", include_str!("../../observations/third.toml")),
    ("fourth", include_str!("../../observations/fourth.toml")),
    ("fifth", include_str!("../../observations/fifth.toml")),
    ("sixth", include_str!("../../observations/sixth.toml")),
    ("seventh", include_str!("../../observations/seventh.toml")),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    observation: Vec<Observation>,
}

/// The verdict on one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Measured on its model.
    Judged(Judged),
    /// Its model can't answer: the row or a profile is wrong.
    Broken(String),
    /// No model covers it, for this reason: it counts as missed.
    Uncovered(String),
    /// No model could make such a statement, for this reason: it doesn't count.
    Outside(String),
}

/// One row with its verdict.
#[derive(Clone, Debug)]
pub struct Row {
    /// The observation.
    pub observation: Observation,
    /// Whether its source gave figures that the answer used; `None` if it is not covered, or broken.
    pub basis: Option<Basis>,
    /// The replacements of those figures, if their source was left out.
    pub without: Vec<Fallback>,
    /// The verdict.
    pub verdict: Verdict,
}

/// A figure whose source was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// Its path.
    pub path: String,
    /// Its value without its source; `None` if the rule is switched off.
    pub value: Option<String>,
    /// The source of that; `None` if no other source states the figure.
    pub source: Option<String>,
}

/// All observations, in the order of their files.
///
/// # Errors
/// The file and what is wrong in it.
pub fn observations() -> Result<Vec<Observation>, String> {
    let mut all = Vec::new();
    for (name, text) in FILES {
        let file: File = toml::from_str(text).map_err(|error| format!("observations/{name}.toml: {error}"))?;
        all.extend(file.observation);
    }
    Ok(all)
}

/// Asks the models: a few hundred experiments in virtual time, which take a second or two.
///
/// # Errors
/// As [`observations`].
pub fn verify() -> Result<Vec<Row>, String> {
    all(false)
}

/// Verifies as [`verify`] does, but each row is put to the models as they would be without its source: all are predicted.
///
/// # Errors
/// As [`observations`].
pub fn verify_leaving_out() -> Result<Vec<Row>, String> {
    all(true)
}

fn all(leaves_out: bool) -> Result<Vec<Row>, String> {
    let mut known = Described::default();
    Ok(observations()?.into_iter().map(|observation| row(observation, leaves_out, &mut known)).collect())
}

/// A cache of descriptions by machine and changes, because reading a profile takes longer than many a question.
#[derive(Default)]
struct Described(BTreeMap<(String, Vec<String>), Description>);

impl Described {
    fn get(&mut self, name: &str, set: &[String]) -> Result<&Description, String> {
        match self.0.entry((name.to_owned(), set.to_vec())) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => Ok(new.insert(machines::describe(name, set).map_err(|error| error.to_string())?)),
        }
    }
}

fn row(observation: Observation, leaves_out: bool, known: &mut Described) -> Row {
    let uncovered = observation.uncovered.clone().map(Verdict::Uncovered);
    if let Some(verdict) = uncovered.or_else(|| observation.outside.clone().map(Verdict::Outside)) {
        return Row { observation, basis: None, without: Vec::new(), verdict };
    }
    match judge(&observation, leaves_out, known) {
        Ok((basis, without, judged)) => {
            Row { basis: Some(basis), without, verdict: Verdict::Judged(judged), observation }
        }
        Err(reason) => Row { basis: None, without: Vec::new(), verdict: Verdict::Broken(reason), observation },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Observations from sources whose figures the models use, but that no rule reproduces.
    const FITTED_MISSES: [&str; 8] = ["O233", "O166", "O230", "O232/range", "O232/mean", "H190", "H018", "K228"];

    #[test]
    fn every_row_is_complete_and_has_an_id_of_its_own() {
        let mut ids = BTreeSet::new();
        for observation in observations().expect("the files are well-formed") {
            let id = &observation.id;
            assert!(ids.insert(id.clone()), "{id} twice");
            assert!(!observation.published.is_empty(), "{id}");
            assert!(machines::Source::find(&observation.source).is_some(), "{id}: {}", observation.source);
            match observation.uncovered.as_ref().xor(observation.outside.as_ref()) {
                Some(reason) => assert!(reason.len() > 10 && observation.ask.is_none(), "{id}"),
                None => {
                    observation.question().unwrap_or_else(|error| panic!("{id}: {error}"));
                    let expect = observation.expect.as_ref().unwrap_or_else(|| panic!("{id}"));
                    let kind = observation.kind.unwrap_or_else(|| panic!("{id} has no kind"));
                    let problem = expect.problem(kind == Kind::Cost, observation.because.is_some());
                    assert_eq!(problem, None, "{id}");
                }
            }
        }
    }

    #[test]
    fn the_models_reproduce_what_they_were_fitted_to() {
        let rows = verify().expect("the files are well-formed");
        for row in rows.iter().filter(|row| !row.is_reproduced()) {
            println!("{}: {:?}", row.observation.id, row.verdict);
        }
        assert!(rows.iter().all(|row| !matches!(row.verdict, Verdict::Broken(_))));
        let is_off = |row: &&Row| row.is_fitted() && !row.is_reproduced();
        let off: Vec<&str> = rows.iter().filter(is_off).map(|row| row.observation.id.as_str()).collect();
        assert_eq!(off, FITTED_MISSES, "a model or a row became worse, or better: then it leaves this list");
        let Summary { all, fitted, predicted, .. } = summary(&rows);
        assert_eq!(fitted.covered + predicted.covered, all.covered);
        assert_eq!(fitted.reproduced + predicted.reproduced, all.reproduced);
        let left_out = verify_leaving_out().expect("the files are well-formed");
        let Summary { all, as_exactly, of_one_source, .. } = summary(&left_out);
        let of_collection = |letter| Tally::of_collection(&left_out, letter);
        let collections = COLLECTIONS.map(of_collection);
        let counted = summary(&left_out).counted();
        assert_eq!(collections.iter().map(|tally| tally.covered).sum::<usize>(), counted.covered);
        assert_eq!(collections.iter().map(|tally| tally.reproduced).sum::<usize>(), counted.reproduced);
        let parts = [fitted, predicted, all, as_exactly, of_one_source, all.less(of_one_source)].into_iter();
        let guide = include_str!("../../../../docs/guide.md");
        let all = parts.chain(Kind::ALL.map(|kind| Tally::of_kind(&left_out, kind))).chain(collections);
        let stated: Vec<String> = all.map(|tally| format!("| {} of {} |", tally.reproduced, tally.covered)).collect();
        let missing: Vec<&String> = stated.iter().filter(|stated| !guide.contains(*stated)).collect();
        assert!(missing.is_empty(), "docs/guide.md doesn't say {missing:?} of {stated:?}");
    }

    #[test]
    fn a_row_is_fitted_if_its_source_gave_a_figure_that_concerns_it() {
        let all = observations().expect("the files are well-formed");
        let mut known = Described::default();
        let mut row =
            |id: &str, leaves_out| row(all.iter().find(|row| row.id == id).expect(id).clone(), leaves_out, &mut known);
        let mut basis = |id: &str| row(id, false).basis.unwrap();
        assert_eq!(basis("O045"), Basis::Fitted(vec!["costs.monotonic".to_owned()]));
        let mean = Basis::Shared(vec!["costs.other".to_owned()]);
        assert_eq!(basis("K038"), mean, "its source is one of many");
        assert_eq!(
            basis("O313"),
            Basis::Fitted(vec!["wake.real-time".to_owned(), "wake.real-time-idle-exits".to_owned()]),
            "all programs there are real-time ones"
        );
        assert_eq!(basis("O133"), Basis::Fitted(vec!["timers.tick-shortest".to_owned()]));
        assert_eq!(
            basis("O110"),
            Basis::Predicted,
            "the profile of the laptop is fitted to that source, this one isn't"
        );
        let left_out = row("O111", true);
        let fallback = Fallback {
            path: "timers.p-two-tick".to_owned(),
            value: Some("0.691".to_owned()),
            source: Some(
                "akinshin-2016 + high-precision-win32 + prosper-2238 + prosper-3056 + srt-637 + timer-resolution-22"
                    .to_owned(),
            ),
        };
        assert_eq!(left_out.without, [fallback]);
        assert!(left_out.is_reproduced(), "1.7 ticks on the mean of such machines");
    }

    #[test]
    fn what_admits_anything_reproduces_nothing() {
        let row = |expect: &str| {
            let text = format!(
                "id = 'x'\nsource = 'dawson-2020'\npublished = ''\nmachine = 'windows-10-1909'\nask = 'sleep(1ms)'\n\
                 pace = 'random_phase'\ncount = 300\nexpect = {expect}"
            );
            measured(&toml::from_str(&text).unwrap()).unwrap().reproduced
        };
        assert!(!row("{ inside = ['3 ms'] }"), "anything from 1 to 16.6 ms is inside");
        assert!(!row("{ range = ['0.5 ms', '30 ms'] }") && row("{ range = ['1 ms', '16.625 ms'] }"));
        assert!(!row("{ sample = ['15.4 ms', '15.0 ms', '15.2 ms', '3 ms', '15.6 ms', '15.5 ms'] }"));
        assert!(row("{ sample = ['2.4 ms', '15.0 ms', '8.2 ms', '3 ms', '10.6 ms', '12.5 ms'] }"));
    }

    #[test]
    fn a_mean_of_few_values_may_be_off_by_its_sampling_error_alone() {
        let row = |expect: &str| {
            let text = format!(
                "id = 'x'\nsource = 'dawson-2020'\npublished = ''\nmachine = 'windows-10-1909'\nask = 'sleep(1ms)'\n\
                 own = {{ resolution = '1ms' }}\nexpect = {{ {expect} }}"
            );
            toml::from_str::<Observation>(&text).unwrap()
        };
        let reproduced = |expect: &str| measured(&row(expect)).unwrap().reproduced;
        // 2.0 ms. With a deviation of 0.2 ms, the mean of 20 values has an error of 0.09 ms.
        assert!(!reproduced("mean = '1.92 ms'"));
        assert!(reproduced("mean = '1.92 ms', deviation = '0.2 ms', of = 20"));
        assert!(!reproduced("mean = '1.90 ms', deviation = '0.2 ms', of = 20"));
        assert!(!reproduced("mean = '1.92 ms', deviation = '0.2 ms', of = 2000"));
        let problem = |expect: &str| row(expect).expect.unwrap().problem(false, true);
        assert_eq!(problem("mean = '2 ms', deviation = '0.2 ms', of = 20"), None);
        assert!(
            problem("mean = '2 ms', deviation = '0.2 ms'").is_some() && problem("mean = '2 ms', of = 20").is_some()
        );
    }

    #[test]
    fn what_is_not_covered_is_missed_and_what_no_model_could_say_does_not_count() {
        let open = |field: &str| {
            let text = format!("id = '{field}'\nsource = 'dawson-2020'\npublished = ''\n{field} = 'for some reason'");
            row(toml::from_str(&text).unwrap(), false, &mut Described::default())
        };
        let sum = summary(&[open("uncovered"), open("outside")]);
        assert_eq!((sum.all, sum.uncovered, sum.outside), (Tally::default(), 1, 1));
        assert_eq!(sum.counted(), Tally { covered: 1, reproduced: 0 });
    }

    #[test]
    fn two_clocks_agree_on_linux_and_not_on_windows() {
        let rows = observations().expect("the files are well-formed");
        let row = rows.into_iter().find(|row| row.id == "O007/both-clocks").expect("it is there");
        assert!(measured(&row).unwrap().reproduced);
        let windows = Observation { machine: Some("windows-11".to_owned()), ..row };
        assert!(!measured(&windows).unwrap().reproduced, "the coarse one shows multiples of 16 ms there");
    }
}
