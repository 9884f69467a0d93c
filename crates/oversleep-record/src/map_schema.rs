//! The schema of a map whose keys are words. The derived one takes any text as a key.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};

/// A map in which each key is one of the words of `K`.
pub(crate) fn by_word<K: JsonSchema, V: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = BTreeMap::<K, V>::json_schema(generator);
    schema.insert("propertyNames".to_owned(), generator.subschema_for::<K>().to_value());
    schema
}
