//! A table and a section as plain data, for any renderer.

use oversleep_record::ExperimentId;

/// How a cell is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// The one to look at.
    Strong,
    /// Secondary.
    Soft,
    /// As it should be.
    Good,
    /// To be noticed.
    Warn,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// What stands in it.
    pub text: String,
    /// How it is to be read.
    pub tone: Tone,
}

impl Cell {
    /// The same cell in another tone.
    pub fn toned(mut self, tone: Tone) -> Cell {
        self.tone = tone;
        self
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell { text: text.into(), tone: Tone::Plain }
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words, to the left; the last column of words wraps where room is scarce.
    Words,
    /// Figures, to the right.
    Figure,
    /// A bar drawn with characters; browsers have pictures instead.
    Bar,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub head: String,
    /// What it holds.
    pub kind: Kind,
    /// Who goes first where room is scarce: the highest; 0 stays.
    pub rank: u8,
}

/// A column of words.
pub fn words(head: &str, rank: u8) -> Column {
    Column { head: head.to_owned(), kind: Kind::Words, rank }
}

/// A column of figures.
pub fn figures(head: impl Into<String>, rank: u8) -> Column {
    Column { head: head.into(), kind: Kind::Figure, rank }
}

/// A table. The first column names the row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows; each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table.
    pub fn new(caption: impl Into<String>, columns: Vec<Column>) -> Table {
        Table { caption: caption.into(), columns, rows: Vec::new() }
    }

    /// Adds a row; short ones are filled up with empty cells.
    pub fn row(&mut self, mut cells: Vec<Cell>) {
        cells.resize(self.columns.len(), Cell::default());
        self.rows.push(cells);
    }

    /// The table without columns in which no row says anything.
    pub fn without_empty_columns(mut self) -> Table {
        let silent = |text: &str| text.is_empty() || text == super::words::UNKNOWN;
        let said: Vec<bool> = (0..self.columns.len())
            .map(|index| index == 0 || self.rows.iter().any(|row| !silent(&row[index].text)))
            .collect();
        let mut keep = said.iter();
        self.columns.retain(|_| *keep.next().unwrap_or(&true));
        for row in &mut self.rows {
            let mut keep = said.iter();
            row.retain(|_| *keep.next().unwrap_or(&true));
        }
        self
    }
}

/// A part of the report: what belongs to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Unique in a report; a word in lower case.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The experiments it shows.
    pub experiments: Vec<ExperimentId>,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Sentences beneath them.
    pub notes: Vec<String>,
    /// Whether the sentences say enough where room is scarce, so that the tables are for the browser only.
    pub notes_suffice: bool,
}

impl Section {
    /// A section with one table.
    pub fn of(id: &'static str, title: &'static str, experiments: &[ExperimentId], table: Table) -> Section {
        Section {
            id,
            title,
            experiments: experiments.to_vec(),
            tables: vec![table],
            notes: Vec::new(),
            notes_suffice: false,
        }
    }

    /// The ids of its experiments: `D1 D2`.
    pub fn ids(&self) -> String {
        self.experiments.iter().map(ExperimentId::as_str).collect::<Vec<_>>().join(" ")
    }

    /// With one more sentence.
    pub fn note(mut self, text: impl Into<String>) -> Section {
        self.notes.push(text.into());
        self
    }

    /// With one more sentence where there is one.
    pub fn note_if(mut self, text: Option<String>) -> Section {
        self.notes.extend(text);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_say_nothing_go() {
        let mut table = Table::new("t", vec![words("name", 0), figures("p99", 1), figures("max", 0)]);
        table.row(vec!["a".into(), "–".into(), "1 ns".into()]);
        table.row(vec!["b".into()]);
        let table = table.without_empty_columns();
        assert_eq!(table.columns.iter().map(|column| column.head.as_str()).collect::<Vec<_>>(), ["name", "max"]);
        assert_eq!(table.rows[0].len(), 2);
        assert_eq!(table.rows[1][1].text, "");
    }
}
