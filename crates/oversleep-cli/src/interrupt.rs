//! Ctrl-C, a terminal that hangs up, and a polite request to end: the first ends the run with what it has, the second
//! ends the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use oversleep_measure::StopFlag;
use oversleep_native::interruption;

use crate::exit::{Failure, INTERRUPTED};
use crate::message;
use crate::output::unfinished;

/// Signals are meant for the measurement as long as this lives.
pub struct Heeding {
    over: Arc<AtomicBool>,
}

impl Drop for Heeding {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Raises the flag on the first signal, and ends the waits in progress where that can be done. Where signals can't be
/// caught, they end the process as ever; what was ignored when this process began (`nohup`) stays ignored.
#[must_use]
pub fn raise_on_signal(stop: &StopFlag) -> Heeding {
    let stop = stop.clone();
    let heeding = Heeding { over: Arc::new(AtomicBool::new(false)) };
    let over = Arc::clone(&heeding.over);
    let asked_before = AtomicBool::new(false);
    let handler = move || {
        if asked_before.swap(true, Ordering::Relaxed) {
            // What was changed belongs to threads or open files of this process: the system takes it back with them.
            message::note(
                "quitting at once; nothing more of this run is kept, and the system takes back what it changed",
            );
            unfinished::remove_all();
            std::process::exit(i32::from(INTERRUPTED));
        }
        stop.raise();
        message::note("ending with what was measured; press again to quit at once");
        let over = Arc::clone(&over);
        thread::spawn(move || end_waits(&over));
    };
    if let Err(error) = interruption::leaving_ignored(|| ctrlc::set_handler(handler)) {
        message::warning(&format!("Ctrl-C will end this run without its results: {error}"));
    }
    heeding
}

/// Again and again until the measurement is over: a thread may have looked at the flag before it was raised and enter its
/// wait after that. What goes on for all that is said to do so, once.
fn end_waits(over: &AtomicBool) {
    const PAUSE: Duration = Duration::from_millis(20);
    const SAID_AFTER: Duration = Duration::from_secs(1);
    let began = Instant::now();
    let mut was_said = false;
    while !over.load(Ordering::Relaxed) {
        interruption::end_waits();
        thread::sleep(PAUSE);
        if !was_said && began.elapsed() >= SAID_AFTER && !over.load(Ordering::Relaxed) {
            was_said = true;
            message::note("what is in progress can't be cut short; it is finished first");
        }
    }
}

/// Waits until the first signal. `ready` is called once one would be heeded.
///
/// # Errors
/// Signals can't be caught: waiting would never end well.
pub fn wait_for_signal(ready: impl FnOnce()) -> Result<(), Failure> {
    let (to_here, from_handler) = mpsc::channel();
    let handler = move || {
        let _ = to_here.send(());
    };
    interruption::leaving_ignored(|| ctrlc::set_handler(handler))
        .map_err(|error| Failure::failed(format!("can't wait for Ctrl-C: {error}")))?;
    ready();
    // The handler, and with it the other end, lives as long as the process.
    let _ = from_handler.recv();
    Ok(())
}

/// Ctrl-C is for the program that is run; this process ends when that does.
pub fn leave_to_programs() {
    // Where signals can't be caught they end this process first: no reason not to run the program.
    let _ = ctrlc::set_handler(|| {});
}
