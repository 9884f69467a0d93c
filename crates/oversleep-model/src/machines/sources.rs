//! The sources of figures and observations, each with one id: who published it, where and when.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// One source.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its id: two statements have the same source if and only if they have the same id.
    #[serde(skip)]
    pub id: String,
    /// Who.
    pub author: Option<String>,
    /// What.
    pub title: String,
    /// When.
    pub year: Option<i32>,
    /// Where.
    pub url: Option<String>,
}

/// The id of figures without a published source.
pub const ASSUMED: &str = "assumed";
/// The id of figures that the user changed.
pub(super) const BY_USER: &str = "user";

static SOURCES: LazyLock<BTreeMap<String, Source>> = LazyLock::new(|| {
    let mut all: BTreeMap<String, Source> =
        toml::from_str(include_str!("../../sources.toml")).expect("the file of sources is well-formed");
    for (id, source) in &mut all {
        source.id.clone_from(id);
    }
    all
});

impl Source {
    /// The source with that id.
    pub fn find(id: &str) -> Option<&'static Source> {
        SOURCES.get(id)
    }

    /// All of them, by id.
    pub fn all() -> impl Iterator<Item = &'static Source> {
        SOURCES.values()
    }

    /// Author, title and year, in a line.
    pub fn citation(&self) -> String {
        let author = self.author.as_ref().map(|author| format!("{author}, ")).unwrap_or_default();
        let year = self.year.map(|year| format!(" ({year})")).unwrap_or_default();
        format!("{author}{}{year}", self.title)
    }

    /// The citation with the source's statement about a figure, and its address.
    pub(super) fn cite(&self, says: &str) -> String {
        let says = if says.is_empty() { String::new() } else { format!(": {says}") };
        let url = self.url.as_ref().map(|url| format!(", {url}")).unwrap_or_default();
        format!("{}{says}{url}", self.citation())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_reads_and_no_two_are_the_same() {
        let citations: Vec<(String, &Option<String>)> = Source::all().map(|one| (one.citation(), &one.url)).collect();
        assert!(citations.len() > 80);
        for (index, one) in citations.iter().enumerate() {
            assert!(!citations[..index].contains(one), "{one:?} twice");
        }
        let dawson = Source::find("dawson-2020").expect("it is there");
        assert_eq!(dawson.citation(), "B. Dawson, Windows Timer Resolution: The Great Rule Change (2020)");
        assert!(dawson.cite("2.0 ms").contains("(2020): 2.0 ms, https://"));
        assert!(Source::find("user").is_none(), "that is what --set says");
    }
}
