//! How the main thread of a fork-join waits for its workers.

use std::fmt;
use std::str::FromStr;

use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Platform, Target, Waiter};

/// The sleep between two looks of a main thread that polls.
pub const POLL_PAUSE: Nanos = Nanos::from_millis(1);

/// How the main thread waits for its workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinStyle {
    /// Blocked in the join.
    Blocked,
    /// Looking without a pause.
    Spinning,
    /// Looking after each sleep of [`POLL_PAUSE`].
    Polling,
    /// There are no workers: the measuring thread does all the work.
    Single,
}

impl JoinStyle {
    /// All of them.
    pub const ALL: [JoinStyle; 4] = [JoinStyle::Blocked, JoinStyle::Spinning, JoinStyle::Polling, JoinStyle::Single];
    /// Those with workers.
    pub(super) const THREADED: [JoinStyle; 3] = [JoinStyle::Blocked, JoinStyle::Spinning, JoinStyle::Polling];

    /// As series are labelled.
    pub fn name(self) -> &'static str {
        match self {
            JoinStyle::Blocked => "blocked",
            JoinStyle::Spinning => "spinning",
            JoinStyle::Polling => "polling",
            JoinStyle::Single => "single",
        }
    }

    /// Waits in this style until the workers are done. A blocked main thread does that in the join itself.
    ///
    /// # Errors
    /// A real-time main thread that spins on the only CPU would keep its workers off it for ever; it gives up after
    /// `spin_max`.
    pub(super) fn wait(
        self,
        platform: &dyn Platform,
        sleeper: &mut dyn Waiter,
        spin_max: Nanos,
        are_done: impl Fn() -> bool,
    ) -> Result<(), Unavailable> {
        match self {
            JoinStyle::Blocked | JoinStyle::Single => {}
            JoinStyle::Spinning => {
                let give_up_at = platform.now() + spin_max;
                while !are_done() {
                    platform.relax();
                    if platform.now() >= give_up_at {
                        return Err(Unavailable::failed(
                            "spinning until the workers are done",
                            "the spinning thread keeps them off the CPU they share",
                        ));
                    }
                }
            }
            JoinStyle::Polling => {
                while !are_done() {
                    sleeper.wait(Target { remaining: POLL_PAUSE, deadline: platform.now() + POLL_PAUSE });
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for JoinStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for JoinStyle {
    type Err = ();

    fn from_str(text: &str) -> Result<JoinStyle, ()> {
        JoinStyle::ALL.into_iter().find(|style| style.name() == text).ok_or(())
    }
}
