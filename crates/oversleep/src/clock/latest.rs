//! The latest time that an ordered read has returned. It keeps ordered reads from going back, whatever the counters do.

use std::sync::atomic::{AtomicU64, Ordering};

/// A time that only grows. Alone on its cache lines, because every ordered read writes it.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Latest(AtomicU64);

impl Latest {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Returns the highest time that was raised before this call, or a later one.
    #[inline]
    pub(crate) fn ns(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// The later of `ns` and every time that was raised before this call. No later call returns less.
    #[inline]
    pub(crate) fn raise(&self, ns: u64) -> u64 {
        self.raise_from(self.ns(), ns)
    }

    /// As `raise`, by a thread that has just learned `known_ns` from `ns()`.
    #[inline]
    pub(crate) fn raise_from(&self, known_ns: u64, ns: u64) -> u64 {
        let mut latest_ns = known_ns;
        while latest_ns < ns {
            match self.0.compare_exchange_weak(latest_ns, ns, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return ns,
                // Another thread's time is as good if it is later than this one's: this one's then lies between the two.
                Err(now_ns) if now_ns >= ns => return ns,
                Err(now_ns) => latest_ns = now_ns,
            }
        }
        latest_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_only_grows() {
        let latest = Latest::new();
        assert_eq!([latest.raise(5), latest.raise(3), latest.raise(9), latest.ns()], [5, 5, 9, 9]);
        // Another thread raised it meanwhile, first by less and then by more.
        assert_eq!([latest.raise_from(4, 12), latest.raise_from(9, 11), latest.ns()], [12, 11, 12]);
    }

    #[test]
    fn threads_never_see_it_fall() {
        let (latest, counter) = (Latest::new(), AtomicU64::new(1));
        std::thread::scope(|scope| {
            for lag in [0, 40, 7] {
                let (latest, counter) = (&latest, &counter);
                scope.spawn(move || {
                    for _ in 0..100_000 {
                        let before = latest.ns();
                        // A counter that is behind on some processors.
                        let ns = counter.fetch_add(1, Ordering::Relaxed).saturating_sub(lag);
                        assert!(latest.raise_from(before, ns) >= before);
                    }
                });
            }
        });
    }
}
