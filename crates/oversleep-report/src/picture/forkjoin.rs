//! Fork-joins by how the main thread waits: every duration as measured by two clocks.
//!
//! A published "16 ms per fork-join" came from the clock and from the way of waiting, not from the join; the two rows
//! per style show which. Beneath, each run in the order taken, as the original charts have it.

use super::frame::{self, Frame, Key, Names, Words};
use super::order::{self, Panel};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::text::{self, Unit, time_us};
use super::{axis, stats};

const HEADING: &str = "Fork-join by how the main thread waits";
const LANE: f64 = 34.0;
const STYLE: f64 = 2.0 * LANE + 16.0;
/// Width of a bin, px.
const BAR: f64 = 4.0;
/// Up to this many bars have their shares beside them.
const LABELLED_MAX: usize = 6;

/// One way of waiting.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForkJoinStyle {
    /// Its name: `blocked`.
    pub label: String,
    /// Durations by the coarse clock, ms.
    pub coarse_ms: Vec<f64>,
    /// Durations by the precise clock, ms.
    pub precise_ms: Vec<f64>,
}

/// Fork-join durations by wait style.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForkJoin {
    /// The words around it.
    pub frame: Frame,
    /// Name of the coarse clock.
    pub coarse_label: String,
    /// Name of the precise clock.
    pub precise_label: String,
    /// The duration of the work alone, ms, where it is known.
    pub work_ms: Option<f64>,
    /// The styles, in the order they are shown.
    pub styles: Vec<ForkJoinStyle>,
}

impl ForkJoinStyle {
    fn panel(&self) -> Panel<'_> {
        Panel { label: &self.label, coarse_ms: &self.coarse_ms, precise_ms: &self.precise_ms }
    }
}

impl ForkJoin {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let styles: Vec<&ForkJoinStyle> =
            self.styles.iter().filter(|s| stats::sorted(&s.precise_ms).len() >= 2).collect();
        if styles.is_empty() {
            return frame::without_data(&self.frame, HEADING, "no way of waiting was timed twice");
        }
        let all = stats::sorted(
            &styles.iter().flat_map(|s| s.precise_ms.iter().chain(&s.coarse_ms).copied()).collect::<Vec<_>>(),
        );
        let work = self.work_ms.filter(|w| w.is_finite());
        let top = stats::robust_top(&all).unwrap_or(1.0).max(work.unwrap_or(0.0));
        let widths = styles.iter().map(|s| text::width_px(&s.label, 12.0));
        let names = Names::new(&self.frame, widths, (18.0, 0.0, 210.0));
        let (left, width) = (names.left, self.frame.width());
        let right = width - self.frame.either(92.0, 72.0);
        let style_height = STYLE + names.above;
        // Positions, not lengths: the axis need not start at zero, and the differences are what matters here.
        let margin = 0.06 * (top - all[0]).max(top.abs() * 0.05);
        let low = work.map_or(all[0], |w| w.min(all[0])) - margin;
        let x = Scale::linear(low, top + margin, left, right);
        let height = style_height * styles.len() as f64 + 20.0;
        let words = self.words(&styles, &x, all[all.len() - 1]);
        let panels: Vec<Panel> = styles.iter().map(|style| style.panel()).filter(Panel::is_drawn).collect();
        let legend = [
            Key::new("coarse", &format!("coarse clock: {}", self.coarse_label)),
            Key::new("precise", &format!("precise clock: {}", self.precise_label)),
        ];
        let in_order = order::height(panels.len());
        frame::figure(&self.frame, &words, &legend, height + 40.0 + in_order, |c| {
            let unit = Unit::for_us(top * 1e3);
            axis::bottom(c, &x.ticks(unit.us / 1e3, 50.0), height, 14.0);
            c.line((left, axis::crisp(height)), (right, axis::crisp(height)), "axis s");
            axis::name(c, ((left + right) / 2.0, height + 34.0), &format!("duration, {}", unit.symbol));
            if let Some(work) = work {
                let at = axis::crisp(x.px(work));
                c.line((at, 12.0), (at, height), "ink s dash");
                let label = format!("the work alone, {}", time_us(work * 1e3));
                let near_right = at + text::width_px(&label, 11.0) > width - 8.0;
                c.text((at, 7.0), if near_right { Anchor::End } else { Anchor::Start }, "ink t", &label);
            }
            for (i, style) in styles.iter().enumerate() {
                let top = 20.0 + style_height * i as f64;
                let y = top + names.above;
                names.draw(c, top, y + LANE + 4.0, "ink", &style.label);
                lane(c, &style.label, "coarse", &style.coarse_ms, &x, (y, right));
                lane(c, &style.label, "precise", &style.precise_ms, &x, (y + LANE, right));
                if i + 1 < styles.len() {
                    c.line(
                        (self.frame.margin(), axis::crisp(y + 2.0 * LANE + 8.0)),
                        (width - self.frame.margin(), axis::crisp(y + 2.0 * LANE + 8.0)),
                        "grid s",
                    );
                }
            }
            let unit = (unit.symbol, unit.us / 1e3);
            c.moved(0.0, height + 46.0, |c| {
                order::draw(c, &panels, top + margin, unit, width - self.frame.margin());
            });
        })
    }

    fn words(&self, styles: &[&ForkJoinStyle], x: &Scale, longest_ms: f64) -> Words {
        let median = |v: &[f64]| stats::median(v).map_or_else(|| "unknown".to_owned(), |m| time_us(m * 1e3));
        let each: Vec<String> = styles.iter().map(|s| format!("{} {}", s.label, median(&s.precise_ms))).collect();
        let mut finding = format!("Median by the precise clock: {}.", each.join(", "));
        let kinds = |v: &[f64]| {
            let mut sorted = stats::sorted(v);
            sorted.dedup();
            sorted.len()
        };
        let coarse: Vec<f64> = styles.iter().flat_map(|s| s.coarse_ms.iter().copied()).collect();
        let precise: usize = styles.iter().map(|s| stats::sorted(&s.precise_ms).len()).sum();
        if (1..=8).contains(&kinds(&coarse)) && precise > 16 {
            let mut values = stats::sorted(&coarse);
            values.dedup();
            let values: Vec<String> = values.iter().map(|v| time_us(v * 1e3)).collect();
            finding.push_str(&format!(" The coarse clock knows only {}.", values.join(", ")));
        }
        let detail = styles
            .iter()
            .map(|s| {
                format!(
                    "{}: median {} by the precise clock, {} by the coarse one.",
                    s.label,
                    median(&s.precise_ms),
                    median(&s.coarse_ms)
                )
            })
            .collect::<Vec<_>>()
            .join(" ");
        let mut caveat = "▲ median. In each row the tallest bar has the full height.".to_owned();
        let beyond =
            styles.iter().flat_map(|s| s.precise_ms.iter().chain(&s.coarse_ms)).filter(|v| **v > x.high()).count();
        if beyond > 0 {
            caveat.push_str(&format!(
                " {} lie beyond the axis (triangles), up to {}.",
                text::count(beyond),
                time_us(longest_ms * 1e3)
            ));
        }
        Words { heading: HEADING, finding, detail, caveat }
    }
}

/// One row: a fine histogram on its own base line, the median as a triangle beneath it and in figures at the right.
fn lane(c: &mut Canvas, style: &str, class: &str, values_ms: &[f64], x: &Scale, (y, right): (f64, f64)) {
    let sorted = stats::sorted(values_ms);
    let Some(median) = stats::quantile(&sorted, 0.5) else {
        c.text((x.px(x.low()) + 6.0, y + LANE - 8.0), Anchor::Start, "soft t", "not timed with this clock");
        return;
    };
    let base = y + LANE - 3.0;
    let mut bars: Vec<(i64, usize)> = Vec::new();
    for at in sorted.iter().filter(|v| **v <= x.high()).map(|v| (x.px(*v) / BAR).floor() as i64) {
        match bars.last_mut() {
            Some((place, held)) if *place == at => *held += 1,
            _ => bars.push((at, 1)),
        }
    }
    let tallest = bars.iter().map(|b| b.1).max().unwrap_or(1) as f64;
    let n = sorted.len();
    let tip = format!("{style}, {class} clock: median {}, {}", time_us(median * 1e3), text::counted(n, "duration"));
    c.marks(class, &tip, |c| {
        let mut labelled_to = f64::MIN;
        for (i, &(place, held)) in bars.iter().enumerate() {
            // One duration among thousands still shows.
            let height = (held as f64 / tallest * (LANE - 9.0)).max(2.0);
            let left = place as f64 * BAR;
            let share = text::share(held as f64 / n as f64);
            let bar_tip = format!("{style}, {class} clock: {} ({share})", text::counted(held, "duration"));
            c.marks("", &bar_tip, |c| c.rounded((left + 0.3, base - height), (BAR - 0.6, height), 1.0, "f", None));
            if bars.len() <= LABELLED_MAX {
                // To the right, or to the left if the next bar stands there; never over another label.
                let room = text::width_px(&share, 11.0) + 8.0;
                let next = bars.get(i + 1).map_or(right + 4.0, |&(place, _)| place as f64 * BAR);
                if left + BAR + room <= next {
                    c.text((left + BAR + 4.0, base - 2.0), Anchor::Start, "t halo", &share);
                    labelled_to = left + BAR + room;
                } else if left - room >= labelled_to.max(x.px(x.low())) {
                    c.text((left - 4.0, base - 2.0), Anchor::End, "t halo", &share);
                    labelled_to = left + BAR;
                }
            }
        }
        if sorted[n - 1] > x.high() {
            c.path(&format!("M{:.1} {:.1}v8l7 -4z", right - 2.0, base - 8.0), "f");
        }
        c.line((x.px(x.low()), axis::crisp(base)), (right, axis::crisp(base)), "s thin");
        let at = x.px(median);
        c.path(&format!("M{at:.1} {:.1}l4 6h-8z", base + 1.5), "f");
        c.text((right + 10.0, base - 4.0), Anchor::Start, "b", &time_us(median * 1e3));
    });
}

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    fn picture(styles: Vec<ForkJoinStyle>) -> ForkJoin {
        ForkJoin {
            frame: Frame::new("f"),
            coarse_label: "COARSE".to_owned(),
            precise_label: "PRECISE <&\">".to_owned(),
            work_ms: Some(15.0),
            styles,
        }
    }

    fn style(label: &str, coarse_ms: Vec<f64>, precise_ms: Vec<f64>) -> ForkJoinStyle {
        ForkJoinStyle { label: label.to_owned(), coarse_ms, precise_ms }
    }

    #[test]
    fn says_what_the_coarse_clock_can_say() {
        let precise = || (0..20).map(|i| 15.0 + f64::from(i) * 0.01).collect();
        let coarse = || (0..20).map(|i| if i % 3 == 0 { 12.0 } else { 16.0 }).collect();
        let p = picture(vec![style("blocked", coarse(), precise()), style("spinning", coarse(), precise())]);
        let svg = p.svg();
        well_formed(&svg);
        assert_eq!(svg, p.svg());
        assert!(
            svg.contains(
                "blocked 15.1\u{a0}ms, spinning 15.1\u{a0}ms. The coarse clock knows only 12\u{a0}ms, 16\u{a0}ms."
            ),
            "{svg}"
        );
    }

    /// 15 and 16 ms are neighbours: one label stands to the left of its bar, one to the right.
    #[test]
    fn what_a_clock_knows_is_said_of_eight_values_at_most_beside_more_than_sixteen() {
        let says = |coarse: u32, precise: u32| {
            let values = |count: u32| (0..count).map(f64::from).collect();
            picture(vec![style("blocked", values(coarse), values(precise))])
                .svg()
                .contains("The coarse clock knows only")
        };
        assert_eq!(
            [(8, 17), (9, 17), (8, 16), (0, 17)].map(|(coarse, precise)| says(coarse, precise)),
            [true, false, false, false]
        );
    }

    #[test]
    fn shares_of_neighbouring_bars_do_not_cover_one_another() {
        let coarse = (0..20).map(|i| if i % 4 == 0 { 15.0 } else { 16.0 }).collect();
        let svg = picture(vec![style("blocked", coarse, (0..20).map(|i| 10.0 + f64::from(i)).collect())]).svg();
        let share = |text: &str| svg.lines().flat_map(|line| line.split("<text ")).find(|part| part.contains(text));
        assert!(share(">25\u{a0}%<").is_some_and(|label| label.contains("end")), "{svg}");
        assert!(share(">75\u{a0}%<").is_some_and(|label| !label.contains("end")), "{svg}");
    }

    #[test]
    fn runs_stand_in_their_order_by_both_clocks() {
        let styles = |runs: u32| {
            let coarse = (0..runs).map(|run| f64::from(run % 2) * 16.0).collect();
            vec![style("blocked", coarse, (0..runs).map(|run| 10.0 + f64::from(run % 10)).collect())]
        };
        let svg = picture(styles(100)).svg();
        well_formed(&svg);
        assert!(svg.contains("each run in the order taken, ms") && svg.contains(">100<"), "{svg}");
        let points = |class: &str| {
            let line = svg.split("<path ").find(|path| path.starts_with(&format!("class=\"{class}\"")));
            line.map(|line| 1 + line.split("/>").next().unwrap_or_default().matches('L').count())
        };
        assert_eq!([points("coarse s"), points("precise s")], [Some(100), Some(100)], "{svg}");
        assert!(!picture(styles(9)).svg().contains("in the order taken"), "nine runs have none to see");
    }

    #[test]
    fn a_style_without_one_clock_says_so() {
        assert!(picture(vec![style("blocked", vec![], vec![1.0, 2.0])]).svg().contains("not timed with this clock"));
    }

    #[test]
    fn empty_extreme_and_many() {
        for styles in [vec![], vec![style("x", vec![1.0], vec![f64::NAN, 1.0])]] {
            let svg = picture(styles).svg();
            well_formed(&svg);
            assert!(svg.contains("Not enough data"));
        }
        well_formed(&picture(vec![style("x", vec![-1.0, 1e5], vec![1e-6, 1e5])]).svg());
        let many = picture(vec![style("x", vec![16.0; 50_000], (0..50_000).map(f64::from).collect())]).svg();
        well_formed(&many);
        assert!(many.len() < 60_000, "{} bytes", many.len());
    }
}
