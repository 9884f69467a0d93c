//! Ctrl-C, a terminal that hangs up, SIGTERM: the first signal ends the run with what it has, the second ends the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use oversleep_measure::StopFlag;
use oversleep_native::interruption;

use crate::exit::{Failure, INTERRUPTED};
use crate::message;
use crate::output::unfinished;

/// Signals end the measurement, not the process, as long as this lives.
pub struct SignalGuard {
    over: Arc<AtomicBool>,
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Raises the flag on the first signal and ends the waits in progress where that is possible. Where signals can't be caught,
/// they end the process as usual; signals that were ignored when this process began (`nohup`) stay ignored.
#[must_use]
pub fn raise_on_signal(stop: &StopFlag) -> SignalGuard {
    let stop = stop.clone();
    let guard = SignalGuard { over: Arc::new(AtomicBool::new(false)) };
    let over = Arc::clone(&guard.over);
    let was_signalled = AtomicBool::new(false);
    let handler = move || {
        if was_signalled.swap(true, Ordering::Relaxed) {
            // Every change belongs to threads or open files of this process: the system restores it with their end.
            message::note("quitting at once: no result is written, and the system restores what the run changed");
            unfinished::remove_all();
            std::process::exit(i32::from(INTERRUPTED));
        }
        stop.raise();
        message::note("ending the run with what was measured; press Ctrl-C again to quit at once");
        let over = Arc::clone(&over);
        thread::spawn(move || end_waits(&over));
    };
    if let Err(error) = interruption::leaving_ignored(|| ctrlc::set_handler(handler)) {
        message::warning(&format!("Ctrl-C will end this run without a result: {error}"));
    }
    guard
}

/// Ends waits again and again until the measurement is over: a thread may check the flag just before it is raised, and enter
/// its wait after that. If one goes on all the same, that is reported once.
fn end_waits(over: &AtomicBool) {
    const PAUSE: Duration = Duration::from_millis(20);
    const REPORTED_AFTER: Duration = Duration::from_secs(1);
    let began = Instant::now();
    let mut is_reported = false;
    while !over.load(Ordering::Relaxed) {
        interruption::end_waits();
        thread::sleep(PAUSE);
        if !is_reported && began.elapsed() >= REPORTED_AFTER && !over.load(Ordering::Relaxed) {
            is_reported = true;
            message::note("the wait in progress can't be interrupted; the run ends after it");
        }
    }
}

/// Waits for the first signal. `ready` is called once signals are caught.
///
/// # Errors
/// Signals can't be caught, so the wait would never end well.
pub fn wait_for_signal(ready: impl FnOnce()) -> Result<(), Failure> {
    let (to_here, from_handler) = mpsc::channel();
    let handler = move || {
        let _ = to_here.send(());
    };
    interruption::leaving_ignored(|| ctrlc::set_handler(handler))
        .map_err(|error| Failure::failed(format!("can't wait for Ctrl-C: {error}")))?;
    ready();
    // The handler and its sender live as long as the process.
    let _ = from_handler.recv();
    Ok(())
}

/// Leaves Ctrl-C to the program that runs; this process ends when the program does.
pub fn leave_to_programs() {
    // If signals can't be caught, they end this process first. The program runs all the same.
    let _ = ctrlc::set_handler(|| {});
}
