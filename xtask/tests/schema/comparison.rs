//! The schema of comparisons.

use serde_json::json;

const SCHEMA: &str = "comparison-v2.schema.json";
const EVERYTHING: &str = "golden/comparison-v2/everything.json";

#[test]
fn the_golden_comparison_is_valid() {
    crate::assert_valid(&crate::validator(SCHEMA), &crate::document(EVERYTHING), EVERYTHING);
}

#[test]
fn another_version_and_an_unknown_verdict_are_refused() {
    let is_valid = |pointer: &str, changed: &str| {
        let mut value = crate::document(EVERYTHING);
        *value.pointer_mut(pointer).expect(pointer) = json!(changed);
        crate::validator(SCHEMA).is_valid(&value)
    };
    assert!(!is_valid("/schema", "oversleep-comparison/3"));
    let verdict = "/series/0/sides/1/against_base/p50/verdict";
    assert!(!is_valid(verdict, "alike"));
    assert!(is_valid(verdict, "overlap"));
}
