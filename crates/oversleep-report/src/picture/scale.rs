//! Maps values to pixels, and finds round values for ticks: 1-2-5 steps on linear axes, decades on logarithmic ones.

use super::text;

/// A mapping of a range of values onto a range of pixels.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    from: f64,
    to: f64,
    start_px: f64,
    end_px: f64,
    log: bool,
}

/// A place on an axis. A minor tick has no label.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Position in px.
    pub at: f64,
    /// Its label; empty for a minor tick.
    pub label: String,
}

impl Scale {
    /// Equal steps for equal differences. An empty or broken range is widened, so every value has a place.
    pub fn linear(from: f64, to: f64, start_px: f64, end_px: f64) -> Self {
        let from = if from.is_finite() { from } else { 0.0 };
        let to = if to.is_finite() && to > from { to } else { from + from.abs().max(1.0) };
        Self { from, to, start_px, end_px, log: false }
    }

    /// Equal steps for equal ratios, over whole decades that cover the range; at least one decade.
    pub fn log(from: f64, to: f64, start_px: f64, end_px: f64) -> Self {
        let from = if from.is_finite() && from > 0.0 { from } else { 1.0 };
        let to = if to.is_finite() && to > from { to } else { from };
        let low = (from.log10() + 1e-9).floor();
        let high = (to.log10() - 1e-9).ceil().max(low + 1.0);
        Self { from: low, to: high, start_px, end_px, log: true }
    }

    /// The smallest value that has a place of its own.
    pub fn low(&self) -> f64 {
        if self.log { ten_to(self.from) } else { self.from }
    }

    /// The largest value that has a place of its own.
    pub fn high(&self) -> f64 {
        if self.log { ten_to(self.to) } else { self.to }
    }

    /// The pixel of a value; values outside the range are drawn at its nearer end.
    pub fn px(&self, value: f64) -> f64 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let part = ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        let part = if part.is_nan() { 0.0 } else { part };
        self.start_px + part * (self.end_px - self.start_px)
    }

    /// Ticks at round values, labelled in a unit (`per_unit` values make one of it), at least `gap_px` apart.
    pub fn ticks(&self, per_unit: f64, gap_px: f64) -> Vec<Tick> {
        let room = (self.end_px - self.start_px).abs();
        let step = nice_step((self.to - self.from) / per_unit * gap_px / room.max(1.0));
        let decimals = (-step.log10() + 1e-9).ceil().max(0.0) as usize;
        let first = (self.from / per_unit / step - 1e-9).ceil() as i64;
        let last = (self.to / per_unit / step + 1e-9).floor() as i64;
        (first..=last)
            .map(|i| {
                let value = i as f64 * step;
                Tick { at: self.px(value * per_unit), label: text::decimal(value, decimals) }
            })
            .collect()
    }

    /// Decade ticks with minor ticks at 2…9 between them. `label` writes their labels, which are left out if they would
    /// be closer than `gap_px`.
    pub fn decades(&self, gap_px: f64, label: impl Fn(f64) -> String) -> Vec<Tick> {
        let per_decade = (self.end_px - self.start_px).abs() / (self.to - self.from);
        let every = (gap_px / per_decade.max(1e-9)).ceil().max(1.0) as i32;
        let (low, high) = (self.from as i32, self.to as i32);
        let mut ticks = Vec::new();
        for exponent in low..=high {
            let value = 10f64.powi(exponent);
            let label = if (exponent - low) % every == 0 { label(value) } else { String::new() };
            ticks.push(Tick { at: self.px(value), label });
            if exponent < high && per_decade >= 30.0 {
                ticks.extend((2..10).map(|m| Tick { at: self.px(value * f64::from(m)), label: String::new() }));
            }
        }
        ticks
    }
}

/// The smallest of 1, 2, 5 × 10ⁿ that isn't below the given step.
fn nice_step(at_least: f64) -> f64 {
    if !(at_least.is_finite() && at_least > 0.0) {
        return 1.0;
    }
    let decade = ten_to(at_least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * decade)
        .find(|s| *s >= at_least * (1.0 - 1e-9))
        .unwrap_or(10.0 * decade)
}

/// A power of ten with a whole exponent, parsed from text: the `pow` of some C libraries is wrong in the last digit,
/// and a picture must be the same on every system.
fn ten_to(exponent: f64) -> f64 {
    format!("1e{}", exponent as i32).parse().unwrap_or(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|t| t.label.as_str()).filter(|l| !l.is_empty()).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        let s = Scale::linear(0.0, 15_000.0, 0.0, 300.0);
        assert_eq!(labels(&s.ticks(1e3, 60.0)), ["0", "5", "10", "15"]);
        let s = Scale::linear(-0.3, 0.31, 0.0, 300.0);
        assert_eq!(labels(&s.ticks(1.0, 90.0)), ["−0.2", "0", "0.2"]);
    }

    #[test]
    fn log_scales_cover_whole_decades() {
        let s = Scale::log(3.0, 1200.0, 0.0, 400.0);
        assert_eq!((s.low(), s.high()), (1.0, 10_000.0));
        assert_eq!(s.px(100.0), 200.0);
        let ticks = s.decades(20.0, |v| format!("{v}"));
        assert_eq!(labels(&ticks), ["1", "10", "100", "1000", "10000"]);
        assert_eq!(ticks.len(), 5 + 4 * 8);
        assert_eq!(labels(&s.decades(150.0, |v| format!("{v}"))), ["1", "100", "10000"]);
    }

    #[test]
    fn decades_do_not_grow_by_rounding() {
        let s = Scale::log(1e-3, 1e8, 0.0, 110.0);
        assert_eq!((s.low(), s.high()), (1e-3, 1e8));
        assert_eq!(Scale::log(10.0, 10.0, 0.0, 1.0).high(), 100.0);
    }

    #[test]
    fn values_without_a_place_go_to_an_end() {
        let s = Scale::log(1.0, 100.0, 0.0, 200.0);
        assert_eq!(s.px(-5.0), 0.0);
        assert_eq!(s.px(f64::INFINITY), 200.0);
        assert_eq!(s.px(f64::NAN), 0.0);
        let empty = Scale::linear(f64::NAN, f64::NAN, 0.0, 10.0);
        assert_eq!(empty.px(0.5), 5.0);
        assert_eq!(Scale::linear(3.0, 3.0, 0.0, 10.0).px(3.0), 0.0);
    }
}
