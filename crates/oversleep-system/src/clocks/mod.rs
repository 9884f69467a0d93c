//! Every clock of every system, described once, in the order in which it is listed.
//!
//! A system's folder adds the read to a description, a model adds the figures. A new clock is one entry here and one read.

mod everywhere;
mod linux;
mod macos;
mod windows;

use oversleep_record::clock::{AcrossSuspend, Counts, Epoch};

use crate::clock::{ClockInfo, ClockUnit, Follows};

pub use self::everywhere::EVERYWHERE;
pub use self::linux::LINUX;
pub use self::macos::MACOS;
pub use self::windows::WINDOWS;

/// The common fields of most clocks; an entry states what differs.
pub const COMMON: ClockInfo = ClockInfo {
    name: "",
    call: "",
    doc: "",
    counts: Counts::ElapsedTime,
    epoch: Epoch::Boot,
    unit: ClockUnit::Nanoseconds,
    across_suspend: AcrossSuspend::Stops,
    bits: 64,
    may_avoid_syscall: true,
    follows: Follows::Time,
    precise: None,
    reads: None,
    ordered: &[],
    architecture: None,
    is_modelled: true,
    since: "",
    page: "",
};

/// The clocks of a system by its name in results; for a system without a catalogue, those of every system.
pub fn of(os: &str) -> &'static [ClockInfo] {
    match os {
        "linux" => LINUX,
        "windows" => WINDOWS,
        "macos" => MACOS,
        _ => EVERYWHERE,
    }
}

/// The registry name of the system's clock for deadlines.
pub const fn reference(os: &str) -> &'static str {
    match os.as_bytes() {
        b"linux" => "monotonic",
        b"windows" => "qpc",
        b"macos" => "uptime-raw",
        _ => "std-instant",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_fits_what_is_said_of_the_clock() {
        for info in [LINUX, WINDOWS, MACOS, EVERYWHERE].concat() {
            let is_processors = info.epoch == Epoch::Processor;
            assert!(!is_processors || (info.unit == ClockUnit::Ticks && info.architecture.is_some()), "{}", info.name);
            assert!(info.bits == 64 || info.unit == ClockUnit::Milliseconds, "{}", info.name);
            let is_of_day = matches!(info.epoch, Epoch::Unix | Epoch::Tai | Epoch::Windows);
            assert_eq!(info.counts == Counts::TimeOfDay, is_of_day, "{}", info.name);
            assert!(!is_of_day || info.across_suspend == AcrossSuspend::Continues, "{}", info.name);
        }
    }

    #[test]
    fn a_reference_clock_never_stops_or_steps_by_a_setting() {
        for os in ["linux", "windows", "macos", "freebsd"] {
            let info = of(os).iter().find(|info| info.name == reference(os)).expect("described");
            assert!(info.counts == Counts::ElapsedTime && info.is_modelled && info.architecture.is_none(), "{os}");
        }
    }

    #[test]
    fn clocks_name_others_of_their_system_that_count_the_same() {
        for list in [LINUX, WINDOWS, MACOS, EVERYWHERE] {
            for info in list {
                for other in info.precise.iter().chain(info.ordered) {
                    let other = list.iter().find(|known| known.name == *other).expect(other);
                    assert!(other.counts == info.counts && other.follows == Follows::Time, "{}", info.name);
                    assert!(other.precise.is_none() && other.ordered.is_empty(), "{}", other.name);
                }
                assert!(info.precise.is_none() || info.follows == Follows::LastInterrupt, "{}", info.name);
            }
        }
    }

    #[test]
    fn units_and_their_frequencies() {
        assert_eq!(ClockUnit::HundredNanoseconds.frequency_hz(), Some(10_000_000));
        assert_eq!(ClockUnit::Seconds.frequency_hz(), Some(1));
        assert_eq!(ClockUnit::Ticks.frequency_hz(), None);
    }
}
