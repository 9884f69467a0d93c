//! The threads of a measurement and their work, the same on every real machine.

use std::hint::black_box;
use std::panic::resume_unwind;
use std::thread::{Builder, JoinHandle};

use oversleep_record::Unavailable;

use oversleep_system::ThreadHandle;

struct Handle(JoinHandle<()>);

impl ThreadHandle for Handle {
    fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    fn join(self: Box<Self>) {
        if let Err(panic) = self.0.join() {
            resume_unwind(panic);
        }
    }
}

/// Starts a thread. Linux shows the first 15 bytes of its name.
pub fn spawn(name: &str, body: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>, Unavailable> {
    // The builder panics on a zero byte in a name.
    let builder = Builder::new().name(name.replace('\0', ""));
    match builder.spawn(body) {
        Ok(handle) => Ok(Box::new(Handle(handle))),
        Err(error) => Err(Unavailable::failed("starting a thread", error)),
    }
}

/// Mixes bits `units` times. Each step depends on the last, so neither the compiler nor the processor can shorten it.
pub fn work(units: u64) {
    let mut state = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..units {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_thread_runs_and_is_joined() {
        let ran = Arc::new(AtomicBool::new(false));
        let inside = Arc::clone(&ran);
        spawn("name\0with zero", Box::new(move || inside.store(true, Ordering::Relaxed))).expect("a thread").join();
        assert!(ran.load(Ordering::Relaxed));
    }

    #[test]
    fn a_panic_reaches_the_joining_thread() {
        let handle = spawn("panics", Box::new(|| resume_unwind(Box::new("passed on")))).expect("a thread");
        let panic = catch_unwind(AssertUnwindSafe(|| handle.join())).expect_err("panicked");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"passed on"));
    }
}
