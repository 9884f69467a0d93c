//! A table that a question was answered with, whatever its columns are: of an archive, of a database.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::Layout;
use super::subject::{Subject, pretty};
use crate::terminal::text::broken;
use crate::terminal::{Detail, whole_table};
use crate::view::comparison::View;
use crate::view::sheet::Sheet;
use crate::view::table::{Columns, Section, Table};

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its name.
    pub name: String,
    /// Whether it holds figures, which stand to the right.
    pub is_figure: bool,
}

/// The table.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// What was asked.
    pub title: String,
    /// The columns.
    pub heads: Vec<Head>,
    /// The rows for people, with units.
    pub shown: Vec<Vec<String>>,
    /// The same rows for programs: exact, `null` for what isn't known.
    pub exact: Vec<Vec<Value>>,
    /// What has to be known of it, a sentence each.
    pub notes: Vec<String>,
    /// What a terminal gets in place of a long table.
    pub brief: Option<Brief>,
}

/// The beginning of a long table.
#[derive(Clone, Debug, Default)]
pub struct Brief {
    /// The columns.
    pub heads: Vec<Head>,
    /// The rows for people.
    pub shown: Vec<Vec<String>>,
    /// What is left out, and how to get it, a sentence each.
    pub notes: Vec<String>,
}

fn table(heads: &[Head], shown: &[Vec<String>]) -> Option<Table> {
    let columns = heads.iter().enumerate().fold(Columns::new(), |columns, (at, head)| {
        let cell = move |row: &&Vec<String>| row[at].clone();
        let name = head.name.replace('_', " ");
        if head.is_figure { columns.figure(name, cell) } else { columns.words(name, cell) }
    });
    columns.table("Answer", shown)
}

impl Records {
    /// Names that differ, for objects: SQL may give two columns one name.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for head in &self.heads {
            let count = self.heads.iter().take(names.len()).filter(|other| other.name == head.name).count();
            names.push(if count == 0 { head.name.clone() } else { format!("{}_{}", head.name, count + 1) });
        }
        names
    }
}

impl Subject for Records {
    fn text(&self, layout: &Layout) -> String {
        let (heads, shown, begin) = match &self.brief {
            Some(brief) => (&brief.heads, &brief.shown, &brief.notes[..]),
            None => (&self.heads, &self.shown, &[][..]),
        };
        let mut lines = match table(heads, shown) {
            Some(table) if !shown.is_empty() => whole_table(&table, layout.width),
            _ => vec!["No rows.".to_owned()],
        };
        for note in begin.iter().chain(&self.notes) {
            lines.push(String::new());
            lines.extend(broken(note, layout.width));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let names = self.names();
        let object = |row: &Vec<Value>| names.iter().cloned().zip(row.iter().cloned()).collect::<Map<_, _>>();
        let rows: Vec<Map<String, Value>> = self.exact.iter().map(object).collect();
        pretty(&json!({ "title": self.title, "columns": names, "rows": rows, "notes": self.notes }), out)
    }

    fn sheet(&self) -> Sheet<'_> {
        let text = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let heads = self.heads.iter().map(|head| Cow::Borrowed(head.name.as_str())).collect();
        Sheet { heads, rows: Box::new(self.exact.iter().map(move |row| row.iter().map(text).collect())) }
    }

    fn view(&self, _: Detail) -> View {
        View {
            title: format!("oversleep: {}", self.title),
            sections: vec![Section::new("answer", "Answer").tables(table(&self.heads, &self.shown))],
            warnings: self.notes.clone(),
            ..View::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CSV, JSON, MARKDOWN, bytes};
    use super::*;

    fn records() -> Records {
        let head = |name: &str, is_figure| Head { name: name.to_owned(), is_figure };
        Records {
            title: "p50 by kernel".to_owned(),
            heads: vec![head("kernel", false), head("p50", true), head("p50", true)],
            shown: vec![vec!["6.1".to_owned(), "66 µs".to_owned(), "unknown".to_owned()]],
            exact: vec![vec![json!("6.1"), json!(66_000), Value::Null]],
            notes: vec!["1 row.".to_owned()],
            brief: None,
        }
    }

    #[test]
    fn people_read_units_and_programs_exact_numbers() {
        let layout = Layout { width: 80, ..Layout::default() };
        let text = crate::terminal::without_styles(&records().text(&layout));
        assert_eq!(text, "kernel    p50      p50\n6.1     66 µs  unknown\n\n1 row.\n");
        let of = |format| String::from_utf8(bytes(&records(), format, &layout)).unwrap();
        assert_eq!(of(&CSV), "kernel,p50,p50\r\n6.1,66000,\r\n");
        let document: Value = serde_json::from_str(&of(&JSON)).unwrap();
        assert_eq!(document["rows"], json!([{ "kernel": "6.1", "p50": 66_000, "p50_2": null }]));
        assert!(of(&MARKDOWN).contains("| 6.1 | 66 µs | unknown |"), "{}", of(&MARKDOWN));
    }

    #[test]
    fn every_figure_is_there_whole_whatever_the_width() {
        let names = ["kernel", "experiment", "subject", "request_ns", "conditions"];
        let figures = ["p50", "p90", "p99", "count", "machines", "steal"];
        let head = |is_figure| move |name: &&str| Head { name: (*name).to_owned(), is_figure };
        let heads: Vec<Head> = names.iter().map(head(false)).chain(figures.iter().map(head(true))).collect();
        let row = ["6.12.43-cloud-amd64", "B5", "clock-nanosleep-abs", "1.5 ms", "policy=fifo:80 slack=1ns"];
        let shown: Vec<String> = row
            .into_iter()
            .chain(["66.1 µs", "71.5 µs", "1.89 ms", "9,676,800", "1,000", "2.95 %"])
            .map(str::to_owned)
            .collect();
        let records = Records { heads, shown: vec![shown.clone()], ..Records::default() };
        for width in [60, 80, 120, 200] {
            let text = crate::terminal::without_styles(&records.text(&Layout { width, ..Layout::default() }));
            for figure in &shown[names.len()..] {
                assert!(text.contains(figure.as_str()), "{width}: {figure}\n{text}");
            }
            assert!(figures.iter().all(|head| text.contains(head)), "{width}: {text}");
            assert!(text.lines().all(|line| crate::terminal::text::columns(line) <= width), "{width}: {text}");
        }
    }

    #[test]
    fn a_terminal_has_the_beginning_of_a_long_table_and_documents_have_all_of_it() {
        let whole = records();
        let notes = vec!["… 1 row more: --csv has all.".to_owned()];
        let brief = Brief { heads: whole.heads[..2].to_vec(), shown: vec![whole.shown[0][..2].to_vec()], notes };
        let long = Records { brief: Some(brief), ..whole };
        let layout = Layout { width: 80, ..Layout::default() };
        let text = crate::terminal::without_styles(&long.text(&layout));
        assert_eq!(text, "kernel    p50\n6.1     66 µs\n\n… 1 row more: --csv has all.\n\n1 row.\n");
        assert_eq!(String::from_utf8(bytes(&long, &CSV, &layout)).unwrap(), "kernel,p50,p50\r\n6.1,66000,\r\n");
    }

    #[test]
    fn an_answer_without_rows_says_so() {
        let empty = Records { shown: Vec::new(), exact: Vec::new(), ..records() };
        assert!(empty.text(&Layout { width: 80, ..Layout::default() }).starts_with("No rows."));
    }
}
