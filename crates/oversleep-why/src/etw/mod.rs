//! Waits of Windows programs, from the records of the kernel logger (ETW), as events of the same state machine.
//!
//! Written from Microsoft's documentation and tested with 20 real switches, with whole traces that have none, and with
//! made-up records. It has never run on Windows, nor read a whole real trace with switches.
//!
//! The records say when and why a thread left its CPU, when it was made ready, when it got a CPU, and how its call
//! ended. They don't say what time was requested. So the lateness of a wait begins at the interrupt that ended it,
//! unless the user states the intended time (`--want`); then the span from that time to the interrupt is due to the
//! tick and counts as slack. Interrupts and deferred procedure calls are recorded when they end, which may be after the
//! thread continued. So a wait is passed on only when its call ends.
//!
//! Recorders usually leave system calls out. A sleep then ends when its thread gets a CPU, and a wait for an object isn't
//! told at all: whether its timeout ended it is known from the call's result only. A switch names the thread that left;
//! if the CPU ran another one before, records are missing, and every wait in progress is given up.
//!
//! On Windows, a session of the kernel's logger (`oversleep-native/src/windows/kernel_trace.rs`) replaces the kernel
//! program, and `oversleep-why/src/etw/` turns its records into the same events. Files are read by
//! `oversleep-recordings/src/windows/`. [`Timeline`] is who requested which timer resolution when.

mod record;
mod timeline;
mod translator;

pub use record::{Class, Record, decode};
pub use timeline::{Period, Timeline};
pub use translator::Translator;

/// A record with the contents of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// When it was made, in ns.
    pub t: u64,
    /// The CPU.
    pub cpu: u16,
    /// The thread that ran there as the header says, −1 if it doesn't say.
    pub thread: u32,
    /// What was recorded, with times in ns.
    pub record: Record,
}

#[cfg(test)]
mod tests;
