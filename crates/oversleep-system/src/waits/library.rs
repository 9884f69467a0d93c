//! Waits of libraries: oversleep's own, which every catalogue lists last, and the standard library's, the only one for
//! a system without a catalogue.

use crate::{SlackRule, Takes, WaitInfo};

/// oversleep's own sleep. No model has it.
pub(super) const SLEEP_UNTIL: WaitInfo = WaitInfo {
    name: "oversleep-sleep-until",
    call: "oversleep::Sleeper::sleep_until",
    doc: "The sleep of the oversleep library. It makes up to three waits of the system, each shorter and so more \
          accurate than the one before, and ends them early enough for the lateness it has learned on this machine; \
          then it spins briefly. It is never early. The first few waits of a thread are still learning.",
    takes: Takes::Deadline,
    slack: SlackRule::OfItsWaits,
    since: "oversleep 0.1",
    page: "https://docs.rs/oversleep",
    is_modelled: false,
    ..WaitInfo::BLANK
};

/// The waits of a system without a catalogue of its own.
pub const EVERYWHERE: &[WaitInfo] = &[WaitInfo {
    name: "thread-sleep",
    call: "std::thread::sleep",
    doc: "Rust's sleep.",
    since: "Rust 1.4",
    page: "https://doc.rust-lang.org/std/thread/fn.sleep.html",
    is_modelled: false,
    ..WaitInfo::BLANK
}];
