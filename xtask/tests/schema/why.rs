//! The schema of results of `why`.

use std::collections::BTreeSet;

use serde_json::Value;

const SCHEMA: &str = "why-v1.schema.json";

#[test]
fn the_schema_takes_it_and_has_nothing_that_it_does_not_show() {
    let value = crate::document("golden/why-v1/everything.json");
    crate::assert_valid(&crate::validator(SCHEMA), &value, "everything");
    let (mut stated, mut shown) = (BTreeSet::new(), BTreeSet::new());
    words_of_schema(&crate::document(SCHEMA), &mut stated);
    words_of(&value, &mut shown);
    // A recording is of one processor and by one follower.
    for other in ["aarch64", "supervisor-without-switches"] {
        stated.remove(other);
    }
    let missing: Vec<&String> = stated.difference(&shown).collect();
    assert!(missing.is_empty(), "the published result has none of {missing:?}");
}

/// The names of fields, and the words of closed lists.
fn words_of_schema(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            let properties = members.get("properties").and_then(Value::as_object);
            found.extend(properties.into_iter().flat_map(|properties| properties.keys().cloned()));
            found.extend(members.get("const").and_then(Value::as_str).map(str::to_owned));
            let listed = members.get("enum").and_then(Value::as_array).into_iter().flatten();
            found.extend(listed.filter_map(|word| word.as_str().map(str::to_owned)));
            members.values().for_each(|member| words_of_schema(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| words_of_schema(item, found)),
        _ => {}
    }
}

fn words_of(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                found.insert(name.clone());
                words_of(member, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words_of(item, found)),
        Value::String(text) => drop(found.insert(text.clone())),
        _ => {}
    }
}
