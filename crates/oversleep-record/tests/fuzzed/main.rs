//! A sample of what the fuzz targets do for hours: every committed seed, and bytes made from each, the same in every run.

use std::fs;
use std::path::Path;

mod checks;

use checks::Checks;

/// Inputs made from each seed.
const VARIANTS: usize = 6;

#[test]
fn what_holds_of_any_bytes_holds_of_the_seeds_and_their_like() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for (name, check) in checks::ALL {
        let mut files: Vec<_> =
            fs::read_dir(seeds.join(name)).expect(name).map(|entry| entry.expect("listed").path()).collect();
        files.sort();
        assert!(files.len() >= 4, "{name} has {} seeds", files.len());
        let (mut tried, mut past) = (0, 0);
        let mut state = 1_u64;
        for path in files {
            let seed = fs::read(&path).expect("a seed");
            past += usize::from(check(&seed, Checks::All));
            tried += 1;
            for _ in 0..VARIANTS.min(seed.len()) {
                let mut variant = seed.clone();
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let place = (state >> 32) as usize % variant.len();
                variant[place] = (state >> 24) as u8;
                past += usize::from(check(&variant, Checks::chosen_by(&variant)));
                tried += 1;
            }
        }
        assert!(past * 8 >= tried, "{name}: only {past} of {tried} come past the reader");
    }
}
