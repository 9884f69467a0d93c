//! Whether the figures of a runtime are reliable: its clock, and other work in the same program.

use oversleep_record::words::counted;
use oversleep_record::{Nanos, ResultFile, Series};

use super::requests::named;
use crate::entry::{Checked, Conclusion};
use crate::figures::{p50, summary};
use crate::read::COMMON_REQUEST;
use crate::runtimes::instrument::{Instrument, Validity, instruments};
use crate::runtimes::{RuntimeWait, waits};

pub(super) fn clock_rate(file: &ResultFile) -> Checked {
    let all = instruments(file);
    let mut known: Vec<(&Instrument<'_>, Validity, f64)> =
        all.iter().filter_map(|one| Some((one, one.validity()?, one.rate_error().unwrap_or_default()))).collect();
    known.sort_by(|a, b| (a.1 == Validity::Valid).cmp(&(b.1 == Validity::Valid)).then(b.2.abs().total_cmp(&a.2.abs())));
    let Some(&(worst, validity, error)) = known.first() else {
        return Err(Conclusion::lacks("no program stated its clock at its beginning and its end"));
    };
    let runtime = worst.second.runtime.as_ref().map(ToString::to_string).unwrap_or_default();
    let shown = Nanos(worst.second.distribution.p50().unwrap_or_default()).as_secs_f64();
    let wrong = format!("{} of {runtime} ", worst.second.clock)
        + &match validity {
            Validity::Slow | Validity::Fast => {
                format!("{validity} by {:.2} %: it showed {shown:.4} s of a second", error.abs() * 100.0)
            }
            Validity::CountsSomethingElse => format!("{validity}: it showed {shown:.4} s of a second"),
            Validity::GoesBack => {
                let times = worst.step.map_or(0, |step| step.counts.backward);
                format!("{validity}: {} of its timestamps were before an earlier one", times)
            }
            Validity::Coarse => {
                format!("moves in steps of {}: too coarse for a wait of 1 ms", worst.step().unwrap_or_default())
            }
            Validity::Valid => String::new(),
        };
    let conclusion = match validity {
        Validity::Valid => Conclusion::absent(format!(
            "{} compared with the system's: within {:.2} %",
            counted(known.len(), "clock"),
            error.abs() * 100.0
        )),
        _ => Conclusion::found(wrong),
    };
    let rests_on = [Some(worst.second), worst.step].into_iter().flatten().filter(|series| series.has_values());
    Ok(rests_on.fold(conclusion, |all, series| all.rests_on(&series.key, summary(series))))
}

/// A wait of an idle program and the same beside a busy thread, for 1 ms.
fn idle_and_busy<'a>(all: &[RuntimeWait<'a>], busy: &RuntimeWait<'a>) -> Option<(String, &'a Series, &'a Series)> {
    let plain = busy.idle_name().filter(|_| busy.clock_fault.is_none())?;
    let idle = all.iter().find(|wait| wait.runtime == busy.runtime && wait.name == plain)?;
    let series = |wait: &RuntimeWait<'a>| wait.at(COMMON_REQUEST).filter(|series| series.has_values());
    Some((named(idle), series(idle)?, series(busy)?))
}

pub(super) fn busy(file: &ResultFile) -> Checked {
    let all = waits(file);
    let mut pairs: Vec<_> = all.iter().filter_map(|busy| idle_and_busy(&all, busy)).collect();
    if pairs.is_empty() {
        return Err(Conclusion::lacks(
            "no runtime was measured both idle and busy. Run `oversleep runtimes go python`",
        ));
    }
    pairs.sort_by_key(|(_, idle, busy)| -(p50(busy) - p50(idle)).0.abs());
    let (name, idle, busy) = &pairs[0];
    let sentence = format!(
        "{name} takes {} beside a busy one: 1 ms took {}, and {} in an idle program",
        if p50(busy) > p50(idle) { "longer" } else { "less" },
        COMMON_REQUEST + p50(busy),
        COMMON_REQUEST + p50(idle)
    );
    let differs = (p50(busy) - p50(idle)).0.abs() > 2 * p50(idle).0.abs().max(50_000);
    let conclusion = match differs {
        true => Conclusion::found(sentence),
        false => {
            Conclusion::absent(format!("the largest difference is that of {name}: {} and {}", p50(busy), p50(idle)))
        }
    };
    Ok(conclusion.rests_on(&busy.key, summary(busy)).rests_on(&idle.key, summary(idle)))
}
