//! The threads that sample.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use oversleep_lab::live::Live;
use oversleep_measure::StopFlag;
use oversleep_record::Unavailable;

use crate::exit::Failure;

/// What the name of each begins with.
pub const NAME: &str = "sampler";

/// The name of the thread that samples on that CPU.
pub fn name(cpu: Option<u32>) -> String {
    cpu.map_or_else(|| NAME.to_owned(), |cpu| format!("{NAME} {cpu}"))
}

/// One for each sampler. As soon as one is over, it unparks the thread that started it.
pub struct Threads(Vec<JoinHandle<Result<(), Unavailable>>>);

impl Threads {
    /// Starts to sample.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(lives: &[Arc<Live>]) -> Result<Threads, Failure> {
        let start = |live: &Arc<Live>| {
            let (live, starter) = (Arc::clone(live), thread::current());
            thread::Builder::new().name(name(live.cpu())).spawn(move || {
                let ended = live.run();
                starter.unpark();
                ended
            })
        };
        let threads = lives.iter().map(start).collect::<Result<_, _>>();
        threads.map(Threads).map_err(|error| Failure::failed(format!("can't start a thread: {error}")))
    }

    /// Whether one of them is over.
    pub fn is_any_over(&self) -> bool {
        self.0.iter().any(JoinHandle::is_finished)
    }

    /// Ends them, with the burst up to now.
    ///
    /// # Errors
    /// The wait can't be used here.
    pub fn end(self, stop: &StopFlag) -> Result<(), Failure> {
        stop.raise();
        while !self.0.iter().all(JoinHandle::is_finished) {
            oversleep_native::end_waits();
            thread::park_timeout(Duration::from_millis(5));
        }
        for thread in self.0 {
            let ended = thread.join().map_err(|_| Failure::failed("the sampler panicked"))?;
            ended.map_err(|reason| Failure::failed(format!("nothing could be measured: {reason}")))?;
        }
        Ok(())
    }
}
