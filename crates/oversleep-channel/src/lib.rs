//! A channel whose receiver waits until an exact deadline.
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oversleep::{Clock, Condvar, Instant};

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError};

/// A channel from any number of senders to one receiver, without a limit. It has the standard library's errors.
///
/// ```
/// use oversleep::Instant;
/// use oversleep_channel::{RecvTimeoutError, channel};
/// use std::time::Duration;
///
/// let (sender, receiver) = channel();
/// sender.send("hello").unwrap();
/// let deadline = Instant::now() + Duration::from_millis(1);
/// assert_eq!(receiver.recv_deadline(deadline), Ok("hello"));
/// assert_eq!(receiver.recv_deadline(deadline), Err(RecvTimeoutError::Timeout));
/// assert!(Instant::now() >= deadline);
/// ```
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Mutex::new(Queue { items: VecDeque::new(), senders: 1, has_receiver: true });
    let shared = Arc::new(Shared { queue, changed: Condvar::new() });
    (Sender { shared: shared.clone() }, Receiver { shared })
}

#[derive(Debug)]
struct Shared<T> {
    queue: Mutex<Queue<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct Queue<T> {
    items: VecDeque<T>,
    senders: usize,
    has_receiver: bool,
}

impl<T> Shared<T> {
    /// No code panics while it holds the lock, so the data behind a poisoned lock is intact.
    fn queue(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sending half of a [`channel`].
///
/// ```
/// let (sender, receiver) = oversleep_channel::channel();
/// std::thread::spawn(move || sender.send(1));
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
#[derive(Debug)]
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// Sends an item. Never waits for the receiver.
    ///
    /// # Errors
    ///
    /// There is no receiver any more; the error returns the item.
    ///
    /// ```
    /// let (sender, receiver) = oversleep_channel::channel();
    /// drop(receiver);
    /// assert_eq!(sender.send(1).unwrap_err().0, 1);
    /// ```
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        let mut queue = self.shared.queue();
        if !queue.has_receiver {
            return Err(SendError(item));
        }
        queue.items.push_back(item);
        drop(queue);
        self.shared.changed.notify_one();
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.queue().senders += 1;
        Self { shared: self.shared.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut queue = self.shared.queue();
        queue.senders -= 1;
        if queue.senders == 0 {
            drop(queue);
            self.shared.changed.notify_one();
        }
    }
}

/// The receiving half of a [`channel`].
///
/// ```
/// let (sender, receiver) = oversleep_channel::channel::<()>();
/// drop(sender);
/// assert!(receiver.recv().is_err());
/// ```
#[derive(Debug)]
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Receiver<T> {
    /// The next item; waits for one.
    ///
    /// # Errors
    ///
    /// The channel is empty, and there is no sender any more.
    ///
    /// ```
    /// let (sender, receiver) = oversleep_channel::channel();
    /// sender.send(5).unwrap();
    /// assert_eq!(receiver.recv(), Ok(5));
    /// ```
    pub fn recv(&self) -> Result<T, RecvError> {
        let mut queue = self.shared.queue();
        loop {
            match queue.take() {
                Err(TryRecvError::Empty) => {
                    let waited = self.shared.changed.wait(&self.shared.queue, queue);
                    queue = waited.unwrap_or_else(PoisonError::into_inner);
                }
                taken => return taken.map_err(|_| RecvError),
            }
        }
    }

    /// The next item if there is one.
    ///
    /// # Errors
    ///
    /// The channel is empty, with or without senders.
    ///
    /// ```
    /// use oversleep_channel::{TryRecvError, channel};
    ///
    /// let (_sender, receiver) = channel::<()>();
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// ```
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.shared.queue().take()
    }

    /// The next item; waits for one until `deadline`. Without one, it returns at the deadline: never before it, and as
    /// little later as a [`sleep`](oversleep::sleep()).
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] at the deadline, or [`RecvTimeoutError::Disconnected`] as soon as the channel is
    /// empty and there is no sender any more.
    ///
    /// ```
    /// use oversleep::Instant;
    /// use oversleep_channel::{RecvTimeoutError, channel};
    ///
    /// let (sender, receiver) = channel::<()>();
    /// assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvTimeoutError::Timeout));
    /// drop(sender);
    /// assert_eq!(receiver.recv_deadline(Instant::now()), Err(RecvTimeoutError::Disconnected));
    /// ```
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        let is_waiting = |queue: &mut Queue<T>| queue.items.is_empty() && queue.senders > 0;
        let shared = &*self.shared;
        let waited = shared.changed.wait_while_until(&shared.queue, shared.queue(), deadline, is_waiting);
        waited.unwrap_or_else(PoisonError::into_inner).take().map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// The next item; waits for one for `timeout` at most, like [`Receiver::recv_deadline`].
    ///
    /// # Errors
    ///
    /// Those of [`Receiver::recv_deadline`].
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (_sender, receiver) = oversleep_channel::channel::<()>();
    /// assert!(receiver.recv_timeout(Duration::from_micros(100)).is_err());
    /// ```
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_deadline(Clock::now_ordered().saturating_add(timeout))
    }
}

impl<T> Queue<T> {
    fn take(&mut self) -> Result<T, TryRecvError> {
        let none = if self.senders == 0 { TryRecvError::Disconnected } else { TryRecvError::Empty };
        self.items.pop_front().ok_or(none)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut queue = self.shared.queue();
        queue.has_receiver = false;
        let items = std::mem::take(&mut queue.items);
        // Dropping an item may run code that sends on this channel, so the lock must be released first.
        drop(queue);
        drop(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_arrives_in_the_order_of_its_sender() {
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            for from in 0..3 {
                let sender = sender.clone();
                scope.spawn(move || (0..500).for_each(|i| sender.send((from, i)).unwrap()));
            }
            drop(sender);
            let mut next = [0; 3];
            while let Ok((from, i)) = receiver.recv_deadline(Instant::from_nanos(u64::MAX)) {
                assert_eq!(next[from], i);
                next[from] += 1;
            }
            assert_eq!(next, [500; 3]);
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        });
    }

    #[test]
    fn an_item_that_holds_its_own_channel_is_dropped_with_the_receiver() {
        struct Item(#[allow(dead_code, reason = "only dropped")] Option<Sender<Item>>);
        let (sender, receiver) = channel();
        assert!(sender.send(Item(Some(sender.clone()))).is_ok());
        drop(receiver);
        assert!(sender.send(Item(None)).is_err());
        assert_eq!(sender.shared.queue().senders, 1);
    }
}
