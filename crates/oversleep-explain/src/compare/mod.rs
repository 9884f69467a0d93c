//! Results compared with one another: the first is the base.
//!
//! It reads records only, so results of any system compare anywhere. `matching` finds series that measured the same thing,
//! `interval` how uncertain a figure is, `judge` whether two figures differ by more than that, `facts` and `caveats` what
//! else differs and what may not be concluded. A series that only one result has stays in the list.

mod caveats;
mod facts;
mod interval;
mod judge;
mod matching;
#[cfg(test)]
mod testing;

use std::collections::BTreeSet;

use oversleep_record::comparison::{ClockComparison, ClockSide, Compared, Comparison, SCHEMA};
use oversleep_record::file::Tool;
use oversleep_record::{Environment, ResultFile};

use crate::read::wine_version;

pub use facts::NAMES as FACTS;
#[cfg(test)]
pub(crate) use facts::facts;

/// The results compared with the first of them. `machine` describes a result's machine in words.
pub fn compare(results: &[ResultFile], machine: fn(&ResultFile) -> Vec<String>) -> Comparison {
    let environments: Vec<&Environment> = results.iter().map(|file| &file.environment).collect();
    Comparison {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "oversleep".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        results: results.iter().map(|file| compared(file, machine(file))).collect(),
        caveats: caveats::all(results),
        facts: facts::differences(&environments),
        clocks: clocks(results),
        series: matching::groups(results).iter().map(|group| judge::comparison(results, group)).collect(),
    }
}

fn compared(file: &ResultFile, machine: Vec<String>) -> Compared {
    Compared {
        name: file.name.clone(),
        platform: file.platform.clone(),
        machine,
        wine: wine_version(file).map(str::to_owned),
        emulated: file.environment.emulated(&file.platform),
        tool: file.tool.clone(),
        command: file.command.clone(),
        taken_unix_s: file.taken_unix_s,
        completion: file.completion,
        floor: file.floor.clone(),
    }
}

/// A result's place in the comparison.
fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Every clock that any result knows, in the order of the first that does.
fn clocks(results: &[ResultFile]) -> Vec<ClockComparison> {
    let mut seen = BTreeSet::new();
    let all = results.iter().flat_map(|file| &file.clocks).map(|clock| clock.name.as_str());
    let names: Vec<&str> = all.filter(|name| seen.insert(*name)).collect();
    let side = |name: &str, index: usize| Some(ClockSide::of(place(index), results[index].clock(name)?));
    names
        .into_iter()
        .map(|name| ClockComparison {
            name: name.to_owned(),
            sides: (0..results.len()).filter_map(|index| side(name, index)).collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;
    use oversleep_record::comparison::Verdict;

    use super::testing::{Sheet, clock, waits};
    use super::*;

    fn no_words(_: &ResultFile) -> Vec<String> {
        Vec::new()
    }

    #[test]
    fn nothing_is_dropped() {
        let base = Sheet::linux()
            .series(waits("B5/nanosleep/1ms", &[66_000; 4]))
            .series(waits("B5/timerfd/1ms", &[20_000; 4]))
            .file;
        let second = Sheet::linux()
            .series(waits("B5/nanosleep/1ms", &[66_000; 4]))
            .series(waits("B5/poll/1ms", &[70_000; 4]))
            .file;
        let third = Sheet::windows()
            .series(waits("B5/sleep/1ms", &[14_000_000; 4]))
            .series(waits("B5/poll/1ms", &[140_000; 4]))
            .file;
        let comparison = compare(&[base, second, third], no_words);
        let rows: Vec<(&str, Vec<u32>)> = comparison
            .series
            .iter()
            .map(|series| (series.key.as_str(), series.sides.iter().map(|side| side.result).collect()))
            .collect();
        assert_eq!(
            rows,
            [
                ("B5/nanosleep/1ms", vec![0, 1]),
                ("B5/timerfd/1ms", vec![0]),
                ("B5/poll/1ms", vec![1, 2]),
                ("B5/sleep/1ms", vec![2])
            ]
        );
        let poll = &comparison.series[2];
        assert!(poll.sides.iter().all(|side| side.against_base.is_none()), "the base has none");
        assert!(comparison.concludes());
    }

    #[test]
    fn a_result_against_itself_differs_nowhere() {
        let file = Sheet::linux()
            .series(waits("B5/nanosleep/1ms", &[66_000; 4]))
            .series(waits("B5/poll/1ms", &[140_000; 4]))
            .file;
        let comparison = compare(&[file.clone(), file], no_words);
        assert_eq!(comparison.verdicts(1).count(), 2);
        assert!(comparison.verdicts(1).all(|(_, judged)| judged.verdict == Verdict::Overlap));
        assert!(comparison.facts.is_empty() && comparison.caveats.is_empty());
    }

    #[test]
    fn clocks_stand_side_by_side() {
        let base = Sheet::windows().clock(clock("qpc", 100)).clock(clock("get-tick-count-64", 15_600_000)).file;
        let other = Sheet::windows().clock(clock("get-tick-count-64", 1_000_000)).file;
        let clocks = compare(&[base, other], no_words).clocks;
        let steps = |index: usize| clocks[index].sides.iter().map(|side| side.step_ns).collect::<Vec<_>>();
        assert_eq!(clocks.iter().map(|clock| clock.name.as_str()).collect::<Vec<_>>(), ["qpc", "get-tick-count-64"]);
        assert_eq!(steps(0), [Some(Nanos(100))]);
        assert_eq!(steps(1), [Some(Nanos(15_600_000)), Some(Nanos(1_000_000))]);
    }
}
