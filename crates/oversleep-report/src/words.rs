//! How figures are written: one spelling of durations, shares, counts and dates for every table, page and picture.

use oversleep_record::date::Utc;
use oversleep_record::series::Unit;
use oversleep_record::{Distribution, Series};
use oversleep_system::{clocks, waits};

pub use oversleep_record::words::{cost, counted, grouped, list, percent, sign, value};

/// The text for an unknown figure.
pub const UNKNOWN: &str = "–";

/// A figure, or the dash.
pub fn or_dash(text: Option<impl ToString>) -> String {
    text.map_or_else(|| UNKNOWN.to_owned(), |text| text.to_string())
}

/// The fewest values for a median without a mark: ten lie on either side.
pub const MEDIAN_MIN: u64 = 20;

/// The median, marked `~` where it rests on fewer than twenty values.
pub fn median(unit: Unit, distribution: &Distribution) -> Option<String> {
    let text = value(unit, distribution.p50()?);
    Some(if distribution.count() < MEDIAN_MIN { format!("~{text}") } else { text })
}

/// The meaning of `~`. Every table that may show the mark needs it.
pub const FEW_VALUES: &str = "~ marks a median of fewer than 20 values.";

/// A quantile that has at least ten values beyond it.
pub fn quantile(unit: Unit, distribution: &Distribution, quantile: f64) -> Option<String> {
    distribution.safe_quantile(quantile).map(|found| value(unit, found))
}

/// Median of a series in its unit, or the dash.
pub fn median_of(series: &Series) -> String {
    or_dash(median(series.unit, &series.distribution))
}

/// A number with three digits: `2.95`, `49.7`, `10`.
pub fn significant(value: f64) -> String {
    let decimals = 2_usize.saturating_sub(value.abs().max(1.0).log10() as usize);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The text with a capital.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The text as a sentence: with a full stop, and with a capital unless it begins with a name, which has `-`, `_`, `(`
/// or `::` in it or is a clock's or a wait's.
pub fn sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_name = first.contains(|c: char| !c.is_alphabetic()) || is_registry_name(first);
    let start = if is_name { text.to_owned() } else { capitalised(text) };
    if start.is_empty() { start } else { start + "." }
}

/// A blank at which no line is broken.
pub const BOUND: char = '\u{a0}';

/// The text with blanks between a figure and its unit at which no line is broken.
pub fn units_bound(text: &str) -> String {
    let mut bound = text.to_owned();
    for unit in ["ns", "µs", "ms", "s", "%", "ppm"] {
        let mut from = 0;
        let pattern = format!(" {unit}");
        while let Some(at) = bound[from..].find(&pattern).map(|at| at + from) {
            let after_figure = bound[..at].ends_with(|letter: char| letter.is_ascii_digit());
            let ends_here = bound[at + pattern.len()..].chars().next().is_none_or(|letter| !letter.is_alphanumeric());
            from = at + pattern.len();
            if after_figure && ends_here {
                bound.replace_range(at..at + 1, "\u{a0}");
                from += 1;
            }
        }
    }
    bound
}

/// Whether a clock or a wait of any system has that name.
fn is_registry_name(word: &str) -> bool {
    let clocks = [clocks::LINUX, clocks::WINDOWS, clocks::MACOS].into_iter().flatten().map(|info| info.name);
    let waits = [waits::LINUX, waits::WINDOWS, waits::MACOS].into_iter().flatten().map(|info| info.name);
    clocks.chain(waits).any(|name| name == word)
}

/// Seconds since 1970 as a date: `2025-11-21 07:13 UTC`.
pub fn date(unix_s: i64) -> Option<String> {
    Utc::of_unix(unix_s).map(Utc::to_minute)
}

/// The day alone: `2025-11-21`.
pub fn day(unix_s: i64) -> Option<String> {
    Utc::of_unix(unix_s).map(Utc::to_day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_marked() {
        let mut distribution = Distribution::new();
        assert_eq!(median(Unit::Ns, &distribution), None);
        (0..19).for_each(|_| distribution.record(66_100));
        assert_eq!(median(Unit::Ns, &distribution).as_deref(), Some("~66.1 µs"));
        distribution.record(66_100);
        assert_eq!(median(Unit::Ns, &distribution).as_deref(), Some("66.1 µs"));
        assert_eq!(quantile(Unit::Ns, &distribution, 0.9), None, "two values lie beyond");
    }

    #[test]
    fn sentences_begin_with_a_capital_and_names_do_not() {
        assert_eq!(sentence("every sleep is late"), "Every sleep is late.");
        assert_eq!(sentence("sched-yield returns."), "sched-yield returns.");
        assert_eq!(sentence("nanosleep is late"), "nanosleep is late.");
        assert_eq!(sentence(""), "");
    }
}
