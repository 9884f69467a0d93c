//! Compressed pieces, within bounds.

use ruzstd::decoding::FrameDecoder;

/// The most that a byte may become.
pub const RATIO_MAX: usize = 64;
/// The largest window: perf and trace-cmd use at most 8 MB.
pub const WINDOW_MAX: u64 = 16 << 20;

/// A whole frame; `None` if it is damaged, or larger than a recording's can be.
pub fn whole(packed: &[u8], stated: usize) -> Option<Vec<u8>> {
    let most = packed.len().saturating_mul(RATIO_MAX).max(1 << 16);
    let mut out = Vec::with_capacity(stated.min(most));
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(WINDOW_MAX);
    decoder.decode_all_to_vec(packed, &mut out).ok()?;
    Some(out)
}
