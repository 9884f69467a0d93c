//! Which waits the user wants to see: `futex`, `>1ms`, `thread=worker`, `request=1ms`, joined by blanks.

use oversleep_record::Nanos;

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
    /// Whether it depends on how late a wait is.
    pub fn is_by_lateness(&self) -> bool {
        self.0.iter().any(|term| matches!(term, Term::LaterThan(_) | Term::AtMost(_)))
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_read_as_they_are_typed() {
        let typed: Selection = "futex >1ms thread=worker".parse().unwrap();
        assert_eq!(
            typed.0,
            [Term::Call("futex".to_owned()), Term::LaterThan(1_000_000), Term::Thread("worker".to_owned())]
        );
        let typed: Selection = "<=50us program=app request=1ms".parse().unwrap();
        assert_eq!(typed.0, [Term::AtMost(50_000), Term::Program("app".to_owned()), Term::Request(1_000_000)]);
        assert!("fotex".parse::<Selection>().is_err() && ">1parsec".parse::<Selection>().is_err());
    }
}
