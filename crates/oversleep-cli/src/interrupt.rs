//! Ctrl-C, a terminal that hangs up, and a polite request to end: the first ends the run with what it has, the second
//! ends the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use oversleep_lab::{StopFlag, interruption};

use crate::exit::{Failure, INTERRUPTED};
use crate::message;
use crate::output::unfinished;

/// Raises the flag on the first signal, and ends the waits in progress where that can be done. Where signals can't be
/// caught, they end the process as ever; what was ignored when this process began (`nohup`) stays ignored.
pub fn raise_on_signal(stop: &StopFlag) {
    let stop = stop.clone();
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
        thread::spawn(end_waits);
    };
    if let Err(error) = interruption::leaving_ignored(|| ctrlc::set_handler(handler)) {
        message::warning(&format!("Ctrl-C will end this run without its results: {error}"));
    }
}

/// Again and again: a thread may have looked at the flag before it was raised and enter its wait after that.
fn end_waits() {
    const ATTEMPTS: u32 = 100;
    for _ in 0..ATTEMPTS {
        interruption::end_waits();
        thread::sleep(Duration::from_millis(20));
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
