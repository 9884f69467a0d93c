//! How figures are written: one spelling of durations, shares, counts and dates for every table, page and picture.

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
pub fn grouped(number: impl TryInto<i128>) -> String {
    let number: i128 = number.try_into().unwrap_or(i128::MAX);
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

/// A share as a percentage with at least two significant digits. A few of many never read as `0 %`, nor almost all as `100 %`.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let text = match value.abs() {
        0.0 => "0".to_owned(),
        magnitude if magnitude < 0.01 => return "< 0.01 %".to_owned(),
        magnitude if magnitude > 99.9 && magnitude < 100.0 => return "> 99.9 %".to_owned(),
        magnitude if magnitude < 1.0 => format!("{value:.2}"),
        magnitude if magnitude < 10.0 || (99.0..100.0).contains(&magnitude) => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    };
    format!("{} %", if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text })
}

/// `1 value`, `2,000 values`, `2 processes`; `series` has no plural of its own.
pub fn counted(count: impl TryInto<i128>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(i128::MAX);
    let ending = match (count, noun) {
        (1, _) | (_, "series") => "",
        (_, noun) if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", grouped(count))
}

/// `a`, `a and b`, `a, b and c`.
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        all => all.concat(),
    }
}

/// Fewest values a median is shown of without a mark: ten lie on either side.
pub const MEDIAN_MIN: u64 = 20;

/// The median, marked `~` where it rests on fewer than twenty values.
pub fn median(unit: Unit, distribution: &Distribution) -> Option<String> {
    let text = value(unit, distribution.p50()?);
    Some(if distribution.count() < MEDIAN_MIN { format!("~{text}") } else { text })
}

/// What `~` means. Every table that may show the mark needs it.
pub const FEW_VALUES: &str = "~ marks a median of fewer than 20 values.";

/// A quantile that has at least ten values beyond it.
pub fn quantile(unit: Unit, distribution: &Distribution, quantile: f64) -> Option<String> {
    distribution.safe_quantile(quantile).map(|found| value(unit, found))
}

/// Median of a series in its unit, or the dash.
pub fn median_of(series: &Series) -> String {
    or_dash(median(series.unit, &series.distribution))
}

/// The text with a capital.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The text as a sentence: with a full stop, and with a capital unless it begins with a name, which has `-`, `_`, `(` or
/// `::` in it or stands in the list of names.
pub fn sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_name = first.contains(|c: char| !c.is_alphabetic()) || NAMES.contains(&first);
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

/// A moment in UTC by the civil calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    date: (i64, i64, i64),
    second_of_day: i64,
}

impl Civil {
    /// The moment so many seconds after 1970 began; `None` outside of the years 1 to 9999.
    ///
    /// By Howard Hinnant's `civil_from_days`: the year begins in March, so that the leap day is its last.
    /// <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>
    pub fn at(unix_s: i64) -> Option<Civil> {
        let shifted = unix_s.div_euclid(86_400).checked_add(719_468)?;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        (1..=9999)
            .contains(&year)
            .then_some(Civil { date: (year, month, day), second_of_day: unix_s.rem_euclid(86_400) })
    }

    /// For people: `2025-11-21 07:13 UTC`.
    pub fn date(self) -> String {
        let ((year, month, day), second) = (self.date, self.second_of_day);
        format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", second / 3_600, second / 60 % 60)
    }

    /// For names of files, without characters that some file system refuses: `2025-11-21T07-13-00Z`.
    pub fn stamp(self) -> String {
        let ((year, month, day), second) = (self.date, self.second_of_day);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}-{minute:02}-{second:02}Z")
    }
}

/// Seconds since 1970 as a date: `2025-11-21 07:13 UTC`.
pub fn date(unix_s: i64) -> Option<String> {
    Civil::at(unix_s).map(Civil::date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_what_matters() {
        assert_eq!([cost(9_500), cost(18_000), cost(1_230_000)], ["9.5 ns", "18 ns", "1.23 µs"]);
        assert_eq!([grouped(7), grouped(1_000), grouped(-1_234_567)], ["7", "1,000", "-1,234,567"]);
        assert_eq!(
            [0.0, 0.000_01, 0.0043, 0.06, 0.73, 0.995, 0.9996, 1.0].map(percent),
            ["0 %", "< 0.01 %", "0.43 %", "6 %", "73 %", "99.5 %", "> 99.9 %", "100 %"]
        );
        assert_eq!(
            [counted(1, "wait"), counted(2_000, "wait"), counted(2, "series")],
            ["1 wait", "2,000 waits", "2 series"]
        );
        assert_eq!([list(&["a"]), list(&["a", "b"]), list(&["a", "b", "c"])], ["a", "a and b", "a, b and c"]);
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
        assert_eq!(sentence("every sleep is late"), "Every sleep is late.");
        assert_eq!(sentence("sched-yield returns."), "sched-yield returns.");
        assert_eq!(sentence("nanosleep is late"), "nanosleep is late.");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn dates_are_those_of_the_calendar_in_utc() {
        for (unix_s, stamp) in [
            (0, "1970-01-01T00-00-00Z"),
            (951_827_696, "2000-02-29T12-34-56Z"),
            (4_107_542_399, "2100-02-28T23-59-59Z"),
            (4_107_542_400, "2100-03-01T00-00-00Z"),
            (-1, "1969-12-31T23-59-59Z"),
        ] {
            assert_eq!(Civil::at(unix_s).map(Civil::stamp).as_deref(), Some(stamp));
        }
        assert_eq!(date(951_827_696).as_deref(), Some("2000-02-29 12:34 UTC"));
        assert_eq!([date(i64::MAX), date(i64::MIN)], [None, None]);
    }
}
