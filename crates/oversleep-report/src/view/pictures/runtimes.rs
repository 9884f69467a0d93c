//! Language runtimes: the median lateness of every wait by request (R1), and the staircase that rounding makes of requests
//! (R2).

use oversleep_explain::runtimes;
use oversleep_explain::runtimes::rule::NoRule;
use oversleep_record::{ExperimentId, ResultFile};

use super::{Drawing, Entry, ms, us};
use crate::picture::{HeatMap, Sweep, SweepPoint};
use crate::view::sections::runtimes::{Row, rows};
use crate::view::select::{distinct, measured, requests};

pub const MAP: Entry = Entry { name: "runtimes", experiment: Some(ExperimentId::R1), draw: map };
pub const STAIRS: Entry = Entry { name: "runtime-rule", experiment: Some(ExperimentId::R2), draw: stairs };

/// The runtimes of more than this many are in one map, and stand for all others with the same rule.
const MAPS_MAX: usize = 6;

/// One map for the system and each runtime, or one of all. All have the same colours, so that runtimes compare.
fn map(file: &ResultFile) -> Vec<Drawing<'_>> {
    let requests = requests(measured(file, ExperimentId::R1));
    let all = rows(file);
    let owners = distinct(all.iter().map(Row::owner));
    let lateness = |row: &Row, request| Some(us(row.at(file, request)?.distribution.p50()?));
    let every = all.iter().flat_map(|row| requests.iter().filter_map(|&request| lateness(row, request)));
    let range = colours(every.filter(|late| *late > 0.0).collect());
    let lines = |owner: &String| -> Vec<(String, Vec<Option<f64>>)> {
        let mine = all.iter().filter(|row| row.owner() == *owner);
        mine.map(|row| (row.name().to_owned(), requests.iter().map(|&request| lateness(row, request)).collect()))
            .collect()
    };
    let columns: Vec<String> = requests.iter().map(|request| format!("{request:#}")).collect();
    if columns.is_empty() {
        return Vec::new();
    }
    if owners.len() > MAPS_MAX {
        let rows =
            owners.iter().flat_map(|owner| [(owner.clone(), Vec::new())].into_iter().chain(lines(owner))).collect();
        let heading = "Median lateness of each runtime's waits by request";
        return vec![Drawing::new(heading, "", move |frame| HeatMap {
            frame,
            columns,
            rows,
            range,
            ..HeatMap::default()
        })];
    }
    let of_owner = |owner: &String| {
        let (columns, rows) = (columns.clone(), lines(owner));
        let heading = format!("{owner}: median lateness by wait and request");
        (!rows.is_empty()).then(|| {
            Drawing::new(heading, "", move |frame| HeatMap { frame, columns, rows, range, ..HeatMap::default() })
                .of(owner)
        })
    };
    owners.iter().filter_map(of_owner).collect()
}

/// The range of the colours. A timer of a minute would leave one colour for all others, so the darkest stands for whatever
/// is beyond ten times of what nine cells of ten show.
fn colours(mut lates: Vec<f64>) -> Option<(f64, f64)> {
    lates.sort_by(f64::total_cmp);
    let (low, high) = (*lates.first()?, *lates.last()?);
    Some((low, high.min(10.0 * lates[(lates.len() - 1) * 9 / 10])))
}

/// One staircase for each rule of a runtime, or of many runtimes one for each rule: waits of the same rule look alike, so
/// the first of them represents all.
fn stairs(file: &ResultFile) -> Vec<Drawing<'_>> {
    let mut seen = Vec::new();
    let has_many = distinct(runtimes::waits(file).iter().map(|wait| wait.runtime.to_string())).len() > MAPS_MAX;
    let mut drawings = Vec::new();
    for wait in runtimes::waits(file) {
        let rule = match wait.ruling() {
            Ok(ruling) => ruling.rule.to_string(),
            Err(constant @ NoRule::Constant { .. }) => constant.to_string(),
            Err(_) => continue,
        };
        let kind = ((!has_many).then_some(wait.runtime), rule.clone());
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        let points: Vec<SweepPoint> = wait
            .points()
            .iter()
            .flat_map(|point| {
                let requested_ms = point.requested.as_millis_f64();
                point.durations().iter().map(move |&ns| SweepPoint { requested_ms, duration_ms: ms(ns) })
            })
            .filter(|point| point.requested_ms <= 2.5)
            .collect();
        let (name, clock) = (wait.name.to_owned(), String::new());
        let heading = format!("{}: {}, {}", wait.runtime, wait.name, rule);
        let finding = format!("{}: {rule}.", wait.name);
        let svg = move |frame| Sweep {
            frame,
            wait_label: name,
            precise_label: clock,
            coarse_label: String::new(),
            points,
            coarse: Vec::new(),
            finding: Some(finding),
        };
        drawings.push(Drawing::new(heading, "", svg).of(&format!("{} {}", wait.runtime, wait.name)));
    }
    drawings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_of_a_minute_leaves_colours_for_the_others() {
        let mut lates = vec![15_600.0; 18];
        lates.extend([200.0, 60e6]);
        assert_eq!(colours(lates), Some((200.0, 156_000.0)));
        assert_eq!(colours(vec![900.0, 200.0, 500.0]), Some((200.0, 900.0)), "without one, they are the values'");
        assert_eq!(colours(Vec::new()), None);
    }
}
