//! Ctrl-C, a terminal that hangs up, and a polite request to end: the first ends the run with what it has, the second
//! ends the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use oversleep_lab::StopFlag;

use crate::exit::{Failure, INTERRUPTED};
use crate::message;

/// Raises the flag on the first signal. Where signals can't be caught, they end the process as ever.
pub fn raise_on_signal(stop: &StopFlag) {
    let stop = stop.clone();
    let asked_before = AtomicBool::new(false);
    let handler = move || {
        if asked_before.swap(true, Ordering::Relaxed) {
            // What was changed belongs to threads or open files of this process: the system takes it back with them.
            message::note("quitting at once; nothing of this run is kept, and the system takes back what it changed");
            std::process::exit(i32::from(INTERRUPTED));
        }
        stop.raise();
        message::note("finishing the wait in progress; press again to quit at once");
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        message::warning(&format!("Ctrl-C will end this run without its results: {error}"));
    }
}

/// Waits until the first signal.
///
/// # Errors
/// Signals can't be caught: waiting would never end well.
pub fn wait_for_signal() -> Result<(), Failure> {
    let (to_here, from_handler) = mpsc::channel();
    let handler = move || {
        let _ = to_here.send(());
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::failed(format!("can't wait for Ctrl-C: {error}")))?;
    // The handler, and with it the other end, lives as long as the process.
    let _ = from_handler.recv();
    Ok(())
}

/// Ctrl-C is for the program that is run; this process ends when that does.
pub fn leave_to_programs() {
    // Where signals can't be caught they end this process first: no reason not to run the program.
    let _ = ctrlc::set_handler(|| {});
}
