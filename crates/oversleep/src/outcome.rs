//! The outcome of a change requested from the operating system.
//!
//! Every change returns an [`Outcome`], so a denial is something a program can show, never a silent no-op. Only the
//! types are here; each change itself is in the module of what it changes.

use std::fmt;

/// The outcome of a requested change.
///
/// `T` is the quantity to change, for example a [`Duration`](std::time::Duration) of timer slack.
///
/// ```
/// use oversleep::{Outcome, TimerSlack};
/// use std::time::Duration;
///
/// let held = TimerSlack::hold(Duration::from_nanos(1));
/// match held.outcome() {
///     Outcome::Applied { was, now } => println!("{was:?} before, {now:?} now"),
///     Outcome::AlreadyFiner { is } => println!("{is:?} already"),
///     Outcome::Denied(denied) => println!("{denied}"),
/// }
/// ```
#[must_use = "a change may have been denied"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// The change is in effect.
    Applied {
        /// The value before the change; it is restored on drop.
        was: T,
        /// The value in effect now, read back from the system where possible.
        now: T,
    },
    /// Nothing was changed: the value in effect is already at least as fine as the requested one.
    AlreadyFiner {
        /// The value in effect.
        is: T,
    },
    /// Nothing was changed: the system refused, lacks the setting, or reported success without changing it.
    Denied(Denied),
}

impl<T> Outcome<T> {
    /// Whether the request is in effect: applied, or already finer.
    ///
    /// ```
    /// assert!(oversleep::Outcome::AlreadyFiner { is: 1 }.holds());
    /// ```
    pub fn holds(&self) -> bool {
        !matches!(self, Self::Denied(_))
    }

    /// The same outcome with its values converted.
    ///
    /// ```
    /// use oversleep::Outcome;
    ///
    /// let in_ns = Outcome::Applied { was: 50_000, now: 1_000 };
    /// assert_eq!(in_ns.map(|ns| ns / 1_000), Outcome::Applied { was: 50, now: 1 });
    /// ```
    pub fn map<U>(self, mut convert: impl FnMut(T) -> U) -> Outcome<U> {
        match self {
            Self::Applied { was, now } => Outcome::Applied { was: convert(was), now: convert(now) },
            Self::AlreadyFiner { is } => Outcome::AlreadyFiner { is: convert(is) },
            Self::Denied(denied) => Outcome::Denied(denied),
        }
    }

    /// The denial, if there was one.
    ///
    /// ```
    /// assert_eq!(oversleep::Outcome::AlreadyFiner { is: 1 }.denied(), None);
    /// ```
    pub fn denied(&self) -> Option<&Denied> {
        match self {
            Self::Denied(denied) => Some(denied),
            _ => None,
        }
    }
}

impl<T: fmt::Debug> fmt::Display for Outcome<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Applied { was, now } => write!(f, "applied: {now:?} now, {was:?} before"),
            Self::AlreadyFiner { is } => write!(f, "nothing to do: already {is:?}"),
            Self::Denied(denied) => denied.fmt(f),
        }
    }
}

/// A change or a query that the system denied.
///
/// ```
/// use oversleep::{Denied, Why};
///
/// let denied = Denied { why: Why::Unsupported { what: "timer slack" }, how: "run on Linux" };
/// assert_eq!(denied.to_string(), "denied: this operating system has no timer slack; run on Linux");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denied {
    /// Why it was denied.
    pub why: Why,
    /// The next step for the user, as an imperative clause: "allow prctl in the seccomp filter".
    pub how: &'static str,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "denied: {}; {}", self.why, self.how)
    }
}

impl std::error::Error for Denied {}

/// Why a change or a query was denied.
///
/// ```
/// use oversleep::{TimerSlack, Why};
///
/// if let Err(denied) = TimerSlack::current() {
///     match denied.why {
///         Why::Unsupported { what } => println!("there is no {what} here"),
///         why => println!("{why}; {}", denied.how),
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// This operating system lacks the setting.
    Unsupported {
        /// What it lacks, to follow "has no": "timer slack".
        what: &'static str,
    },
    /// The process lacks a privilege, or a sandbox forbids the call (`EPERM`, `EACCES`, `ENOSYS` from a seccomp
    /// filter).
    Forbidden {
        /// The system call or resource.
        call: &'static str,
        /// The system's error number.
        errno: i32,
    },
    /// The call failed for another reason.
    Failed {
        /// The system call or resource.
        call: &'static str,
        /// The system's error number.
        errno: i32,
    },
    /// The call reported success, but reading the value back shows a different one than requested.
    Ignored {
        /// The system call or resource.
        call: &'static str,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unsupported { what } => write!(f, "this operating system has no {what}"),
            Self::Forbidden { call, errno } => {
                write!(f, "{call} is forbidden here ({})", std::io::Error::from_raw_os_error(errno))
            }
            Self::Failed { call, errno } => {
                write!(f, "{call} failed ({})", std::io::Error::from_raw_os_error(errno))
            }
            Self::Ignored { call } => write!(f, "{call} reported success but didn't set the requested value"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_reads_as_a_sentence() {
        let denied = Denied { why: Why::Unsupported { what: "timer slack" }, how: "run on Linux" };
        assert_eq!(
            Outcome::<u64>::Denied(denied).to_string(),
            "denied: this operating system has no timer slack; run on Linux"
        );
        assert!(!Outcome::<u64>::Denied(denied).holds());
    }

    #[test]
    fn an_applied_change_shows_both_values() {
        let outcome = Outcome::Applied { was: 50_000, now: 1 };
        assert_eq!(outcome.to_string(), "applied: 1 now, 50000 before");
        assert!(outcome.holds());
        assert_eq!(outcome.denied(), None);
    }
}
