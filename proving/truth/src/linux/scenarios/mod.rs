//! Programs that do what the split should show.

mod between;
mod calls;
mod held;
mod namespaces;
mod neighbours;
mod robust;
mod runtimes;
mod slack;
mod stops;
mod unlisted;

use std::time::Duration;

pub use calls::calls;
pub use namespaces::look;
pub use robust::{follows, opens};

/// What it does, and what the split said of it.
pub type Scenario = fn() -> Result<String, String>;

/// All of them, with their names.
pub fn all() -> impl Iterator<Item = &'static (&'static str, Scenario)> {
    [
        slack::ALL,
        neighbours::ALL,
        stops::ALL,
        namespaces::ALL,
        runtimes::ALL,
        unlisted::ALL,
        held::ALL,
        between::ALL,
        robust::ALL,
    ]
    .into_iter()
    .flatten()
}

/// For how long most are watched.
const SPAN: Duration = Duration::from_secs(2);

fn us(ns: i64) -> String {
    format!("{:.1} µs", ns as f64 / 1e3)
}
