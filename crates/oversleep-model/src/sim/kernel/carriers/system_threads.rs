//! Carriers that are a thread of the system each.

use std::any::Any;
use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::{Job, Stop};
use crate::sim::kernel::state::Slot;

/// Why it stops, or what its job panicked with.
type Report = Result<Stop, Box<dyn Any + Send>>;

thread_local! {
    /// What the carrier that is this thread hears and tells.
    static BATON: RefCell<Option<(Receiver<Slot>, Sender<Report>)>> = const { RefCell::new(None) };
}

/// Runs one job, which stops at each [`pass`].
pub(in crate::sim::kernel) struct Carrier {
    turn: Sender<Slot>,
    told: Receiver<Report>,
}

impl Carrier {
    /// One that has not begun.
    ///
    /// # Errors
    /// The system's, where it refuses another thread.
    pub(in crate::sim::kernel) fn new(job: Job) -> io::Result<Carrier> {
        let (turn, turns) = channel();
        let (tell, told) = channel();
        std::thread::Builder::new().name("modelled".to_owned()).spawn(move || {
            // Nobody ever resumes one whose carrier is gone.
            let Ok(me) = turns.recv() else { return };
            let end = tell.clone();
            BATON.set(Some((turns, tell)));
            let result = catch_unwind(AssertUnwindSafe(|| Stop::Ended(job(me))));
            let _ = end.send(result);
        })?;
        Ok(Carrier { turn, told })
    }

    /// Runs the job until it stops. A panic of the job goes through.
    pub(in crate::sim::kernel) fn resume(&mut self, me: Slot) -> Stop {
        self.turn.send(me).expect("its job is not over");
        self.told.recv().expect("it tells why it stops").unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Stops the calling carrier, which hands the baton on, and returns its slot when it has it again.
pub(in crate::sim::kernel) fn pass(next: Slot) -> Slot {
    BATON.with_borrow(|baton| {
        let (turns, tell) = baton.as_ref().expect("only a carrier can be left");
        let _ = tell.send(Ok(Stop::Passed(next)));
        // One that is never resumed waits for ever, with what it owns.
        turns.recv().unwrap_or_else(|_| {
            loop {
                std::thread::park();
            }
        })
    })
}

#[cfg(any(test, feature = "asyncify"))]
conformance!();
