//! Whether two results are of one run: then their waits are the same ones, and chance has no part in a difference.

use oversleep_record::ResultFile;
use oversleep_record::observed::wait::{Wait, signed};

/// Recorders of one run agree about the lateness of a wait within this, unless an event is missing.
const WITHIN_NS: u64 = 10_000;
/// Their clocks drift apart by no more than this during a run.
const DRIFT_NS: u64 = 1_000_000;
/// The fewest waits that have to be the same; of the waits that both list, it has to be most.
const SAME_MIN: usize = 3;

/// Whether both recorded the same waits: most of the latest ones are of the same threads, as late, and equally far apart.
pub(super) fn is_of_both(base: &ResultFile, file: &ResultFile) -> bool {
    let worst = |file: &'_ ResultFile| file.observation.as_ref().map(|observation| observation.worst.clone());
    let (Some(one), Some(two)) = (worst(base), worst(file)) else { return false };
    if one.is_empty() || two.is_empty() {
        return false;
    }
    // Of copies for others, which have no ids, only equal ones are known to be of one run.
    if one == two {
        return true;
    }
    let offsets: Vec<i64> = one.iter().flat_map(|wait| two.iter().filter_map(|other| offset(wait, other))).collect();
    let agreeing = |offset: &i64| offsets.iter().filter(|other| other.abs_diff(*offset) <= DRIFT_NS).count();
    let most = offsets.iter().map(agreeing).max().unwrap_or(0);
    most >= SAME_MIN && 2 * most >= one.len().min(two.len())
}

/// How far one clock is ahead of the other, if these may be one wait.
fn offset(one: &Wait, two: &Wait) -> Option<i64> {
    let is_same = one.tid != 0 && one.tid == two.tid && one.lateness_ns.abs_diff(two.lateness_ns) <= WITHIN_NS;
    is_same.then(|| signed(two.end).saturating_sub(signed(one.end)))
}

#[cfg(test)]
mod tests {
    use oversleep_record::observed::Observation;

    use super::*;
    use crate::compare::testing::Sheet;

    /// Its worst waits: thread, end and lateness in µs.
    fn of(waits: &[(u32, u64, i64)]) -> ResultFile {
        let wait = |&(tid, end_us, late_us): &(u32, u64, i64)| {
            let wait = serde_json::json!({
                "tgid": tid, "tid": tid, "thread": "app", "call": "nanosleep", "request": "span", "requested_ns": 1,
                "deadline_ns": 1, "end_ns": end_us * 1_000, "lateness_ns": late_us * 1_000, "outcome": "timer",
                "parts": {}, "marks": {},
            });
            serde_json::from_value::<Wait>(wait).expect("it is a wait")
        };
        let observation = Observation { worst: waits.iter().map(wait).collect(), ..Observation::default() };
        ResultFile { observation: Some(observation), ..Sheet::linux().file }
    }

    #[test]
    fn two_recordings_of_one_run_are_known_by_their_latest_waits() {
        let base = of(&[(1, 500_000, 900), (2, 10_000, 800), (1, 20_000, 700), (3, 30_000, 600)]);
        assert!(is_of_both(&base, &base.clone()));
        // Another clock, other costs, and a wait that only one of them has.
        let other = of(&[(9, 1, 990), (1, 510_400, 903), (2, 20_400, 801), (1, 30_401, 701)]);
        assert!(is_of_both(&base, &other));
        // The same threads were as late, at other times.
        assert!(!is_of_both(&base, &of(&[(1, 500_000, 900), (2, 30_000, 800), (1, 70_000, 700), (3, 10_000, 600)])));
        assert!(!is_of_both(&base, &of(&[(1, 500_000, 900), (2, 10_000, 800)])), "too few");
        // A copy for others has no ids.
        let copy = of(&[(0, 500_000, 900), (0, 10_000, 800), (0, 20_000, 700)]);
        assert!(!is_of_both(&base, &copy) && is_of_both(&copy, &copy.clone()));
        assert!(!is_of_both(&of(&[]), &of(&[])));
    }
}
