//! No report shows a figure that isn't in the file, whatever the file contains.

mod read_back;

use oversleep_record::ResultFile;
use oversleep_record::testing::{altered, made};

#[test]
fn every_figure_that_a_report_shows_is_in_the_payload_of_its_file() {
    let golden = include_bytes!("../../../../schema/golden/v2/everything.json");
    let everything = ResultFile::read(golden).expect("a golden file");
    assert!(read_back::are_in_the_file(&everything) > 20);
    let mut state = 7_u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let mut compared = 0;
    for _ in 0..40 {
        let bytes: Vec<u8> = (0..64).map(|_| byte()).collect();
        let file = altered(made(&bytes[..40]), &bytes[40..]);
        compared += file.as_ref().map_or(0, read_back::are_in_the_file);
    }
    assert!(compared > 200, "only {compared} figures were compared");
}
