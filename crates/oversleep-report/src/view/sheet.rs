//! Figures as one table for other programs: a row for each thing, exact numbers, units in the heads.

use std::borrow::Cow;

use serde_json::Value;

/// A head, and the text of its field.
pub type Column<R> = (&'static str, fn(&R) -> String);

/// Rows are made as they are written.
pub struct Sheet<'a> {
    /// The names of the columns.
    pub heads: Vec<Cow<'a, str>>,
    /// The rows, each as long as the heads.
    pub rows: Box<dyn Iterator<Item = Vec<String>> + 'a>,
}

impl<'a> Sheet<'a> {
    /// A row for each of these things.
    pub fn of<R: 'a>(columns: impl Into<Vec<Column<R>>>, rows: impl IntoIterator<Item = R> + 'a) -> Sheet<'a> {
        let columns = columns.into();
        let heads = columns.iter().map(|(head, _)| Cow::Borrowed(*head)).collect();
        let row = move |thing: R| columns.iter().map(|(_, field)| field(&thing)).collect();
        Sheet { heads, rows: Box::new(rows.into_iter().map(row)) }
    }

    /// A row for each of these JSON objects, with those of their fields.
    pub fn of_objects(heads: &'static [&'static str], objects: &'a [Value]) -> Sheet<'a> {
        let row = |object: &Value| heads.iter().map(|head| in_words(&object[*head])).collect();
        let names = heads.iter().map(|head| Cow::Borrowed(*head)).collect();
        Sheet { heads: names, rows: Box::new(objects.iter().map(row)) }
    }
}

/// A value as the text of a field; nothing for what is missing.
fn in_words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(in_words).collect::<Vec<_>>().join("; "),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| format!("{name}: {}", in_words(value))).collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}

/// The text of an optional field.
pub fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A word as it is in JSON.
pub fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).map_or_else(|_| String::new(), |value| in_words(&value))
}
