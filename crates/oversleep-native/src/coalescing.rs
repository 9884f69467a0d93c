//! How much later than requested macOS may end a wait, by its parameters: a share of the request up to a cap, which
//! depends on the thread's latency tier.
//!
//! The kernel's rule (`timer_call_slop` in xnu's osfmk/kern/timer_call.c): a request of `t` may end up to `t >> shift`
//! late, `t << -shift` for a negative shift, and at most the cap. Real-time threads have shift and cap 0.

use oversleep_record::Nanos;

/// One row of the kernel's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Bits by which the request is shifted right; left if negative.
    pub(super) shift: i32,
    /// The maximum.
    pub(super) cap: Nanos,
}

impl Share {
    /// How late a wait of this duration may end on purpose.
    pub(super) fn of(self, request: Nanos) -> Nanos {
        let request = i128::from(request.0.max(0));
        // A shift of more than 63 bits gives zero, or more than any cap.
        let late = if self.shift >= 0 { request >> self.shift.min(64) } else { request << (-self.shift).min(63) };
        Nanos(i64::try_from(late).unwrap_or(i64::MAX)).min(self.cap)
    }
}

/// `1/8 of the request, at most 1 ms`.
impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.shift {
            _ if self.cap == Nanos::ZERO => return f.write_str("nothing"),
            shift @ 1..=30 => write!(f, "1/{} of the request", 1_u32 << shift)?,
            shift @ -30..=-1 => write!(f, "{} times the request", 1_u32 << -shift)?,
            0 => f.write_str("the request")?,
            shift => write!(f, "the request shifted by {shift}")?,
        }
        write!(f, ", at most {}", self.cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn the_default_tiers() {
        let late = |shift, cap_ms, request_ms| Share { shift, cap: Nanos(cap_ms * MS) }.of(Nanos(request_ms * MS));
        // Tier 0: an eighth, up to 1 ms. Tier 1: a quarter, up to 5 ms. Tier 2: half, up to 20 ms. Tier 3: four times,
        // up to 75 ms.
        assert_eq!(late(3, 1, 1), Nanos(125_000));
        assert_eq!(late(3, 1, 100), Nanos(MS));
        assert_eq!(late(2, 5, 1), Nanos(250_000));
        assert_eq!(late(2, 5, 100), Nanos(5 * MS));
        assert_eq!(late(1, 20, 1), Nanos(500_000));
        assert_eq!(late(-2, 75, 1), Nanos(4 * MS));
        assert_eq!(late(-2, 75, 100), Nanos(75 * MS));
        assert_eq!(late(-15, 10_000, 1), Nanos(10_000 * MS));
        assert_eq!(late(0, 0, 1), Nanos::ZERO, "real time");
    }

    #[test]
    fn absurd_parameters_saturate() {
        assert_eq!(Share { shift: i32::MAX, cap: Nanos::MAX }.of(Nanos::MAX), Nanos::ZERO);
        assert_eq!(Share { shift: i32::MIN + 1, cap: Nanos(7) }.of(Nanos(1)), Nanos(7));
        assert_eq!(Share { shift: -60, cap: Nanos::MAX }.of(Nanos::MAX), Nanos::MAX);
        assert_eq!(Share { shift: 3, cap: Nanos(MS) }.of(Nanos(-1)), Nanos::ZERO);
    }

    #[test]
    fn a_share_displays_as_a_clause() {
        assert_eq!(Share { shift: 3, cap: Nanos(MS) }.to_string(), "1/8 of the request, at most 1 ms");
        assert_eq!(Share { shift: -2, cap: Nanos(75 * MS) }.to_string(), "4 times the request, at most 75 ms");
        assert_eq!(Share { shift: 0, cap: Nanos(0) }.to_string(), "nothing");
    }
}
