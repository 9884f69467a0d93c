//! Waits of libraries: oversleep's own, which every catalogue lists last, and the standard library's, the only one for
//! a system without a catalogue.

use crate::{SlackRule, Takes, WaitInfo};

/// oversleep's own sleep. A model has it by its name alone: it is made of the model's other waits.
pub const SLEEP_UNTIL: WaitInfo = WaitInfo {
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

/// oversleep's loop at a fixed rate, on a modelled machine.
pub const PACER: WaitInfo = WaitInfo {
    name: "oversleep-pacer",
    call: "oversleep::Pacer::wait",
    doc: "The loop of the oversleep library at a fixed rate. Its deadlines lie on a grid, so a call lasts from the end of \
          the one before to the next beat. It sleeps as the library's sleep does.",
    takes: Takes::Span,
    ..SLEEP_UNTIL
};

/// oversleep's wait for another thread, on a modelled machine, where nobody ends it.
pub const PARK_UNTIL: WaitInfo = WaitInfo {
    name: "oversleep-park-until",
    call: "oversleep::Parker::park_until",
    doc: "The wait of the oversleep library for another thread, until a deadline that no other thread comes before. It \
          makes up to two waits of the system, then it spins briefly. It is never early.",
    family: crate::Family::Lock,
    ..SLEEP_UNTIL
};

/// The sleep of a task of async code, on a modelled machine.
pub const ASYNC_SLEEP: WaitInfo = WaitInfo {
    name: "oversleep-async-sleep",
    call: "oversleep_async::sleep",
    doc: "The sleep of the oversleep-async crate, on any executor. One thread for the whole process waits for the earliest \
          deadline as the library's Parker does, then it wakes the executor's thread, which polls the task. It is never \
          early, and late by these wake-ups.",
    since: "oversleep-async 0.1",
    page: "https://docs.rs/oversleep-async",
    ..SLEEP_UNTIL
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
