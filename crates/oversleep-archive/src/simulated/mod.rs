//! The rows of the simulated fleet, for tests and for the proof against other engines.

use oversleep_lab::fleet::Stretch;

use crate::row::{Machine, Row};

mod results;

pub use results::result_of;

/// The row of an hour of a simulated host.
pub fn row_of(stretch: &Stretch<'_>) -> Row {
    let setting = |name: &str| {
        let value = stretch.settings.iter().find(|(known, _)| *known == name);
        value.map(|(_, value)| (*value).to_owned())
    };
    let mut row = Row {
        source: stretch.host.to_owned(),
        content: content(stretch),
        taken_us: stretch.taken_unix_s * 1_000_000,
        seconds: 3_600.0,
        tool: format!("oversleep {}", env!("CARGO_PKG_VERSION")),
        machine: Machine {
            os: stretch.kind.os.clone(),
            kernel: stretch.kernel.map(str::to_owned),
            cpu_model: stretch.kind.processor.clone(),
            cpus: stretch.kind.cpus.and_then(|cpus| i32::try_from(cpus).ok()),
            hypervisor: stretch.kind.hypervisor.clone(),
            clocksource: setting("clock source"),
            preemption: setting("preemption mode"),
            // Known of some hosts only: engines must agree where a group stands whose value isn't known.
            libc: libc_of(stretch.host).map(|version| format!("glibc {version}")),
            ..Machine::default()
        },
        experiment: "B5".to_owned(),
        subject: stretch.wait.to_owned(),
        quantity: "lateness".to_owned(),
        unit: "ns".to_owned(),
        request_ns: stretch.requested.map(|requested| requested.0),
        steal_share: stretch.steal_share,
        ..Row::default()
    };
    row.set_values(stretch.lateness);
    row
}

/// Tells the rows of hosts, waits and hours apart.
fn content(stretch: &Stretch<'_>) -> i64 {
    let letters = stretch.host.bytes().chain(stretch.wait.bytes());
    let number = letters.fold(0_i64, |sum, byte| sum.wrapping_mul(31).wrapping_add(i64::from(byte)));
    number.wrapping_mul(1_000_003).wrapping_add(stretch.taken_unix_s)
}

/// The version of the C library of one in ten hosts: it is not known of the others.
fn libc_of(host: &str) -> Option<&'static str> {
    host.ends_with('0').then_some("2.36")
}
