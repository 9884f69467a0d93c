//! SplitMix64 (<https://prng.di.unimi.it/splitmix64.c>): pseudo-random numbers that are reproducible from a state, for
//! models and for varying work.

/// The increment of the state from one number to the next.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number for that state.
#[inline]
pub fn mixed(state: u64) -> u64 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the seed 1234567, as the original code produces them.
    #[test]
    fn numbers_are_those_of_the_source() {
        let numbers = (1..=2).map(|n: u64| mixed(STEP.wrapping_mul(n).wrapping_add(1_234_567)));
        assert!(numbers.eq([6_457_827_717_110_365_317, 3_203_168_211_198_807_973]));
    }
}
