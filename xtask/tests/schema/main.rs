//! The published schemas hold against the published documents: what is written is valid, and nothing is in a schema that no
//! document shows. The documents in `schema/golden/` are what the crates write; their own tests see to that.

mod assertions;
mod comparison;
mod result;
mod why;

use std::path::PathBuf;

use jsonschema::Validator;
use serde_json::Value;

/// The `schema/` folder of the checkout under test.
fn schema_dir() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.join("../schema")
}

/// A JSON document below it.
fn document(path: &str) -> Value {
    let text = std::fs::read(schema_dir().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The golden documents of a kind, by file name.
fn golden(kind: &str) -> Vec<(String, Value)> {
    let folder = format!("golden/{kind}");
    let files = std::fs::read_dir(schema_dir().join(&folder)).expect("the golden documents are there").flatten();
    let names =
        files.map(|file| file.file_name().to_string_lossy().into_owned()).filter(|name| name.ends_with(".json"));
    let mut all: Vec<_> = names.map(|name| (name.clone(), document(&format!("{folder}/{name}")))).collect();
    assert!(!all.is_empty(), "{folder} is empty");
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

fn validator(schema: &str) -> Validator {
    jsonschema::draft202012::new(&document(schema)).expect("the schema is a JSON schema")
}

fn assert_valid(validator: &Validator, value: &Value, what: &str) {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}");
}
