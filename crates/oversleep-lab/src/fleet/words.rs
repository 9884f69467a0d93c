//! How findings about a fleet are written.

use oversleep_record::Nanos;
use oversleep_record::date::Utc;
use oversleep_record::words::counted;

use super::model::Interval;

/// `1.62 times as late (99 % interval 1.58 to 1.66, from 7 days)`.
pub(super) fn times(ratio: &Interval, units: usize, unit: &str) -> String {
    let Interval { value, low, high } = ratio;
    let units = counted(units, unit);
    format!("{} times as late (99 % interval {} to {}, from {units})", factor(*value), factor(*low), factor(*high))
}

/// `1.62`, `18.3`, `0.971`.
pub(super) fn factor(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 0.995 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

/// A figure in ns.
pub(super) fn span(ns: f64) -> String {
    Nanos(ns.round() as i64).to_string()
}

/// `2026-11-25`.
pub(super) fn day(unix_s: i64) -> String {
    Utc::of_unix(unix_s).map_or_else(|| format!("second {unix_s}"), Utc::to_day)
}

/// `2026-11-25 11:00 UTC`.
pub(super) fn moment(unix_s: i64) -> String {
    Utc::of_unix(unix_s).map_or_else(|| format!("second {unix_s}"), Utc::to_minute)
}

/// `since 2026-11-25`, or that it has always been so.
pub(super) fn since(unix_s: Option<i64>, first_unix_s: i64) -> String {
    match unix_s {
        Some(since) => format!("since {}", moment(since)),
        None => format!("since its first row, {}", day(first_unix_s)),
    }
}
