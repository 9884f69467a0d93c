//! Tables and sections as plain data for any renderer, and the columns they are built from.

use oversleep_record::part::Part;
use oversleep_record::{ExperimentId, Nanos, Series};

use crate::words::{FEW_VALUES, UNKNOWN, grouped, median_of, value};

/// The emphasis of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary.
    #[default]
    Plain,
    /// The most important one.
    Strong,
    /// Secondary.
    Soft,
    /// Good.
    Good,
    /// Needs attention.
    Warn,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Its text.
    pub text: String,
    /// Its emphasis.
    pub tone: Tone,
    /// The parts that its bar consists of, in a column of splits.
    pub split: Option<Split>,
}

/// The parts of a lateness, drawn as a bar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Each part, and its length in millionths of the longest bar.
    pub parts: Vec<(Part, u32)>,
}

impl Split {
    /// A bar in which each part has that share of the longest bar; what is not above zero isn't drawn.
    pub fn of(share: impl Fn(Part) -> f64) -> Split {
        let millionths = |part: Part| (share(part).clamp(0.0, 1.0) * 1e6).round() as u32;
        let parts = Part::ALL.iter().map(|&part| (part, millionths(part)));
        Split { parts: parts.filter(|&(_, length)| length > 0).collect() }
    }

    /// The bar in letters, one for each part.
    pub fn letters(&self, width: usize) -> String {
        let (mut bar, mut sum) = (String::new(), 0.0);
        for &(part, length) in &self.parts {
            sum += f64::from(length) / 1e6;
            let end = ((sum * width as f64).round() as usize).min(width);
            while bar.len() < end {
                bar.push(letter(part));
            }
        }
        bar
    }
}

/// The letter that draws a part in a bar.
pub fn letter(part: Part) -> char {
    match part {
        Part::Api => 'a',
        Part::Stop => 'z',
        Part::Signal => 'g',
        Part::Timer => 't',
        Part::Slack => 's',
        Part::Irq => 'i',
        Part::Irqbody => 'b',
        Part::Wake => 'w',
        Part::Ipi => 'p',
        Part::Runq => 'q',
        Part::Ret => 'r',
        Part::Quota => 'Q',
        Part::User => 'u',
        Part::Unattributed => '?',
        Part::Requested => '-',
        Part::Late => 'l',
        Part::Work => 'W',
        Part::Fault => 'f',
        Part::Blocked => 'B',
    }
}

/// Return types of a column's function: texts, figures, and optional ones, which are a dash if absent.
pub trait ToCell {
    /// The cell.
    fn to_cell(self) -> Cell;

    /// The cell in a tone.
    fn toned(self, tone: Tone) -> Cell
    where
        Self: Sized,
    {
        Cell { tone, ..self.to_cell() }
    }
}

impl ToCell for Cell {
    fn to_cell(self) -> Cell {
        self
    }
}

impl ToCell for String {
    fn to_cell(self) -> Cell {
        Cell { text: self, ..Cell::default() }
    }
}

macro_rules! cells_of {
    ($($kind:ty: $text:expr),+) => {
        $(impl ToCell for $kind {
            fn to_cell(self) -> Cell {
                ($text)(self).to_cell()
            }
        })+
    };
}

cells_of!(&str: str::to_owned, Nanos: |span: Nanos| span.to_string(), u64: grouped);

impl<T: ToCell> ToCell for Option<T> {
    fn to_cell(self) -> Cell {
        self.map_or_else(|| UNKNOWN.to_cell(), T::to_cell)
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
    /// A bar of the parts of a lateness: letters on a terminal, colours in a browser.
    Split,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub head: String,
    /// What it holds.
    pub kind: Kind,
    /// Columns of the highest rank are left out first if the page is too narrow; 0 is never left out.
    pub rank: u8,
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
    /// Whether each column is an answer of its own: a page too narrow for all says so, or has the others in a further part.
    pub needs_all: bool,
    /// How many rows a brief report shows on a terminal, and a page before the reader unfolds the others; 0 for all.
    pub rows_brief: usize,
}

impl Table {
    /// The parts that occur in its bars, in order.
    pub fn parts(&self) -> Vec<Part> {
        let splits = || self.rows.iter().flatten().filter_map(|cell| cell.split.as_ref());
        let has = |part: &Part| splits().any(|split| split.parts.iter().any(|(other, _)| other == part));
        Part::ALL.iter().copied().filter(has).collect()
    }
}

type CellOf<'a, R> = Box<dyn Fn(&R) -> Cell + 'a>;

/// The columns of a table of `R`s: heading, kind and the function that fills the cell are one value, so they can't get
/// out of step.
pub struct Columns<'a, R> {
    all: Vec<(Column, CellOf<'a, R>)>,
}

impl<R> Default for Columns<'_, R> {
    fn default() -> Self {
        Columns { all: Vec::new() }
    }
}

impl<'a, R> Columns<'a, R> {
    /// No columns yet.
    pub fn new() -> Self {
        Columns::default()
    }

    fn column<C: ToCell>(mut self, head: impl Into<String>, kind: Kind, cell: impl Fn(&R) -> C + 'a) -> Self {
        self.all.push((Column { head: head.into(), kind, rank: 0 }, Box::new(move |row| cell(row).to_cell())));
        self
    }

    /// One more column of words.
    pub fn words<C: ToCell>(self, head: impl Into<String>, cell: impl Fn(&R) -> C + 'a) -> Self {
        self.column(head, Kind::Words, cell)
    }

    /// One more column of figures.
    pub fn figure<C: ToCell>(self, head: impl Into<String>, cell: impl Fn(&R) -> C + 'a) -> Self {
        self.column(head, Kind::Figure, cell)
    }

    /// One more column of bars.
    pub fn bar(self, head: impl Into<String>, cell: impl Fn(&R) -> String + 'a) -> Self {
        self.column(head, Kind::Bar, cell)
    }

    /// One more column of splits, that many letters wide on a terminal.
    pub fn split(self, head: impl Into<String>, width: usize, split: impl Fn(&R) -> Split + 'a) -> Self {
        self.column(head, Kind::Split, move |row| {
            let split = split(row);
            Cell { text: split.letters(width), tone: Tone::Plain, split: Some(split) }
        })
    }

    /// Only the columns with these heads.
    pub fn only(mut self, heads: &[&str]) -> Self {
        self.all.retain(|(column, _)| heads.contains(&column.head.as_str()));
        self
    }

    /// The rank of the last column.
    pub fn rank(mut self, rank: u8) -> Self {
        if let Some((column, _)) = self.all.last_mut() {
            column.rank = rank;
        }
        self
    }

    /// The table of these rows without empty columns; `None` without rows.
    pub fn table(self, caption: impl Into<String>, rows: impl IntoIterator<Item = R>) -> Option<Table> {
        let rows: Vec<Vec<Cell>> =
            rows.into_iter().map(|row| self.all.iter().map(|(_, cell)| cell(&row)).collect()).collect();
        let is_empty = |text: &str| text.is_empty() || text == UNKNOWN;
        let keep: Vec<bool> =
            (0..self.all.len()).map(|index| index == 0 || rows.iter().any(|row| !is_empty(&row[index].text))).collect();
        let kept = |index: &usize| keep[*index];
        let columns = self.all.into_iter().enumerate().filter(|(index, _)| kept(index));
        Some(Table {
            caption: caption.into(),
            columns: columns.map(|(_, (column, _))| column).collect(),
            rows: rows
                .into_iter()
                .map(|row| row.into_iter().enumerate().filter(|(index, _)| kept(index)).map(|(_, cell)| cell).collect())
                .collect(),
            needs_all: false,
            rows_brief: 0,
        })
        .filter(|table: &Table| !table.rows.is_empty())
    }
}

/// The columns that tables of series share.
impl<'a> Columns<'a, &'a Series> {
    /// What was measured.
    pub fn subject(self, head: &str) -> Self {
        self.words(head, |series| series.subject.as_str())
    }

    /// What the program requested.
    pub fn requested(self) -> Self {
        self.figure("requested", |series| series.requested_ns).rank(1)
    }

    /// A percentile, where at least ten values lie beyond it.
    pub fn percentile(self, head: &str, share: f64) -> Self {
        self.figure(head, move |series| Some(value(series.unit, series.distribution.safe_quantile(share)?)))
    }

    /// The smallest value and the median.
    pub fn min_and_median(self) -> Self {
        self.figure("min", |series| Some(value(series.unit, series.distribution.min()?)))
            .rank(3)
            .figure("p50", |series| median_of(series))
    }

    /// The largest value.
    pub fn max(self) -> Self {
        self.figure("max", |series| Some(value(series.unit, series.distribution.max()?)))
    }

    /// The four heads of every table of values, and how many values there are.
    pub fn values(self) -> Self {
        self.min_and_median().percentile("p99", 0.99).rank(2).max().count()
    }

    /// How many values there are.
    pub fn count(self) -> Self {
        self.figure("count", |series| series.counts.recorded).rank(4)
    }
}

/// A part of the report: what belongs to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Unique in a report; a word in lower case.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// The experiments it shows.
    pub experiments: Vec<ExperimentId>,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Sentences beneath them.
    pub notes: Vec<String>,
    /// Whether the sentences suffice on a narrow page, so that only the browser shows the tables.
    pub notes_suffice: bool,
    /// Whether a terminal, too, shows the captions of its tables, because there are several.
    pub is_captioned: bool,
    /// The meaning of the letters in its bars, for a terminal; a browser has colours.
    pub legend: Option<String>,
}

impl Section {
    /// An empty section.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Section {
        Section { id: id.into(), title: title.into(), ..Section::default() }
    }

    /// With these tables.
    pub fn tables(mut self, tables: impl IntoIterator<Item = Table>) -> Section {
        self.tables.extend(tables);
        self
    }

    /// The ids of its experiments.
    pub fn ids(&self) -> String {
        self.experiments.iter().map(ExperimentId::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Adds the meaning of `~`, and of the letters of bars, if a cell has them.
    pub fn explain_marks(&mut self) {
        let bars =
            || self.tables.iter().flat_map(|table| table.rows.iter().flatten()).filter(|cell| cell.split.is_some());
        let parts = Part::ALL.iter().copied().filter(|part| bars().any(|bar| bar.text.contains(letter(*part))));
        let meanings: Vec<String> =
            parts.map(|part| format!("{} {} ({})", letter(part), part.name(), part.about())).collect();
        if !meanings.is_empty() {
            self.legend = Some(format!("In the bars: {}.", meanings.join(", ")));
        }
        let mut cells = self.tables.iter().flat_map(|table| table.rows.iter().flatten());
        if cells.any(|cell| cell.text.starts_with('~')) {
            self.notes.push(FEW_VALUES.to_owned());
        }
    }

    /// Adds sentences: one, an optional one, or several.
    pub fn notes(mut self, notes: impl IntoIterator<Item = String>) -> Section {
        self.notes.extend(notes);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_without_a_value_are_left_out_with_their_cells() {
        let columns = Columns::new()
            .words("name", |row: &(&'static str, u64)| row.0)
            .figure("p99", |_| None::<Nanos>)
            .rank(1)
            .figure("count", |row| row.1);
        let table = columns.table("t", [("a", 1_000), ("b", 2)]).expect("rows");
        assert_eq!(table.columns.iter().map(|column| column.head.as_str()).collect::<Vec<_>>(), ["name", "count"]);
        let texts: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(texts, [["a", "1,000"], ["b", "2"]]);
        assert_eq!(Columns::<u64>::new().figure("count", |count| *count).table("t", []), None);
    }
}
