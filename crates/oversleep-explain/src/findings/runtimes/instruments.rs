//! Whether the figures of a runtime can be trusted: its clock, and what else runs in it.

use oversleep_record::words::counted;
use oversleep_record::{Nanos, ResultFile, Series};

use super::requests::named;
use crate::entry::{Checked, Conclusion};
use crate::figures::{p50, summary};
use crate::read::COMMON_REQUEST;
use crate::runtimes::{RATE_ERROR_MAX, RuntimeWait, rate_error, seconds, waits};

pub(super) fn clock_rate(file: &ResultFile) -> Checked {
    let mut errors: Vec<(&Series, f64)> =
        seconds(file).filter_map(|series| Some((series, rate_error(series)?))).collect();
    errors.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let Some((worst, error)) = errors.first() else {
        return Err(Conclusion::lacks("no program stated its clock at its beginning and its end"));
    };
    let runtime = worst.runtime.as_ref().map(ToString::to_string).unwrap_or_default();
    let error_words = format!("{:.2} % {}", error.abs() * 100.0, if *error < 0.0 { "slow" } else { "fast" });
    let shown = Nanos(worst.distribution.p50().unwrap_or_default()).as_secs_f64();
    let sentence = format!("{} of {runtime} runs {error_words}: it showed {shown:.4} s of a second", worst.clock);
    let all_agree = |series: &Series| {
        let off = |value: Option<i64>| value.is_some_and(|ns| (ns as f64 / 1e9 - 1.0).abs() > RATE_ERROR_MAX);
        off(series.distribution.min()) && off(series.distribution.max())
    };
    Ok(match error.abs() > RATE_ERROR_MAX && all_agree(worst) {
        true => Conclusion::found(sentence),
        false => Conclusion::absent(format!(
            "{} compared with the system's: within {:.2} %",
            counted(errors.len(), "clock"),
            error.abs() * 100.0
        )),
    }
    .rests_on(&worst.key, summary(worst)))
}

/// How names of operations beside a busy thread end.
const BUSY: &str = "(busy)";

/// A wait of an idle program and the same beside a busy thread, for 1 ms.
fn idle_and_busy<'a>(all: &[RuntimeWait<'a>], busy: &RuntimeWait<'a>) -> Option<(String, &'a Series, &'a Series)> {
    let plain = busy.name.strip_suffix(BUSY)?;
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
