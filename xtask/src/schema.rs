//! `cargo xtask schema`: generates the JSON schemas of result files and comparisons from the types that parse them.
//! Schemas of earlier versions stay as published.
//!
//! The types describe the fields; this file adds what the derivation omits: title and identity, the ranges of integers,
//! and the unit at the end of each name.

use std::path::Path;
use std::process::ExitCode;

use oversleep_record::ResultFile;
use oversleep_record::assertion::Assertions;
use oversleep_record::comparison::Comparison;
use schemars::Schema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::transform_subschemas;
use serde_json::Value;
use xtask_tools::generated;

/// One schema.
struct Kept {
    /// Its path, from the project's root.
    path: &'static str,
    id: &'static str,
    title: &'static str,
    root: fn(SchemaGenerator) -> Schema,
}

const KEPT: [Kept; 3] = [
    Kept {
        path: "schema/result-v3.schema.json",
        id: "urn:oversleep:schema:result:3",
        title: "oversleep result, version 3",
        root: SchemaGenerator::into_root_schema_for::<ResultFile>,
    },
    Kept {
        path: "schema/comparison-v3.schema.json",
        id: "urn:oversleep:schema:comparison:3",
        title: "oversleep comparison, version 3",
        root: SchemaGenerator::into_root_schema_for::<Comparison>,
    },
    Kept {
        path: "schema/assertions-v1.schema.json",
        id: "urn:oversleep:schema:assertions:1",
        title: "oversleep assertions, version 1",
        root: SchemaGenerator::into_root_schema_for::<Assertions>,
    },
];

/// The last word of a name, and its unit.
const UNITS: &[(&str, &str)] = &[
    ("ns", "ns"),
    ("us", "µs"),
    ("ps", "ps"),
    ("s", "s"),
    ("hz", "Hz"),
    ("ppm", "ppm"),
    ("permille", "‰"),
    ("millicelsius", "m°C"),
];

/// Runs the chore. Exit code 0: written, or current; 1: `--check` found it stale.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let only_checks = generated::only_checks("schema", args)?;
    generated::keep(root, "cargo xtask schema", only_checks, &KEPT.map(|kept| (kept.path, document(&kept))))
}

/// The schema in its committed form: indented, in alphabetical order, ending in a newline.
fn document(kept: &Kept) -> String {
    let settings =
        SchemaSettings::draft2020_12().with_transform(integer_ranges).with_transform(units).with_transform(prose);
    let mut schema = (kept.root)(settings.for_deserialize().into_generator());
    schema.insert("$id".to_owned(), kept.id.into());
    schema.insert("title".to_owned(), kept.title.into());
    let mut document = schema.to_value();
    // A no-op unless another package of the build makes JSON objects keep their order.
    document.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&document).expect("a schema is plain data");
    text.push('\n');
    text
}

/// Replaces an integer's `format` by the range that the reader accepts, because `format` alone refuses nothing.
fn integer_ranges(schema: &mut Schema) {
    transform_subschemas(&mut integer_ranges, schema);
    let format = schema.remove("format");
    let (lowest, highest): (Value, Value) = match format.as_ref().and_then(Value::as_str) {
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        Some("int64") => (i64::MIN.into(), i64::MAX.into()),
        Some("uint16") => (0.into(), u16::MAX.into()),
        Some("uint32") => (0.into(), u32::MAX.into()),
        Some("uint64") => (0.into(), u64::MAX.into()),
        // A number with a fraction: JSON can't represent values that are not finite.
        Some("double") | None => return,
        Some(other) => panic!("the record types have a new format, {other}: say its range here"),
    };
    // A type may have stated a narrower range.
    let schema = schema.ensure_object();
    schema.entry("minimum").or_insert(lowest);
    schema.entry("maximum").or_insert(highest);
}

/// Adds the unit of every figure whose name ends in one, as the annotation `x-unit`.
fn units(schema: &mut Schema) {
    transform_subschemas(&mut units, schema);
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties {
        let unit = UNITS.iter().find(|(suffix, _)| name.rsplit('_').next() == Some(suffix));
        if let (Some((_, unit)), Some(property)) = (unit, property.as_object_mut()) {
            property.insert("x-unit".to_owned(), (*unit).into());
        }
    }
}

/// Rewrites descriptions for readers in any language: one line per paragraph, and no Rust.
fn prose(schema: &mut Schema) {
    transform_subschemas(&mut prose, schema);
    let Some(Value::String(text)) = schema.get_mut("description") else { return };
    let paragraphs: Vec<String> = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
    *text = paragraphs.join("\n\n").replace(". `None` ", ". Absent ").replace("`None`", "absent");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_schemas_say_what_the_types_say() {
        for kept in &KEPT {
            let committed = std::fs::read_to_string(crate::project_root().join(kept.path)).unwrap();
            assert!(committed == document(kept), "run `cargo xtask schema` and look at what changed in {}", kept.path);
        }
    }

    #[test]
    fn every_field_is_described_and_every_span_has_its_unit() {
        for kept in &KEPT {
            let document: Value = serde_json::from_str(&document(kept)).unwrap();
            let mut pending = vec![(String::from("#"), &document)];
            while let Some((at, value)) = pending.pop() {
                for (name, property) in value.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    let tag = property.get("const").is_some() || name == "value";
                    assert!(tag || property.get("description").is_some(), "{at}/{name} has no description");
                    assert_eq!(name.ends_with("_ns"), property.get("x-unit") == Some(&"ns".into()), "{at}/{name}");
                }
                match value {
                    Value::Object(members) => {
                        // Conditions on fields that are described elsewhere.
                        let described = members.iter().filter(|(k, _)| !["if", "then", "else"].contains(&k.as_str()));
                        pending.extend(described.map(|(k, v)| (format!("{at}/{k}"), v)));
                    }
                    Value::Array(items) => pending.extend(items.iter().map(|item| (at.clone(), item))),
                    _ => {}
                }
            }
        }
    }
}
