//! A back-off of powers of two.

use std::hint;
use std::thread;

/// Spins, then yields.
#[derive(Default)]
pub struct Backoff {
    step: u32,
}

impl Backoff {
    /// Waits a little, and longer each time.
    pub fn snooze(&mut self) {
        if self.step <= 6 {
            (0..1 << self.step).for_each(|_| hint::spin_loop());
        } else {
            thread::yield_now();
        }
        self.step += 1;
    }

    /// There was work.
    pub fn reset(&mut self) {
        self.step = 0;
    }
}
