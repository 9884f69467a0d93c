//! Words for figures.

use oversleep_record::series::Unit;
use oversleep_record::{Distribution, Nanos, Series};

/// What stands where a figure is not known.
pub const UNKNOWN: &str = "–";

/// A figure, or the dash.
pub fn or_dash(text: Option<impl ToString>) -> String {
    text.map_or_else(|| UNKNOWN.to_owned(), |text| text.to_string())
}

/// A cost in ps: `9.5 ns`, `1.23 µs`.
pub fn cost(ps: i64) -> String {
    if ps.unsigned_abs() >= 100_000 {
        return Nanos((ps as f64 / 1e3).round() as i64).to_string();
    }
    let text = format!("{:.1}", ps as f64 / 1e3);
    format!("{} ns", text.strip_suffix(".0").unwrap_or(&text))
}

/// A value in the unit of its series.
pub fn value(unit: Unit, value: i64) -> String {
    match unit {
        Unit::Ns => Nanos(value).to_string(),
        Unit::Ps => cost(value),
        Unit::Hz => format!("{}/s", grouped(value)),
        Unit::Mw => format!("{} mW", grouped(value)),
    }
}

/// A whole number with its thousands apart: `9,728,000`.
pub fn grouped(number: impl Into<i128>) -> String {
    let number: i128 = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as a percentage; what is there is never rounded to nothing.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value.abs() {
        0.0 => "0 %".to_owned(),
        magnitude if magnitude < 0.01 => "< 0.01 %".to_owned(),
        magnitude if magnitude < 1.0 => format!("{value:.2} %"),
        magnitude if magnitude < 10.0 => format!("{value:.1} %"),
        _ => format!("{value:.0} %"),
    }
}

/// `1 value`, `2,000 values`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// `1 series`, `211 series`.
pub fn counted_series(count: usize) -> String {
    format!("{} series", grouped(count as i64))
}

/// Fewest values a median is shown of without a mark: ten lie on either side.
const MEDIAN_MIN: u64 = 20;

/// The median, marked `~` where fewer than twenty values stand behind it.
pub fn median(unit: Unit, distribution: &Distribution) -> Option<String> {
    let text = value(unit, distribution.p50()?);
    Some(if distribution.count() < MEDIAN_MIN { format!("~{text}") } else { text })
}

/// What `~` means; to be said wherever a median may carry it.
pub const FEW_VALUES: &str = "~ marks medians of fewer than 20 values";

/// A quantile that has at least ten values beyond it.
pub fn quantile(unit: Unit, distribution: &Distribution, quantile: f64) -> Option<String> {
    distribution.safe_quantile(quantile).map(|found| value(unit, found))
}

/// Median of a series in its unit, or the dash.
pub fn median_of(series: &Series) -> String {
    or_dash(median(series.unit, &series.distribution))
}

/// A sentence with a capital, unless it begins with a name: words that are written with `-`, `_`, `(` or `::`.
pub fn sentence(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_name = first.contains(|c: char| !c.is_alphabetic()) || NAMES.contains(&first);
    let mut letters = text.chars();
    match letters.next() {
        Some(letter) if !is_name => letter.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
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

/// Names of calls and of registry entries that look like ordinary words at the start of a sentence.
const NAMES: [&str; 14] = [
    "nanosleep",
    "usleep",
    "select",
    "pselect",
    "poll",
    "ppoll",
    "futex",
    "timerfd",
    "setitimer",
    "clock",
    "time",
    "tsc",
    "gettimeofday",
    "realtime",
];

/// Seconds since 1970 as a date in UTC: `2025-11-21 07:13 UTC`; `None` outside of the years 1 to 9999.
pub fn date(unix_s: i64) -> Option<String> {
    let days = unix_s.div_euclid(86_400);
    let second = unix_s.rem_euclid(86_400);
    // Days to a civil date, by eras of 400 years beginning in March (H. Hinnant, chrono-compatible date algorithms).
    let shifted = days.checked_add(719_468)?;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (1..=9999)
        .contains(&year)
        .then(|| format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", second / 3_600, second % 3_600 / 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_what_matters() {
        assert_eq!([cost(9_500), cost(18_000), cost(1_230_000)], ["9.5 ns", "18 ns", "1.23 µs"]);
        assert_eq!([grouped(7), grouped(1_000), grouped(-1_234_567)], ["7", "1,000", "-1,234,567"]);
        assert_eq!(
            [percent(0.0), percent(0.000_01), percent(0.0043), percent(0.73)],
            ["0 %", "< 0.01 %", "0.43 %", "73 %"]
        );
        assert_eq!(or_dash(None::<i64>), "–");
    }

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
        assert_eq!(sentence("every sleep is late"), "Every sleep is late");
        assert_eq!(sentence("sched-yield returns"), "sched-yield returns");
        assert_eq!(sentence("nanosleep is late"), "nanosleep is late");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn dates_are_utc() {
        assert_eq!(date(0).as_deref(), Some("1970-01-01 00:00 UTC"));
        assert_eq!(date(951_827_696).as_deref(), Some("2000-02-29 12:34 UTC"));
        assert_eq!(date(-1).as_deref(), Some("1969-12-31 23:59 UTC"));
        assert_eq!(date(i64::MAX), None);
        assert_eq!(date(i64::MIN), None);
    }
}
