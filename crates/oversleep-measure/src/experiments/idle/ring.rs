//! A bounded queue from one thread to another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering, fence};

use oversleep_system::Handoff;

/// A number in its own cache line, to avoid false sharing between the two sides.
#[repr(align(128))]
struct Alone(AtomicUsize);

/// A bounded queue with one producer and one consumer. An item is a time in ns.
pub(super) struct Ring {
    slots: Box<[AtomicI64]>,
    capacity: usize,
    /// Items taken so far; the consumer's.
    head: Alone,
    /// Items put in so far; the producer's.
    tail: Alone,
    /// Set when no more items will come.
    is_closed: AtomicBool,
    /// The bells of sides that block.
    bells: Option<[Bell; 2]>,
}

/// The means of waking a side that blocks.
struct Bell {
    handoff: Arc<dyn Handoff>,
    is_wanted: AtomicBool,
}

/// One side of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Producer,
    Consumer,
}

impl Ring {
    /// A ring for that many items; its sides can block if there are hand-offs for both.
    pub(super) fn new(capacity: usize, handoffs: Option<[Arc<dyn Handoff>; 2]>) -> Ring {
        let capacity = capacity.max(1);
        let bell = |handoff| Bell { handoff, is_wanted: AtomicBool::new(false) };
        Ring {
            slots: (0..capacity.next_power_of_two()).map(|_| AtomicI64::new(0)).collect(),
            capacity,
            head: Alone(AtomicUsize::new(0)),
            tail: Alone(AtomicUsize::new(0)),
            is_closed: AtomicBool::new(false),
            bells: handoffs.map(|both| both.map(bell)),
        }
    }

    fn slot(&self, at: usize) -> &AtomicI64 {
        &self.slots[at & (self.slots.len() - 1)]
    }

    /// Items in it.
    fn len(&self) -> usize {
        self.tail.0.load(Ordering::Acquire).wrapping_sub(self.head.0.load(Ordering::Acquire))
    }

    /// The number of further items for which there is room now.
    pub(super) fn room(&self) -> usize {
        self.capacity.saturating_sub(self.len())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an item; the producer has checked that there is room.
    pub(super) fn push(&self, item: i64) {
        let tail = self.tail.0.load(Ordering::Relaxed);
        self.slot(tail).store(item, Ordering::Relaxed);
        self.tail.0.store(tail.wrapping_add(1), Ordering::Release);
        self.ring(Side::Consumer);
    }

    /// Takes the oldest item.
    pub(super) fn pop(&self) -> Option<i64> {
        let head = self.head.0.load(Ordering::Relaxed);
        if self.tail.0.load(Ordering::Acquire) == head {
            return None;
        }
        let item = self.slot(head).load(Ordering::Relaxed);
        self.head.0.store(head.wrapping_add(1), Ordering::Release);
        self.ring(Side::Producer);
        Some(item)
    }

    /// Closes the ring: no more items will come.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.ring(Side::Consumer);
    }

    /// Whether the producer has closed it. It may still contain items.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    fn bell(&self, side: Side) -> Option<&Bell> {
        self.bells.as_ref().map(|bells| &bells[side as usize])
    }

    /// Wakes that side if it blocks.
    pub(super) fn ring(&self, side: Side) {
        let Some(bell) = self.bell(side) else { return };
        // Makes the change of the queue visible before the check whether the other side waits for it.
        fence(Ordering::SeqCst);
        if bell.is_wanted.load(Ordering::Relaxed) && bell.is_wanted.swap(false, Ordering::AcqRel) {
            bell.handoff.post();
        }
    }

    /// Blocks that side until the other one rings, unless `has_reason` returns true first.
    pub(super) fn block(&self, side: Side, has_reason: impl Fn() -> bool) {
        let Some(bell) = self.bell(side) else { return };
        bell.is_wanted.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        // Whoever clears the flag decides: if the other side has cleared it, this side must wait for its signal.
        if has_reason() && bell.is_wanted.swap(false, Ordering::AcqRel) {
            return;
        }
        bell.handoff.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_out_in_order_and_never_too_many_are_in_it() {
        for capacity in [1, 2, 3, 1_000, 1_024] {
            let ring = Ring::new(capacity, None);
            for round in 0..3 {
                let items: Vec<i64> = (0..capacity as i64).map(|item| item + round).collect();
                items.iter().for_each(|item| ring.push(*item));
                assert_eq!((ring.room(), ring.is_empty()), (0, false));
                assert_eq!(std::iter::from_fn(|| ring.pop()).collect::<Vec<_>>(), items);
                assert_eq!((ring.room(), ring.is_empty()), (capacity, true));
            }
        }
        assert_eq!(Ring::new(0, None).room(), 1, "a queue for nothing would never pass an item");
    }
}
