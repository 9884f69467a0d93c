//! Damage that is the same in every run.

/// How many damaged files a test tries: `OVERSLEEP_INPUTS`, or so many.
pub fn inputs(otherwise: u64) -> u64 {
    std::env::var("OVERSLEEP_INPUTS").ok().and_then(|inputs| inputs.parse().ok()).unwrap_or(otherwise)
}

/// Passes on so many damaged forms of a file: bytes and sizes are others, or a piece is missing, repeated or the last one.
pub fn each(good: &[u8], count: u64, mut f: impl FnMut(&[u8])) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let mut bad = Vec::with_capacity(good.len() * 2);
    for _ in 0..count {
        bad.clear();
        bad.extend_from_slice(good);
        for _ in 0..=random(6) {
            // Half of it is where files state what follows.
            let within = if random(2) == 0 { bad.len().min(2_048) } else { bad.len() };
            let at = random(within);
            let piece = at..(at + random(64)).min(bad.len());
            match random(16) {
                0 => bad.truncate(at),
                1 => drop(bad.drain(piece)),
                2 => {
                    let again = bad[piece].to_vec();
                    drop(bad.splice(at..at, again));
                }
                3..=5 => {
                    let size = [u32::MAX, i32::MAX as u32, 1 << 30, 1 << 16, 0, 1][random(6)];
                    bad.iter_mut().skip(at).zip(size.to_le_bytes()).for_each(|(byte, new)| *byte = new);
                }
                _ => {
                    let value = [0, 0xff, 0x80, random(256) as u8][random(4)];
                    bad.iter_mut().skip(at).take(1).for_each(|byte| *byte = value);
                }
            }
        }
        f(&bad);
    }
}
