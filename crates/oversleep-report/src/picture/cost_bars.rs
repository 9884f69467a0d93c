//! The cost of reading each clock, on a logarithmic axis. The fastest valid one stands out; those that are not
//! available are listed with the reason.

use super::axis;
use super::frame::{self, Frame, Names, Words};
use super::scale::Scale;
use super::svg::{Anchor, Canvas};
use super::text::{self, time_us};

const HEADING: &str = "Cost of reading the time";
const ROW: f64 = 24.0;
const BAR: f64 = 13.0;
/// The most lines of clocks that are not available for one reason.
const ABSENT_LINES_MAX: usize = 8;

/// A clock that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClockCost {
    /// Its name.
    pub label: String,
    /// Cost of one read, ns.
    pub cost_ns: f64,
    /// Why it is not valid for measuring elapsed time (`CPU time, not wall time`); `None` when it is.
    pub objection: Option<String>,
    /// A remark for a valid clock (`step 4 ms`); may be empty.
    pub remark: String,
}

/// A clock that is not available.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnavailableClock {
    /// Its name.
    pub label: String,
    /// Why not.
    pub reason: String,
}

/// Cost per read of many clocks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CostBars {
    /// The words around it.
    pub frame: Frame,
    /// The clocks, in any order.
    pub clocks: Vec<ClockCost>,
    /// Those that are not available here.
    pub unavailable: Vec<UnavailableClock>,
}

impl CostBars {
    /// The picture as a stand-alone SVG document, which may also be put into a page as it is.
    pub fn svg(&self) -> String {
        let mut clocks: Vec<&ClockCost> =
            self.clocks.iter().filter(|c| c.cost_ns.is_finite() && c.cost_ns > 0.0).collect();
        clocks.sort_by(|a, b| a.cost_ns.total_cmp(&b.cost_ns).then(a.label.cmp(&b.label)));
        if clocks.is_empty() {
            return frame::without_data(&self.frame, HEADING, "no clock was timed");
        }
        let fastest = clocks.iter().position(|c| c.objection.is_none());
        let widths = clocks.iter().map(|c| text::width_px(&c.label, 12.0)).chain([115.0]);
        let names = Names::new(&self.frame, widths, (14.0, 0.0, 300.0));
        let (left, right) = (names.left, self.frame.width() - self.frame.either(236.0, 80.0));
        let slowest = clocks[clocks.len() - 1].cost_ns;
        let x = Scale::log((clocks[0].cost_ns * 0.7).max(1e-3), slowest.max(1e-3), left, right);
        let absent = self.absent_lines();
        let row_height = ROW + names.above;
        let rows_height = row_height * clocks.len() as f64 + 22.0 + names.above;
        let list_height = if absent.is_empty() { 0.0 } else { 30.0 + 16.0 * absent.len() as f64 };
        let words = self.words(&clocks, fastest);
        frame::figure(&self.frame, &words, &[], rows_height + list_height, |c| {
            let hatch = frame::hatch(c, &self.frame.safe_id());
            axis::top(c, &x.decades(44.0, |ns| time_us(ns / 1e3)), 18.0 + names.above, rows_height);
            let margin = self.frame.margin();
            c.text((margin, 11.0), Anchor::Start, "soft t", "per read, log scale");
            for (i, clock) in clocks.iter().enumerate() {
                let y = 22.0 + names.above + row_height * i as f64;
                row(c, clock, fastest == Some(i), (&names, self.frame.width()), &x, y, &hatch);
            }
            c.line((axis::crisp(left), 18.0 + names.above), (axis::crisp(left), rows_height), "axis s");
            if !absent.is_empty() {
                c.text((margin, rows_height + 26.0), Anchor::Start, "ink t b", "Not available here");
                for (i, line) in absent.iter().enumerate() {
                    c.text((margin, rows_height + 42.0 + 16.0 * i as f64), Anchor::Start, "soft t", line);
                }
            }
        })
    }

    /// The clocks that are not available, by reason.
    fn absent_lines(&self) -> Vec<String> {
        let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
        for clock in &self.unavailable {
            match by_reason.iter_mut().find(|(reason, _)| *reason == clock.reason) {
                Some((_, labels)) => labels.push(&clock.label),
                None => by_reason.push((&clock.reason, vec![&clock.label])),
            }
        }
        let line = |(reason, labels): &(&str, Vec<&str>)| {
            let room = self.frame.width() - 2.0 * self.frame.margin();
            text::wrapped(&format!("{reason}: {}", labels.join(", ")), 11.0, room, ABSENT_LINES_MAX)
        };
        by_reason.iter().flat_map(line).collect()
    }

    fn words(&self, clocks: &[&ClockCost], fastest: Option<usize>) -> Words {
        let cost = |c: &ClockCost| time_us(c.cost_ns / 1e3);
        let slowest = clocks[clocks.len() - 1];
        let finding = match fastest {
            Some(i) => format!(
                "The fastest valid clock is {} at {} per read; the slowest of {} is {} at {}, {} times that.",
                clocks[i].label,
                cost(clocks[i]),
                clocks.len(),
                slowest.label,
                cost(slowest),
                text::significant(slowest.cost_ns / clocks[i].cost_ns)
            ),
            None => {
                format!("None of {} is valid for measuring elapsed time.", text::counted(clocks.len(), "clock"))
            }
        };
        let one = |c: &&ClockCost| {
            format!(
                "{} {}{}.",
                c.label,
                cost(c),
                c.objection.as_ref().map_or(String::new(), |o| format!(", not valid: {o}"))
            )
        };
        let mut detail = clocks.iter().map(one).collect::<Vec<_>>().join(" ");
        if !self.unavailable.is_empty() {
            detail.push_str(&format!(" Not available here: {}.", self.absent_lines().join("; ")));
        }
        Words { heading: HEADING, finding, detail, caveat: String::new() }
    }
}

fn row(
    c: &mut Canvas,
    clock: &ClockCost,
    fastest: bool,
    (names, width): (&Names, f64),
    x: &Scale,
    top: f64,
    hatch: &str,
) {
    let y = top + names.above;
    let left = x.px(x.low());
    let end = x.px(clock.cost_ns);
    let cost = time_us(clock.cost_ns / 1e3);
    let remark = clock.objection.as_deref().unwrap_or(&clock.remark);
    let verdict = match (&clock.objection, fastest) {
        (Some(objection), _) => format!("; not valid: {objection}"),
        (None, true) => "; the fastest valid clock".to_owned(),
        (None, false) => String::new(),
    };
    c.marks("row", &format!("{}: {cost} per read{verdict}", clock.label), |c| {
        let name = if fastest {
            "accent b"
        } else if clock.objection.is_some() {
            "soft"
        } else {
            "ink"
        };
        names.draw(c, top, y + 11.0, name, &clock.label);
        let (class, fill) = match (&clock.objection, fastest) {
            (Some(_), _) => ("mute f", Some(hatch)),
            (None, true) => ("accent f", None),
            (None, false) => ("calm f", None),
        };
        c.rounded((left, y), ((end - left).max(1.5), BAR), 2.0, class, fill);
        let value = if fastest { "accent b halo" } else { "ink halo" };
        c.text((end + 7.0, y + 11.0), Anchor::Start, value, &cost);
        let after = end + 7.0 + text::width_px(&cost, 12.5) + 5.0;
        let (class, words) = if fastest && clock.objection.is_none() {
            (
                "accent t halo",
                if remark.is_empty() { "fastest valid".to_owned() } else { format!("fastest valid; {remark}") },
            )
        } else {
            (if clock.objection.is_some() { "warn t halo" } else { "soft t halo" }, remark.to_owned())
        };
        if names.above > 0.0 {
            // There is no room behind the bar.
            let room = width - 24.0 - 1.1 * text::width_px(&clock.label, 12.0);
            c.text((width - 8.0, top + names.above - 5.0), Anchor::End, class, &text::parts_fitted(&words, 11.0, room));
        } else if !words.is_empty() {
            c.text((after, y + 11.0), Anchor::Start, class, &text::parts_fitted(&words, 11.0, width - 14.0 - after));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    fn clock(label: &str, cost_ns: f64, objection: Option<&str>) -> ClockCost {
        ClockCost { label: label.to_owned(), cost_ns, objection: objection.map(str::to_owned), remark: String::new() }
    }

    fn bars(clocks: Vec<ClockCost>) -> CostBars {
        let absent =
            |label: &str, reason: &str| UnavailableClock { label: label.to_owned(), reason: reason.to_owned() };
        let unavailable = vec![
            absent("CNTVCT_EL0", "aarch64 only"),
            absent("QPC", "Windows only"),
            absent("CNTPCT<&\">", "aarch64 only"),
        ];
        CostBars { frame: Frame::new("c"), clocks, unavailable }
    }

    #[test]
    fn the_fastest_valid_clock_is_not_the_fastest_clock() {
        let p = bars(vec![
            clock("syscall", 200.0, None),
            clock("coarse", 4.0, Some("step 4 ms")),
            clock("vdso", 20.0, None),
        ]);
        let svg = p.svg();
        well_formed(&svg);
        assert_eq!(svg, p.svg());
        assert!(svg.contains("The fastest valid clock is vdso at 20\u{a0}ns per read; the slowest of 3 is syscall at 200\u{a0}ns, 10 times that."));
        assert!(svg.contains("aarch64 only: CNTVCT_EL0, CNTPCT&lt;&amp;&quot;&gt;"));
    }

    #[test]
    fn none_valid_is_said() {
        assert!(bars(vec![clock("clock()", 200.0, Some("CPU time"))]).svg().contains("None of 1\u{a0}clock is valid"));
    }

    #[test]
    fn empty_and_extreme() {
        for clocks in [vec![], vec![clock("a", f64::NAN, None), clock("b", 0.0, None)]] {
            let svg = bars(clocks).svg();
            well_formed(&svg);
            assert!(svg.contains("Not enough data"));
        }
        well_formed(&bars(vec![clock("a", 1e-9, None), clock("b", 1e11, None)]).svg());
        let many = bars(
            (0..25)
                .map(|i| clock(&format!("a rather long name of a clock, number {i}"), 3.0 + f64::from(i * i), None))
                .collect(),
        )
        .svg();
        well_formed(&many);
    }
}
