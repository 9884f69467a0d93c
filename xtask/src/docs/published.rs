//! The page of published observations, by id, each with its source.

use std::collections::BTreeMap;

use toml::{Table, Value};
use xtask_tools::markdown::{cell, head, linked, table};

use super::Page;
use crate::tree::Tree;

const OBSERVATIONS: &str = "crates/oversleep-lab/observations/";
const SOURCES: &str = "crates/oversleep-model/sources.toml";
pub const PATH: &str = "docs/published.md";

/// The page; none if the tree has no observations.
pub fn pages(tree: &Tree) -> Vec<Page> {
    let sources = tree.get(SOURCES).and_then(|file| file.text.parse::<Table>().ok()).unwrap_or_default();
    let files = tree.files().filter(|file| file.path.starts_with(OBSERVATIONS) && file.path.ends_with(".toml"));
    let all = files.filter_map(|file| file.text.parse::<Table>().ok());
    let mut rows: BTreeMap<String, [String; 4]> = BTreeMap::new();
    for mut file in all {
        let Some(Value::Array(observations)) = file.remove("observation") else { continue };
        for one in observations {
            let text = |name: &str| one.get(name).and_then(Value::as_str).unwrap_or_default();
            let id = text("id").split('/').next().unwrap_or_default().to_owned();
            let model = match (text("uncovered"), text("outside")) {
                ("", "") => format!("`{}`", text("machine")),
                ("", why) => format!("nothing a model could say: {}", cell(why)),
                (why, _) => format!("not covered: {}", cell(why)),
            };
            let row = [
                id.clone(),
                linked(text("published")).replace('|', "\\|"),
                model,
                source(&sources, text("source"), text("by")),
            ];
            rows.entry(id).or_insert(row);
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let mut page = head(OBSERVATIONS);
    page.push_str(&format!(
        "# Published figures\n\nWhat others measured and published, in their own terms: {} observations. `oversleep machines \
         verify` repeats each on the model named here, and a report shows those that speak of one of its figures beside that \
         figure, with whether it holds there.\n\n",
        rows.len()
    ));
    page.push_str(&table(["id", "published", "model", "source"], rows.into_values()));
    vec![Page { path: PATH.to_owned(), text: page }]
}

/// `Bruce Dawson, The Great Rule Change (2020)`, as a link if the source has an address.
fn source(sources: &Table, id: &str, by: &str) -> String {
    let Some(source) = sources.get(id) else { return id.to_owned() };
    let text = |name: &str| source.get(name).and_then(Value::as_str).unwrap_or_default();
    let title = cell(text("title"));
    let title = if text("url").is_empty() { title } else { format!("[{title}]({})", text("url")) };
    let author = if by.is_empty() { text("author") } else { by };
    let author = if author.is_empty() { String::new() } else { format!("{}, ", cell(author)) };
    let year = source.get("year").and_then(Value::as_integer).map(|year| format!(" ({year})")).unwrap_or_default();
    format!("{author}{title}{year}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_occurs_with_its_source() {
        let tree = Tree::of(&[
            (
                "crates/oversleep-lab/observations/linux.toml",
                "[[observation]]\nid = 'O1/1ms'\nsource = 'a'\npublished = 'one | two'\nmachine = 'linux-hz250'\n\
                 [[observation]]\nid = 'O1/2ms'\nsource = 'a'\npublished = 'one | two'\nmachine = 'linux-hz250'\n\
                 [[observation]]\nid = 'O2'\nsource = 'b'\nby = 'ana'\npublished = 'three'\nuncovered = 'no rule'\n\
                 [[observation]]\nid = 'O3'\nsource = 'b'\npublished = 'four'\noutside = 'advice'\n",
            ),
            (
                "crates/oversleep-model/sources.toml",
                "[a]\nauthor = 'A'\ntitle = 'T'\nyear = 2020\nurl = 'https://a'\n[b]\ntitle = 'U'\n",
            ),
        ]);
        let pages = pages(&tree);
        let text = &pages[0].text;
        assert!(text.contains("| O1 | one \\| two | `linux-hz250` | A, [T](https://a) (2020) |"), "{text}");
        assert!(text.contains("| O2 | three | not covered: no rule | ana, U |"), "{text}");
        assert!(text.contains("| O3 | four | nothing a model could say: advice | U |"), "{text}");
        assert_eq!(text.matches("| O1 |").count(), 1);
        assert!(super::pages(&Tree::of(&[])).is_empty());
    }
}
