//! Values computed from others: products and means, each rounded to what documents show of it.

use oversleep_record::Nanos;

use super::value::Value;
use crate::sim::Spread;

impl Value {
    /// The cost of a call, rounded to picoseconds. `None` if no call costs that much.
    pub(super) fn cost(ns: f64) -> Option<Value> {
        (0.0..1e9).contains(&ns).then(|| Value::Cost((ns * 1_000.0).round() as u64))
    }

    /// That cost multiplied by a factor; other values as they are.
    pub(super) fn cost_times(&self, times: f64) -> Value {
        match self {
            Value::Cost(ps) => Value::Cost((*ps as f64 * times).round() as u64),
            other => other.clone(),
        }
    }

    /// That span or distribution multiplied by a factor, and rounded to nanoseconds. `None` for other kinds.
    ///
    /// # Errors
    /// The factor is negative.
    pub(super) fn times(&self, times: f64) -> Result<Option<Value>, String> {
        let span = |span: Nanos| Nanos((span.0 as f64 * times).round() as i64);
        let distribution = |spread: &Spread| match spread.quantile(0.0) {
            only if only == spread.quantile(1.0) => Ok(Spread::fixed(span(only))),
            // A distribution stays one even if all of it becomes zero: it draws as many random numbers.
            _ => spread_at(|share| span(spread.quantile(share))),
        };
        Ok(Some(match self {
            Value::Span(one) => Value::Span(span(*one)),
            Value::Spread(spread) => Value::Spread(distribution(spread)?),
            Value::Ladder(steps) => {
                let step = |(from, spread): &(Nanos, Spread)| Ok((*from, distribution(spread)?));
                Value::Ladder(steps.iter().map(step).collect::<Result<_, String>>()?)
            }
            _ => return Ok(None),
        }))
    }
}

/// The quantiles at which distributions are averaged.
const QUANTILES: [f64; 5] = [0.0, 0.5, 0.9, 0.99, 1.0];

fn spread_at(quantile: impl Fn(f64) -> Nanos) -> Result<Spread, String> {
    Spread::from_quantiles(QUANTILES.map(|share| (share, quantile(share))).to_vec())
}

/// The mean of values of one kind: the geometric mean of costs, in whole picoseconds; the mean of spans, in whole
/// nanoseconds; that of shares, to three digits; for distributions, the mean of each quantile; for ladders, the mean at
/// each step.
///
/// # Errors
/// Values of that kind have no mean.
pub(super) fn mean(values: &[Value]) -> Result<Value, String> {
    let of = |spans: &[Nanos]| Nanos(spans.iter().map(|span| span.0).sum::<i64>() / spans.len().max(1) as i64);
    let distribution = |spreads: &[&Spread]| {
        let at = |share| of(&spreads.iter().map(|spread| spread.quantile(share)).collect::<Vec<_>>());
        if at(0.0) == at(1.0) { Ok(Spread::fixed(at(0.0))) } else { spread_at(at) }
    };
    let mut costs = Vec::new();
    let mut spans = Vec::new();
    let mut spreads = Vec::new();
    let mut ladders = Vec::new();
    let mut shares = Vec::new();
    for value in values {
        match value {
            Value::Cost(ps) => costs.push(*ps),
            Value::Span(span) => spans.push(*span),
            Value::Spread(spread) => spreads.push(spread),
            Value::Ladder(steps) => ladders.push(steps),
            Value::Share(share) => shares.push(*share),
            _ => return Err("only spans, costs, shares and distributions have a mean".to_owned()),
        }
    }
    let all = values.len();
    if shares.len() == all {
        return Ok(Value::Share((shares.iter().sum::<f64>() / all as f64 * 1_000.0).round() / 1_000.0));
    }
    match (costs.len(), spans.len(), spreads.len()) {
        (count, 0, 0) if count == all => {
            // Costs are compared by factors, so this mean minimises the factors.
            let logs: f64 = costs.iter().map(|&ps| (ps.max(1) as f64).ln()).sum();
            Ok(Value::Cost((logs / all as f64).exp().round() as u64))
        }
        (0, count, 0) if count == all => Ok(Value::Span(of(&spans))),
        (0, 0, count) if count == all => distribution(&spreads).map(Value::Spread),
        _ => {
            let mut from: Vec<Nanos> = ladders.iter().flat_map(|steps| steps.iter().map(|(from, _)| *from)).collect();
            from.sort_unstable();
            from.dedup();
            let nothing = Spread::fixed(Nanos::ZERO);
            let step = |from: Nanos| {
                let spreads: Vec<&Spread> = ladders
                    .iter()
                    .map(|steps| steps.iter().rev().find(|(at, _)| *at <= from).map_or(&nothing, |(_, exit)| exit))
                    .collect();
                Ok((from, distribution(&spreads)?))
            };
            from.into_iter().map(step).collect::<Result<_, String>>().map(Value::Ladder)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::value::Kind;

    #[test]
    fn the_mean_of_distributions_is_that_of_their_quantiles() {
        let of = |kind: Kind, texts: &[&str]| {
            mean(&texts.iter().map(|text| kind.read(text).unwrap()).collect::<Vec<_>>()).map(|mean| mean.to_string())
        };
        assert_eq!(of(Kind::Cost, &["12ns", "27ns"]).unwrap(), "18ns");
        assert_eq!(of(Kind::Span, &["1ms", "3ms"]).unwrap(), "2000000ns");
        assert_eq!(of(Kind::Spread, &["2us", "4us"]).unwrap(), "3000ns");
        assert_eq!(
            of(Kind::Spread, &["2us..4us", "4us"]).unwrap(),
            "p0=3000ns p50=3500ns p90=3900ns p99=3990ns p100=4000ns"
        );
        assert_eq!(of(Kind::Ladder, &["1ms:2us", "10ms:4us"]).unwrap(), "1000000ns:1000ns, 10000000ns:3000ns");
        assert!(of(Kind::Flag, &["true", "false"]).is_err());
    }

    #[test]
    fn computed_values_are_rounded_to_what_documents_show() {
        // The mean is 10.0024999 ns.
        assert_eq!(mean(&[Value::Cost(10_001), Value::Cost(10_004)]), Ok(Value::Cost(10_002)));
        assert_eq!(Value::cost(10.00049), Some(Value::Cost(10_000)));
        assert_eq!(Value::cost(10.0005), Some(Value::Cost(10_001)));
        assert_eq!((Value::cost(-0.1), Value::cost(1e9), Value::cost(f64::NAN)), (None, None, None));
        assert_eq!(mean(&[Value::Span(Nanos(-1)), Value::Span(Nanos(-2))]), Ok(Value::Span(Nanos(-1))));
        assert_eq!(mean(&[Value::Share(0.5), Value::Share(0.5), Value::Share(0.6667)]), Ok(Value::Share(0.556)));
        assert_eq!(Value::Span(Nanos(15)).times(0.5), Ok(Some(Value::Span(Nanos(8)))));
        assert_eq!(Value::Flag(true).times(2.0), Ok(None));
        let text = |times: f64| Kind::Spread.read("1us..2us").unwrap().times(times).unwrap().unwrap().to_string();
        assert_eq!(text(0.5), "p0=500ns p50=750ns p90=950ns p99=995ns p100=1000ns");
        assert_eq!(text(0.0), "p0=0ns p50=0ns p90=0ns p99=0ns p100=0ns");
        assert!(Kind::Spread.read("1us..2us").unwrap().times(-1.0).is_err());
    }
}
