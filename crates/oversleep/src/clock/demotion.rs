//! The callbacks for the moment at which the counter goes out of use.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::reason::Reason;

/// How many callbacks there is room for. The list is read wherever the clock is, so it must not allocate or lock.
const LISTENERS: usize = 16;

struct Listener {
    callback: OnceLock<fn(&Reason)>,
    /// Each callback is called once, although both the thread that adds it and the one that demotes the counter may find it.
    is_called: AtomicBool,
}

/// The callbacks.
pub(crate) struct Listeners([Listener; LISTENERS]);

impl Listeners {
    #[allow(clippy::declare_interior_mutable_const, reason = "each element of the array is a new one")]
    pub(crate) const fn new() -> Self {
        const NONE: Listener = Listener { callback: OnceLock::new(), is_called: AtomicBool::new(false) };
        Self([NONE; LISTENERS])
    }

    /// Adds a callback. False if there is no room.
    pub(crate) fn add(&self, callback: fn(&Reason)) -> bool {
        self.0.iter().any(|listener| listener.callback.set(callback).is_ok())
    }

    /// Calls every callback that hasn't been called.
    pub(crate) fn announce(&self, reason: &Reason) {
        for listener in &self.0 {
            if let Some(callback) = listener.callback.get()
                && !listener.is_called.swap(true, Ordering::Relaxed)
            {
                callback(reason);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn each_callback_is_called_once_and_room_is_bounded() {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        let listeners = Listeners::new();
        let count = |_: &Reason| {
            CALLS.fetch_add(1, Ordering::Relaxed);
        };
        assert!((0..LISTENERS).all(|_| listeners.add(count)) && !listeners.add(count));
        for _ in 0..2 {
            listeners.announce(&Reason::Forced);
        }
        assert_eq!(CALLS.load(Ordering::Relaxed) as usize, LISTENERS);
    }
}
