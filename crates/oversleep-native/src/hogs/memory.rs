//! Memory traffic beyond the size of any cache.

use std::hint::black_box;

use oversleep_record::Unavailable;
use oversleep_system::Load;

const MIB: u64 = 1 << 20;
const LINE_BYTES: usize = 64;
const WORDS_PER_LINE: usize = LINE_BYTES / size_of::<u64>();
/// Lines between two checks of the stop flag: well below a millisecond.
const TURN: usize = 4096;

/// What the machine states about its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The largest cache, in bytes.
    pub largest_cache: Option<u64>,
    /// Memory that is available without swapping, in bytes.
    pub available: Option<u64>,
}

/// Twice the largest cache, within bounds; the upper bound if the machine doesn't state it.
fn buffer_bytes(largest_cache: Option<u64>) -> u64 {
    largest_cache.map_or(64 * MIB, |cache| cache.saturating_mul(2).clamp(16 * MIB, 64 * MIB))
}

/// The size of each hog's buffer, or why there are too many hogs: a load must not make the system kill a process.
fn plan(hogs: u32, sizes: Sizes) -> Result<usize, Unavailable> {
    let each = buffer_bytes(sizes.largest_cache);
    let all = each.saturating_mul(u64::from(hogs));
    match sizes.available {
        Some(available) if all > available / 2 => Err(Unavailable::failed(
            "starting memory hogs",
            format!(
                "{hogs} need {} MiB, more than half of the {} MiB available; start fewer",
                all / MIB,
                available / MIB
            ),
        )),
        _ => Ok(each as usize),
    }
}

/// Starts hogs on a machine of these sizes.
pub fn start(enter: fn(), sizes: Sizes, hogs: u32) -> Result<Box<dyn Load>, Unavailable> {
    let words = plan(hogs, sizes)? / size_of::<u64>();
    super::start(enter, hogs, move || {
        let mut buffer: Vec<u64> = Vec::new();
        buffer.try_reserve_exact(words).map_err(|error| Unavailable::failed("allocating a hog's buffer", error))?;
        // Written, so that every page is allocated before the hog counts as running.
        buffer.resize(words, 1);
        Ok(move |stopped: &dyn Fn() -> bool| stream(&mut buffer, stopped))
    })
}

fn stream(buffer: &mut [u64], stopped: &dyn Fn() -> bool) {
    loop {
        for turn in buffer.chunks_mut(TURN * WORDS_PER_LINE) {
            if stopped() {
                return;
            }
            for word in turn.iter_mut().step_by(WORDS_PER_LINE) {
                *word = word.wrapping_add(1);
            }
            black_box(turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_twice_the_largest_cache_within_bounds() {
        assert_eq!(buffer_bytes(Some(MIB)), 16 * MIB);
        assert_eq!(buffer_bytes(Some(12 * MIB)), 24 * MIB);
        assert_eq!(buffer_bytes(Some(384 * MIB)), 64 * MIB);
        assert_eq!(buffer_bytes(None), 64 * MIB);
    }

    #[test]
    fn more_than_half_of_the_memory_is_refused() {
        let small = Sizes { largest_cache: None, available: Some(256 * MIB) };
        assert_eq!(plan(2, small), Ok(64 << 20));
        let why = plan(3, small).expect_err("too many").to_string();
        assert_eq!(why, "starting memory hogs: 3 need 192 MiB, more than half of the 256 MiB available; start fewer");
        assert_eq!(plan(3, Sizes::default()), Ok(64 << 20), "a machine that does not say is believed");
    }
}
