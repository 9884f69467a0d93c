//! The gain of a remedy in its trial: median and p99 before and after, one pair of arrows per wait or remedy.

use super::axis;
use super::frame::{self, Frame, Key, Names, Words};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::text::{self, decimal, time_us};

const HEADING: &str = "Before and after";
const ROW: f64 = 21.0;
const GROUP: f64 = 2.0 * ROW + 14.0;
/// Where the two figures of a row begin, px behind the axis, and their room; wide and narrow.
const FIGURES: ((f64, f64, f64), (f64, f64, f64)) = ((14.0, 82.0, 156.0), (8.0, 60.0, 130.0));

/// One wait or remedy, measured before and after.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BeforeAfterRow {
    /// What was changed, or for which wait: `nanosleep`.
    pub label: String,
    /// Median lateness before, µs.
    pub before_p50_us: f64,
    /// 99th percentile before, µs; `None` with too few values for one.
    pub before_p99_us: Option<f64>,
    /// Median lateness after, µs.
    pub after_p50_us: f64,
    /// 99th percentile after, µs; `None` with too few values for one.
    pub after_p99_us: Option<f64>,
}

/// Lateness before and after a remedy.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BeforeAfter {
    /// The words around it.
    pub frame: Frame,
    /// The remedy: `timer slack 1 ns`.
    pub remedy: String,
    /// What it was tried on.
    pub rows: Vec<BeforeAfterRow>,
}

impl BeforeAfterRow {
    fn values(&self) -> impl Iterator<Item = f64> {
        let p99 = self.p99().map(|(before, after)| [before, after]);
        [self.before_p50_us, self.after_p50_us].into_iter().chain(p99.into_iter().flatten())
    }

    /// The 99th percentiles, if both are known: one alone can't be compared.
    fn p99(&self) -> Option<(f64, f64)> {
        self.before_p99_us.zip(self.after_p99_us)
    }
}

impl BeforeAfter {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let rows: Vec<&BeforeAfterRow> = self.rows.iter().filter(|r| r.values().all(f64::is_finite)).collect();
        if rows.is_empty() {
            return frame::without_data(&self.frame, HEADING, "the remedy was not measured both before and after");
        }
        // The labels are bold: a tenth wider.
        let widths = rows.iter().map(|r| text::width_px(&r.label, 12.0) * 1.12);
        let names = Names::new(&self.frame, widths, (14.0, 42.0, 280.0));
        let figures = if self.frame.is_narrow() { FIGURES.1 } else { FIGURES.0 };
        let (left, right) = (names.left, self.frame.width() - self.frame.margin() - figures.2);
        let group = GROUP + names.above;
        let height = group * rows.len() as f64 + 24.0 + names.above;
        let all: Vec<f64> = rows.iter().flat_map(|r| r.values()).collect();
        let (low, high) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
        // Ratios show a remedy's gain; early waits (below zero) have none and need a linear axis.
        let log = low > 0.0 && high > 20.0 * low;
        let x = if log {
            Scale::log(low * 0.8, high, left, right)
        } else {
            Scale::linear(low.min(0.0), high * 1.02, left, right)
        };
        let words = self.words(&rows);
        let legend = [Key::new("soft", "before"), Key::new("accent", "after")];
        frame::figure(&self.frame, &words, &legend, height, |c| {
            let unit = text::Unit::for_us(high.max(-low));
            let name = if log { "lateness, log scale".to_owned() } else { format!("lateness, {}", unit.symbol) };
            let ticks = if log { x.decades(44.0, time_us) } else { x.ticks(unit.us, 60.0) };
            axis::top(c, &ticks, 18.0 + names.above, height);
            c.text((self.frame.margin(), 11.0), Anchor::Start, "soft t", &name);
            for (i, row) in rows.iter().enumerate() {
                let top = 28.0 + names.above + group * i as f64;
                let y = top + names.above;
                names.draw(c, top, y + ROW, "ink b", &row.label);
                let at = (right + figures.0, right + figures.1);
                arrow(c, &row.label, "p50", (row.before_p50_us, row.after_p50_us), &x, (left, y), at);
                if let Some(p99) = row.p99() {
                    arrow(c, &row.label, "p99", p99, &x, (left, y + ROW), at);
                }
            }
        })
    }

    fn words(&self, rows: &[&BeforeAfterRow]) -> Words {
        let one = |r: &&BeforeAfterRow| {
            let p99 = r.p99().map(|(before, after)| format!(", p99 {} → {}", time_us(before), time_us(after)));
            format!(
                "{}: median {} → {}{}.",
                r.label,
                time_us(r.before_p50_us),
                time_us(r.after_p50_us),
                p99.unwrap_or_default()
            )
        };
        let detail = rows.iter().map(one).collect::<Vec<_>>().join(" ");
        let remedy = if self.remedy.is_empty() { String::new() } else { format!("{}. ", self.remedy) };
        let shown = rows.iter().take(2).map(one).collect::<Vec<_>>().join(" ");
        let better = rows.iter().filter(|r| r.after_p50_us.abs() < r.before_p50_us.abs()).count();
        let finding = if rows.len() <= 2 {
            format!("{remedy}{shown}")
        } else {
            format!(
                "{remedy}The median came closer to the deadline in {better} of {} cases. {}",
                rows.len(),
                one(&rows[0])
            )
        };
        Words { heading: HEADING, finding, detail, caveat: String::new() }
    }
}

fn arrow(
    c: &mut Canvas,
    label: &str,
    name: &str,
    (before, after): (f64, f64),
    x: &Scale,
    (left, y): (f64, f64),
    figures: (f64, f64),
) {
    let middle = y + ROW / 2.0;
    let (a, b) = (x.px(before), x.px(after));
    let gain = gain(before, after);
    let tip = format!("{label}, {name}: {} → {} ({gain})", time_us(before), time_us(after));
    c.marks("row", &tip, |c| {
        c.text((left - 10.0, middle + 4.0), Anchor::End, "soft t", name);
        let class = if after.abs() <= before.abs() { "accent" } else { "warn" };
        let toward = if b < a { 1.0 } else { -1.0 };
        // The head of the arrow needs room; closer pairs are two dots.
        if (a - b).abs() > 14.0 {
            c.line((a - toward * 4.5, middle), (b + toward * 9.0, middle), &format!("{class} s w2 thin"));
            c.path(&format!("M{:.1} {middle:.1}l{:.1} -4v8z", b + toward * 5.0, toward * 6.0), &format!("{class} f"));
        }
        c.circle((a, middle), 4.0, "soft s w2");
        c.circle((b, middle), 4.5, &format!("{class} f"));
        c.text((figures.0, middle + 4.0), Anchor::Start, "soft t", &time_us(before));
        c.text((figures.1, middle + 4.0), Anchor::Start, &format!("{class} b"), &format!("→ {}", time_us(after)));
    });
}

/// The change as a ratio where there is one.
fn gain(before: f64, after: f64) -> String {
    if before <= 0.0 || after <= 0.0 {
        let closer = before.abs() - after.abs();
        let word = if closer >= 0.0 { "closer to" } else { "further from" };
        return format!("{} {word} the deadline", time_us(closer.abs()));
    }
    if after <= before {
        format!("{}× lower", decimal(before / after, 1))
    } else {
        format!("{}× higher", decimal(after / before, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    fn row(label: &str, [before_p50_us, before_p99_us, after_p50_us, after_p99_us]: [f64; 4]) -> BeforeAfterRow {
        BeforeAfterRow {
            label: label.to_owned(),
            before_p50_us,
            before_p99_us: Some(before_p99_us),
            after_p50_us,
            after_p99_us: Some(after_p99_us),
        }
    }

    fn picture(rows: Vec<BeforeAfterRow>) -> BeforeAfter {
        BeforeAfter { frame: Frame::new("g"), remedy: "slack <1 ns>".to_owned(), rows }
    }

    #[test]
    fn says_what_was_gained() {
        let p = picture(vec![row("nanosleep", [66.0, 98.0, 14.0, 30.0])]);
        let svg = p.svg();
        well_formed(&svg);
        assert_eq!(svg, p.svg());
        assert!(
            svg.contains("slack &lt;1 ns&gt;. nanosleep: median 66\u{a0}µs → 14\u{a0}µs, p99 98\u{a0}µs → 30\u{a0}µs.")
        );
        assert!(svg.contains("(4.7× lower)"));
    }

    #[test]
    fn medians_alone_are_a_picture_too() {
        let svg = picture(vec![BeforeAfterRow { before_p99_us: None, ..row("poll", [66.0, 0.0, 14.0, 30.0]) }]).svg();
        well_formed(&svg);
        assert!(svg.contains("poll: median 66\u{a0}µs → 14\u{a0}µs.") && !svg.contains("p99"));
    }

    #[test]
    fn a_remedy_that_made_it_worse_is_shown_as_that() {
        let svg = picture(vec![row("a", [10.0, 20.0, 20.0, 20.0])]).svg();
        assert!(svg.contains("(2× higher)") && svg.contains("(1× lower)"));
    }

    #[test]
    fn empty_early_and_extreme() {
        for rows in [vec![], vec![row("a", [f64::NAN, 1.0, 1.0, 1.0])]] {
            let svg = picture(rows).svg();
            well_formed(&svg);
            assert!(svg.contains("Not enough data"));
        }
        well_formed(&picture(vec![row("early", [-5.0, 3.0, -1.0, 2.0]), row("zero", [0.0; 4])]).svg());
        well_formed(
            &picture(vec![row("wide", [0.001, 1e8, 1e8, 0.001]), row("b", [1.0; 4]), row("c", [2.0; 4])]).svg(),
        );
    }
}
