//! The parts of a wait's lateness. They are differences of adjacent times on one clock, so they add up exactly.

pub use oversleep_record::part::{Part, Parts, Segment};

/// Splits a span of time at marks within it.
///
/// A mark outside of the rest is moved to the rest's edge, so only the first part can be negative. The time before a
/// mark that was seen, but after one that is missing, is `unattributed`.
#[derive(Clone, Debug)]
pub struct Splitter {
    at: i64,
    end: i64,
    is_certain: bool,
    parts: Parts,
    segments: Vec<Segment>,
}

impl Splitter {
    /// A splitter from `start` to `end`. An `end` before `start` is accepted: the first part is then negative.
    pub fn new(start: i64, end: i64) -> Splitter {
        Splitter {
            at: start,
            end,
            is_certain: true,
            parts: Parts::default(),
            segments: Vec::with_capacity(Part::ALL.len()),
        }
    }

    /// The first part, which may be negative: the timer's deadline may precede the program's.
    pub fn first(&mut self, part: Part, mark: Option<i64>) {
        match mark {
            Some(mark) => self.advance(part, mark.min(self.end)),
            None => self.is_certain = false,
        }
    }

    /// The part up to `mark`; `None` if the mark wasn't seen.
    pub fn until(&mut self, part: Part, mark: Option<i64>) {
        let Some(mark) = mark else {
            self.is_certain = false;
            return;
        };
        let mark = mark.clamp(self.at.min(self.end), self.end);
        self.advance(if self.is_certain { part } else { Part::Unattributed }, mark);
        self.is_certain = true;
    }

    fn advance(&mut self, part: Part, mark: i64) {
        self.add(part, mark.saturating_sub(self.at));
        if mark > self.at {
            self.segments.push(Segment { part, from_ns: self.at, to_ns: mark });
        }
        self.at = mark;
    }

    /// Reassigns the portion of one part between two times to another part.
    pub fn carve(&mut self, from: Part, to: Part, begin: i64, end: i64) {
        let mut cut = Vec::with_capacity(self.segments.len() + 2);
        for segment in std::mem::take(&mut self.segments) {
            let (first, last) = (segment.from_ns.max(begin), segment.to_ns.min(end));
            if segment.part != from || first >= last {
                cut.push(segment);
                continue;
            }
            self.add(from, first.saturating_sub(last));
            self.add(to, last.saturating_sub(first));
            let pieces = [(from, segment.from_ns, first), (to, first, last), (from, last, segment.to_ns)];
            let pieces = pieces.into_iter().filter(|(_, from_ns, to_ns)| from_ns < to_ns);
            cut.extend(pieces.map(|(part, from_ns, to_ns)| Segment { part, from_ns, to_ns }));
        }
        self.segments = cut;
    }

    /// Reassigns the end of a part to another one, up to the part's own length.
    pub fn shift(&mut self, from: Part, to: Part, span: i64) {
        let mut left = span;
        let last = |splitter: &Splitter| splitter.segments.iter().rev().find(|segment| segment.part == from).copied();
        while let Some(segment) = last(self).filter(|_| left > 0) {
            let begin = segment.to_ns.saturating_sub(left).max(segment.from_ns);
            left = left.saturating_sub(segment.to_ns.saturating_sub(begin));
            self.carve(from, to, begin, segment.to_ns);
        }
    }

    /// The parts and their positions. The rest belongs to `last`, or is unattributed if a mark before it is missing.
    pub fn finish(mut self, last: Part) -> (Parts, Vec<Segment>) {
        self.until(last, Some(self.end));
        (self.parts, self.segments)
    }

    fn add(&mut self, part: Part, span: i64) {
        let value = self.parts.get_mut(part);
        *value = value.saturating_add(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_lie_where_the_parts_were() {
        let mut split = Splitter::new(0, 100);
        split.first(Part::Api, Some(-5));
        split.until(Part::Slack, Some(40));
        split.until(Part::Runq, None);
        split.until(Part::Ret, Some(90));
        split.carve(Part::Slack, Part::Stop, 10, 20);
        split.shift(Part::Slack, Part::Quota, 25);
        let (parts, segments) = split.finish(Part::Quota);
        assert_eq!((parts.api, parts.slack, parts.stop, parts.quota, parts.unattributed), (-5, 10, 10, 35, 50));
        assert_eq!(parts.sum(), 100);
        let places: Vec<(Part, i64, i64)> = segments.iter().map(|s| (s.part, s.from_ns, s.to_ns)).collect();
        assert_eq!(
            places,
            [
                (Part::Slack, -5, 5),
                (Part::Quota, 5, 10),
                (Part::Stop, 10, 20),
                (Part::Quota, 20, 40),
                (Part::Unattributed, 40, 90),
                (Part::Quota, 90, 100),
            ]
        );
    }
}
