//! The schema of comparisons.

use serde_json::json;

const SCHEMA: &str = "comparison-v3.schema.json";
const EVERYTHING: &str = "golden/comparison-v3/everything.json";

#[test]
fn golden_comparisons_are_valid() {
    for version in ["v2", "v3"] {
        let validator = crate::validator(&format!("comparison-{version}.schema.json"));
        for (name, value) in crate::golden(&format!("comparison-{version}")) {
            crate::assert_valid(&validator, &value, &format!("comparison-{version}/{name}"));
        }
    }
}

#[test]
fn another_version_and_an_unknown_verdict_are_refused() {
    let is_valid = |pointer: &str, changed: &str| {
        let mut value = crate::document(EVERYTHING);
        *value.pointer_mut(pointer).expect(pointer) = json!(changed);
        crate::validator(SCHEMA).is_valid(&value)
    };
    assert!(!is_valid("/schema", "oversleep-comparison/2") && !is_valid("/schema", "oversleep-comparison/4"));
    let verdict = "/series/0/sides/1/against_base/p50/verdict";
    assert!(!is_valid(verdict, "alike"));
    assert!(is_valid(verdict, "overlap"));
}
