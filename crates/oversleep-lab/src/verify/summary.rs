//! How many observations became what; one with several rows is reproduced when all of them are.

use std::collections::BTreeMap;

use super::{Basis, Judged, Kind, Row, Verdict};

/// Observations that were compared with a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub covered: usize,
    /// Of these, within tolerance.
    pub reproduced: usize,
}

/// What became of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Compared with a model.
    pub all: Tally,
    /// Of these, the ones whose source gave the answer a figure.
    pub fitted: Tally,
    /// And the others.
    pub predicted: Tally,
    /// Not compared, though a model could cover them: they count as missed.
    pub uncovered: usize,
    /// Those that say nothing that a model could.
    pub outside: usize,
}

impl Summary {
    /// All that count, covered or not, and those of them that are reproduced.
    pub fn counted(&self) -> Tally {
        Tally { covered: self.all.covered + self.uncovered, ..self.all }
    }
}

impl Tally {
    /// The observations of which the rows that fit are compared.
    pub fn of(rows: &[Row], fits: impl Fn(&Row) -> bool) -> Tally {
        let mut tally = Tally::default();
        for rows in wholes(rows) {
            let mut covered = rows.iter().filter(|row| row.is_covered() && fits(row)).peekable();
            if covered.peek().is_some() {
                tally.covered += 1;
                tally.reproduced += usize::from(covered.all(|row| row.is_reproduced()));
            }
        }
        tally
    }

    /// Those of a kind.
    pub fn of_kind(rows: &[Row], kind: Kind) -> Tally {
        Tally::of(rows, |row| row.observation.kind == Some(kind))
    }
}

impl Row {
    fn is_covered(&self) -> bool {
        !matches!(self.verdict, Verdict::Uncovered(_) | Verdict::Outside(_))
    }

    /// Whether the model gave what was published.
    pub fn is_reproduced(&self) -> bool {
        matches!(self.verdict, Verdict::Judged(Judged { reproduced: true, .. }))
    }

    /// Whether a figure that its answer used is from its source.
    pub fn is_fitted(&self) -> bool {
        self.basis.as_ref().is_some_and(Basis::is_fitted)
    }
}

fn wholes(rows: &[Row]) -> impl Iterator<Item = Vec<&Row>> {
    let mut wholes: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        wholes.entry(row.observation.whole()).or_default().push(row);
    }
    wholes.into_values()
}

/// Counts observations. One of which a part was fitted is fitted.
pub fn summary(rows: &[Row]) -> Summary {
    let fitted: Vec<&str> = rows.iter().filter(|row| row.is_fitted()).map(|row| row.observation.whole()).collect();
    let is_fitted = |row: &Row| fitted.contains(&row.observation.whole());
    let is_uncovered = |row: &&Row| matches!(row.verdict, Verdict::Uncovered(_));
    let open = || wholes(rows).filter(|rows| rows.iter().all(|row| !row.is_covered()));
    Summary {
        all: Tally::of(rows, |_| true),
        fitted: Tally::of(rows, is_fitted),
        predicted: Tally::of(rows, |row| !is_fitted(row)),
        uncovered: open().filter(|rows| rows.iter().any(is_uncovered)).count(),
        outside: open().filter(|rows| !rows.iter().any(is_uncovered)).count(),
    }
}
