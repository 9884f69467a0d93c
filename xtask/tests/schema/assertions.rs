//! The schema of verdicts.

use serde_json::json;

const SCHEMA: &str = "assertions-v1.schema.json";

#[test]
fn golden_verdicts_are_valid() {
    let validator = crate::validator(SCHEMA);
    for (name, value) in crate::golden("assertions-v1") {
        crate::assert_valid(&validator, &value, &format!("assertions-v1/{name}"));
    }
}

#[test]
fn another_version_and_an_unknown_verdict_are_refused() {
    let is_valid = |pointer: &str, changed: &str| {
        let mut value = crate::document("golden/assertions-v1/log.json");
        *value.pointer_mut(pointer).expect(pointer) = json!(changed);
        crate::validator(SCHEMA).is_valid(&value)
    };
    assert!(!is_valid("/schema", "oversleep-assertions/2"));
    assert!(!is_valid("/assertions/0/verdict", "green"));
    assert!(is_valid("/assertions/0/verdict", "undecided"));
}
