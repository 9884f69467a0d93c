//! The names in the help's examples, on the system of this build.

use std::env::consts::{ARCH, OS};

use oversleep_system::examples::{self, Examples};

/// A program that exists on every such machine and ends by itself.
pub const PROGRAM: &str = if cfg!(target_os = "windows") { "cmd /c ver" } else { "echo done" };

/// Names and settings that a user of this system would type; those of Linux where it has no catalogue of its own.
pub fn here() -> Examples {
    examples::of(OS, ARCH).or_else(|| examples::of("linux", "x86_64")).expect("Linux has a catalogue")
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Setting;

    use super::*;

    #[test]
    fn whatever_an_example_names_is_there() {
        let (native, examples) = (crate::here(), here());
        for name in examples.waits {
            assert!(native.wait(name).is_some(), "{name}");
        }
        for name in examples.clocks {
            assert!(native.clock(name).is_some(), "{name}");
        }
        for name in examples.handoffs {
            assert!(native.handoff(name).is_some(), "{name}");
        }
        assert_eq!(native.reference_clock(), examples.clocks[0]);
    }

    #[test]
    fn the_example_of_a_tunable_is_accepted() {
        // CPUs are typed for their own option only, and CPU 0 may be forbidden.
        for tunable in crate::here().tunables().iter().filter(|tunable| tunable.info().name != "pin") {
            let info = tunable.info();
            let setting: Setting = info.example.parse().unwrap_or_else(|error| panic!("{}: {error}", info.name));
            assert_eq!(tunable.validate(&setting), Ok(()), "{}", info.name);
        }
    }
}
