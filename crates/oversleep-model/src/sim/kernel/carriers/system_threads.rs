//! Carriers that are OS threads.

use std::any::Any;
use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::{Job, Stop};
use crate::sim::kernel::state::Slot;

/// Why it stopped, or the panic of its job.
type Report = Result<Stop, Box<dyn Any + Send>>;

thread_local! {
    /// The channels of the carrier that this thread is.
    static BATON: RefCell<Option<(Receiver<Slot>, Sender<Report>)>> = const { RefCell::new(None) };
}

/// Runs one job, which is suspended at each [`pass`].
pub(in crate::sim::kernel) struct Carrier {
    turn: Sender<Slot>,
    told: Receiver<Report>,
}

impl Carrier {
    /// A carrier whose job has not begun.
    ///
    /// # Errors
    /// The system's error if it refuses another thread.
    pub(in crate::sim::kernel) fn new(job: Job) -> io::Result<Carrier> {
        let (turn, turns) = channel();
        let (tell, told) = channel();
        std::thread::Builder::new().name("modelled".to_owned()).spawn(move || {
            // A thread whose carrier was dropped is never resumed.
            let Ok(me) = turns.recv() else { return };
            let end = tell.clone();
            BATON.set(Some((turns, tell)));
            let result = catch_unwind(AssertUnwindSafe(|| Stop::Ended(job(me))));
            let _ = end.send(result);
        })?;
        Ok(Carrier { turn, told })
    }

    /// Runs the job until it is suspended or ends. A panic of the job propagates.
    pub(in crate::sim::kernel) fn resume(&mut self, me: Slot) -> Stop {
        self.turn.send(me).expect("its job is not over");
        self.told.recv().expect("it tells why it stops").unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Suspends the calling carrier, which hands the baton on, and returns its slot when it gets the baton again.
pub(in crate::sim::kernel) fn pass(next: Slot) -> Slot {
    BATON.with_borrow(|baton| {
        let (turns, tell) = baton.as_ref().expect("only a carrier can be left");
        let _ = tell.send(Ok(Stop::Passed(next)));
        // A thread that is never resumed waits forever, with the data that it owns.
        turns.recv().unwrap_or_else(|_| {
            loop {
                std::thread::park();
            }
        })
    })
}

#[cfg(any(test, feature = "asyncify"))]
conformance!();
