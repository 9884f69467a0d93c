//! The throughput of a run, as its last worker sees it.

use oversleep_record::Nanos;

/// The rate between two marks must be that of the whole window within this factor. Bursts at equal distances, of which two
/// or more lie in the window, give at most 2.
const WINDOW_AGREES_WITHIN: f64 = 2.5;

/// Pairs of a time and a number of items: the first and the last that count. If a worker idles, throughput counts from
/// the end of one idle spell to the end of another, so that it includes whole spells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    turns: Option<[(Nanos, u64); 2]>,
    spells: Option<[(Nanos, u64); 2]>,
    /// Items of the turns that count.
    items: u64,
}

impl Marks {
    pub(super) fn note(&mut self, now: Nanos, items: u64, was_idle: bool) {
        let noted =
            |marks: Option<[(Nanos, u64); 2]>| Some([marks.map_or((now, items), |[first, _]| first), (now, items)]);
        self.turns = noted(self.turns);
        if was_idle {
            self.spells = noted(self.spells);
        }
    }

    /// Adds the items of a turn that was noted.
    pub(super) fn add(&mut self, items: u64) {
        self.items += items;
    }

    /// Whether any items were noted.
    pub(super) fn has_items(&self) -> bool {
        self.items > 0
    }

    /// Items per second in a window of that length; `None` if the items of the whole window show another rate, because
    /// they came in a single burst or in bursts of very different sizes.
    pub(super) fn rate(&self, window: Nanos) -> Option<f64> {
        let span = |[(from, _), (to, _)]: [(Nanos, u64); 2]| to - from;
        let (turns, spells) = (self.turns?, self.spells);
        let marks = spells.filter(|&spells| span(spells) * 2 >= span(turns)).unwrap_or(turns);
        let items = marks[1].1 - marks[0].1;
        let rate = (span(marks) > Nanos::ZERO).then(|| items as f64 / span(marks).as_secs_f64())?;
        let of_window = self.items as f64 / window.as_secs_f64();
        (rate.max(of_window) <= rate.min(of_window) * WINDOW_AGREES_WITHIN).then_some(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Nanos = Nanos::from_millis(60);

    /// Bursts of turns with 64 items each that follow at 16 µs: when each begins, in ms, and the number of its turns.
    fn rate(bursts: &[(i64, u64)]) -> Option<f64> {
        let (mut marks, mut items) = (Marks::default(), 0);
        for &(at, turns) in bursts {
            for turn in 0..turns {
                marks.note(Nanos::from_millis(at) + Nanos(16_000) * turn as i64, items, turn == 0);
                marks.add(64);
                items += 64;
            }
        }
        marks.rate(WINDOW)
    }

    #[test]
    fn a_rate_is_that_of_the_whole_window() {
        let rounded = |bursts| rate(bursts).map(f64::round);
        assert_eq!(rounded(&[(0, 3_750)]), Some(4e6), "it never idled");
        assert_eq!(rounded(&[(0, 16), (20, 16), (40, 16)]), Some(51_200.0));
        assert_eq!(rounded(&[(10, 16), (41, 16)]).map(|rate| rate as i64), Some(33_032));
        assert_eq!(rate(&[(30, 16)]), None, "one burst");
        assert_eq!(rate(&[(10, 1), (26, 16)]), None, "what precedes the burst is not its rate");
        assert_eq!(rate(&[]), None);
    }
}
