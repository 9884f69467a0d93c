//! Values of a profile, with one text form for files and the command line.

use std::fmt;

use oversleep_record::Nanos;

use crate::sim::Spread;

/// The kind of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A span: `15.625ms`.
    Span,
    /// A span down to a tenth of a nanosecond: `9.9ns`.
    Cost,
    /// A span or a distribution of spans: `5us`, `4us..20us`, `p0=4us p50=9us p100=20us`.
    Spread,
    /// Spans, and a distribution that holds from each of them on: `300us:2us, 1ms:5us..30us`.
    Ladder,
    /// A share from 0 to 1.
    Share,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A policy with its priority: `fifo:1`.
    Policy,
    /// Names, each with a shift and a longest delay: `tier-0:3:1ms, tier-3:-2:75ms`.
    Tiers,
    /// Any text.
    Text,
}

/// A value as it was read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Span(Nanos),
    /// In picoseconds.
    Cost(u64),
    Spread(Spread),
    Ladder(Vec<(Nanos, Spread)>),
    Share(f64),
    Integer(i64),
    Flag(bool),
    Text(String),
    Policy(String, i32),
    /// Name, shift, longest delay.
    Tiers(Vec<(String, i32, Nanos)>),
}

/// The value of a parameter, and where it comes from.
#[derive(Clone, Debug)]
pub(super) struct Stated {
    pub value: Value,
    /// As its source or the user wrote it; `None` if it was computed.
    pub written: Option<String>,
    /// The source's id.
    pub source_id: String,
    /// The source, with its statement.
    pub source: String,
}

impl Stated {
    /// The value as documents show it.
    pub(super) fn text(&self) -> String {
        self.written.clone().unwrap_or_else(|| self.value.to_string())
    }
}

impl Value {
    /// The shortest and the longest span of it; `None` if it has none.
    pub(super) fn ends(&self) -> Option<(Nanos, Nanos)> {
        let of = |spread: &Spread| (spread.quantile(0.0), spread.quantile(1.0));
        let widest = |a: (Nanos, Nanos), b: (Nanos, Nanos)| (a.0.min(b.0), a.1.max(b.1));
        match self {
            Value::Span(span) => Some((*span, *span)),
            Value::Spread(spread) => Some(of(spread)),
            Value::Ladder(steps) => steps.iter().map(|(_, spread)| of(spread)).reduce(widest),
            Value::Tiers(tiers) => tiers.iter().map(|&(_, _, most)| (most, most)).reduce(widest),
            _ => None,
        }
    }
}

impl Value {
    /// A cost or span in ns; the mean of a distribution. `None` for other kinds.
    pub(super) fn as_ns(&self) -> Option<f64> {
        match self {
            Value::Cost(ps) => Some(*ps as f64 / 1_000.0),
            Value::Span(span) => Some(span.0 as f64),
            Value::Spread(spread) => Some(spread.mean_ns()),
            _ => None,
        }
    }

    /// A whole number.
    pub(super) fn as_integer(&self) -> Option<i64> {
        match self {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The mean of the step for that span, in ns: zero below the first step.
    pub(super) fn step_at(&self, span: Nanos) -> Option<f64> {
        let Value::Ladder(steps) = self else { return None };
        Some(steps.iter().rev().find(|(from, _)| *from <= span).map_or(0.0, |(_, spread)| spread.mean_ns()))
    }
}

impl Kind {
    /// Reads a value of this kind.
    ///
    /// # Errors
    /// A sentence that says what is expected.
    pub(super) fn read(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        match self {
            Kind::Span => span(text).map(Value::Span),
            Kind::Cost => cost(text),
            Kind::Spread => spread(text).map(Value::Spread),
            Kind::Ladder => ladder(text).map(Value::Ladder),
            Kind::Share => match text.parse::<f64>() {
                Ok(share) if (0.0..=1.0).contains(&share) => Ok(Value::Share(share)),
                _ => Err(format!("'{text}' is not a share from 0 to 1")),
            },
            Kind::Integer => match text.parse::<i64>() {
                Ok(number) if number >= 0 => Ok(Value::Integer(number)),
                _ => Err(format!("'{text}' is not a whole number")),
            },
            Kind::Flag => match text {
                "true" | "on" => Ok(Value::Flag(true)),
                "false" | "off" => Ok(Value::Flag(false)),
                _ => Err(format!("'{text}' is neither true nor false")),
            },
            Kind::Word(words) if words.contains(&text) => Ok(Value::Text(text.to_owned())),
            Kind::Word(words) => Err(format!("'{text}' is not one of {}", words.join(", "))),
            Kind::Policy => {
                let (name, priority) = text.split_once(':').unwrap_or((text, "0"));
                match priority.parse() {
                    Ok(priority) if !name.is_empty() => Ok(Value::Policy(name.to_owned(), priority)),
                    _ => Err(format!("'{text}' is not a policy with a priority, as in fifo:1")),
                }
            }
            Kind::Tiers => tiers(text).map(Value::Tiers),
            Kind::Text => Ok(Value::Text(text.to_owned())),
        }
    }
}

/// A value in typed form, in nanoseconds. It reads as the same value.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Span(span) => write!(f, "{}ns", span.0),
            Value::Cost(ps) => write!(f, "{}ns", *ps as f64 / 1_000.0),
            Value::Spread(spread) => f.write_str(&spread_text(spread)),
            Value::Ladder(steps) => {
                let step = |(from, spread): &(Nanos, Spread)| format!("{}ns:{}", from.0, spread_text(spread));
                f.write_str(&steps.iter().map(step).collect::<Vec<_>>().join(", "))
            }
            Value::Share(share) => share.fmt(f),
            Value::Integer(number) => number.fmt(f),
            Value::Flag(flag) => flag.fmt(f),
            Value::Text(text) => f.write_str(text),
            Value::Policy(name, priority) => write!(f, "{name}:{priority}"),
            Value::Tiers(tiers) => {
                let tier = |(name, shift, most): &(String, i32, Nanos)| format!("{name}:{shift}:{}ns", most.0);
                f.write_str(&tiers.iter().map(tier).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn spread_text(spread: &Spread) -> String {
    match spread.quantiles() {
        [(_, only)] => format!("{}ns", only.0),
        quantiles => {
            let quantile = |(share, value): &(f64, Nanos)| format!("p{}={}ns", share * 100.0, value.0);
            quantiles.iter().map(quantile).collect::<Vec<_>>().join(" ")
        }
    }
}

/// No rule concerns more than an hour, and sums of a profile's figures must not overflow.
const LONGEST: Nanos = Nanos::from_secs(3_600);

fn signed_span(text: &str) -> Result<Nanos, String> {
    let span: Nanos = text.parse::<Nanos>().map_err(|error| error.to_string())?;
    if span.0.unsigned_abs() <= LONGEST.0.unsigned_abs() {
        Ok(span)
    } else {
        Err(format!("'{text}' is longer than an hour"))
    }
}

fn span(text: &str) -> Result<Nanos, String> {
    match signed_span(text)? {
        span if span >= Nanos::ZERO => Ok(span),
        _ => Err(format!("'{text}' is below zero")),
    }
}

fn cost(text: &str) -> Result<Value, String> {
    let of_ns = text.strip_suffix("ns").and_then(|number| number.trim().parse::<f64>().ok());
    match of_ns {
        Some(ns) => Value::cost(ns).ok_or_else(|| format!("'{text}' is not the cost of a call")),
        None => Ok(Value::Cost(span(text)?.0.unsigned_abs().saturating_mul(1_000))),
    }
}

fn spread(text: &str) -> Result<Spread, String> {
    if let Some((from, to)) = text.split_once("..") {
        let (from, to) = (signed_span(from)?, signed_span(to)?);
        return if from <= to { Ok(Spread::uniform(from, to)) } else { Err(format!("'{text}' goes back")) };
    }
    if !text.starts_with('p') {
        return signed_span(text).map(Spread::fixed);
    }
    let quantile = |part: &str| -> Result<(f64, Nanos), String> {
        let unread = || format!("'{part}' is not a quantile, as in p50=9us");
        let (percent, value) = part.strip_prefix('p').and_then(|part| part.split_once('=')).ok_or_else(unread)?;
        let percent: f64 = percent.parse().map_err(|_| unread())?;
        Ok((percent / 100.0, signed_span(value)?))
    };
    Spread::from_quantiles(text.split_whitespace().map(quantile).collect::<Result<_, _>>()?)
}

/// The parts of a list; an empty text is an empty list.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

fn ladder(text: &str) -> Result<Vec<(Nanos, Spread)>, String> {
    let step = |part: &str| -> Result<(Nanos, Spread), String> {
        let (from, then) = part.split_once(':').ok_or_else(|| format!("'{part}' is not a step, as in 300us:2us"))?;
        Ok((span(from)?, spread(then.trim())?))
    };
    let steps: Vec<(Nanos, Spread)> = parts(text).map(step).collect::<Result<_, _>>()?;
    match steps.windows(2).zip(parts(text).skip(1)).find(|(pair, _)| pair[1].0 <= pair[0].0) {
        Some((pair, part)) => {
            let before = if pair[1].0 == pair[0].0 { "the same span again" } else { "a longer span" };
            Err(format!("'{part}' comes after {before}; write the steps in order"))
        }
        None => Ok(steps),
    }
}

fn tiers(text: &str) -> Result<Vec<(String, i32, Nanos)>, String> {
    let tier = |part: &str| -> Result<(String, i32, Nanos), String> {
        let unread = || format!("'{part}' is not a tier, as in tier-0:3:1ms");
        let mut fields = part.split(':');
        let (Some(name), Some(shift), Some(most), None) = (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(unread());
        };
        let shift: i32 = shift.parse().map_err(|_| unread())?;
        if !(-30..=62).contains(&shift) {
            return Err(unread());
        }
        Ok((name.to_owned(), shift, span(most)?))
    };
    parts(text).map(tier).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_they_are_written() {
        assert_eq!(Kind::Span.read(" 15.625ms "), Ok(Value::Span(Nanos(15_625_000))));
        assert_eq!(Kind::Cost.read("9.9ns"), Ok(Value::Cost(9_900)));
        assert_eq!(Kind::Cost.read("1.5us"), Ok(Value::Cost(1_500_000)));
        assert_eq!(Kind::Spread.read("-2us"), Ok(Value::Spread(Spread::fixed(Nanos(-2_000)))));
        let Ok(Value::Spread(quantiles)) = Kind::Spread.read("p0=1us p100=3us") else { panic!("a spread") };
        assert_eq!(quantiles, Spread::uniform(Nanos(1_000), Nanos(3_000)));
        let Ok(Value::Ladder(ladder)) = Kind::Ladder.read("300us:1us, 1ms:2us..4us") else { panic!("a ladder") };
        assert_eq!(ladder[0], (Nanos(300_000), Spread::fixed(Nanos(1_000))));
        assert_eq!(Kind::Ladder.read(""), Ok(Value::Ladder(Vec::new())));
        let tier = ("tier-3".to_owned(), -2, Nanos::from_millis(75));
        assert_eq!(Kind::Tiers.read("tier-3:-2:75ms"), Ok(Value::Tiers(vec![tier])));
        assert_eq!(Kind::Policy.read("fifo:1"), Ok(Value::Policy("fifo".to_owned(), 1)));
        assert_eq!(Kind::Word(&["call"]).read("call"), Ok(Value::Text("call".to_owned())));
    }

    #[test]
    fn a_value_reads_as_it_is_shown() {
        for (kind, text) in [
            (Kind::Span, "15625000ns"),
            (Kind::Cost, "9.9ns"),
            (Kind::Cost, "0.001ns"),
            (Kind::Spread, "-2000ns"),
            (Kind::Spread, "p0=0ns p50=0ns p90=1ns p99=2ns p100=3ns"),
            (Kind::Ladder, "1000000ns:0ns, 10000000ns:p0=1ns p100=3ns"),
            (Kind::Ladder, ""),
            (Kind::Share, "0.685"),
            (Kind::Integer, "24000000"),
            (Kind::Flag, "false"),
            (Kind::Text, "Windows 8"),
            (Kind::Policy, "fifo:1"),
            (Kind::Tiers, "tier-0:3:1000000ns, tier-3:-2:75000000ns"),
        ] {
            assert_eq!(kind.read(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_value_is_refused_with_what_would_be() {
        for (kind, text) in [
            (Kind::Span, "1"),
            (Kind::Span, "-1ms"),
            (Kind::Span, "2h"),
            (Kind::Cost, "-1ns"),
            (Kind::Spread, "4us..2us"),
            (Kind::Spread, "p50"),
            (Kind::Spread, "p50=2us p20=1us"),
            (Kind::Ladder, "300us"),
            (Kind::Ladder, "1ms:2us, 300us:1us"),
            (Kind::Ladder, "1ms:2us, 1ms:3us"),
            (Kind::Share, "1.1"),
            (Kind::Share, "NaN"),
            (Kind::Integer, "-1"),
            (Kind::Flag, "yes"),
            (Kind::Word(&["call", "last-tick"]), "never"),
            (Kind::Policy, "fifo:x"),
            (Kind::Tiers, "tier-0:99:1ms"),
        ] {
            let why = kind.read(text).expect_err(text);
            assert!(why.len() > 10, "{text}: {why}");
        }
    }
}
