//! Which waits the user wants to see: `futex`, `>1ms`, `thread=worker`, `request=1ms`, joined by blanks.

use oversleep_record::{Distribution, Nanos, ResultFile, Series};

use crate::wait::Wait;

/// One condition; all must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Call(String),
    Thread(String),
    Program(String),
    Request(u64),
    LaterThan(i64),
    AtMost(i64),
}

/// A selection of waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection(Vec<Term>);

/// Why a selection is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` selects nothing that is known; use a call (futex), a lateness (>1ms, <=50us), thread=NAME, program=NAME or request=1ms"
)]
pub struct SelectionError(String);

fn duration(text: &str) -> Option<i64> {
    text.parse::<Nanos>().ok().map(|span| span.0)
}

impl std::str::FromStr for Selection {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Selection, SelectionError> {
        let term = |word: &str| {
            let wrong = || SelectionError(word.to_owned());
            if let Some(span) = word.strip_prefix('>') {
                return duration(span).map(Term::LaterThan).ok_or_else(wrong);
            }
            if let Some(span) = word.strip_prefix("<=") {
                return duration(span).map(Term::AtMost).ok_or_else(wrong);
            }
            match word.split_once('=') {
                Some(("thread", name)) => Ok(Term::Thread(name.to_owned())),
                Some(("program", name)) => Ok(Term::Program(name.to_owned())),
                Some(("request", span)) => {
                    duration(span).and_then(|ns| u64::try_from(ns).ok()).map(Term::Request).ok_or_else(wrong)
                }
                Some(_) => Err(wrong()),
                None if crate::calls::CALLS.iter().any(|call| call.name == word) => Ok(Term::Call(word.to_owned())),
                None => Err(wrong()),
            }
        };
        text.split_whitespace().map(term).collect::<Result<_, _>>().map(Selection)
    }
}

impl Selection {
    /// Whether a wait of that program is selected.
    pub fn has(&self, wait: &Wait, program: &str) -> bool {
        self.0.iter().all(|term| match term {
            Term::Call(call) => wait.call.as_ref() == Some(call) || wait.timer.as_ref() == Some(call),
            Term::Thread(name) => wait.thread == *name,
            Term::Program(name) => program == name,
            Term::Request(ns) => wait.requested_ns.is_some_and(|requested| requested.abs_diff(*ns) <= ns / 50),
            Term::LaterThan(ns) => wait.lateness_ns > *ns,
            Term::AtMost(ns) => wait.lateness_ns <= *ns,
        })
    }
}

/// A bound on lateness that makes the run fail: `p99>200us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The quantile in thousandths; 1000 is the maximum.
    pub permille: u32,
    /// The lateness that it may not exceed.
    pub above_ns: i64,
}

impl std::str::FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Bound, String> {
        let wrong = || format!("`{text}` is no bound; write it like p99>200us, p50>1ms or max>5ms");
        let (quantile, span) = text.split_once('>').ok_or_else(wrong)?;
        let permille = match quantile.trim() {
            "max" => 1000,
            quantile => {
                let percent: f64 = quantile.strip_prefix('p').and_then(|p| p.parse().ok()).ok_or_else(wrong)?;
                if !(0.0..=100.0).contains(&percent) {
                    return Err(wrong());
                }
                (percent * 10.0).round() as u32
            }
        };
        Ok(Bound { permille, above_ns: duration(span).ok_or_else(wrong)? })
    }
}

/// What a bound says of one series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It exceeds the bound, with this value or more.
    Exceeds(i64),
    /// It keeps the bound.
    Keeps,
    /// Too few waits for that quantile.
    TooFew,
}

impl Bound {
    /// What it says of each series that has values.
    pub fn judge<'a>(&self, file: &'a ResultFile) -> Vec<(&'a Series, Judged)> {
        let series = file.series.iter().filter(|series| series.observed.is_some() && series.has_values());
        series.map(|series| (series, self.judge_one(&series.distribution))).collect()
    }

    fn judge_one(&self, lateness: &Distribution) -> Judged {
        let quantile = f64::from(self.permille) / 1000.0;
        // Ten values lie beyond this one. If even it exceeds the bound, higher quantiles do, too.
        let highest = || lateness.safe_quantile(1.0 - 10.0 / lateness.count() as f64);
        let value = match self.permille {
            1000 => lateness.max(),
            _ => lateness.safe_quantile(quantile),
        };
        match (value, value.or_else(highest)) {
            (_, Some(ns)) if ns > self.above_ns => Judged::Exceeds(ns),
            (Some(_), _) => Judged::Keeps,
            (None, _) => Judged::TooFew,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_and_bounds_read_as_they_are_typed() {
        let typed: Selection = "futex >1ms thread=worker".parse().unwrap();
        assert_eq!(
            typed.0,
            [Term::Call("futex".to_owned()), Term::LaterThan(1_000_000), Term::Thread("worker".to_owned())]
        );
        assert!("fotex".parse::<Selection>().is_err() && ">1parsec".parse::<Selection>().is_err());
        assert_eq!("p99>200us".parse(), Ok(Bound { permille: 990, above_ns: 200_000 }));
        assert_eq!("max > 5 ms".parse(), Ok(Bound { permille: 1000, above_ns: 5_000_000 }));
        assert!("p101>1ms".parse::<Bound>().is_err() && "p99<1ms".parse::<Bound>().is_err());
    }

    #[test]
    fn a_bound_is_exceeded_kept_or_beyond_what_so_few_waits_tell() {
        let of = |values: std::ops::Range<i64>| {
            let mut lateness = Distribution::growing();
            values.for_each(|value| lateness.record(value));
            lateness
        };
        let judge = |bound: &str, lateness: &Distribution| bound.parse::<Bound>().unwrap().judge_one(lateness);
        assert_eq!(judge("p99>500ns", &of(0..1_000)), Judged::Exceeds(989));
        assert_eq!(judge("p99>1us", &of(0..1_000)), Judged::Keeps);
        assert_eq!(judge("p99>95ns", &of(0..100)), Judged::TooFew, "ten waits are later than 89 ns, one may not be");
        assert_eq!(judge("p99>50ns", &of(0..100)), Judged::Exceeds(89), "a lower percentile exceeds it already");
        assert_eq!(judge("p99>5ns", &of(0..8)), Judged::TooFew);
        assert_eq!(judge("max>5ns", &of(0..8)), Judged::Exceeds(7));
    }
}
