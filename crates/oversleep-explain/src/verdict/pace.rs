//! How often a program's loop comes, and of what its periods consist.

use oversleep_record::part::Part;
use oversleep_record::{Nanos, ResultFile};

use super::Cause;
use crate::findings::observed::period::{in_milliseconds, per_second};
use crate::observed::period::{Loop, loops};

/// A part of the median period is named from this share on: 1 in so many.
const NAMED_OF: i64 = 100;

/// The sentence about the loop that something holds up, or else of the thread that is named like its program, or the one that
/// comes most often.
pub(super) fn pace(file: &ResultFile, held: Option<&Cause>) -> Option<String> {
    let loops = loops(file);
    let is_held = |of: &&Loop<'_>| held.is_some_and(|cause| cause.finding.instance.as_deref() == Some(&of.name()));
    let is_main = |of: &&Loop<'_>| of.identity.thread == of.identity.program;
    let of = loops.iter().find(is_held).or_else(|| loops.iter().find(is_main)).or(loops.first())?;
    let rate = per_second(of.rate()?);
    let p50 = Nanos(of.lengths.p50()?);
    let Some(intended) = of.periods.intended_ns.filter(|intended| intended.0 > 0) else {
        return Some(format!(
            "The loop of {} comes {rate} times per second, every {p50} at p50: {}.",
            of.name(),
            parts(of)
        ));
    };
    let wanted = per_second(1e9 / intended.0 as f64);
    let rate = if rate == wanted { "as often".to_owned() } else { format!("{rate} times") };
    Some(format!(
        "The loop of {} is meant to come {wanted} times per second and comes {rate}; at p50, a period is {}.",
        of.name(),
        parts(of)
    ))
}

/// `14 ms asked for in whole milliseconds, 2.1 ms of its own work, 94 µs late`.
fn parts(of: &Loop<'_>) -> String {
    let split = &of.periods.split;
    let whole = if in_milliseconds(of) { " in whole milliseconds" } else { "" };
    let told = [
        (Part::Asked, format!("asked for{whole}")),
        (Part::Work, "of its own work".to_owned()),
        (Part::Blocked, "asleep in other calls".to_owned()),
        (Part::Fault, "in page faults".to_owned()),
        (Part::Quota, "stopped by the quota".to_owned()),
        (Part::Runq, "waiting for a CPU".to_owned()),
        (Part::Late, "late".to_owned()),
        (Part::Unattributed, "not observed".to_owned()),
    ];
    let least = of.lengths.p50().unwrap_or(0) / NAMED_OF;
    let told = told.into_iter().map(|(part, words)| (split.p50(part), words));
    let told: Vec<String> =
        told.filter(|(ns, _)| *ns > 0 && *ns >= least).map(|(ns, words)| format!("{} {words}", Nanos(ns))).collect();
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use oversleep_record::observed::Observation;
    use oversleep_record::part::Parts;
    use oversleep_record::testing::Sheet;

    use super::*;
    use crate::observed::testing::periods;

    #[test]
    fn a_loop_is_told_with_its_rate_and_what_fills_its_periods() {
        const MS: i64 = 1_000_000;
        let of = Parts { asked: 14 * MS, work: 2 * MS, late: MS / 4, runq: 9_000, ..Parts::default() };
        let said = |intended| {
            let mut file = Sheet::linux().file;
            (file.series, file.observation) = (vec![periods(intended, &[(100, of)])], Some(Observation::default()));
            pace(&file, None).expect("it has a loop")
        };
        let parts = "14 ms asked for, 2 ms of its own work, 250 µs late.";
        assert_eq!(said(None), format!("The loop of app comes 61.5 times per second, every 16.3 ms at p50: {parts}"));
        assert_eq!(
            said(Some(16)),
            format!(
                "The loop of app is meant to come 62.5 times per second and comes 61.5 times; at p50, a period is {parts}"
            )
        );
    }
}
