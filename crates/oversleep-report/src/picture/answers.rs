//! The answers of several machines to one question: one row for each, with the distribution of its values on a common
//! axis.

use super::axis;
use super::frame::{self, Frame, Names, Words};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::text::{self, time_us};

const HEADING: &str = "What each machine gives";
const BARS: f64 = 40.0;
/// The height of a line of a row's remark, and the most lines.
const LINE: f64 = 14.0;
const LINES_MAX: usize = 12;
const COLUMNS: usize = 120;
/// If the axis would begin below this share of its end, it begins at zero.
const NEAR_ZERO: f64 = 0.3;

/// One machine's values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerRow {
    /// The machine.
    pub label: String,
    /// Values, µs, with how often each occurs. Without any, the machine gave no answer, and the remark says why.
    pub values_us: Vec<(f64, u64)>,
    /// Their median, µs.
    pub p50_us: f64,
    /// A remark on it; may be empty.
    pub remark: String,
}

/// One question to several machines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// The words around it.
    pub frame: Frame,
    /// The machines, in the order in which they were asked.
    pub rows: Vec<AnswerRow>,
}

impl Answers {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let values =
            || self.rows.iter().flat_map(|row| &row.values_us).map(|value| value.0).filter(|us| us.is_finite());
        let (Some(least), Some(most), true) =
            (values().reduce(f64::min), values().reduce(f64::max), self.rows.iter().any(AnswerRow::is_drawn))
        else {
            return frame::without_data(&self.frame, HEADING, "no machine gave a value");
        };
        let widths = self.rows.iter().map(|row| text::width_px(&row.label, 12.0));
        let names = Names::new(&self.frame, widths, (14.0, 0.0, 240.0));
        let (left, width) = (names.left, self.frame.width());
        let low = if least >= 0.0 && least < most * NEAR_ZERO { 0.0 } else { least };
        let x =
            Scale::linear(low, if most > low { most } else { low + 1.0 }, left, width - self.frame.either(90.0, 66.0));
        let rows: Vec<(&AnswerRow, Vec<String>)> = self
            .rows
            .iter()
            .map(|row| (row, text::wrapped(&row.remark, 11.0, width - left - self.frame.either(90.0, 8.0), LINES_MAX)))
            .collect();
        let height = rows.iter().map(|(row, lines)| names.above + row.height(lines.len())).sum::<f64>() + 26.0;
        let (unit, per_unit) = if most >= 1e6 {
            ("s", 1e6)
        } else if most >= 1e3 {
            ("ms", 1e3)
        } else if most >= 1.0 {
            ("µs", 1.0)
        } else {
            ("ns", 1e-3)
        };
        frame::figure(&self.frame, &self.words(), &[], height, |c| {
            axis::top(c, &x.ticks(per_unit, 70.0), 18.0, height);
            // Keeps clear of the first figure of the axis, which is centred on its tick.
            match self.frame.is_narrow() {
                true => c.text((width - 8.0, 11.0), Anchor::End, "soft t", unit),
                false => c.text((left - 28.0, 11.0), Anchor::End, "soft t", unit),
            }
            let mut y = 22.0;
            for (row, lines) in &rows {
                draw(c, row, lines, &names, &x, y);
                y += names.above + row.height(lines.len());
            }
        })
    }

    fn words(&self) -> Words {
        let rows: Vec<&AnswerRow> = self.rows.iter().filter(|row| row.is_drawn()).collect();
        let fastest = rows.iter().min_by(|a, b| a.p50_us.total_cmp(&b.p50_us));
        let slowest = rows.iter().max_by(|a, b| a.p50_us.total_cmp(&b.p50_us));
        let finding = match (fastest, slowest) {
            (Some(fastest), Some(slowest)) if rows.len() > 1 => format!(
                "The median is {} on {} and {} on {}.",
                time_us(fastest.p50_us),
                fastest.label,
                time_us(slowest.p50_us),
                slowest.label
            ),
            (Some(only), _) => format!("The median is {} on {}.", time_us(only.p50_us), only.label),
            _ => String::new(),
        };
        let one = |row: &AnswerRow| {
            if !row.is_drawn() {
                return format!("{}: {}.", row.label, row.remark);
            }
            let remark = if row.remark.is_empty() { String::new() } else { format!(", {}", row.remark) };
            format!("{}: median {}{remark}.", row.label, time_us(row.p50_us))
        };
        let detail = self.rows.iter().map(one).collect::<Vec<_>>().join(" ");
        Words { heading: HEADING, finding, detail, caveat: String::new() }
    }
}

impl AnswerRow {
    fn is_drawn(&self) -> bool {
        self.p50_us.is_finite() && self.values_us.iter().any(|(value, count)| value.is_finite() && *count > 0)
    }

    /// The height of the row with that many lines of its remark.
    fn height(&self, lines: usize) -> f64 {
        match self.is_drawn() {
            true => BARS + 10.0 + LINE * lines.max(2) as f64,
            false => 10.0 + LINE * lines.max(1) as f64,
        }
    }
}

/// The row from `y` down.
fn draw(c: &mut Canvas, row: &AnswerRow, lines: &[String], names: &Names, x: &Scale, top: f64) {
    let (left, right, y) = (x.px(x.low()), x.px(x.high()), top + names.above);
    let remark = |c: &mut Canvas, y: f64| {
        for (i, line) in lines.iter().enumerate() {
            c.text((left, y + LINE * i as f64), Anchor::Start, "soft t halo", line);
        }
    };
    if !row.is_drawn() {
        c.marks("row", &format!("{}: no answer", row.label), |c| {
            names.draw(c, top, y + 16.0, "ink", &row.label);
            remark(c, y + 16.0);
        });
        return;
    }
    let mut counts = [0_u64; COLUMNS];
    for (value, count) in row.values_us.iter().filter(|(value, _)| value.is_finite()) {
        let share = (x.px(*value) - left) / (right - left);
        let column = (share * COLUMNS as f64) as usize;
        counts[column.min(COLUMNS - 1)] = counts[column.min(COLUMNS - 1)].saturating_add(*count);
    }
    let highest = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let width = (right - left) / COLUMNS as f64;
    let said = format!("{}: median {}", row.label, time_us(row.p50_us));
    c.marks("row", &said, |c| {
        names.draw(c, top, y + BARS - 4.0, "ink", &row.label);
        for (column, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // Rare values stay visible.
            let height = (count as f64 / highest * BARS).max(1.5);
            c.rounded(
                (left + width * column as f64, y + BARS - height),
                (width.max(1.5), height),
                0.0,
                "accent f",
                None,
            );
        }
        c.line((left, axis::crisp(y + BARS)), (right, axis::crisp(y + BARS)), "axis s");
        let at = x.px(row.p50_us);
        c.line((axis::crisp(at), y + BARS), (axis::crisp(at), y + BARS + 5.0), "ink s");
        c.text((right + 8.0, y + BARS - 4.0), Anchor::Start, "ink b", &time_us(row.p50_us));
        remark(c, y + BARS + 16.0);
    });
}

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    fn row(label: &str, values_us: &[(f64, u64)], p50_us: f64) -> AnswerRow {
        AnswerRow {
            label: label.to_owned(),
            values_us: values_us.to_vec(),
            p50_us,
            remark: "a <tick> & more".to_owned(),
        }
    }

    #[test]
    fn the_extremes_are_named_and_everything_is_escaped() {
        let rows = vec![
            row("linux<&\">", &[(1_060.0, 900), (1_200.0, 1)], 1_060.0),
            row("windows", &[(15_625.0, 10)], 15_625.0),
        ];
        let picture = Answers { frame: Frame::new("a"), rows };
        let svg = picture.svg();
        well_formed(&svg);
        assert_eq!(svg, picture.svg());
        assert!(svg.contains("on linux&lt;&amp;&quot;&gt; and"), "{svg}");
    }

    #[test]
    fn a_machine_without_an_answer_says_why_in_its_place_and_long_remarks_are_whole() {
        let long = "one sentence of many words ".repeat(20) + "and its end";
        let refused = AnswerRow {
            label: "windows".to_owned(),
            p50_us: f64::NAN,
            remark: "it has no such wait".to_owned(),
            ..AnswerRow::default()
        };
        let rows = vec![refused, AnswerRow { remark: long, ..row("linux", &[(1_060.0, 9)], 1_060.0) }];
        let svg = Answers { frame: Frame::new("a"), rows }.svg();
        well_formed(&svg);
        assert!(svg.contains("The median is 1.06\u{a0}ms on linux.") && svg.contains("windows: no answer"), "{svg}");
        assert_eq!(svg.matches("it has no such wait").count(), 2, "in its row and in words: {svg}");
        assert!(svg.contains("and its end</text>"), "{svg}");
    }

    #[test]
    fn empty_and_extreme() {
        for rows in [vec![], vec![row("a", &[], 1.0)], vec![row("a", &[(f64::NAN, 1)], f64::NAN)]] {
            let svg = Answers { frame: Frame::new("a"), rows }.svg();
            well_formed(&svg);
            assert!(svg.contains("Not enough data"));
        }
        for values in [&[(0.001, 1)][..], &[(1e8, 1), (-5.0, u64::MAX)], &[(7.0, 1); 3]] {
            well_formed(&Answers { frame: Frame::new("a"), rows: vec![row("a", values, values[0].0)] }.svg());
        }
    }
}
