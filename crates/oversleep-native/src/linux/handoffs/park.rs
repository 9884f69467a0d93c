//! Hand-offs to a thread by its handle.

use std::sync::Arc;

use super::Kind;
use crate::unix::handoffs::Park;
use oversleep_system::HandoffInfo;

pub(super) static THREAD_PARK: Kind = Kind {
    info: HandoffInfo {
        name: "thread-park",
        call: "Thread::unpark and std::thread::park",
        doc: "Rust's parking, like Java's LockSupport: wakes a thread by its handle. One futex per thread; channels and \
              executors build on it. A post holds a short lock to find the waiting thread.",
        since: "Linux 2.6",
        page: "https://doc.rust-lang.org/std/thread/fn.park.html",
    },
    open: || Ok(Arc::new(Park::default())),
};

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn thread_park_conforms() {
        check(&THREAD_PARK);
    }
}
