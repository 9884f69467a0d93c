//! Counts observations by verdict; one with several rows is reproduced if all of them are.

use std::collections::BTreeMap;

use super::{Basis, Judged, Kind, Row, Verdict};

/// Observations that were compared with a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of these.
    pub covered: usize,
    /// Of these, within tolerance.
    pub reproduced: usize,
}

/// The verdicts on all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Compared with a model.
    pub all: Tally,
    /// Of these, the ones for which a figure of the answer is from their source.
    pub fitted: Tally,
    /// And the others.
    pub predicted: Tally,
    /// All, with the tolerance of each source's own precision, even where a cost is predicted for another machine.
    pub as_exactly: Tally,
    /// Those with a figure that one source alone states, so that without it the model has a rule's default.
    pub of_one_source: Tally,
    /// Not compared, though a model could cover them: they count as missed.
    pub uncovered: usize,
    /// Those whose statement no model could make.
    pub outside: usize,
}

/// The collections of observations, by the letter that their ids begin with, oldest first.
pub const COLLECTIONS: [char; 3] = ['O', 'H', 'K'];

impl Summary {
    /// All that count, covered or not, and those of them that are reproduced.
    pub fn counted(&self) -> Tally {
        Tally { covered: self.all.covered + self.uncovered, ..self.all }
    }
}

impl Tally {
    /// Tallies the observations whose rows satisfy `fits`.
    pub fn of(rows: &[Row], fits: impl Fn(&Row) -> bool) -> Tally {
        Tally::by(rows, fits, Row::is_reproduced)
    }

    fn by(rows: &[Row], fits: impl Fn(&Row) -> bool, holds: impl Fn(&Row) -> bool) -> Tally {
        let mut tally = Tally::default();
        for rows in wholes(rows) {
            let mut covered = rows.iter().filter(|row| row.is_covered() && fits(row)).peekable();
            if covered.peek().is_some() {
                tally.covered += 1;
                tally.reproduced += usize::from(covered.all(|row| holds(row)));
            }
        }
        tally
    }

    /// Those of a kind.
    pub fn of_kind(rows: &[Row], kind: Kind) -> Tally {
        Tally::of(rows, |row| row.observation.kind == Some(kind))
    }

    /// Those of a kind whose figures have other evidence.
    pub fn with_other_evidence(rows: &[Row], kind: Kind) -> Tally {
        let alone = of_one_source(rows);
        Tally::of(rows, |row| row.observation.kind == Some(kind) && !alone.contains(&row.observation.whole()))
    }

    /// Those of a collection, with the ones that no model covers as missed.
    pub fn of_collection(rows: &[Row], letter: char) -> Tally {
        let is_of_it = |row: &Row| row.observation.id.starts_with(letter);
        let covered = Tally::of(rows, is_of_it);
        let is_missed = |rows: &Vec<&Row>| {
            rows.iter().all(|row| !row.is_covered() && is_of_it(row))
                && rows.iter().any(|row| matches!(row.verdict, Verdict::Uncovered(_)))
        };
        Tally { covered: covered.covered + wholes(rows).filter(is_missed).count(), ..covered }
    }

    /// One number minus another.
    pub fn less(self, other: Tally) -> Tally {
        Tally { covered: self.covered - other.covered, reproduced: self.reproduced - other.reproduced }
    }
}

impl Row {
    fn is_covered(&self) -> bool {
        !matches!(self.verdict, Verdict::Uncovered(_) | Verdict::Outside(_))
    }

    /// Whether the model reproduces the observation.
    pub fn is_reproduced(&self) -> bool {
        matches!(self.verdict, Verdict::Judged(Judged { reproduced: true, .. }))
    }

    /// Whether it is within what its source itself states.
    pub fn is_as_exact(&self) -> bool {
        matches!(self.verdict, Verdict::Judged(Judged { as_exactly: true, .. }))
    }

    /// Whether a figure behind its answer is stated by its source alone. Known only if the source was left out.
    pub fn is_of_one_source(&self) -> bool {
        self.without.iter().any(|figure| figure.source.is_none())
    }

    /// Whether a figure behind its answer is from its source.
    pub fn is_fitted(&self) -> bool {
        self.basis.as_ref().is_some_and(Basis::is_fitted)
    }
}

fn of_one_source(rows: &[Row]) -> Vec<&str> {
    rows.iter().filter(|row| row.is_of_one_source()).map(|row| row.observation.whole()).collect()
}

fn wholes(rows: &[Row]) -> impl Iterator<Item = Vec<&Row>> {
    let mut wholes: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        wholes.entry(row.observation.whole()).or_default().push(row);
    }
    wholes.into_values()
}

/// Counts observations. One with a fitted part is fitted.
pub fn summary(rows: &[Row]) -> Summary {
    let fitted: Vec<&str> = rows.iter().filter(|row| row.is_fitted()).map(|row| row.observation.whole()).collect();
    let is_fitted = |row: &Row| fitted.contains(&row.observation.whole());
    let alone = of_one_source(rows);
    let is_uncovered = |row: &&Row| matches!(row.verdict, Verdict::Uncovered(_));
    let open = || wholes(rows).filter(|rows| rows.iter().all(|row| !row.is_covered()));
    Summary {
        all: Tally::of(rows, |_| true),
        fitted: Tally::of(rows, is_fitted),
        predicted: Tally::of(rows, |row| !is_fitted(row)),
        as_exactly: Tally::by(rows, |_| true, Row::is_as_exact),
        of_one_source: Tally::of(rows, |row| alone.contains(&row.observation.whole())),
        uncovered: open().filter(|rows| rows.iter().any(is_uncovered)).count(),
        outside: open().filter(|rows| !rows.iter().any(is_uncovered)).count(),
    }
}
