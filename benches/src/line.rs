//! How far one clock runs beside another: both are read at nearly one moment, now and again later.

use std::time::Instant;

/// The standard library's monotonic clock, which is the operating system's, as the line that others are held against.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    zero: Instant,
    tries: u32,
}

/// A clock's place beside the line at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// The clock's reading less the line's, in ns.
    pub offset_ns: i64,
    /// The offset is known within half of this, in ns: the time between the two readings of the line around it.
    pub width_ns: i64,
}

impl Line {
    /// A line that starts now, and takes the narrowest of that many readings.
    pub fn new(tries: u32) -> Line {
        Line { zero: Instant::now(), tries }
    }

    /// Nanoseconds since the start.
    pub fn elapsed_ns(&self) -> i64 {
        i64::try_from(self.zero.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    /// Where that clock is beside the line.
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

/// By how many ppm (ns per ms) a clock ran away, from two offsets that far apart.
pub fn drift_ppm(first: Offset, last: Offset, apart_ns: i64) -> f64 {
    (last.offset_ns - first.offset_ns) as f64 * 1e6 / apart_ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_beside_itself_is_off_by_no_more_than_the_width() {
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
