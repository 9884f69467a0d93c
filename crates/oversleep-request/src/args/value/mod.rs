//! Parsers of typed values, one per kind, each with its limits and its errors. The machine may still refuse a value that
//! is allowed here.

mod change;
mod count;
mod cpus;
mod duration;
mod items;
mod label;
mod load;
mod policy;
mod setting;
mod tune;
mod visit;
mod work;

pub use change::change;
pub use count::{count, process, seed, threads};
pub use cpus::{CpuList, cpus};
pub use duration::{
    REQUEST_HERE_MAX, interval, latency_bound, request, request_somewhere, resolution, run_time, slack, watch_time,
};
pub use items::{item, queue, rate, turns};
pub use label::label;
pub use load::{TypedLoad, load};
pub use policy::policy;
pub use setting::setting;
pub use tune::{TypedTunable, tune};
pub use visit::{on_battery, visit};
pub use work::work;
