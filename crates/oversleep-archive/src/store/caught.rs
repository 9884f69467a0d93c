//! Calls of the library that may panic over a damaged file: the error that names the file is the only message.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

static QUIET: Once = Once::new();

/// What `read` returns; `None` if it panicked, about which nothing is written.
pub fn caught<T>(read: impl FnOnce() -> T) -> Option<T> {
    QUIET.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            if !IS_READING.get() {
                usual(about);
            }
        }));
    });
    let before = IS_READING.replace(true);
    let read = panic::catch_unwind(AssertUnwindSafe(read));
    IS_READING.set(before);
    read.ok()
}
