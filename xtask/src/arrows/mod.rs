//! The allowed dependencies, and the places that may depend on the operating system: the one file to edit when the
//! shape of the project changes. `ARCHITECTURE.md` draws the same arrows.
//!
//! Cargo enforces the arrows in a `Cargo.toml`. These tables have what Cargo can't enforce: which arrows a `Cargo.toml`
//! may state, the rooms inside a crate, and where a system, `unsafe`, a thread or a file may appear.

/// The allowed dependencies of one crate.
pub struct CrateRules {
    pub name: &'static str,
    /// The crates of this project.
    pub ours: &'static [&'static str],
    /// Additional crates of this project, in its tests only.
    pub ours_in_tests: &'static [&'static str],
    /// External crates, outside tests. `None`: any that `never` doesn't name.
    pub others: Option<&'static [&'static str]>,
    /// Additional crates, behind a feature that is off by default.
    pub optional: &'static [&'static str],
    /// Crates that it must never name, not even in tests.
    pub never: &'static [&'static str],
    /// Whether it only computes: no system, no threads, files, processes or clocks of its own. It compiles for
    /// WebAssembly without a native dependency.
    pub is_pure: bool,
}

/// Bindings to an operating system.
const OS_BINDINGS: &[&str] = &["libc", "windows-sys", "windows", "nix", "rustix", "mach2"];

/// Further crates that a pure crate can't use: terminals, signals, the processor.
const NATIVE: &[&str] = &["raw-cpuid", "ctrlc", "indicatif", "anstream", "terminal_size", "oversleep-native"];

/// The library without its features: its arithmetic and the algorithm of its sleeps, for which pure crates use it.
pub const ALGORITHM: &str = "oversleep";

/// Whether no pure crate may use that crate.
pub fn is_native(name: &str) -> bool {
    OS_BINDINGS.contains(&name) || NATIVE.contains(&name)
}

/// The crate that the tests of every crate may use.
pub const FOR_TESTS: &str = "oversleep-testing";

const NOTHING: CrateRules =
    CrateRules { name: "", ours: &[], ours_in_tests: &[], others: None, optional: &[], never: &[], is_pure: false };
const PURE: CrateRules = CrateRules { never: OS_BINDINGS, is_pure: true, ..NOTHING };

pub const CRATES: &[CrateRules] = &[
    CrateRules { name: FOR_TESTS, others: Some(&[]), ..NOTHING },
    CrateRules { name: "oversleep-rtkit", others: Some(&["libc"]), ..NOTHING },
    // Applications link it, so its only dependencies are the system's bindings, and serde and RealtimeKit on request.
    CrateRules {
        name: "oversleep",
        others: Some(&["libc", "windows-sys"]),
        optional: &["serde", "oversleep-rtkit"],
        ..NOTHING
    },
    CrateRules { name: "oversleep-async", ours: &["oversleep"], others: Some(&[]), ..NOTHING },
    CrateRules { name: "oversleep-channel", ours: &["oversleep"], others: Some(&[]), ..NOTHING },
    CrateRules { name: "oversleep-capi", ours: &["oversleep"], ..NOTHING },
    CrateRules { name: "oversleep-distribution", ..PURE },
    CrateRules { name: "oversleep-record", ours: &["oversleep-distribution"], ..PURE },
    CrateRules { name: "oversleep-system", ours: &["oversleep-record"], ..PURE },
    CrateRules { name: "oversleep-native", ours: &["oversleep", "oversleep-record", "oversleep-system"], ..NOTHING },
    CrateRules { name: "oversleep-model", ours: &["oversleep-record", "oversleep-system"], ..PURE },
    CrateRules {
        name: "oversleep-emulate",
        ours: &["oversleep-record", "oversleep-system", "oversleep-native", "oversleep-model", "oversleep-why"],
        ..NOTHING
    },
    CrateRules {
        name: "oversleep-measure",
        // Of the library, its algorithm alone, which needs no system.
        ours: &["oversleep", "oversleep-record", "oversleep-system"],
        // Its strategy `oversleep` is compared with the library's.
        ours_in_tests: &["oversleep-model", "oversleep-native"],
        ..PURE
    },
    CrateRules {
        name: "oversleep-sampler",
        ours: &["oversleep-record", "oversleep-system", "oversleep-measure"],
        ours_in_tests: &["oversleep-model"],
        others: Some(&[]),
        ..PURE
    },
    CrateRules {
        name: "oversleep-serve",
        ours: &["oversleep-record", "oversleep-sampler"],
        ours_in_tests: &["oversleep-system"],
        others: Some(&["flate2", "httparse", "minreq", "prost"]),
        never: OS_BINDINGS,
        ..NOTHING
    },
    CrateRules { name: "oversleep-explain", ours: &["oversleep-record", "oversleep-system"], ..PURE },
    CrateRules {
        name: "oversleep-lab",
        ours: &[
            "oversleep-record",
            "oversleep-system",
            "oversleep-model",
            "oversleep-measure",
            "oversleep-sampler",
            "oversleep-explain",
        ],
        ours_in_tests: &["oversleep-native"],
        ..PURE
    },
    CrateRules {
        name: "oversleep-report",
        ours: &["oversleep-record", "oversleep-system", "oversleep-measure", "oversleep-explain", "oversleep-lab"],
        ours_in_tests: &["oversleep-why"],
        ..PURE
    },
    CrateRules { name: "oversleep-why", ours: &["oversleep-record", "oversleep-system"], ..PURE },
    CrateRules {
        name: "oversleep-recordings",
        ours: &["oversleep-record", "oversleep-why"],
        // A modelled machine's waits are written as a trace.
        ours_in_tests: &["oversleep-model", "oversleep-system"],
        ..PURE
    },
    CrateRules {
        name: "oversleep-exchange",
        ours: &["oversleep-record", "oversleep-why", "oversleep-recordings"],
        ours_in_tests: &["oversleep-system"],
        ..PURE
    },
    // Its rows and questions are data; with the feature `archive` it holds files and a database.
    CrateRules {
        name: "oversleep-archive",
        ours: &["oversleep-record", "oversleep-explain", "oversleep-lab"],
        optional: &["parquet", "rusqlite"],
        never: OS_BINDINGS,
        ..NOTHING
    },
    // It brings a loader of kernel programs, so only the command depends on it.
    CrateRules { name: "oversleep-collect", ours: &["oversleep-native", "oversleep-why"], ..NOTHING },
    CrateRules {
        name: "oversleep-runtimes",
        ours: &["oversleep-record", "oversleep-system", "oversleep-native", "oversleep-measure"],
        never: OS_BINDINGS,
        ..NOTHING
    },
    CrateRules {
        name: "oversleep-request",
        ours: &["oversleep-record", "oversleep-system", "oversleep-measure", "oversleep-lab", "oversleep-report"],
        ..PURE
    },
    // Its boundary with the host takes pointers.
    CrateRules {
        name: "oversleep-web",
        ours: &[
            "oversleep-record",
            "oversleep-system",
            "oversleep-model",
            "oversleep-measure",
            "oversleep-explain",
            "oversleep-lab",
            "oversleep-report",
            "oversleep-request",
            "oversleep-why",
            "oversleep-exchange",
        ],
        never: OS_BINDINGS,
        ..NOTHING
    },
    CrateRules {
        name: "oversleep-cli",
        ours: &[
            "oversleep-record",
            "oversleep-system",
            "oversleep-why",
            "oversleep-recordings",
            "oversleep-exchange",
            "oversleep-archive",
            "oversleep-collect",
            "oversleep-native",
            "oversleep-emulate",
            "oversleep-measure",
            "oversleep-sampler",
            "oversleep-serve",
            "oversleep-explain",
            "oversleep-lab",
            "oversleep-report",
            "oversleep-runtimes",
            "oversleep-request",
        ],
        never: OS_BINDINGS,
        ..NOTHING
    },
];

/// The rules of the crate with that name.
pub fn rules_of(name: &str) -> Option<&'static CrateRules> {
    CRATES.iter().find(|rules| rules.name == name)
}

/// The crates that compile for WebAssembly.
pub fn pure_crates() -> impl Iterator<Item = &'static CrateRules> {
    CRATES.iter().filter(|rules| rules.is_pure)
}

/// Whether `path` is in the sources of a pure crate.
pub fn is_pure(path: &str) -> bool {
    matches!(path.split('/').collect::<Vec<_>>()[..], ["crates", name, "src", _, ..]
        if rules_of(name).is_some_and(|rules| rules.is_pure))
}

/// The modules of one crate whose dependencies are restricted.
pub struct House {
    pub src: &'static str,
    /// The module whose folders are the rooms; empty for the crate itself.
    pub within: &'static str,
    pub rooms: &'static [Room],
    /// Modules of the house that every room may use.
    pub shared: &'static [&'static str],
}

/// A module of a house (`<name>.rs`, `<name>/`) and what it may use besides itself, modules outside the house and external
/// crates.
pub struct Room {
    pub name: &'static str,
    /// Rooms of the same crate, or modules in them (`view::pictures`).
    pub rooms: &'static [&'static str],
    /// Whether it may use other crates of this project.
    pub uses_crates: bool,
}

pub const HOUSES: &[House] = &[
    House {
        src: "crates/oversleep-model/src",
        within: "",
        // A machine is data: the model doesn't depend on profiles.
        rooms: &[
            Room { name: "sim", rooms: &[], uses_crates: true },
            Room { name: "machines", rooms: &["sim"], uses_crates: true },
        ],
        // A machine for tests.
        shared: &["testing"],
    },
    House {
        src: "crates/oversleep-report/src",
        within: "",
        rooms: &[
            // From plain numbers to SVG: pictures are independent of their subject.
            Room { name: "picture", rooms: &[], uses_crates: false },
            Room { name: "view", rooms: &["picture"], uses_crates: true },
            Room { name: "html", rooms: &["view", "picture"], uses_crates: true },
            Room { name: "terminal", rooms: &["view"], uses_crates: true },
        ],
        shared: &["words"],
    },
    House {
        src: "crates/oversleep-emulate/src",
        within: "linux",
        rooms: &[
            Room { name: "process", rooms: &[], uses_crates: true },
            Room { name: "code", rooms: &["process"], uses_crates: true },
            Room { name: "filter", rooms: &["code", "process"], uses_crates: true },
            Room { name: "calls", rooms: &["filter", "code", "process"], uses_crates: true },
            Room { name: "programs", rooms: &["process"], uses_crates: true },
            Room { name: "clocks", rooms: &["code", "process"], uses_crates: true },
            Room { name: "sites", rooms: &["calls", "code", "process"], uses_crates: true },
            Room { name: "preload", rooms: &["sites", "code", "process"], uses_crates: true },
            Room { name: "trace", rooms: &["code", "process"], uses_crates: true },
            Room { name: "job", rooms: &["preload", "filter", "process"], uses_crates: true },
            // Emulation and observation share how threads are followed, and know nothing of each other.
            Room {
                name: "emulated",
                rooms: &[
                    "job", "trace", "preload", "sites", "clocks", "programs", "calls", "filter", "code", "process",
                ],
                uses_crates: true,
            },
            Room { name: "observe", rooms: &["job", "trace", "calls", "filter", "process"], uses_crates: true },
        ],
        // The injected code, mapped into the process of a test.
        shared: &["tests"],
    },
];

/// Where code may depend on the operating system.
pub const OS_PLACES: &[&str] = &[
    "crates/oversleep/src/sys/",
    // A client of a daemon that only Linux has.
    "crates/oversleep-rtkit/src/",
    "crates/oversleep-native/src/",
    "crates/oversleep-emulate/src/lib.rs",
    "crates/oversleep-emulate/src/linux/",
    // The kernel's events of other programs.
    "crates/oversleep-collect/",
    // Python states which interpreter this is to C alone.
    "bindings/python/src/interpreter.rs",
    CARRIERS,
    // Its imports exist only in a page.
    "crates/oversleep-web/src/boundary.rs",
    // A browser holds each file whole, so a page has one parser of results.
    "crates/oversleep-record/src/file/mod.rs",
    // The names of shared libraries, and the linker's options, depend on the system.
    "crates/oversleep-capi/build.rs",
    "crates/oversleep-capi/tests/programs/toolchain.rs",
];

/// The stacks of modelled threads.
pub const CARRIERS: &str = "crates/oversleep-model/src/sim/kernel/carriers/";

/// Directories of a crate's `tests/` where code may depend on the operating system.
const OS_TESTS: &[&str] = &["platform", "sys"];

/// Where code may depend on the processor, besides the places above: the library reads its counters.
pub const ARCH_PLACES: &[&str] = &["crates/oversleep/src/clock/"];

/// Where `unsafe` may be written.
pub const UNSAFE_PLACES: &[&str] = &[
    "crates/oversleep/src/sys/",
    "crates/oversleep-rtkit/src/",
    "crates/oversleep/src/clock/",
    // A filter of system calls that only a test installs.
    "crates/oversleep/tests/sys/",
    // A child whose system calls a test reads.
    "crates/oversleep-native/tests/sys/",
    "crates/oversleep-native/src/linux/",
    // The supervisor of other processes, and the code that it gives them.
    "crates/oversleep-emulate/src/linux/",
    "crates/oversleep-native/src/unix/",
    "crates/oversleep-native/src/macos/",
    "crates/oversleep-native/src/windows/",
    "crates/oversleep-native/src/processor/",
    CARRIERS,
    // The page hands over memory.
    "crates/oversleep-web/src/boundary.rs",
    // The C interface is made of foreign pointers.
    "crates/oversleep-capi/src/",
    // Python tells only its C interface which interpreter runs.
    "bindings/python/src/interpreter.rs",
    // The bare loops that the laboratory is compared with.
    "benches/src/sys/",
];

/// Whether code at `path` (from the project's root) may depend on the operating system.
pub fn is_os_place(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let is_test = matches!(parts[..], ["crates", _, "tests", room, _, ..] if OS_TESTS.contains(&room));
    is_test || is_in(path, OS_PLACES)
}

/// Whether `path` is one of `places`, or in one of those that end in `/`.
pub fn is_in(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path.starts_with(place))
}

#[cfg(test)]
mod tests;
