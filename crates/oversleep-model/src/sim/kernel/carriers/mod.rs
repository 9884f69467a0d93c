//! Carriers run the code of modelled threads. Only one modelled thread runs at a time, so a carrier only has to suspend
//! its job and resume it later. A separate stack is enough for that, and switching stacks costs a hundredth of waking
//! an OS thread. Where stacks can't be switched, a carrier is an OS thread. WebAssembly has neither: a carrier runs on
//! the stack of its resumer, unless the module is rewritten so that functions can be suspended (feature `asyncify`).
//!
//! The holder of the baton resumes a carrier, and gets the baton back when that job ends or hands the baton on.

#[cfg(any(test, feature = "asyncify"))]
#[macro_use]
mod conformance;

use cfg_if::cfg_if;

use super::state::Slot;

/// The job of a carrier. It gets the carrier's slot, and returns the slot that gets the baton at its end.
pub(super) type Job = Box<dyn FnOnce(Slot) -> Slot + Send>;

/// Why a carrier stopped, and which slot gets the baton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It was suspended.
    #[cfg_attr(
        all(target_family = "wasm", not(feature = "asyncify")),
        expect(dead_code, reason = "a nested carrier runs to its end")
    )]
    Passed(Slot),
    /// Its job has ended.
    Ended(Slot),
}

cfg_if! {
    // The manifest requires corosensei, which can switch stacks, under the same condition.
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
        #[cfg(feature = "asyncify")]
        pub use stacks::conformance::turns as carriers_take_turns;
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
        #[cfg(feature = "asyncify")]
        pub use system_threads::conformance::turns as carriers_take_turns;
    }
}
