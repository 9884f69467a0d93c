//! The rule by which a runtime turns a request into a wait, inferred from durations alone.

use std::fmt;

use oversleep_record::Nanos;
use oversleep_record::words::percent;

use super::instrument::Validity;

pub use oversleep_system::runtime_calls::Rule;

const MILLISECOND: i64 = 1_000_000;
/// Shorter requests have passed before the wait begins, so some runtimes don't wait at all.
const REQUEST_MIN: Nanos = Nanos(10_000);
/// The longest remainder of a rule of whole milliseconds.
const REST_MAX_NS: i64 = 500_000;
/// How much longer than a grid of milliseconds explains a wait on it may be.
const GRID_REST_MAX_NS: i64 = MILLISECOND + 300_000;
/// The fewest different requests that show a rule.
const REQUESTS_MIN: usize = 5;
/// The largest mean deviation of a rule's remainders: more than that of an ordinary wait, less than that of a wrong rule.
const SPREAD_MAX_NS: i64 = 120_000;
/// From this deviation on, the waits may end on a grid of their own, or be constant.
const STEADY_NS: i64 = 40_000;
/// Durations don't depend on the requests if they vary by less than this part of the requests' range.
const CONSTANT_SHARE: i64 = 10;
/// The next best rule must deviate by half as much again.
const CLEARER_BY: (i64, i64) = (3, 2);
/// If this share of the waits ends early, the report says so.
const EARLY_SHARE_MIN: f64 = 0.1;
/// A wait that is early by less than this ended on time: clocks are read one after the other.
const EARLY_MIN_NS: i64 = 1_000;

/// What a request of zero does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zero {
    /// It returns after this time.
    Returns(Nanos),
    /// It doesn't return.
    Forever,
    /// The call refuses it.
    Refused,
}

impl fmt::Display for Zero {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Zero::Returns(after) if after.0 < 20_000 => f.pad("returns at once"),
            Zero::Returns(after) if after.0 < MILLISECOND / 2 => f.pad("shortest wait"),
            Zero::Returns(_) => f.pad("waits 1 ms or more"),
            Zero::Forever => f.pad("waits forever"),
            Zero::Refused => f.pad("refused"),
        }
    }
}

/// By what a wait would be early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// It takes less than the rule makes of the request.
    ByRule,
    /// It ends before its deadline, which is one of a rate: a late one makes the next interval shorter.
    ByDeadline,
    /// Its intervals are those of a rate, and nobody knows its deadlines.
    Unknown,
}

/// Durations that were measured for one request.
#[derive(Clone, Debug)]
pub struct Point {
    /// What was requested.
    pub requested: Nanos,
    /// The duration of each call, in ns, the shortest first. At a rate, the request and the lateness.
    durations: Vec<i64>,
    due: Due,
}

impl Point {
    /// From single durations.
    pub fn of(requested: Nanos, durations: &[i64]) -> Point {
        let mut durations = durations.to_vec();
        durations.sort_unstable();
        Point { requested, durations, due: Due::ByRule }
    }

    /// The same, where that says when they were due.
    #[must_use]
    pub fn due(self, due: Due) -> Point {
        Point { due, ..self }
    }

    /// When the shortest of them were due, under that rule.
    fn due_ns(&self, rule: Rule) -> Option<i64> {
        match self.due {
            Due::ByRule => Some(rule.rounded(self.requested).0),
            // What is left until a deadline is rounded, too.
            Due::ByDeadline if rule.may_shorten() => Some(self.requested.0 - MILLISECOND),
            Due::ByDeadline => Some(self.requested.0),
            Due::Unknown => None,
        }
    }

    /// The duration of each call, in ns, the shortest first.
    pub fn durations(&self) -> &[i64] {
        &self.durations
    }

    /// The duration of an undisturbed call: interference makes waits longer, never shorter.
    fn typical(&self) -> Option<i64> {
        self.durations.get(self.durations.len() / 4).copied()
    }
}

/// The inferred rule, and further properties of the durations.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// The rule.
    pub rule: Rule,
    /// The remainder beyond it: the median over the requests.
    pub rest: Nanos,
    /// The mean deviation of the remainders.
    pub spread: Nanos,
    /// The mean deviation under the next best rule.
    pub next_spread: Nanos,
    /// Share of the waits that ended before the rounded request.
    pub early_share: f64,
    /// The earliest of them.
    pub earliest: Nanos,
    /// The number of requests behind it.
    pub requests: usize,
    /// The number of waits.
    pub count: usize,
}

/// Why no rule was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRule {
    /// Too few requests.
    TooFew {
        /// How many there are.
        requests: usize,
    },
    /// No request distinguishes any two rules.
    Indistinct,
    /// The duration doesn't depend on the request, as on a tick that is longer than the requests.
    Constant {
        /// That duration.
        duration: Nanos,
    },
    /// No rule has a constant remainder: something else decides how long these waits take.
    Unsteady {
        /// The rule that fits best.
        nearest: Rule,
        /// The deviation of its remainders.
        spread: Nanos,
    },
    /// Two rules fit equally well.
    Ambiguous {
        /// The better one.
        one: Rule,
        /// The other one.
        other: Rule,
    },
    /// The call takes no span that it could round.
    TakesNoSpan,
    /// The durations were timed by a wrong clock.
    WrongClock {
        /// What is wrong with it.
        fault: Validity,
    },
}

impl fmt::Display for NoRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoRule::TooFew { requests } => write!(f, "too few requests ({requests})"),
            NoRule::Indistinct => f.write_str("requests tell no rule"),
            NoRule::Constant { duration } => write!(f, "takes {duration} whatever the request"),
            NoRule::Unsteady { spread, .. } => write!(f, "no rule (rests differ by {spread})"),
            NoRule::Ambiguous { one, other } => write!(f, "unclear ({one}, or {other})"),
            NoRule::TakesNoSpan => f.write_str("takes no span"),
            NoRule::WrongClock { fault } => write!(f, "its clock {fault}"),
        }
    }
}

impl Ruling {
    /// The rule that a record states, with what the durations show beyond it.
    pub fn known(rule: Rule, points: &[Point]) -> Ruling {
        let points: Vec<(&Point, i64)> = points.iter().filter_map(|point| Some((point, point.typical()?))).collect();
        let (spread, rest) = if points.is_empty() { (0, 0) } else { (fit(rule, &points).0, fit(rule, &points).1) };
        Ruling::with(rule, (spread, rest), i64::MAX, &points)
    }

    /// Infers the rule from these durations. Requests of zero and of a few ns are ignored, because they have special
    /// meanings.
    ///
    /// # Errors
    /// Why no rule can be determined.
    pub fn of(points: &[Point]) -> Result<Ruling, NoRule> {
        let points: Vec<(&Point, i64)> = points
            .iter()
            .filter(|point| point.requested >= REQUEST_MIN)
            .filter_map(|point| Some((point, point.typical()?)))
            .collect();
        if points.len() < REQUESTS_MIN {
            return Err(NoRule::TooFew { requests: points.len() });
        }
        let mut fits: Vec<(i64, i64, Rule)> = Rule::STEADY.iter().map(|&rule| fit(rule, &points)).collect();
        // A remainder of a millisecond would be a millisecond that the rule doesn't explain.
        fits.retain(|(_, rest, rule)| *rule == Rule::Exact || *rest < REST_MAX_NS);
        fits.sort_by_key(|(spread, ..)| *spread);
        let (spread, rest, rule) = fits[0];
        if Rule::STEADY.iter().all(|other| !differs(&points, *other, Rule::Exact)) {
            return Err(NoRule::Indistinct);
        }
        // If no request distinguishes two rules (because those that would never returned), the simpler one is taken.
        let next = fits[1..].iter().find(|(.., other)| differs(&points, *other, rule));
        let (spread, rest, rule) = match (spread, constant(&points)) {
            (STEADY_NS.., _) if is_on_a_grid(&points) => fit(Rule::RoundsUpToGrid, &points),
            (STEADY_NS.., Some(duration)) => return Err(NoRule::Constant { duration }),
            (..=SPREAD_MAX_NS, _) => (spread, rest, rule),
            _ => return Err(NoRule::Unsteady { nearest: rule, spread: Nanos(spread) }),
        };
        let next_spread = next.map_or(i64::MAX, |(spread, ..)| *spread);
        if let Some(&(.., other)) = next
            && rule != Rule::RoundsUpToGrid
            && next_spread.saturating_mul(CLEARER_BY.1) <= spread * CLEARER_BY.0
        {
            return Err(NoRule::Ambiguous { one: rule, other });
        }
        Ok(Ruling::with(rule, (spread, rest), next_spread, &points))
    }

    fn with(rule: Rule, (spread, rest): (i64, i64), next_spread: i64, points: &[(&Point, i64)]) -> Ruling {
        let (mut early, mut count, mut earliest) = (0_usize, 0_usize, 0);
        for (point, _) in points {
            let Some(due) = point.due_ns(rule) else { continue };
            // A request that is rounded to zero can't end early.
            if due > 0 {
                early += point.durations.iter().filter(|&&ns| ns < due - EARLY_MIN_NS).count();
                count += point.durations.len();
                earliest = earliest.min(point.durations.first().map_or(0, |least| least - due));
            }
        }
        let early_share = if count == 0 { 0.0 } else { early as f64 / count as f64 };
        Ruling {
            rule,
            rest: Nanos(rest),
            spread: Nanos(spread),
            next_spread: Nanos(next_spread),
            early_share,
            earliest: Nanos(earliest),
            requests: points.len(),
            count: points.iter().map(|(point, _)| point.durations.len()).sum(),
        }
    }

    /// Whether its waits are often early.
    pub fn is_early(&self) -> bool {
        self.early_share >= EARLY_SHARE_MIN
    }
}

/// `truncates to ms`, `exact, 56 % end early`.
impl fmt::Display for Ruling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rule)?;
        if self.is_early() { write!(f, "; {} end early", percent(self.early_share)) } else { Ok(()) }
    }
}

/// Whether any request distinguishes two rules.
fn differs(points: &[(&Point, i64)], one: Rule, other: Rule) -> bool {
    points.iter().any(|(point, _)| one.rounded(point.requested) != other.rounded(point.requested))
}

/// Whether every wait took the time to the next whole millisecond, or up to one more.
fn is_on_a_grid(points: &[(&Point, i64)]) -> bool {
    let rests = || points.iter().map(|(point, typical)| typical - Rule::RoundsUp.rounded(point.requested).0);
    rests().all(|rest| (0..=GRID_REST_MAX_NS).contains(&rest)) && rests().any(|rest| rest >= MILLISECOND / 2)
}

/// The common duration of all waits, if it is longer than all requests and varies less than they do.
fn constant(points: &[(&Point, i64)]) -> Option<Nanos> {
    let mut durations: Vec<i64> = points.iter().map(|(_, typical)| *typical).collect();
    durations.sort_unstable();
    let (shortest, longest) = (durations[0], durations[durations.len() - 1]);
    let requests = || points.iter().map(|(point, _)| point.requested.0);
    let range = requests().max()? - requests().min()?;
    let is_constant = (longest - shortest) * CONSTANT_SHARE < range;
    (is_constant && requests().all(|ns| ns < shortest)).then_some(Nanos(durations[durations.len() / 2]))
}

/// The deviation of a rule's remainders, and their median.
fn fit(rule: Rule, points: &[(&Point, i64)]) -> (i64, i64, Rule) {
    let mut rests: Vec<i64> = points.iter().map(|(point, typical)| typical - rule.rounded(point.requested).0).collect();
    rests.sort_unstable();
    let median = rests[rests.len() / 2];
    let mut differences: Vec<i64> = rests.iter().map(|rest| (rest - median).abs()).collect();
    differences.sort_unstable();
    // One request may have been disturbed, so the worst is dropped.
    let kept = &differences[..differences.len() - 1];
    let spread = kept.iter().sum::<i64>() / i64::try_from(kept.len().max(1)).unwrap_or(i64::MAX);
    (spread, median, rule)
}

#[cfg(test)]
mod tests;
