//! What may depend on what, and where the operating system may be known. The one place to edit when the shape of the
//! project changes; `ARCHITECTURE.md` draws the same arrows. The checks that read these tables are `crate_arrows`,
//! `room_arrows`, `os_seam` and `unsafe_code`.

/// The arrows out of one crate, as its Cargo.toml states them.
pub struct CrateArrows {
    pub name: &'static str,
    /// The crates of this project it may depend on.
    pub ours: &'static [&'static str],
    /// The crates of others it may depend on outside tests. `None`: any.
    pub others: Option<&'static [&'static str]>,
    /// The crates it may never name, not in tests either.
    pub never: &'static [&'static str],
}

/// The crates that are bindings to an operating system.
const OS_BINDINGS: &[&str] = &["libc", "windows-sys", "windows", "nix", "rustix", "mach2"];

pub const CRATES: &[CrateArrows] = &[
    // Applications link it: nothing but the system's own bindings comes along.
    CrateArrows { name: "oversleep", ours: &[], others: Some(&["libc", "windows-sys"]), never: &[] },
    // Pure data: it must build and read a result anywhere.
    CrateArrows { name: "oversleep-record", ours: &[], others: None, never: OS_BINDINGS },
    CrateArrows { name: "oversleep-lab", ours: &["oversleep", "oversleep-record"], others: None, never: &[] },
    CrateArrows {
        name: "oversleep-cli",
        ours: &["oversleep-record", "oversleep-lab"],
        others: None,
        never: OS_BINDINGS,
    },
    CrateArrows { name: "oversleep-capi", ours: &["oversleep"], others: None, never: &[] },
];

/// The rooms of one crate: the modules at its top that may not see everything.
pub struct House {
    pub src: &'static str,
    pub rooms: &'static [Room],
    /// Modules at the crate's top that every room may use. Keep it short: a thing all rooms need belongs to the record.
    pub shared: &'static [&'static str],
    /// Modules at the crate's top that compose the rooms and are directories. `None`: any directory may.
    pub composing: Option<&'static [&'static str]>,
    /// Paths nothing in this crate may name.
    pub never: &'static [&'static str],
}

/// A module (`<name>.rs`, `<name>/`) and what it may use besides itself and other people's crates.
pub struct Room {
    pub name: &'static str,
    /// Rooms of the same crate, or modules in them (`platform::sim`).
    pub rooms: &'static [&'static str],
    /// Crates of this project, as Rust writes them.
    pub crates: &'static [&'static str],
}

pub const HOUSES: &[House] = &[
    House {
        src: "crates/oversleep-lab/src",
        rooms: &[
            Room { name: "platform", rooms: &[], crates: &["oversleep", "oversleep_record"] },
            Room { name: "measure", rooms: &["platform"], crates: &["oversleep_record"] },
            Room { name: "explain", rooms: &[], crates: &["oversleep_record"] },
            Room { name: "compare", rooms: &[], crates: &["oversleep_record"] },
            Room { name: "why", rooms: &[], crates: &["oversleep_record"] },
            Room { name: "runtimes", rooms: &[], crates: &["oversleep_record"] },
            Room { name: "emulate", rooms: &["platform::sim"], crates: &["oversleep_record"] },
        ],
        shared: &[],
        composing: Some(&["machines"]),
        never: &[],
    },
    House {
        src: "crates/oversleep-cli/src",
        // From plain data to SVG: pictures know nothing of what they show.
        rooms: &[Room { name: "picture", rooms: &[], crates: &[] }],
        shared: &[],
        composing: None,
        never: &["oversleep", "oversleep_lab::platform"],
    },
];

/// Where the operating system may be known.
pub const OS_PLACES: &[&str] = &[
    "crates/oversleep/src/sys/",
    "crates/oversleep-lab/src/platform/",
    // How systems name shared libraries, and how a linker is told.
    "crates/oversleep-capi/build.rs",
    "crates/oversleep-capi/tests/programs/toolchain.rs",
];

/// Directories of a crate's `tests/` where the operating system may be known.
const OS_TESTS: &[&str] = &["platform", "sys"];

/// Where the processor may be known, besides the rooms above: the library reads its counters.
pub const ARCH_PLACES: &[&str] = &["crates/oversleep/src/clock/"];

/// Where `unsafe` may be written. The checked crates of pure data and of the command are not here, and stay out.
pub const UNSAFE_PLACES: &[&str] = &[
    "crates/oversleep/src/sys/",
    "crates/oversleep/src/clock/",
    // A filter of system calls that only a test puts on.
    "crates/oversleep/tests/sys/",
    "crates/oversleep-lab/src/platform/linux/",
    "crates/oversleep-lab/src/platform/unix/",
    "crates/oversleep-lab/src/platform/macos/",
    "crates/oversleep-lab/src/platform/windows/",
    "crates/oversleep-lab/src/platform/processor/",
    // The stacks of modelled threads.
    "crates/oversleep-lab/src/platform/sim/kernel/carriers/",
    // The C interface is made of foreign pointers.
    "crates/oversleep-capi/src/",
    // The bare loops the laboratory is held against.
    "benches/src/sys/",
];

/// Is `path` (from the project's root) where the operating system may be known?
pub fn is_os_room(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let is_test = matches!(parts[..], ["crates", _, "tests", room, _, ..] if OS_TESTS.contains(&room));
    is_test || is_in(path, OS_PLACES)
}

/// Is `path` in one of `places`, which are directories ending in `/`, or one of them?
pub fn is_in(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path.starts_with(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn os_rooms_are_places_and_not_names() {
        assert!(is_os_room("crates/oversleep-lab/src/platform/linux/waits.rs"));
        assert!(is_os_room("crates/oversleep/src/sys/mod.rs"));
        assert!(is_os_room("crates/oversleep-cli/tests/platform/main.rs"));
        assert!(!is_os_room("crates/oversleep/src/system.rs"));
        assert!(!is_os_room("crates/platforms/src/lib.rs"));
        assert!(!is_os_room("crates/oversleep-lab/src/measure/sys/mod.rs"));
        assert!(!is_os_room("crates/oversleep-lab/src/explain/platform.rs"));
        assert!(!is_os_room("crates/oversleep-cli/tests/outputs/sys/main.rs"));
    }

    #[test]
    fn arrows_lead_to_crates_and_rooms_that_are_in_the_tables() {
        for arrows in CRATES {
            for to in arrows.ours {
                assert!(CRATES.iter().any(|c| c.name == *to), "{} → {to}", arrows.name);
                assert!(!CRATES.iter().any(|c| c.name == *to && c.ours.contains(&arrows.name)), "both ways: {to}");
            }
        }
        for house in HOUSES {
            for room in house.rooms {
                for to in room.rooms {
                    let head = to.split("::").next().unwrap_or(to);
                    assert!(house.rooms.iter().any(|r| r.name == head), "{} → {to}", room.name);
                }
            }
        }
    }
}
