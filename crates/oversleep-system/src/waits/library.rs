//! Waits of libraries that exist on every system: oversleep's own, and the standard library's where nothing else is
//! known of the system. No model has them.

use crate::{SlackRule, Takes, WaitInfo};

/// oversleep's own sleep, which every real machine lists after the waits of its system.
pub const OVERSLEEP_SLEEP_UNTIL: WaitInfo = WaitInfo {
    name: "oversleep-sleep-until",
    call: "oversleep::Sleeper::sleep_until",
    doc: "The sleep of the oversleep library. It makes up to three waits of the system, each shorter and so more exact \
          than the one before, and stops early enough for the lateness it has learned on this machine; then it spins \
          briefly. It is never early. The first few waits of a thread are still learning.",
    takes: Takes::Deadline,
    since: "oversleep 0.1",
    page: "https://docs.rs/oversleep",
    is_modelled: false,
    ..WaitInfo::BLANK
};

/// The standard library's sleep on a system that has no catalogue of its own.
pub const THREAD_SLEEP: WaitInfo = WaitInfo {
    name: "thread-sleep",
    call: "std::thread::sleep",
    doc: "Rust's sleep.",
    slack: SlackRule::None,
    since: "Rust 1.4",
    page: "https://doc.rust-lang.org/std/thread/fn.sleep.html",
    is_modelled: false,
    ..WaitInfo::BLANK
};
