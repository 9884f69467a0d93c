//! Pushes metrics from a thread of its own.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use oversleep_serve::push::Destination;
use oversleep_serve::routes::Source;

use super::source::{Samplers, VERSION};
use crate::message;

/// How long the end waits for the last push.
const LAST_PUSH: Duration = Duration::from_millis(50);

/// Pushes at each interval, and once more when it is dropped.
pub struct Pushing {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Pushing {
    /// Begins with a push after the first interval.
    ///
    /// # Errors
    /// No thread can start.
    pub fn start(to: Destination, source: Arc<Samplers>) -> io::Result<Pushing> {
        let (end, ended) = mpsc::channel();
        let thread = thread::Builder::new().name("push".to_owned()).spawn(move || {
            let mut failed = None;
            loop {
                let is_last = ended.recv_timeout(to.every) != Err(RecvTimeoutError::Timeout);
                let pushed = to.push(&source.families(), VERSION, source.times()).err();
                // What fails is said once, and again when it fails in another way.
                if pushed != failed {
                    match &pushed {
                        Some(why) => message::warning(&format!("can't push to {}: {why}; trying again", to.url)),
                        None => message::note(&format!("pushing to {} again", to.url)),
                    }
                }
                if is_last {
                    return;
                }
                failed = pushed;
            }
        })?;
        Ok(Pushing { end: Some(end), thread: Some(thread) })
    }
}

impl Drop for Pushing {
    fn drop(&mut self) {
        drop(self.end.take());
        let began = Instant::now();
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) && began.elapsed() < LAST_PUSH {
            thread::sleep(Duration::from_millis(1));
        }
    }
}
