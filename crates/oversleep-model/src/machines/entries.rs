//! An entry of a profile: a figure, its source, and the values of other sources.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::parameters::parameter_of;
use super::sources::Source;
use super::value::Stated;

/// A parameter in the file: its value, and the name of its source.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    value: toml::Value,
    source: String,
    /// The values of other sources, best first.
    #[serde(default)]
    also: Vec<Other>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Other {
    pub value: toml::Value,
    pub source: String,
}

/// The figure of an entry: that of its source, or of the best other source if that one is excluded. `None` if there is no
/// other.
pub(super) fn read_entry(
    path: &str,
    entry: toml::Value,
    sources: &BTreeMap<String, String>,
    without: Option<&str>,
) -> Result<Option<Stated>, String> {
    let parameter = parameter_of(path).ok_or("it is not a figure of a modelled machine")?;
    let mut chosen = None;
    for Other { value, source } in others(entry)? {
        let text = text_of(value)?;
        let says = sources.get(&source).ok_or_else(|| format!("its source '{source}' is not among the sources"))?;
        let (value, cited) = (parameter.kind.read(&text)?, cited(&source, says)?);
        if chosen.is_none() && without != Some(source.as_str()) {
            chosen = Some(Stated { value, written: Some(text), source_id: source, source: cited });
        }
    }
    Ok(chosen)
}

/// The values of an entry's sources, best first.
pub(super) fn others(entry: toml::Value) -> Result<Vec<Other>, String> {
    let Entry { value, source, also } = entry.try_into().map_err(|error| format!("{error}"))?;
    Ok(std::iter::once(Other { value, source }).chain(also).collect())
}

pub(super) fn cited(id: &str, says: &str) -> Result<String, String> {
    let source = Source::find(id).ok_or_else(|| format!("its source '{id}' is not in the file of sources"))?;
    Ok(source.cite(says))
}

pub(super) fn text_of(value: toml::Value) -> Result<String, String> {
    Ok(match value {
        toml::Value::String(text) => text,
        toml::Value::Array(items) => {
            items.iter().map(|item| item.as_str().unwrap_or_default()).collect::<Vec<_>>().join(", ")
        }
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(flag) => flag.to_string(),
        other => return Err(format!("it can't be a {}", other.type_str())),
    })
}
