//! The table of calls to operating systems: a file `xtask/platform/<page>/<table>.toml` per table, an entry per use. The
//! entries are typed, so none is without its reason, its first version or its documentation. `docs` writes the tables of
//! `docs/platform/` from them, `tidy` compares them with the code, and `cross` with the imports of the Windows program.

use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, Error};

pub const FOLDER: &str = "xtask/platform/";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// `<page>/<table>`, from the file's name.
    #[serde(skip)]
    pub name: String,
    /// The system whose versions `since` counts, if all rows count the same one's: the head of that column.
    pub versions: Option<String>,
    /// What the reasons name, if all of them name the same kind of thing ("fact"). That column is the first then.
    pub lists: Option<String>,
    /// What the names are, unless they are calls and files.
    pub kind: Option<String>,
    #[serde(rename = "call")]
    pub rows: Vec<Row>,
}

/// One use of the system.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Calls, files and instructions, with arguments in brackets.
    #[serde(deserialize_with = "names")]
    names: Vec<String>,
    /// The names in a sentence: all of them in place of one `{}`, or each in place of its own.
    text: Option<String>,
    #[serde(deserialize_with = "filled")]
    pub why: String,
    /// The first version that has all of it, then what else depends on the version.
    #[serde(deserialize_with = "version")]
    pub since: String,
    /// Addresses, with their titles before them unless the address ends in it.
    #[serde(deserialize_with = "pages")]
    pages: Vec<String>,
    /// Whether it is found in the system's libraries when first needed, so that older systems start the program.
    #[serde(default)]
    pub looked_up: bool,
}

/// What is wrong with a file, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    pub path: String,
    pub line: usize,
    pub what: String,
}

/// All tables among files, which are paths from the project's root with their texts.
pub fn read<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> (Vec<Table>, Vec<Fault>) {
    let (mut tables, mut faults) = (Vec::new(), Vec::new());
    for (path, text) in files.filter(|(path, _)| path.starts_with(FOLDER)) {
        match table(path, text) {
            Ok(table) => tables.push(table),
            Err(fault) => faults.push(fault),
        }
    }
    (tables, faults)
}

/// The tables of one page, from the project's root.
///
/// # Errors
/// The folder can't be read, or a table is wrong.
pub fn of_page(root: &Path, page: &str) -> Result<Vec<Table>, String> {
    let folder = format!("{FOLDER}{page}");
    let failed = |error: std::io::Error| format!("{folder}: {error}");
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(root.join(&folder)).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        texts.push((format!("{folder}/{name}"), std::fs::read_to_string(&path).map_err(failed)?));
    }
    let (tables, faults) = read(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    match faults.first() {
        Some(fault) => Err(format!("{}:{}: {}", fault.path, fault.line, fault.what)),
        None => Ok(tables),
    }
}

fn table(path: &str, text: &str) -> Result<Table, Fault> {
    let fault = |at: usize, what: &str| {
        let line = text[..at].matches('\n').count() + 1;
        Fault { path: path.to_owned(), line, what: what.replace('\n', " ") }
    };
    let parsed: Result<Table, _> = toml::from_str(text);
    let table = parsed.map_err(|error| fault(error.span().map_or(0, |span| span.start), error.message()))?;
    if let Some(row) = table.rows.iter().position(|row| ![1, row.names.len()].contains(&row.places())) {
        let at = text.match_indices("[[call]]").nth(row).map_or(0, |(at, _)| at);
        return Err(fault(at, "`text` has neither one `{}` nor one for each name"));
    }
    let name = path.trim_start_matches(FOLDER).trim_end_matches(".toml").to_owned();
    Ok(Table { name, ..table })
}

impl Row {
    /// The names without arguments.
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| name.split('(').next().unwrap_or_default())
    }

    /// Titles, and addresses.
    pub fn pages(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        self.pages
            .iter()
            .map(|page| page.rsplit_once(' ').map_or((None, page.as_str()), |(title, to)| (Some(title), to)))
    }

    /// The names as Markdown, in their sentence.
    pub fn sentence(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        let text = self.text.as_deref().unwrap_or("{}").to_owned();
        let text = match self.places() {
            1 => text.replace("{}", &names.join(", ")),
            _ => names.iter().fold(text, |text, name| text.replacen("{}", name, 1)),
        };
        text + if self.looked_up { ", looked up" } else { "" }
    }

    fn places(&self) -> usize {
        self.text.as_ref().map_or(1, |text| text.matches("{}").count())
    }
}

fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    checked(from, "is empty", |names: &Vec<String>| {
        !names.is_empty() && names.iter().all(|name| !name.trim().is_empty())
    })
}

fn filled<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    checked(from, "is empty", |text: &String| !text.trim().is_empty())
}

fn version<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    checked(from, "is no version", |text: &String| {
        text.contains(|c: char| c.is_ascii_digit())
            || ["NT", "XP", "Vista", "never"].iter().any(|name| text.starts_with(name))
    })
}

fn pages<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    checked(from, "isn't a list of `https://…`, each with or without a title before it", |pages: &Vec<String>| {
        let is_address = |page: &String| page.rsplit(' ').next().is_some_and(|to| to.starts_with("https://"));
        !pages.is_empty() && pages.iter().all(is_address)
    })
}

fn checked<'de, D, T>(from: D, fault: &str, is_fine: impl Fn(&T) -> bool) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let value = T::deserialize(from)?;
    if is_fine(&value) { Ok(value) } else { Err(D::Error::custom(fault)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
versions = \"Linux\"

[[call]]
names = [\"mq_open(O_CREAT)\", \"SYS_futex\"]
text = \"{}, raw; {} at once\"
why = \"`mq`\"
since = \"2.6.6\"
pages = [\"https://a.b/c\", \"A title https://a.b/d\"]
";

    fn table(text: &str) -> Result<Table, Fault> {
        let (mut tables, mut faults) = read([("xtask/platform/linux/a.toml", text)].into_iter());
        tables.pop().ok_or_else(|| faults.remove(0))
    }

    #[test]
    fn a_row_says_what_is_called_why_and_since_when() {
        let table = table(TEXT).unwrap();
        assert_eq!((table.name.as_str(), table.versions.as_deref()), ("linux/a", Some("Linux")));
        let row = &table.rows[0];
        assert_eq!(row.calls().collect::<Vec<_>>(), ["mq_open", "SYS_futex"]);
        assert_eq!(row.sentence(), "`mq_open(O_CREAT)`, raw; `SYS_futex` at once");
        assert_eq!(row.pages().collect::<Vec<_>>(), [(None, "https://a.b/c"), (Some("A title"), "https://a.b/d")]);
        let of_all = TEXT.replace("{}, raw; {} at once", "{}, raw\"\nlooked_up = true\n#");
        assert_eq!(self::table(&of_all).unwrap().rows[0].sentence(), "`mq_open(O_CREAT)`, `SYS_futex`, raw, looked up");
    }

    #[test]
    fn an_incomplete_row_is_refused_with_its_line() {
        const PAGES: &str = "isn't a list of `https://…`, each with or without a title before it";
        let lines: Vec<&str> = TEXT.lines().collect();
        for (from, to, line, what) in [
            ("since = \"2.6.6\"\n", "", 3, "missing field `since`"),
            ("`mq`", " ", 6, "is empty"),
            ("2.6.6", "–", 7, "is no version"),
            ("why = \"`mq`\"\n", "", 3, "missing field `why`"),
            (lines[7], "", 3, "missing field `pages`"),
            (lines[7], "pages = []", 8, PAGES),
            ("https://a.b/c", "same", 8, PAGES),
            (lines[3], "names = []", 4, "is empty"),
            (", raw; {} at once", ", {}, {}", 3, "`text` has neither one `{}` nor one for each name"),
            (
                "why",
                "for",
                6,
                "unknown field `for`, expected one of `names`, `text`, `why`, `since`, `pages`, `looked_up`",
            ),
        ] {
            let fault = table(&TEXT.replace(from, to)).err().unwrap();
            assert_eq!((fault.line, fault.what.as_str()), (line, what), "{from} → {to}");
        }
    }
}
