//! No report shows a figure that isn't in the file. The cells beneath `min`, `p50`, `p99` and the like are parsed from
//! the text and from the page, and compared with the payloads of the file as hdrhistogram reads them. The ordinary test
//! beside this file and the fuzz target of reports share it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use oversleep_record::ResultFile;
use oversleep_report::document::{HTML, Layout, bytes};
use oversleep_report::terminal::{self, Detail};
use serde_json::Value;

/// Heads of columns, and the share of values at or below the figure: none for the count, 0 and 1 for the extremes.
const HEADS: [(&str, f64); 8] = [
    ("min", 0.0),
    ("p50", 0.5),
    ("p90", 0.9),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
    ("max", 1.0),
    ("count", -1.0),
];
/// The largest count at which a rank is still exact as a share.
const COUNT_MAX: u64 = 1 << 40;

/// A distribution of the file, as another implementation reads it.
struct Held {
    unit: String,
    positive: Option<Histogram<u64>>,
    negative: Option<Histogram<u64>>,
    min: i64,
    max: i64,
}

/// The figures of the text and of the page are in the file. Returns how many were compared.
pub fn are_in_the_file(file: &ResultFile) -> usize {
    let document: Value = serde_json::from_slice(&file.write()).expect("plain data is written");
    let series: Vec<Vec<Held>> = document["series"].as_array().into_iter().flatten().map(distributions).collect();
    let in_page = of_page(&String::from_utf8_lossy(&bytes(file, &HTML, &Layout::default())), &series);
    in_page + of_text(&terminal::report(file, 160, Detail::Full), &series)
}

/// What a series holds: its values first, then those of the calls alone and the parts of its split.
fn distributions(series: &Value) -> Vec<Held> {
    let unit = series["unit"].as_str().unwrap_or_default();
    let parts = ["total", "timer", "run_queue", "wake_return", "awake_before"].map(|part| &series["split"][part]);
    let stated = [&series["distribution"], &series["calls_only"]].into_iter().chain(parts);
    stated.filter(|stated| stated.is_object()).map(|stated| Held::of(unit, stated)).collect()
}

impl Held {
    fn of(unit: &str, stated: &Value) -> Held {
        let read = |name: &str| {
            let bytes = STANDARD.decode(stated[name].as_str()?).expect("a payload");
            let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).expect("a payload");
            Some(histogram).filter(|histogram| !histogram.is_empty())
        };
        let end = |name: &str| stated[name].as_i64().unwrap_or(0);
        Held {
            unit: unit.to_owned(),
            positive: read("hdr_v2"),
            negative: read("negative_hdr_v2"),
            min: end("min"),
            max: end("max"),
        }
    }

    /// The figure beneath a head; `None` without values, or with too many to be exact.
    fn figure(&self, head: &str) -> Option<(i64, &str)> {
        let share = HEADS.iter().find(|(known, _)| *known == head)?.1;
        let len = |histogram: &Option<Histogram<u64>>| histogram.as_ref().map_or(0, Histogram::len);
        let (early, late) = (len(&self.negative), len(&self.positive));
        let count = early.checked_add(late).filter(|&count| count <= COUNT_MAX)?;
        if share < 0.0 {
            return Some((count as i64, "count"));
        }
        let at = |histogram: &Option<Histogram<u64>>, rank: u64| {
            let histogram = histogram.as_ref()?;
            Some(histogram.value_at_quantile((rank as f64 - 0.5) / histogram.len() as f64) as i64)
        };
        let rank = ((share * count as f64).ceil() as u64).clamp(1, count.max(1));
        let value = match share {
            0.0 if count > 0 => self.min,
            1.0 if count > 0 => self.max,
            _ if rank <= early => -at(&self.negative, early - rank + 1)?,
            _ => at(&self.positive, rank - early)?,
        };
        Some((value.clamp(self.min, self.max), &self.unit))
    }
}

/// Whether a cell shows that value, rounded as reports round.
fn shows(cell: &str, value: i64, unit: &str) -> bool {
    let cell = cell.trim_start_matches('~').replace(',', "").replace('−', "-");
    let Some((number, shown)) = cell.split_once(' ').or(cell.strip_suffix("/s").map(|number| (number, "/s"))) else {
        return unit == "count" && cell.parse() == Ok(value);
    };
    let Ok(read) = number.parse::<f64>() else { return false };
    let scale = match (unit, shown) {
        ("hz", "/s") | ("mw", "mW") | ("ns", "ns") => return number.parse() == Ok(value),
        ("ns" | "ps", "µs") => 1e3,
        ("ns" | "ps", "ms") => 1e6,
        ("ns" | "ps", "s") => 1e9,
        ("ns" | "ps", "d") => 86_400e9,
        ("ps", "ns") => 1.0,
        _ => return false,
    };
    let exact = if unit == "ps" { value as f64 / 1e3 } else { value as f64 };
    // The tolerance: three digits, one decimal for costs below 100 ns, and double rounding.
    let digit = match read.abs() {
        _ if shown == "ns" => 0.1,
        100.0.. => 1.0,
        10.0.. => 0.1,
        _ => 0.01,
    };
    (read * scale - exact).abs()
        <= digit * scale * 0.5 * 1.000_001 + if unit == "ps" { 0.5 } else { 1e-9 * exact.abs() }
}

/// The table of every series: a row for each, in their order.
fn of_page(page: &str, series: &[Vec<Held>]) -> usize {
    let Some(table) = page.split("id=\"section-every-series\"").nth(1) else { return 0 };
    let table = table.split("</table>").next().unwrap_or_default();
    let (head, body) = table.split_once("</thead>").expect("a table has heads");
    let cells = |row: &str| -> Vec<String> {
        let cells = row.split("<t").skip(1).filter(|cell| cell.starts_with(['h', 'd']) && !cell.starts_with("head"));
        cells.map(|cell| cell.split(['>', '<']).nth(1).unwrap_or_default().to_owned()).collect()
    };
    let heads = cells(head);
    let rows: Vec<&str> = body.split("</tr>").filter(|row| row.contains("<tr")).collect();
    assert_eq!(rows.len(), series.len(), "a row for each series");
    let mut compared = 0;
    for (row, held) in rows.iter().zip(series) {
        let cells = cells(row.split_once("<tr").expect("it has one").1);
        assert_eq!(cells.len(), heads.len(), "{row}");
        for (head, cell) in heads.iter().zip(&cells).filter(|(_, cell)| !cell.is_empty() && *cell != "–") {
            let Some((value, unit)) = held[0].figure(head) else { continue };
            assert!(shows(cell, value, unit), "the page shows {cell} as {head} of {value} {unit}: {row}");
            compared += 1;
        }
    }
    compared
}

/// The tables of the text: figures stand beneath the end of their heads. Each is the figure of some series.
fn of_text(styled: &str, series: &[Vec<Held>]) -> usize {
    let (mut heads, mut compared): (Vec<(&str, usize)>, usize) = (Vec::new(), 0);
    for line in styled.lines() {
        let line = plain(line);
        let found = heads_of(&line);
        if line.is_empty() || found.iter().any(|(head, _)| *head == "p50") {
            heads = found;
            continue;
        }
        // The width of other characters depends on the terminal.
        let is_plain = line.chars().all(|letter| letter.is_ascii() || "µ–~…".contains(letter));
        // The view corrected for omission is computed by the report, which says so.
        if !is_plain || line.starts_with("corrected") {
            continue;
        }
        let letters: Vec<char> = line.chars().collect();
        for &(head, end) in &heads {
            let Some(cell) = cell_ending_at(&letters, end).filter(|cell| cell != "–") else { continue };
            let figures = || series.iter().flatten().filter_map(|held| held.figure(head));
            let is_there = figures().any(|(value, unit)| shows(&cell, value, unit));
            let is_unsure = series.iter().flatten().any(|held| held.figure(head).is_none());
            assert!(is_there || is_unsure, "the text shows {cell} as {head}, which no series has: {line}");
            compared += 1;
        }
    }
    compared
}

/// A line without its styles.
fn plain(line: &str) -> String {
    let mut pieces = line.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('m').map_or("", |(_, rest)| rest))
}

/// The heads in a line, and the columns that they end before.
fn heads_of(line: &str) -> Vec<(&'static str, usize)> {
    let letters: Vec<char> = line.chars().collect();
    let ends =
        (1..=letters.len()).filter(|&end| letters[end - 1] != ' ' && letters.get(end).is_none_or(|next| *next == ' '));
    let words = ends.filter_map(|end| Some((cell_ending_at(&letters, end)?, end)));
    words.filter_map(|(word, end)| Some((HEADS.iter().find(|(head, _)| *head == word)?.0, end))).collect()
}

/// The cell whose last character is before that column. Two blanks precede it; prose has none.
fn cell_ending_at(letters: &[char], end: usize) -> Option<String> {
    let before = letters.get(..end).filter(|before| before.last() != Some(&' '))?;
    if letters.get(end).is_some_and(|next| *next != ' ') {
        return None;
    }
    let start = before.windows(2).rposition(|pair| pair == [' ', ' '])? + 2;
    Some(before[start..].iter().collect())
}
