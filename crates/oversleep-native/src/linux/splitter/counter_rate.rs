//! The rate of the time-stamp counter that the kernel measured, from the page of a perf event.
//! <https://man7.org/linux/man-pages/man2/perf_event_open.2.html> (`cap_user_time`, `time_mult`, `time_shift`)

use super::ring::SwitchRing;

/// Offsets of the counter's conversion to ns in the control page.
const CAPABILITIES_OFFSET: usize = 40;
const TIME_SHIFT_OFFSET: usize = 50;
const TIME_MULT_OFFSET: usize = 52;
const CAPABILITY_USER_TIME: u64 = 1 << 3;

/// Ticks per second, if the kernel exposes its conversion, as on bare metal with a stable counter.
pub fn kernel_counter_hz() -> Option<u64> {
    let ring = SwitchRing::open().ok()?;
    let page = ring.control_page();
    // SAFETY: aligned fields within the control page, which lives as long as `ring`; the kernel writes them when the
    // page is mapped.
    let (capabilities, shift, mult) = unsafe {
        (
            page.add(CAPABILITIES_OFFSET).cast::<u64>().read_volatile(),
            page.add(TIME_SHIFT_OFFSET).cast::<u16>().read_volatile(),
            page.add(TIME_MULT_OFFSET).cast::<u32>().read_volatile(),
        )
    };
    conversion_hz(capabilities, shift, mult)
}

/// With ns = ticks · mult / 2^shift, a second has 10⁹ · 2^shift / mult ticks. The kernel keeps the rate in kHz, so the
/// result is rounded to that.
fn conversion_hz(capabilities: u64, shift: u16, mult: u32) -> Option<u64> {
    if capabilities & CAPABILITY_USER_TIME == 0 || mult == 0 || shift > 32 {
        return None;
    }
    let khz = ((1_000_000_u128 << shift) + u128::from(mult) / 2) / u128::from(mult);
    u64::try_from(khz * 1_000).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_follows_from_the_kernels_conversion() {
        // 2,596,000 kHz: mult = 2^31 · 10^6 / 2,596,000, rounded down.
        assert_eq!(conversion_hz(CAPABILITY_USER_TIME, 31, 827_227_906), Some(2_596_000_000));
        assert_eq!(conversion_hz(0, 31, 827_227_906), None);
        assert_eq!(conversion_hz(CAPABILITY_USER_TIME, 31, 0), None);
        assert_eq!(conversion_hz(CAPABILITY_USER_TIME, 33, 1), None);
    }
}
