//! The source of a pipeline's items: as many as there is room for, or each when it is due.

use std::sync::atomic::Ordering;

use oversleep_record::{Idling, Nanos, Unavailable};

use super::ring::Side;
use super::shared::{BATCH, Guard, LEAD, OVERRUN, Offered, Shared};
use super::worker::Idle;
use crate::still::{Reads, StillClock};

/// The results of the source.
#[derive(Default)]
pub(super) struct Sent {
    /// When it began to send.
    pub start: Nanos,
    /// Its idling, if it idled.
    pub idling: Option<Idling>,
    /// Items that were due.
    pub due: u64,
}

/// Sends items for about `window`, on the calling thread.
///
/// # Errors
/// What the machine refused.
pub(super) fn source(shared: &Shared, window: Nanos) -> Result<Sent, Unavailable> {
    let mut guard = Guard(shared, false);
    let (bench, line) = (&shared.bench, &shared.line);
    let platform = bench.platform();
    let mut idle = Idle::open(bench, line.kind, &line.park, line.grid)?;
    while shared.ready.load(Ordering::Acquire) < line.workers && !shared.is_over() {
        platform.relax();
    }
    let start = platform.now();
    let _ = shared.give_up_at.set(start + window * OVERRUN);
    let sent = match shared.offered {
        Offered::FlatOut => {
            // The items that fill the empty queues at first are not counted.
            let _ = shared.counted.set((start + Nanos(window.0 / 8), start + window));
            idle.begin(platform);
            flat_out(shared, &mut idle)?;
            Sent { start, idling: Some(idle.end(platform)), due: 0 }
        }
        Offered::PerSecond(rate) => Sent { start, idling: None, due: paced(shared, rate, start + LEAD, window) },
    };
    guard.1 = true;
    Ok(sent)
}

fn flat_out(shared: &Shared, idle: &mut Idle) -> Result<(), Unavailable> {
    let (platform, ring) = (shared.bench.platform(), &shared.rings[0]);
    let mut still = StillClock::default();
    loop {
        let room = ring.room().min(BATCH);
        (0..room).for_each(|_| ring.push(0));
        let since = if room > 0 {
            idle.reset();
            Reads::ONE
        } else {
            idle.turn(platform, (ring, Side::Producer), || ring.room() > 0 || shared.is_over())?
        };
        let now = platform.now();
        shared.bench.note(&mut still, now, since);
        let until = shared.counted().map(|(_, to)| to).or_else(|| shared.give_up_at.get().copied());
        if until.is_some_and(|until| now >= until) || shared.is_over() {
            return Ok(());
        }
    }
}

/// When the item of that number is due.
pub(super) fn due(number: u64, rate: u64, first: Nanos) -> Nanos {
    let after = u128::from(number) * 1_000_000_000 / u128::from(rate.max(1));
    first + Nanos(i64::try_from(after).unwrap_or(i64::MAX))
}

/// Sends items when they are due, or as soon as there is room. Their due times don't change.
fn paced(shared: &Shared, rate: u64, first: Nanos, window: Nanos) -> u64 {
    let (platform, ring) = (shared.bench.platform(), &shared.rings[0]);
    let mut still = StillClock::default();
    let mut number = 0;
    while due(number, rate, first) < first + window && !shared.is_over() {
        let at = due(number, rate, first);
        shared.bench.spin_until(at);
        while ring.room() == 0 && !shared.is_over() {
            platform.relax();
            shared.bench.note(&mut still, platform.now(), Reads::ONE);
            if shared.is_late() {
                // All remaining due items are missed, whether they were sent or not.
                let left = (number..).take_while(|&number| due(number, rate, first) < first + window).count();
                return number + left as u64;
            }
        }
        ring.push(at.0);
        number += 1;
    }
    number
}
