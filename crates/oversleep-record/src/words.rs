//! Figures in words, for all sentences and tables.

use crate::series::Unit;
use crate::units::Nanos;

pub use crate::conditions::ranges;
pub use crate::runtime_name::with_versions;
pub use crate::units::sign;

/// A whole number with thousands separators: `9,728,000`.
pub fn grouped(number: impl TryInto<i128>) -> String {
    let number: i128 = number.try_into().unwrap_or(i128::MAX);
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(sign(number < 0));
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 value`, `2,000 values`, `2 processes`, `2 series`.
pub fn counted(count: impl TryInto<i128>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(i128::MAX);
    let ending = match noun {
        _ if count == 1 => "",
        "series" => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", grouped(count))
}

/// `1 series`, `211 series`.
pub fn counted_series(count: usize) -> String {
    format!("{} series", grouped(i128::try_from(count).unwrap_or(i128::MAX)))
}

/// A share as a percentage with two digits: `0.43 %`, `5.8 %`, `73 %`. A few of many never read as `0 %`, nor almost all
/// as `100 %`.
pub fn percent(share: f64) -> String {
    let value = share.abs() * 100.0;
    let decimals = match value {
        0.0 => 0,
        magnitude if magnitude < 0.01 => return "< 0.01 %".to_owned(),
        magnitude if magnitude > 99.9 && magnitude < 100.0 => return "> 99.9 %".to_owned(),
        magnitude if magnitude < 1.0 => 2,
        magnitude if magnitude < 10.0 || (99.0..100.0).contains(&magnitude) => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{}{text} %", sign(share < 0.0 && text != "0"))
}

/// A value in the unit of its series: `66.1 µs`, `9.5 ns`, `32,005/s`, `1,250 mW`.
pub fn value(unit: Unit, value: i64) -> String {
    match unit {
        Unit::Ns => Nanos(value).to_string(),
        Unit::Ps => cost(value),
        Unit::Hz => format!("{}/s", grouped(value)),
        Unit::Mw => format!("{} mW", grouped(value)),
    }
}

/// A cost in ps as nanoseconds with one decimal, or as a span from 100 ns on: `9.5 ns`, `1.23 µs`.
pub fn cost(ps: i64) -> String {
    if ps.unsigned_abs() >= 100_000 {
        return Nanos((ps as f64 / 1e3).round() as i64).to_string();
    }
    let text = format!("{:.1}", ps.unsigned_abs() as f64 / 1e3);
    format!("{}{} ns", sign(ps < 0), text.strip_suffix(".0").unwrap_or(&text))
}

/// `a`, `a and b`, `a, b and c`.
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// Whether a name fits a pattern in which `*` stands for any characters.
pub fn is_like(name: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_keep_what_matters() {
        let shares = [0.0, 0.000_04, 0.000_1, 0.004, 0.0043, 0.058, 0.05, 0.73, 0.995, 0.9996, 1.0];
        let texts = shares.map(percent);
        let (low, high) = texts.split_at(5);
        assert_eq!(low, ["0 %", "< 0.01 %", "0.01 %", "0.4 %", "0.43 %"]);
        assert_eq!(high, ["5.8 %", "5 %", "73 %", "99.5 %", "> 99.9 %", "100 %"]);
        assert_eq!([-0.73, -0.0].map(percent), ["−73 %", "0 %"]);
    }

    #[test]
    fn costs_below_a_nanosecond_are_seen() {
        assert_eq!(
            [9_500, 18_000, 31_500, 192_400, 1_230_000].map(cost),
            ["9.5 ns", "18 ns", "31.5 ns", "192 ns", "1.23 µs"]
        );
        assert_eq!([-9_500, -1_230_000].map(cost), ["−9.5 ns", "−1.23 µs"]);
    }

    #[test]
    fn counts_have_their_thousands_apart() {
        assert_eq!([grouped(7), grouped(1_000), grouped(-1_234_567)], ["7", "1,000", "−1,234,567"]);
        assert_eq!(
            [counted(0, "wait"), counted(1, "wait"), counted(2_000, "wait")],
            ["0 waits", "1 wait", "2,000 waits"]
        );
        assert_eq!([counted(2, "process"), counted(2_u64, "series")], ["2 processes", "2 series"]);
        assert_eq!([counted_series(1), counted_series(1_211)], ["1 series", "1,211 series"]);
    }

    #[test]
    fn numbers_are_written_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 8, 10, 11]), "0-2,8,10-11");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn lists_read_as_prose() {
        assert_eq!(list::<&str>(&[]), "");
        assert_eq!(list(&["poll"]), "poll");
        assert_eq!(list(&["poll", "select", "epoll-wait"]), "poll, select and epoll-wait");
    }
}
