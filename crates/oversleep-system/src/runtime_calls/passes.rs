//! What a call passes on to the system.

use oversleep_record::Nanos;

use super::limits::Beyond;
use super::{Counts, HELD, HELD_ON_BATTERY, Holds, Rule};

/// What a call passes on, and to which wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes<'a> {
    /// Registry name of the wait.
    pub wait: &'a str,
    /// How it rounds.
    pub rounds: Rule,
    pub(super) beyond: Option<(Nanos, Beyond)>,
    pub(super) least: Nanos,
    pub(super) grid: Nanos,
    pub(super) long_grid: Nanos,
    pub(super) holds: Holds,
    pub(super) again: Option<Counts>,
    /// How it rounds what is left.
    pub(super) rest: Rule,
}

impl Passes<'static> {
    /// What passes on each request as this rule rounds it, without a runtime's other properties.
    pub const fn rounding(rounds: Rule) -> Passes<'static> {
        let none = Nanos::ZERO;
        let holds = Holds::Nothing;
        Passes {
            wait: "",
            rounds,
            beyond: None,
            least: none,
            grid: none,
            long_grid: none,
            holds,
            again: None,
            rest: rounds,
        }
    }
}

impl Passes<'_> {
    /// Whether it holds a timer resolution during some waits.
    pub fn may_hold(&self) -> bool {
        self.holds != Holds::Nothing
    }

    /// Whether it holds one for its process's whole life.
    pub fn always_holds(&self) -> bool {
        self.holds == Holds::Always
    }

    /// What is passed on for requests that were rounded before.
    #[must_use]
    pub fn of_rounded(self) -> Self {
        Passes { rounds: Rule::Exact, beyond: None, least: Nanos::ZERO, grid: Nanos::ZERO, ..self }
    }

    /// What a program passes on that doesn't wait again itself, if the call it stands for does.
    #[must_use]
    pub fn waiting_again(self, again: Option<Counts>) -> Self {
        Passes { again, ..self }
    }

    /// How it counts what has passed, if it waits again for what is left.
    pub fn counts(&self) -> Option<Counts> {
        self.again
    }

    /// Whether it takes a span of any length, and changes it by its rule alone.
    pub fn is_unlimited(&self) -> bool {
        self.beyond.is_none() && self.least == Nanos::ZERO && self.grid == Nanos::ZERO
    }

    /// What the call that is made `now` passes on.
    pub fn span(&self, requested: Nanos, now: Nanos) -> Nanos {
        let span = match self.beyond {
            Some((longest, beyond)) if requested >= longest + Nanos::from_millis(1) => {
                beyond.span(requested).max(self.least)
            }
            _ => self.rounds.passed(requested.max(self.least), now).max(self.least),
        };
        let is_long = self.long_grid > Nanos::ZERO && span >= self.grid;
        let grid = if is_long { self.long_grid } else { self.grid };
        if grid > Nanos::ZERO { (now + span).round_up_to(grid) - now } else { span }
    }

    /// What must pass until the call that is made `now` is due, if it waits again.
    pub fn due(&self, counts: Counts, requested: Nanos, now: Nanos) -> Nanos {
        match counts {
            Counts::Exactly if self.rounds != Rule::RoundsUpToGrid => {
                Passes { rounds: Rule::Exact, ..*self }.span(requested, now)
            }
            _ => self.span(requested, now),
        }
    }

    /// What it passes on to wait again for what is left: never nothing.
    pub fn again(&self, left: Nanos) -> Nanos {
        Some(self.rest.rounded(left)).filter(|&rounded| rounded > Nanos::ZERO).unwrap_or(Nanos::from_millis(1))
    }

    /// The timer resolution that it holds on Windows while it passes on that span.
    pub fn holds(&self, span: Nanos) -> Option<Nanos> {
        let is_held = match self.holds {
            Holds::Nothing => false,
            Holds::UnlessTens => span.0 % Nanos::from_millis(10).0 != 0,
            Holds::Always => true,
            Holds::Short | Holds::ShortWithoutHighResolution => span < Nanos::from_millis(60),
            Holds::Below32 | Holds::Below32By8 => span < Nanos::from_millis(32),
        };
        is_held.then_some(if self.holds == Holds::Below32By8 { HELD_ON_BATTERY } else { HELD })
    }
}
