//! The guard that holds a setting of a thread.

use std::marker::PhantomData;

use super::{Claim, ENDING, Setting, ThisThread, with};
use crate::outcome::{Denied, Outcome};

/// Holds a setting for the thread that created it. Its users see the values as `V`.
#[derive(Debug)]
pub(crate) struct Guard<S: Setting<ThisThread>, V> {
    claim: Option<Claim>,
    outcome: Outcome<V>,
    of_this_thread: PhantomData<(S, *const ())>,
}

impl<S: Setting<ThisThread>, V> Guard<S, V> {
    /// As [`super::Settings::hold`]. If that is denied, the guard holds nothing.
    pub(crate) fn hold(
        requested: impl FnOnce(S::Value) -> S::Value,
        refused: impl FnOnce(Denied) -> Result<(), Denied>,
        show: fn(S::Value) -> V,
    ) -> Self {
        let held = with(|settings, thread| settings.hold::<S, _>(thread, requested, refused));
        let (claim, outcome) = match held.unwrap_or(Err(ENDING)) {
            Ok((claim, outcome)) => (claim, outcome.map(show)),
            Err(denied) => (None, Outcome::Denied(denied)),
        };
        Self { claim, outcome, of_this_thread: PhantomData }
    }

    pub(crate) fn outcome(&self) -> &Outcome<V> {
        &self.outcome
    }
}

impl<S: Setting<ThisThread>, V> Drop for Guard<S, V> {
    fn drop(&mut self) {
        if let Some(claim) = self.claim {
            with(|settings, thread| settings.release::<S, _>(thread, claim));
        }
    }
}
