//! The drift between two clocks: both are read at nearly the same moment, now and again later.

use std::time::Instant;

/// The reference for other clocks: the standard library's monotonic clock, which is the operating system's.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    zero: Instant,
    tries: u32,
}

/// A clock's offset from the reference at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// The clock's reading minus the reference's, in ns.
    pub offset_ns: i64,
    /// The time between the two readings of the reference around it, in ns; the offset is accurate to half of this.
    pub width_ns: i64,
}

impl Line {
    /// A reference that starts now, and uses the narrowest of this many readings.
    pub fn new(tries: u32) -> Line {
        Line { zero: Instant::now(), tries }
    }

    /// Nanoseconds since the start.
    pub fn elapsed_ns(&self) -> i64 {
        i64::try_from(self.zero.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    /// The offset of this clock.
    pub fn offset(&self, read_ns: impl Fn() -> i64) -> Offset {
        let one = || {
            let before_ns = self.elapsed_ns();
            let read = read_ns();
            let width_ns = self.elapsed_ns() - before_ns;
            Offset { offset_ns: read - (before_ns + width_ns / 2), width_ns }
        };
        let mut best = one();
        for _ in 1..self.tries {
            let next = one();
            if next.width_ns < best.width_ns {
                best = next;
            }
        }
        best
    }
}

/// A clock's drift in ppm (ns per ms), from two offsets this far apart.
pub fn drift_ppm(first: Offset, last: Offset, apart_ns: i64) -> f64 {
    (last.offset_ns - first.offset_ns) as f64 * 1e6 / apart_ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_has_no_offset_from_itself_beyond_the_width() {
        let line = Line::new(50);
        let found = line.offset(|| line.elapsed_ns());
        assert!(found.offset_ns.abs() <= found.width_ns, "{found:?}");
        let ahead = line.offset(|| line.elapsed_ns() + 1_000_000_000);
        assert!((ahead.offset_ns - 1_000_000_000).abs() <= ahead.width_ns, "{ahead:?}");
    }

    #[test]
    fn a_microsecond_in_a_second_is_one_ppm() {
        let at = |offset_ns| Offset { offset_ns, width_ns: 10 };
        assert_eq!(drift_ppm(at(500), at(1_500), 1_000_000_000), 1.0);
        assert_eq!(drift_ppm(at(500), at(400), 1_000_000_000), -0.1);
    }
}
