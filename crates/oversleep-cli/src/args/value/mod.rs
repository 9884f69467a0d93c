//! Values as they are typed: one parser per kind, with its limits and its errors. What is allowed here, the machine may
//! still refuse.

mod change;
mod count;
mod cpus;
mod duration;
mod label;
mod load;
mod policy;
mod setting;
mod tune;

pub use change::change;
pub use count::count;
pub use cpus::{CpuList, cpus};
pub use duration::{latency_bound, request, resolution, run_time, slack};
pub use label::label;
pub use load::{LoadWish, load};
pub use policy::policy;
pub use setting::setting;
pub use tune::{Tuned, tune};
