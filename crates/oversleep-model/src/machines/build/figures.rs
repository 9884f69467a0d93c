//! Looks up the figures of a profile by path.

use oversleep_record::{Nanos, Unavailable};

use crate::machines::MachineError;
use crate::machines::profile::Profile;
use crate::machines::sources::BY_USER;
use crate::machines::value::Value;
use crate::sim::Spread;

/// Looks figures up. If a profile states none, returns the value that switches the rule off.
pub(in crate::machines) struct Figures<'a>(pub(super) &'a Profile);

impl Figures<'_> {
    pub(in crate::machines) fn value(&self, path: &str) -> Option<&Value> {
        self.0.stated.get(path).map(|stated| &stated.value)
    }

    pub(super) fn share_ppm(&self, path: &str) -> i64 {
        (self.share(path) * 1e6).round() as i64
    }

    /// Whether a flag is off. A flag is on unless the profile states otherwise.
    pub(super) fn is_off(&self, path: &str) -> bool {
        matches!(self.value(path), Some(Value::Flag(false)))
    }

    pub(super) fn flag(&self, path: &str) -> bool {
        matches!(self.value(path), Some(Value::Flag(true)))
    }

    pub(in crate::machines) fn text(&self, path: &str) -> &str {
        self.0.word(path)
    }

    pub(super) fn cost_ps(&self, clock: &str) -> u64 {
        match self.value(&format!("costs.{clock}")).or_else(|| self.value("costs.other")) {
            Some(Value::Cost(ps)) => *ps,
            _ => 0,
        }
    }

    /// Whether the user set it.
    pub(super) fn is_by_user(&self, path: &str) -> bool {
        self.0.stated.get(path).is_some_and(|stated| stated.source_id == BY_USER)
    }

    /// Why the machine doesn't have the clock or wait with that name.
    pub(super) fn missing(&self, name: &str) -> Option<Unavailable> {
        match self.value(&format!("since.{name}")) {
            Some(Value::Text(needs)) => Some(Unavailable::TooOld { needs: needs.clone() }),
            _ => None,
        }
    }

    /// An error about that parameter.
    pub(in crate::machines) fn wrong(&self, path: &str, why: impl Into<String>) -> MachineError {
        let why = format!("'{path}': {}", why.into());
        MachineError::Malformed { name: self.0.name.clone(), why }
    }
}

/// Lookups for each kind of figure, with the default if a profile states none.
macro_rules! figures {
    ($($name:ident: $kind:ident($of:ty) or $none:expr;)+) => {
        impl Figures<'_> {
            $(pub(in crate::machines) fn $name(&self, path: &str) -> $of {
                match self.value(path) {
                    Some(Value::$kind(stated)) => stated.clone(),
                    _ => $none,
                }
            })+
        }
    };
}

figures! {
    span: Span(Nanos) or Nanos::ZERO;
    spread: Spread(Spread) or Spread::fixed(Nanos::ZERO);
    ladder: Ladder(Vec<(Nanos, Spread)>) or Vec::new();
    share: Share(f64) or 0.0;
    integer: Integer(i64) or 0;
    tiers: Tiers(Vec<(String, i32, Nanos)>) or Vec::new();
}
