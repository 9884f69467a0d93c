//! The clocks of several results: their costs, their steps, where they are valid, and which is the fastest of those
//! that are valid everywhere.

use std::collections::BTreeSet;

use oversleep_record::ResultFile;
use oversleep_record::clock::Validity;
use oversleep_record::comparison::{ClockComparison, ClockSide, Comparison};
use oversleep_record::words::{cost, list};

use crate::verdicts::{ClockVerdict, clock_table, name_in_code};

/// Adds a result's clocks; clocks that no earlier result has go to the end.
pub(super) fn add(all: &mut Vec<ClockComparison>, result: u32, file: &ResultFile) {
    let table = clock_table(file);
    let mut seen = BTreeSet::new();
    for clock in file.clocks.iter().filter(|clock| seen.insert(clock.name.as_str())) {
        let Some(side) = table.row(&clock.name).map(|row| side(result, row)) else { continue };
        match all.iter_mut().find(|known| known.name == clock.name) {
            Some(known) => known.sides.push(side),
            None => all.push(ClockComparison { name: clock.name.clone(), sides: vec![side] }),
        }
    }
}

fn side(result: u32, row: &ClockVerdict) -> ClockSide {
    ClockSide {
        result,
        step_ns: row.step_ns,
        stated_step_ns: row.stated_step_ns,
        cost_ps: row.cost_ps,
        validity: row.validity,
        reasons: row.reasons.clone(),
        caution: row.caution.clone(),
        unavailable: row.unavailable.clone(),
    }
}

/// A clock in the results that measured the cost of clocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonClock<'a> {
    /// The clock.
    pub clock: &'a ClockComparison,
    /// The results in which it is valid, on one thread at least.
    pub valid_in: Vec<u32>,
    /// Whether it is valid in all of them.
    pub is_valid_on_all: bool,
    /// Whether one of them allows it on one thread only.
    pub is_for_one_thread: bool,
}

impl CommonClock<'_> {
    /// The costs of a read where it is valid.
    fn costs(&self) -> impl Iterator<Item = i64> {
        self.clock.sides.iter().filter(|side| self.valid_in.contains(&side.result)).filter_map(|side| side.cost_ps)
    }

    /// The cost of a read in the result where it is highest.
    fn highest_cost(&self) -> i64 {
        self.costs().max().unwrap_or(i64::MAX)
    }
}

/// The results in which the cost of any clock was measured.
fn with_costs(comparison: &Comparison) -> BTreeSet<u32> {
    let sides = comparison.clocks.iter().flat_map(|clock| &clock.sides);
    sides.filter(|side| side.cost_ps.is_some()).map(|side| side.result).collect()
}

/// Every clock whose cost was measured, sorted by the number of results where it is valid and then by its highest cost.
/// Empty if fewer than two results have measured clocks.
pub fn common_clocks(comparison: &Comparison) -> Vec<CommonClock<'_>> {
    let results = with_costs(comparison);
    if results.len() < 2 {
        return Vec::new();
    }
    let is_valid = |side: &&ClockSide| side.validity == Some(Validity::Valid) && side.cost_ps.is_some();
    let measured = comparison.clocks.iter().filter(|clock| clock.sides.iter().any(|side| side.cost_ps.is_some()));
    let mut clocks: Vec<CommonClock<'_>> = measured
        .map(|clock| {
            let valid: Vec<&ClockSide> = clock.sides.iter().filter(is_valid).collect();
            CommonClock {
                clock,
                valid_in: valid.iter().map(|side| side.result).collect(),
                is_valid_on_all: valid.len() == results.len(),
                is_for_one_thread: valid.iter().any(|side| side.caution.is_some()),
            }
        })
        .collect();
    clocks.sort_by_key(|clock| (std::cmp::Reverse(clock.valid_in.len()), clock.highest_cost()));
    clocks
}

/// The fastest clock that is valid in every result that measured clocks, in a sentence. `None` where fewer than two did.
pub fn fastest_on_all(comparison: &Comparison) -> Option<String> {
    let clocks = common_clocks(comparison);
    if clocks.is_empty() {
        return None;
    }
    let on_all = |across_threads: bool| {
        clocks.iter().find(|clock| clock.is_valid_on_all && !(across_threads && clock.is_for_one_thread))
    };
    Some(match (on_all(false), on_all(true)) {
        (None, _) => "No clock is valid on all of these machines.".to_owned(),
        (Some(fastest), across) => {
            let across = across.filter(|_| fastest.is_for_one_thread);
            let across = across.map(|clock| format!("; across threads too, {}", in_words(clock))).unwrap_or_default();
            let where_only = if fastest.is_for_one_thread { ", on one thread only" } else { "" };
            let (name, costs) = (name_in_code(&fastest.clock.name), costs_in_words(fastest));
            format!("The fastest clock that is valid on all of these machines is {name}{where_only}: {costs}{across}.")
        }
    })
}

fn in_words(clock: &CommonClock<'_>) -> String {
    format!("{}: {}", name_in_code(&clock.clock.name), costs_in_words(clock))
}

/// `9.9 ns and 19 ns per read`; a range for many results.
fn costs_in_words(clock: &CommonClock<'_>) -> String {
    /// The most results whose costs are listed one by one.
    const EACH_MAX: usize = 3;
    let costs: Vec<i64> = clock.costs().collect();
    let (least, most) = (costs.iter().min().copied(), costs.iter().max().copied());
    match (least, most) {
        (Some(least), Some(most)) if costs.len() > EACH_MAX => format!("{} to {} per read", cost(least), cost(most)),
        _ => format!("{} per read", list(&costs.into_iter().map(cost).collect::<Vec<_>>())),
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::clock::Counts;
    use oversleep_record::testing::good_clock;
    use oversleep_record::{ClockResult, FactName, Unavailable};

    use super::*;
    use crate::compare::compare;
    use crate::compare::testing::{Sheet, waits};

    fn machine(clocks: &[(&str, i64)]) -> ResultFile {
        let sheet = Sheet::linux().flag(FactName::CpuTscInvariant, true);
        let add = |sheet: Sheet, &(name, ps): &(&str, i64)| {
            let counts = if name == "realtime" { Counts::TimeOfDay } else { Counts::ElapsedTime };
            sheet.clock(ClockResult { counts, ..good_clock(name) }).series(waits(&format!("A1/{name}"), &[ps; 4]))
        };
        clocks.iter().fold(sheet, add).file
    }

    fn sentence(results: &[ResultFile]) -> Option<String> {
        fastest_on_all(&compare(results, |_| Vec::new()))
    }

    #[test]
    fn the_fastest_clock_of_one_machine_is_not_that_of_all() {
        let one = machine(&[("tsc", 9_900), ("std-instant", 47_300), ("qpc", 29_300), ("realtime", 5_000)]);
        let other = machine(&[("tsc", 19_000), ("std-instant", 30_000), ("realtime", 5_000)]);
        let mut without_qpc = other.clone();
        let unavailable = Some(Unavailable::NotOnThisPlatform);
        without_qpc.clocks.push(ClockResult { unavailable, ..good_clock("qpc") });
        let comparison = compare(&[one.clone(), without_qpc], |_| Vec::new());
        let all = common_clocks(&comparison);
        let all: Vec<(&str, usize)> = all.iter().map(|of| (of.clock.name.as_str(), of.valid_in.len())).collect();
        assert_eq!(all, [("tsc", 2), ("std-instant", 2), ("qpc", 1), ("realtime", 0)], "also what one machine lacks");
        assert_eq!(
            sentence(&[one.clone(), other]).as_deref(),
            Some(
                "The fastest clock that is valid on all of these machines is tsc, on one thread only: 9.9 ns and 19 ns \
                 per read; across threads too, std::time::Instant: 47.3 ns and 30 ns per read."
            )
        );
        let without_a_counter = machine(&[("std-instant", 30_000), ("monotonic", 29_000)]);
        let many = [one.clone(), without_a_counter.clone(), without_a_counter.clone(), without_a_counter];
        assert_eq!(
            sentence(&many).as_deref(),
            Some(
                "The fastest clock that is valid on all of these machines is std::time::Instant: 30 ns to 47.3 ns per read."
            )
        );
        let nothing_in_common = machine(&[("mach-absolute", 20_000)]);
        assert_eq!(
            sentence(&[one.clone(), nothing_in_common]).as_deref(),
            Some("No clock is valid on all of these machines.")
        );
        assert_eq!(sentence(&[one, Sheet::linux().file]), None, "one result measured no clocks");
    }
}
