//! A table of medians with a colour behind each: waits by request.

use super::frame::{self, Frame, Names, Words};
use super::svg::{Anchor, Canvas};
use super::text::{self, signed_us};
use super::{axis, stats, theme};

const HEADING: &str = "Median lateness by wait and request";
const ROW: f64 = 23.0;
/// The least width of a cell, for a figure such as `+15.6 ms`.
const CELL_MIN: f64 = 60.0;
/// Between a map and its continuation.
const GAP: f64 = 14.0;

/// What the cells of a heat map are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cells {
    /// Lateness in µs.
    #[default]
    Lateness,
    /// How many times as much as something else.
    Times,
}

impl Cells {
    fn text(self, value: f64) -> String {
        match self {
            Cells::Lateness => signed_us(value),
            Cells::Times => text::significant(value),
        }
    }
}

/// A name with a value for each column, or none if it is a heading.
pub type Row = (String, Vec<Option<f64>>);

/// The most room for names beside a map.
const NAMES_MAX: f64 = 340.0;

/// So many rows fill the screen of a phone.
const HEADS_EVERY: usize = 10;
/// A further line of heads, below a heading.
const HEADS: f64 = 16.0;

/// Headings with the rows below them.
#[derive(Default)]
struct Group<'a> {
    headings: Vec<&'a str>,
    rows: Vec<Alike<'a>>,
}

/// Waits whose cells read alike, and the values of the first.
struct Alike<'a> {
    names: Vec<&'a str>,
    read: Vec<Option<String>>,
    values: &'a [Option<f64>],
}

impl PartialEq for Alike<'_> {
    fn eq(&self, other: &Self) -> bool {
        (&self.names, &self.read) == (&other.names, &other.read)
    }
}

/// Median lateness of waits (rows) by request (columns).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatMap {
    /// The words around it.
    pub frame: Frame,
    /// The requests, as they are to be read: `1 ms`.
    pub columns: Vec<String>,
    /// Name of the wait, and its median lateness in µs per column, `None` if it wasn't measured. A name without any column
    /// is the heading of the rows below it.
    pub rows: Vec<Row>,
    /// The values of the lightest and the darkest colour, in µs, for several maps with common colours; else the map's own
    /// range.
    pub range: Option<(f64, f64)>,
    /// What the values are, if not lateness.
    pub cells: Cells,
}

impl HeatMap {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let cells = stats::sorted(&self.rows.iter().flat_map(|r| self.values(&r.1)).flatten().collect::<Vec<_>>());
        if cells.is_empty() {
            return frame::without_data(&self.frame, HEADING, "no value is known");
        }
        let positive: Vec<f64> = cells.iter().copied().filter(|v| *v > 0.0).collect();
        let own = (positive.first().copied().unwrap_or(1.0), positive.last().copied().unwrap_or(1.0));
        let (low, high) = self.range.unwrap_or(own);
        let rows = self.rows_of_form();
        let waits = rows.iter().filter(|row| !row.1.is_empty());
        let names = Names::new(&self.frame, waits.map(|row| text::width_px(&row.0, 12.0)), (14.0, 0.0, NAMES_MAX));
        let room = self.frame.width() - self.frame.margin() - names.left;
        // Where the columns don't fit side by side, the map goes on beneath itself.
        let across = ((room / CELL_MIN) as usize).clamp(1, self.columns.len());
        let maps = self.columns.len().div_ceil(across);
        let across = self.columns.len().div_ceil(maps);
        let cell = (room / across as f64).min(120.0);
        let row = ROW + names.above;
        // On a phone, names have lines of their own, and the first heads are off the screen by then.
        let far = if names.above > 0.0 { far_headings(&rows) } else { vec![false; rows.len()] };
        let top_of =
            |at: usize| 20.0 + row * at as f64 + HEADS * far[..at].iter().filter(|&&is_far| is_far).count() as f64;
        let height = top_of(rows.len());
        let words = self.words();
        frame::figure(&self.frame, &words, &[], (height + GAP) * maps as f64 - GAP, |c| {
            let heads = |c: &mut Canvas, map: usize, base: f64| {
                for (k, column) in self.columns.iter().skip(map * across).take(across).enumerate() {
                    let at = (names.left + cell * (k as f64 + 0.5), base);
                    axis::name(c, at, &text::fitted(column, 11.0, cell - 4.0));
                }
            };
            (0..maps).for_each(|map| heads(c, map, (height + GAP) * map as f64 + 11.0));
            let whole_names = whole_names(&rows);
            for (map, (i, (label, values))) in
                (0..maps).flat_map(|map| rows.iter().enumerate().map(move |row| (map, row)))
            {
                let top = (height + GAP) * map as f64 + top_of(i);
                if values.is_empty() {
                    let (margin, base) = (self.frame.margin(), top + names.above + 15.0);
                    // A phone has room for a second line above the heads of the columns.
                    let most = if names.above > 0.0 { 2 } else { 1 };
                    let lines = text::wrapped(label, 13.3, self.frame.width() - 2.0 * margin, most);
                    for (line, above) in lines.iter().rev().zip([0.0, 16.0]) {
                        c.text((margin, base - above), Anchor::Start, "ink b", line);
                    }
                    if far[i] {
                        heads(c, map, base + HEADS);
                    }
                    continue;
                }
                names.draw(c, top, top + 15.0, "ink", label);
                for (k, value) in self.values(values).enumerate().skip(map * across).take(across) {
                    let at = (names.left + cell * (k % across) as f64, top + names.above);
                    draw_cell(
                        c,
                        &format!("{}, {}", whole_names[i], self.columns[k]),
                        value.map(|value| self.cells.text(value)),
                        shade(value, low, high),
                        at,
                        cell,
                    );
                }
            }
        })
    }

    /// One value per column: short rows are filled with unknowns, and a value that isn't finite is unknown.
    fn values<'a>(&self, values: &'a [Option<f64>]) -> impl Iterator<Item = Option<f64>> + use<'a> {
        (0..self.columns.len()).map(|i| values.get(i).copied().flatten().filter(|v| v.is_finite()))
    }

    /// The rows. On a phone, and where there are headings, those below a heading that read alike are one, and so are
    /// headings with the same rows.
    fn rows_of_form(&self) -> Vec<Row> {
        let has_headings = self.rows.iter().any(|row| row.1.is_empty());
        if !self.frame.is_narrow() && !has_headings {
            return self.rows.clone();
        }
        let mut groups: Vec<Group> = Vec::new();
        for (label, values) in &self.rows {
            if values.is_empty() || groups.is_empty() {
                groups.push(Group::default());
            }
            let group = groups.len() - 1;
            match values.is_empty() {
                true => groups[group].headings.push(label),
                false => self.add(&mut groups[group].rows, label, values),
            }
        }
        let mut merged: Vec<Group> = Vec::new();
        for group in groups {
            match merged.iter_mut().find(|other| !group.headings.is_empty() && other.rows == group.rows) {
                Some(other) => other.headings.extend(group.headings),
                None => merged.push(group),
            }
        }
        let across = self.frame.width() - 2.0 * self.frame.margin();
        let room = if self.frame.is_narrow() { across } else { NAMES_MAX - 14.0 };
        let one = |names: &[&str], size, room| text::alike(names, size, room, 1).join(" ");
        let mut rows = Vec::new();
        for group in merged {
            if !group.headings.is_empty() {
                rows.push((one(&group.headings, 13.3, across), Vec::new()));
            }
            rows.extend(group.rows.into_iter().map(|row| (one(&row.names, 12.0, room), row.values.to_vec())));
        }
        rows
    }

    /// Adds a wait to the row that reads alike, or as a row of its own.
    fn add<'a>(&self, rows: &mut Vec<Alike<'a>>, name: &'a str, values: &'a [Option<f64>]) {
        let read: Vec<_> = self.values(values).map(|value| value.map(|value| self.cells.text(value))).collect();
        match rows.iter_mut().find(|row| row.read == read) {
            Some(row) => row.names.push(name),
            None => rows.push(Alike { names: vec![name], read, values }),
        }
    }

    fn words(&self) -> Words {
        let whole_names = whole_names(&self.rows);
        let named: Vec<(f64, String)> = whole_names
            .iter()
            .zip(&self.rows)
            .flat_map(|(label, (_, values))| {
                self.values(values)
                    .zip(&self.columns)
                    .filter_map(move |(v, column)| Some((v?, format!("{label}, {column}"))))
            })
            .collect();
        let least = named.iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let most = named.iter().max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let finding = match (least, most) {
            (Some(least), Some(most)) => {
                format!("From {} ({}) to {} ({}).", self.cells.text(least.0), least.1, self.cells.text(most.0), most.1)
            }
            _ => String::new(),
        };
        let detail =
            named.iter().map(|(v, name)| format!("{name}: {}.", self.cells.text(*v))).collect::<Vec<_>>().join(" ");
        Words { heading: HEADING, finding, detail, caveat: String::new() }
    }
}

/// Which rows are headings a screen below the heads before them.
fn far_headings(rows: &[Row]) -> Vec<bool> {
    let mut last = 0;
    let mut is_far = |(at, row): (usize, &Row)| {
        let is_far = row.1.is_empty() && at >= last + HEADS_EVERY;
        last = if is_far { at } else { last };
        is_far
    };
    rows.iter().enumerate().map(&mut is_far).collect()
}

/// The name of each row behind its heading.
fn whole_names(rows: &[Row]) -> Vec<String> {
    let mut heading = None;
    let mut name = |(label, values): &Row| {
        if values.is_empty() {
            heading = Some(label.clone());
        }
        heading.as_ref().map_or_else(|| label.clone(), |heading| format!("{heading}: {label}"))
    };
    rows.iter().map(&mut name).collect()
}

/// The step of the ramp, by ratio; early waits get the lightest.
fn shade(value: Option<f64>, low: f64, high: f64) -> Option<usize> {
    let steps = theme::RAMP.len() as f64;
    // Colours span at least one decade, so that noise between equal waits doesn't look like a finding.
    let span = (high / low).log10().max(1.0);
    value.map(|v| ((v.max(low) / low).log10() / span * steps).clamp(0.0, steps - 1.0) as usize)
}

fn draw_cell(c: &mut Canvas, name: &str, value: Option<String>, shade: Option<usize>, at: (f64, f64), width: f64) {
    let tip = format!("{name}: {}", value.as_deref().unwrap_or("not measured"));
    let label = value.unwrap_or_else(|| "–".to_owned());
    c.marks("", &tip, |c| {
        let fill = shade.map(|s| theme::RAMP[s]);
        c.rounded((at.0 + 1.0, at.1 + 1.0), (width - 2.0, ROW - 2.0), 3.0, "band f", fill);
        let class = match shade {
            Some(s) if s + 2 >= theme::RAMP.len() => "onshade t",
            Some(_) => "onfill t",
            None => "soft t",
        };
        let middle = (at.0 + width / 2.0, at.1 + 15.5);
        c.text(middle, Anchor::Middle, class, &text::fitted(&label, 11.0, width - 2.0));
    });
}

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    fn map(rows: Vec<(&str, Vec<Option<f64>>)>) -> HeatMap {
        let rows = rows.into_iter().map(|(l, v)| (l.to_owned(), v)).collect();
        HeatMap {
            frame: Frame::new("h"),
            columns: vec!["300 µs".to_owned(), "1 ms<&>".to_owned()],
            rows,
            ..HeatMap::default()
        }
    }

    #[test]
    fn ratios_have_no_unit() {
        let map = HeatMap { cells: Cells::Times, ..map(vec![("host-1", vec![Some(1.0), Some(32.8)])]) };
        let svg = map.svg();
        well_formed(&svg);
        assert!(svg.contains("From 1 (host-1, 300 µs) to 32.8 (host-1, 1 ms&lt;&amp;&gt;)"), "{svg}");
        assert!(svg.contains(">32.8<") && !svg.contains("+32.8"), "{svg}");
    }

    #[test]
    fn headings_have_no_cells_and_name_the_rows_below_them() {
        let svg = map(vec![
            ("java 17", vec![]),
            ("parkNanos", vec![Some(5.0), None]),
            ("go 1.23", vec![]),
            ("Sleep", vec![Some(9.0), None]),
        ])
        .svg();
        well_formed(&svg);
        assert!(svg.contains(">java 17<") && svg.contains("From +5\u{a0}µs (java 17: parkNanos, 300 µs)"), "{svg}");
        assert!(svg.contains("go 1.23: Sleep, 300 µs: +9\u{a0}µs") && !svg.contains("java 17, 300"), "{svg}");
    }

    #[test]
    fn rows_that_read_alike_are_one_on_a_phone() {
        let rows = ["sleep", "select", "poll"].map(|name| (name, vec![Some(15_600.0), Some(66.0)]));
        let all = map(rows.into_iter().chain([("timerfd", vec![Some(12.0), None])]).collect());
        let phone = HeatMap { frame: Frame { form: frame::Form::Narrow, ..Frame::new("h") }, ..all.clone() }.svg();
        well_formed(&phone);
        assert!(phone.contains(">sleep, select, poll<") && phone.matches("+15.6\u{a0}ms<").count() == 1, "{phone}");
        assert_eq!(all.svg().matches("+15.6\u{a0}ms</text>").count(), 3);
    }

    #[test]
    fn on_a_phone_the_requests_stand_again_above_rows_that_are_far_below_them() {
        let group = |at: u32| {
            let rows = (0..4).map(move |row| (format!("wait {row}"), vec![Some(f64::from(at * 10 + row)), None]));
            [(format!("runtime {at}"), vec![])].into_iter().chain(rows)
        };
        let frame = Frame { form: frame::Form::Narrow, ..Frame::new("h") };
        let long = HeatMap { frame, rows: (1..7).flat_map(group).collect(), ..map(vec![]) };
        well_formed(&long.svg());
        assert_eq!(long.svg().matches(">300 µs</text>").count(), 3, "at the top and above runtimes 3 and 5");
        let wide = HeatMap { frame: Frame::new("h"), ..long };
        assert_eq!(wide.svg().matches(">300 µs</text>").count(), 1);
    }

    #[test]
    fn below_headings_rows_that_read_alike_are_one_at_any_width_and_so_are_runtimes() {
        let java = |version| {
            let rows = ["sleep", "park"].map(|name| (name, vec![Some(15_600.0), Some(14_600.0)]));
            [(version, vec![])].into_iter().chain(rows).chain([("spin", vec![Some(1.0), None])])
        };
        let other = [("go", vec![]), ("spin", vec![Some(1.0), None])];
        let svg = map(java("java 21").chain(java("java 17")).chain(other).collect()).svg();
        well_formed(&svg);
        for words in [">java 21, java 17<", ">sleep, park<", ">go<"] {
            assert_eq!(svg.matches(words).count(), 1, "{words} {svg}");
        }
        assert_eq!(svg.matches(">+15.6\u{a0}ms</text>").count(), 1, "{svg}");
        assert!(svg.contains("java 17: park, 300 µs: +15.6\u{a0}ms"), "each in words: {svg}");
    }

    #[test]
    fn names_the_extremes() {
        let p = map(vec![("poll", vec![Some(700.0), Some(66.0)]), ("timerfd", vec![Some(12.0), None])]);
        let svg = p.svg();
        well_formed(&svg);
        assert_eq!(svg, p.svg());
        assert!(svg.contains("From +12\u{a0}µs (timerfd, 300 µs) to +700\u{a0}µs (poll, 300 µs)"));
        assert!(svg.contains("not measured"));
    }

    #[test]
    fn shades_go_by_ratio() {
        assert_eq!(shade(Some(1.0), 1.0, 1e7), Some(0));
        assert_eq!(shade(Some(1e7), 1.0, 1e7), Some(6));
        assert_eq!(shade(Some(-4.0), 1.0, 1e7), Some(0));
        assert_eq!(shade(Some(66.0), 65.0, 66.0), Some(0), "equal waits look equal");
        assert_eq!(shade(None, 1.0, 10.0), None);
    }

    #[test]
    fn empty_and_broken() {
        for rows in [vec![], vec![("a", vec![])], vec![("a", vec![Some(f64::NAN)])]] {
            let svg = map(rows).svg();
            well_formed(&svg);
            assert!(svg.contains("Not enough data"));
        }
        well_formed(&HeatMap::default().svg());
        well_formed(&map(vec![("a", vec![Some(1e-3), Some(1e8)]), ("early", vec![Some(-1.0), Some(0.0)])]).svg());
    }
}
