//! Puts the points of a file in the order of time. Those of a CPU come in this order nearly always, so each has a queue, and
//! only the first one of each queue is compared.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::super::point::Point;

/// Points that wait for earlier ones of other CPUs. Of one time, the one that came first is first.
#[derive(Debug, Default)]
pub struct Waiting {
    /// By CPU: its points and their numbers.
    queues: Vec<VecDeque<(u64, Point)>>,
    /// The first point of each queue: its time, its number, its CPU.
    first: BinaryHeap<Reverse<(u64, u64, u16)>>,
    /// Those that came after a later one of their CPU.
    late: BinaryHeap<Reverse<Late>>,
    number: u64,
    count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Late(u64, u64, Point);

impl Ord for Late {
    fn cmp(&self, other: &Late) -> std::cmp::Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Late) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Waiting {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    pub fn push(&mut self, point: Point) {
        (self.number, self.count) = (self.number + 1, self.count + 1);
        let at = usize::from(point.cpu);
        if self.queues.len() <= at {
            self.queues.resize_with(at + 1, VecDeque::new);
        }
        let queue = &mut self.queues[at];
        match queue.back() {
            Some((_, last)) if last.t > point.t => self.late.push(Reverse(Late(point.t, self.number, point))),
            Some(_) => queue.push_back((self.number, point)),
            None => {
                queue.push_back((self.number, point));
                self.first.push(Reverse((point.t, self.number, point.cpu)));
            }
        }
    }

    /// The time and the number of the earliest one, and its CPU unless it was late.
    fn earliest(&self) -> Option<(u64, u64, Option<u16>)> {
        let late = self.late.peek().map(|Reverse(late)| (late.0, late.1, None));
        let first = self.first.peek().map(|&Reverse((t, number, cpu))| (t, number, Some(cpu)));
        match (late, first) {
            (Some(late), Some(first)) => Some(if (late.0, late.1) < (first.0, first.1) { late } else { first }),
            (late, first) => late.or(first),
        }
    }

    /// The time of the earliest one.
    pub fn earliest_t(&self) -> Option<u64> {
        self.earliest().map(|(t, ..)| t)
    }

    /// Takes the earliest one.
    pub fn pop(&mut self) -> Option<Point> {
        let (.., cpu) = self.earliest()?;
        self.count -= 1;
        let Some(cpu) = cpu else { return self.late.pop().map(|Reverse(late)| late.2) };
        let queue = &mut self.queues[usize::from(cpu)];
        let (_, point) = queue.pop_front()?;
        match queue.front() {
            Some((number, next)) => *self.first.peek_mut()? = Reverse((next.t, *number, cpu)),
            None => drop(self.first.pop()),
        }
        Some(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::point::What;

    #[test]
    fn points_come_in_the_order_of_time_and_then_as_they_came() {
        let (mut waiting, mut state) = (Waiting::default(), 7_u64);
        let mut all: Vec<(u64, u32)> = Vec::new();
        for n in 0..2_000_u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Of two CPUs one lags behind, and a few points are late.
            let cpu = (state >> 60 & 1) as u16;
            let t = 9 + u64::from(n / 3) + 40 * u64::from(cpu) - (state >> 50 & 15) / 15 * 9;
            all.push((t, n));
            waiting.push(Point { t, cpu, tid: n, tgid: None, what: What::Expired });
        }
        assert_eq!((waiting.count(), waiting.earliest_t()), (2_000, all.iter().map(|(t, _)| *t).min()));
        all.sort_unstable();
        let popped: Vec<(u64, u32)> = std::iter::from_fn(|| waiting.pop()).map(|point| (point.t, point.tid)).collect();
        assert!(popped == all && waiting.count() == 0);
    }
}
