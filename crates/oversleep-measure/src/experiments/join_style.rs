//! How the main thread of a fork-join waits for its workers.

use oversleep_record::label::JoinStyle;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{Platform, Target, WaitEnd, Waiter};

use crate::still::{Reads, StillClock};

/// The styles with workers.
pub(super) const THREADED: [JoinStyle; 3] = [JoinStyle::Blocked, JoinStyle::Spinning, JoinStyle::Polling];

/// The sleep between two checks of a main thread that polls.
pub const POLL_PAUSE: Nanos = Nanos::from_millis(1);

/// Waits in that style until the workers are done. A blocked main thread waits in the join itself.
///
/// # Errors
/// A real-time main thread that spins on the only CPU would starve its workers forever; it gives up after `spin_max`.
pub(super) fn wait_for_workers(
    style: JoinStyle,
    platform: &dyn Platform,
    sleeper: &mut dyn Waiter,
    spin_max: Nanos,
    are_done: impl Fn() -> bool,
) -> Result<(), Unavailable> {
    match style {
        JoinStyle::Blocked | JoinStyle::Single => {}
        JoinStyle::Spinning => {
            let give_up_at = platform.now() + spin_max;
            let mut still = StillClock::default();
            while !are_done() {
                platform.relax();
                let now = platform.now();
                still.note(now, Reads::ONE)?;
                if now >= give_up_at {
                    return Err(Unavailable::failed(
                        "spinning until the workers are done",
                        "the spinning thread keeps them off the CPU they share",
                    ));
                }
            }
        }
        JoinStyle::Polling => {
            while !are_done() {
                let target = Target { remaining: POLL_PAUSE, deadline: platform.now() + POLL_PAUSE };
                if let WaitEnd::Failed(reason) = sleeper.wait(target) {
                    return Err(reason);
                }
            }
        }
    }
    Ok(())
}
