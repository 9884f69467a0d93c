//! The plans of threads that sleep without a sleeper of their own. They are in static memory, so a thread that never
//! sleeps pays nothing.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, TryLockError};

use crate::algorithm::{Access, Plan};

const PLACES: u8 = 16;

/// All zero, so they take no space in the program's file, and a place that no thread uses takes no memory.
static PLANS: [Mutex<Plan>; PLACES as usize] = [const { Mutex::new(Plan::new()) }; PLACES as usize];
static NEXT: AtomicU8 = AtomicU8::new(0);

/// Any of 16 places, from 0.
type Number = u8;

thread_local! {
    /// This thread's place, counted from 1; zero if it has none yet.
    static PLACE: Cell<Number> = const { Cell::new(0) };
}

// Every thread of the process pays for it, whether it sleeps or not.
const _: () = assert!(size_of::<Cell<Number>>() <= 64);

/// A thread's place.
pub(super) struct Place(&'static Mutex<Plan>);

impl Place {
    /// The calling thread's place. The first call chooses the next one in turn.
    pub(super) fn of_this_thread() -> Place {
        let number = PLACE.with(|place| {
            if place.get() == 0 {
                place.set(NEXT.fetch_add(1, Ordering::Relaxed) % PLACES + 1);
            }
            place.get() - 1
        });
        Place(&PLANS[usize::from(number)])
    }
}

impl Access for Place {
    /// The plan is locked for a microsecond at most, never during a wait. So only a signal handler that interrupts that
    /// microsecond, a thread that shares the place, or a child forked just then finds it in use.
    fn with<R>(&mut self, body: impl FnOnce(&mut Plan) -> R) -> Option<R> {
        match self.0.try_lock() {
            Ok(mut plan) => Some(body(&mut plan)),
            Err(TryLockError::Poisoned(poisoned)) => Some(body(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_keep_their_place_and_new_ones_get_the_next() {
        let place = || std::ptr::from_ref(Place::of_this_thread().0).addr();
        assert_eq!(place(), place());
        let other = std::thread::spawn(place).join().expect("a thread can sleep");
        assert!(other != place() || NEXT.load(Ordering::Relaxed) > PLACES);
    }

    #[test]
    fn a_plan_in_use_is_not_waited_for() {
        let mut place = Place(&PLANS[0]);
        let other = place.with(|_| Place(&PLANS[0]).with(|_| ()));
        assert_ne!(other, Some(Some(())));
    }
}
