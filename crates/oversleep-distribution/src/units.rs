//! Durations as whole nanoseconds: one signed type, exact conversions, one text form in and out.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A signed span of time in whole nanoseconds.
///
/// Signed because lateness is: a wait that ends before its deadline has a negative one. The range is ±292 years.
/// Points in time are written as the span since a stated origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Nanos(pub i64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Nanos = Nanos(0);
    /// The longest span.
    pub const MAX: Nanos = Nanos(i64::MAX);

    /// `n` microseconds; saturates at the range of the type.
    pub const fn from_micros(n: i64) -> Nanos {
        Nanos(n.saturating_mul(1_000))
    }

    /// `n` milliseconds; saturates at the range of the type.
    pub const fn from_millis(n: i64) -> Nanos {
        Nanos(n.saturating_mul(1_000_000))
    }

    /// `n` seconds; saturates at the range of the type.
    pub const fn from_secs(n: i64) -> Nanos {
        Nanos(n.saturating_mul(1_000_000_000))
    }

    /// This span in microseconds, for drawing and printing; not for arithmetic.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// This span in milliseconds, for drawing and printing; not for arithmetic.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// This span in seconds, for drawing and printing; not for arithmetic.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The standard library's unsigned duration, or `None` for a negative span.
    pub fn to_std(self) -> Option<std::time::Duration> {
        u64::try_from(self.0).ok().map(std::time::Duration::from_nanos)
    }

    /// The exact value in the form that is typed and that keys contain: `300us`, `1.5ms`. It can be parsed again.
    pub fn as_typed(self) -> String {
        format!("{self:#}").replace(' ', "").replace('µ', "u")
    }

    /// Rounded up to a whole multiple of `granularity`; unchanged where that is zero or negative.
    #[inline]
    pub fn round_up_to(self, granularity: Nanos) -> Nanos {
        if granularity.0 <= 1 {
            return self;
        }
        let down = self.round_down_to(granularity).0;
        if down == self.0 { self } else { Nanos(down.saturating_add(granularity.0)) }
    }

    /// Rounded down to a whole multiple of `granularity`; unchanged where that is zero or negative.
    #[inline]
    pub fn round_down_to(self, granularity: Nanos) -> Nanos {
        if granularity.0 <= 1 { self } else { Nanos(self.0.div_euclid(granularity.0).saturating_mul(granularity.0)) }
    }
}

impl Add for Nanos {
    type Output = Nanos;
    #[inline]
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    #[inline]
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl Neg for Nanos {
    type Output = Nanos;
    fn neg(self) -> Nanos {
        Nanos(self.0.saturating_neg())
    }
}

impl Mul<i64> for Nanos {
    type Output = Nanos;
    fn mul(self, factor: i64) -> Nanos {
        Nanos(self.0.saturating_mul(factor))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        *self = *self + other;
    }
}

impl SubAssign for Nanos {
    fn sub_assign(&mut self, other: Nanos) {
        *self = *self - other;
    }
}

impl std::iter::Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(spans: I) -> Nanos {
        spans.fold(Nanos::ZERO, Add::add)
    }
}

const DAY_NS: u64 = 86_400_000_000_000;

/// The unit a span reads best in: its suffix, its length in nanoseconds.
fn best_unit(magnitude_ns: u64) -> (&'static str, u64) {
    match magnitude_ns {
        0..1_000 => ("ns", 1),
        1_000..1_000_000 => ("µs", 1_000),
        1_000_000..1_000_000_000 => ("ms", 1_000_000),
        1_000_000_000..DAY_NS => ("s", 1_000_000_000),
        _ => ("d", DAY_NS),
    }
}

/// Three significant digits and a unit: `66.1 µs`, `1.07 ms`, `15.6 ms`, `500 ns`; trailing zeros of the fraction are
/// dropped unless a precision is given (`{:.2}` keeps two decimals). The alternate form (`{:#}`) is exact.
/// The sign of a figure that people read: a real minus, as wide as a digit. What is typed has a hyphen.
pub const fn sign(is_negative: bool) -> &'static str {
    if is_negative { "−" } else { "" }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        // A fraction of a day has no end, so days are exact only if they are whole.
        let has_days = !f.alternate() || magnitude.is_multiple_of(DAY_NS);
        let (unit, length) = best_unit(if has_days { magnitude } else { magnitude.min(DAY_NS - 1) });
        if f.alternate() {
            let sign = sign(self.0 < 0);
            let fraction = format!("{:0digits$}", magnitude % length, digits = length.ilog10() as usize);
            let fraction = if length == 1 { "" } else { fraction.trim_end_matches('0') };
            let point = if fraction.is_empty() { "" } else { "." };
            return f.pad_with(sign, &format!("{}{point}{fraction}", magnitude / length), unit);
        }
        // A value that would be rounded to a thousand of its unit is written in the next unit.
        let is_next =
            f.precision().is_none() && length > 1 && magnitude.saturating_mul(2) >= length.saturating_mul(1_999);
        let (unit, length) = if is_next { best_unit(length * 1_000) } else { (unit, length) };
        let value = magnitude as f64 / length as f64;
        let sign = sign(self.0 < 0);
        let text = match f.precision() {
            Some(decimals) => format!("{value:.decimals$}"),
            None => {
                let decimals = if length == 1 || value >= 100.0 {
                    0
                } else if value >= 10.0 {
                    1
                } else {
                    2
                };
                let text = format!("{value:.decimals$}");
                if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
            }
        };
        f.pad_with(sign, &text, unit)
    }
}

/// Padding that counts characters, so that `µ` does not shift columns.
trait PadWith {
    fn pad_with(&mut self, sign: &str, number: &str, unit: &str) -> fmt::Result;
}

impl PadWith for fmt::Formatter<'_> {
    fn pad_with(&mut self, sign: &str, number: &str, unit: &str) -> fmt::Result {
        let text = format!("{sign}{number} {unit}");
        let missing = self.width().unwrap_or(0).saturating_sub(text.chars().count());
        match self.align() {
            Some(fmt::Alignment::Left) => write!(self, "{text}{:missing$}", ""),
            _ => write!(self, "{:missing$}{text}", ""),
        }
    }
}

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// There is nothing to read.
    #[error("an empty duration; write a number and a unit, like 300us or 1ms")]
    Empty,
    /// It does not begin with a number.
    #[error("'{0}' does not begin with a number; write a number and a unit, like 300us or 1.5ms")]
    NoNumber(String),
    /// A number stands alone.
    #[error("'{0}' has no unit; add one of ns, us, ms, s, min, h, d (like {0}ms)")]
    NoUnit(String),
    /// The unit is unknown.
    #[error("'{unit}' in '{text}' is not a unit of time here; use ns, us, ms, s, min, h or d")]
    UnknownUnit {
        /// The whole text.
        text: String,
        /// The part that should be a unit.
        unit: String,
    },
    /// It has more digits than nanoseconds can hold.
    #[error("'{0}' is finer than a nanosecond; the smallest step is 1ns")]
    TooFine(String),
    /// It does not fit.
    #[error("'{0}' is longer than 292 years; nothing here can wait that long")]
    TooLong(String),
}

/// Reads `1ms`, `1.5 ms`, `300us`, `300µs`, `2s`, `1min`, `1h`, `-5us`; whole nanoseconds only, without rounding.
impl FromStr for Nanos {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Nanos, DurationError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(DurationError::Empty);
        }
        let (negative, body) = match text.strip_prefix(['-', '−']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let number_len = body.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(body.len());
        let number: String = body[..number_len].chars().filter(|&c| c != '_').collect();
        let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return Err(DurationError::NoNumber(text.to_owned()));
        }
        let unit = body[number_len..].trim();
        let unit_ns: i128 = match unit {
            "" => return Err(DurationError::NoUnit(text.to_owned())),
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            "d" => i128::from(DAY_NS),
            _ => return Err(DurationError::UnknownUnit { text: text.to_owned(), unit: unit.to_owned() }),
        };
        let too_long = || DurationError::TooLong(text.to_owned());
        // 26 digits hold every span of the type; more would only overflow the exact arithmetic below.
        let fraction = fraction.trim_end_matches('0');
        let whole = whole.trim_start_matches('0');
        if whole.len() > 26 {
            return Err(too_long());
        }
        if fraction.len() > 13 {
            return Err(DurationError::TooFine(text.to_owned()));
        }
        let whole_value: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_long())? };
        let fraction_value: i128 = if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| too_long())? };
        let fraction_scale = 10_i128.pow(fraction.len() as u32);
        let fraction_ns = fraction_value * unit_ns;
        if fraction_ns % fraction_scale != 0 {
            return Err(DurationError::TooFine(text.to_owned()));
        }
        let magnitude = whole_value
            .checked_mul(unit_ns)
            .and_then(|ns| ns.checked_add(fraction_ns / fraction_scale))
            .ok_or_else(too_long)?;
        let signed = if negative { -magnitude } else { magnitude };
        i64::try_from(signed).map(Nanos).map_err(|_| too_long())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_unit_exactly() {
        for (text, ns) in [
            ("1ns", 1),
            ("300us", 300_000),
            ("300µs", 300_000),
            ("1.5ms", 1_500_000),
            ("0.000000001s", 1),
            (".5 ms", 500_000),
            ("1_000us", 1_000_000),
            ("15.625ms", 15_625_000),
            ("2min", 120_000_000_000),
            ("-5us", -5_000),
            ("0ms", 0),
        ] {
            assert_eq!(text.parse(), Ok(Nanos(ns)), "{text}");
        }
    }

    #[test]
    fn refuses_with_what_and_what_to_do() {
        for (text, message) in [
            ("", "an empty duration; write a number and a unit, like 300us or 1ms"),
            ("1 parsec", "'parsec' in '1 parsec' is not a unit of time here; use ns, us, ms, s, min, h or d"),
            ("5", "'5' has no unit; add one of ns, us, ms, s, min, h, d (like 5ms)"),
            ("ms", "'ms' does not begin with a number; write a number and a unit, like 300us or 1.5ms"),
            ("1.2.3ms", "'1.2.3ms' does not begin with a number; write a number and a unit, like 300us or 1.5ms"),
            ("0.5ns", "'0.5ns' is finer than a nanosecond; the smallest step is 1ns"),
            ("99999999999999h", "'99999999999999h' is longer than 292 years; nothing here can wait that long"),
            ("1e30ms", "'e30ms' in '1e30ms' is not a unit of time here; use ns, us, ms, s, min, h or d"),
        ] {
            assert_eq!(text.parse::<Nanos>().unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn prints_three_significant_digits() {
        for (ns, text) in [
            (0, "0 ns"),
            (1, "1 ns"),
            (999, "999 ns"),
            (999_499, "999 µs"),
            (999_680, "1 ms"),
            (-999_500_000, "−1 s"),
            (999_500_000_000, "1000 s"),
            (66_123, "66.1 µs"),
            (1_070_000, "1.07 ms"),
            (15_625_000, "15.6 ms"),
            (2_000_000_000, "2 s"),
            (86_400_000_000_000, "1 d"),
            (-4_294_967_295_000_000, "−49.7 d"),
            (-13_000, "−13 µs"),
            (500_000, "500 µs"),
        ] {
            assert_eq!(Nanos(ns).to_string(), text);
        }
        assert_eq!(format!("{:>9}", Nanos(66_123)), "  66.1 µs");
        for (ns, text) in
            [(0, "0 ns"), (999, "999 ns"), (1_001_000, "1.001 ms"), (-1_500, "−1.5 µs"), (2_000_000_000, "2 s")]
        {
            assert_eq!(format!("{:#}", Nanos(ns)), text);
        }
        assert_eq!(format!("{:.3}", Nanos(15_625_000)), "15.625 ms");
    }

    #[test]
    fn typed_spans_are_exact_and_read_back() {
        for (ns, text) in [
            (0, "0ns"),
            (1, "1ns"),
            (300_000, "300us"),
            (1_000_000, "1ms"),
            (1_500_000, "1.5ms"),
            (1_001_000, "1.001ms"),
            (100_000_000, "100ms"),
            (60_000_000_001, "60.000000001s"),
            (259_200_000_000_000, "3d"),
            (90_000_000_000_000, "90000s"),
        ] {
            assert_eq!(Nanos(ns).as_typed(), text);
            assert_eq!(text.parse(), Ok(Nanos(ns)), "and reads back");
        }
    }

    #[test]
    fn rounds_towards_both_sides() {
        let ms = Nanos::from_millis(1);
        assert_eq!(Nanos(300_000).round_up_to(ms), ms);
        assert_eq!(ms.round_up_to(ms), ms);
        assert_eq!(Nanos(1_999_999).round_down_to(ms), ms);
        assert_eq!(Nanos(5).round_up_to(Nanos(0)), Nanos(5));
        let longest_ago = Nanos(-i64::MAX);
        assert_eq!(longest_ago.round_down_to(Nanos(15_625_000)), Nanos(i64::MIN), "saturates at the end of the range");
        assert!(longest_ago.round_up_to(Nanos(15_625_000)) >= longest_ago);
    }

    proptest::proptest! {
        #[test]
        fn whole_nanoseconds_come_back(ns in proptest::num::i64::ANY) {
            proptest::prop_assume!(ns != i64::MIN);
            proptest::prop_assert_eq!(format!("{ns}ns").parse(), Ok(Nanos(ns)));
            proptest::prop_assert_eq!(Nanos(ns).as_typed().parse(), Ok(Nanos(ns)));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}") {
            let _ = text.parse::<Nanos>();
        }
    }
}
