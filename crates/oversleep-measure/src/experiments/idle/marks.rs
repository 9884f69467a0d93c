//! The start and the end of the throughput measurement of a run.

use oversleep_record::Nanos;

/// Pairs of a time and a number of items: the first and the last that count. If a worker idles, throughput counts from
/// the end of one idle spell to the end of another, so that it includes whole spells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    turns: Option<[(Nanos, u64); 2]>,
    spells: Option<[(Nanos, u64); 2]>,
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

    /// Items per second.
    pub(super) fn rate(&self) -> Option<f64> {
        let span = |[(from, _), (to, _)]: [(Nanos, u64); 2]| to - from;
        let (turns, spells) = (self.turns?, self.spells);
        let marks = spells.filter(|&spells| span(spells) * 2 >= span(turns)).unwrap_or(turns);
        let items = marks[1].1 - marks[0].1;
        (span(marks) > Nanos::ZERO).then(|| items as f64 / span(marks).as_secs_f64())
    }
}
