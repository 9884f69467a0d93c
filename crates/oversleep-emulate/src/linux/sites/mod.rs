//! Call sites that wait often, and are patched so that they need no stop.
//!
//! The two bytes of the system call become a jump into padding that is never executed (`padding`; NOPs are padding only if
//! no function begins there, `functions`), which jumps to a nearby stub (`stub`, in a region of `regions`) and on to code
//! that does the supervisor's work (`code/sites.s`). `places` owns which sites there are and what their threads read; all
//! waits are counted on a page that is shared with the programs (`counters`).

pub mod counters;
mod functions;
mod padding;
pub mod places;
pub mod regions;
mod stub;
