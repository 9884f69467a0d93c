//! What the code of modelled threads runs on. Only one of them runs at a time, so a carrier does no more than stop in the
//! middle of its job and go on later: a stack of its own is enough, and changing stacks costs a hundredth of what waking
//! a thread of the system does. Where stacks can't be changed, a carrier is a thread of the system after all.
//! WebAssembly has neither: a carrier runs on the stack of whoever resumes it, unless the module is rewritten so that
//! functions can stop and go on (feature `asyncify`).
//!
//! Whoever holds the baton resumes a carrier and has it back when that one's job is over or hands the baton on.

#[cfg(any(test, all(target_family = "wasm", feature = "asyncify")))]
#[macro_use]
mod conformance;

use cfg_if::cfg_if;

use super::state::Slot;

/// What a carrier runs, given the slot it has: in the end it says who gets the baton.
pub(super) type Job = Box<dyn FnOnce(Slot) -> Slot + Send>;

/// Why a carrier stopped, and who gets the baton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It goes on later.
    #[cfg_attr(
        all(target_family = "wasm", not(feature = "asyncify")),
        expect(dead_code, reason = "a nested carrier runs to its end")
    )]
    Passed(Slot),
    /// Its job is over.
    Ended(Slot),
}

cfg_if! {
    // Where corosensei can change stacks: the manifest asks for it under the same condition.
    if #[cfg(any(
        all(target_arch = "x86_64", any(unix, windows)),
        all(unix, any(target_arch = "aarch64", target_arch = "riscv64", target_arch = "loongarch64"))
    ))] {
        mod stacks;
        #[cfg(test)]
        mod nested;
        #[cfg(test)]
        mod system_threads;
        pub(super) use stacks::{Carrier, pass};
    } else if #[cfg(all(target_family = "wasm", feature = "asyncify"))] {
        mod asyncify;
        pub(super) use asyncify::{Carrier, pass};
        pub use asyncify::conformance::turns as carriers_take_turns;
    } else if #[cfg(target_family = "wasm")] {
        mod nested;
        pub(super) use nested::{Carrier, pass};
    } else {
        mod system_threads;
        pub(super) use system_threads::{Carrier, pass};
    }
}
