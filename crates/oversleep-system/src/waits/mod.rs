//! Every wait of every system, described once. A machine adds the call (`oversleep-native`), a model its figures
//! (`oversleep-model`); lists, help and reference tables are generated from these descriptions.
//!
//! A new wait is one entry in the file of its system, next to others of its family: the simplest of a family comes
//! first. Waits composed of a clock and another wait are described in `oversleep-measure`.

pub mod composed;
mod library;
mod linux;
mod macos;
pub mod sets;
mod windows;

use crate::{Family, WaitInfo};

pub use library::{ASYNC_SLEEP, EVERYWHERE, PACER, PARK_UNTIL, SLEEP_UNTIL};
pub use linux::LINUX;
pub use macos::MACOS;
pub use windows::WINDOWS;

/// The waits of a system by its name in results; for a system without a catalogue, those of every system.
pub fn of(os: &str) -> &'static [WaitInfo] {
    match os {
        "linux" => LINUX,
        "windows" => WINDOWS,
        "macos" => MACOS,
        _ => EVERYWHERE,
    }
}

/// The simplest wait of a family: the first in the list.
pub fn simplest<'a>(waits: impl IntoIterator<Item = &'a WaitInfo>, family: Family) -> Option<&'a WaitInfo> {
    waits.into_iter().find(|info| info.family == family)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Takes, ZeroMeans};

    const SYSTEMS: [(&str, &str); 3] = [("linux", "Linux "), ("windows", "Windows "), ("macos", "OS ")];

    #[test]
    fn every_entry_is_described_under_its_own_name() {
        for (os, version) in SYSTEMS {
            let mut names = BTreeSet::new();
            for info in of(os) {
                let name = info.name;
                assert!(names.insert(name), "{name} stands twice");
                assert!(!name.is_empty() && name.bytes().all(|b| b == b'-' || b.is_ascii_alphanumeric()), "{name}");
                assert!(name.bytes().all(|b| !b.is_ascii_uppercase()), "{name}");
                assert!(info.call.len() > 3 && info.doc.ends_with('.'), "{name}");
                let is_of_system = info.since.contains(version) || name == SLEEP_UNTIL.name;
                assert!(is_of_system && info.page.starts_with("https://"), "{name}");
            }
        }
    }

    #[test]
    fn what_a_wait_takes_agrees_with_what_zero_does() {
        for (os, _) in SYSTEMS {
            for info in of(os) {
                assert_eq!(info.is_timed(), info.family != Family::Yield, "{}", info.name);
                assert_eq!(info.is_timed(), info.zero != ZeroMeans::NoArgument, "{}", info.name);
                assert_ne!(info.family, Family::Spin, "{}: a wait made of others", info.name);
            }
        }
    }

    #[test]
    fn no_call_of_ours_rounds_down() {
        for (os, _) in SYSTEMS {
            // The standard library drops spans below a unit of Windows.
            let down: Vec<&str> = of(os).iter().filter(|info| !info.granularity.rounds_up).map(|i| i.name).collect();
            assert!(down.is_empty() || down == ["thread-sleep"], "{os}: {down:?}");
        }
    }

    #[test]
    fn the_tolerance_is_the_one_described() {
        let tolerant = WINDOWS.iter().find(|info| info.name == "waitable-timer-tolerant").expect("described");
        assert!(tolerant.doc.contains(&format!("here {},", crate::TWO_TICKS_TOLERANCE)), "{}", tolerant.doc);
    }

    #[test]
    fn windows_takes_no_point_in_time() {
        let is_a_span = |info: &WaitInfo| !info.takes.is_absolute() || info.name == SLEEP_UNTIL.name;
        assert!(WINDOWS.iter().all(is_a_span), "its points in time are on the wall clock");
        assert!(LINUX.iter().any(|info| info.takes == Takes::TimeOfDay));
    }

    #[test]
    fn the_simplest_of_a_family_comes_first() {
        let name = |os, family| simplest(of(os), family).map(|info| info.name);
        for (os, family, simplest) in [
            ("linux", Family::Sleep, "nanosleep"),
            ("macos", Family::Sleep, "nanosleep"),
            ("windows", Family::Sleep, "sleep"),
            ("windows", Family::Lock, "wait-for-single-object"),
            ("windows", Family::Timer, "waitable-timer"),
            ("windows", Family::Yield, "switch-to-thread"),
        ] {
            assert_eq!(name(os, family), Some(simplest), "{os} {family:?}");
        }
        assert_eq!(name("plan9", Family::Sleep), Some("thread-sleep"));
    }
}
