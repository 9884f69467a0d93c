//! Linux on aarch64: linked by the cross compiler, run under qemu's user-mode emulation.

use std::path::Path;

use super::Cross;
use super::command_runs::{self, Carrier};
use super::results::Allowed;

const TARGET: &str = "aarch64-unknown-linux-gnu";
const LINKER: &str = "aarch64-linux-gnu-gcc";
const QEMU: &str = "qemu-aarch64";
/// Debian's directory for the other architecture's C library.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

/// Tests that only compute, in hundreds of modelled runs. They take minutes under an emulator and make no system call.
const COMPUTING: &[&str] = &[
    "verify::",
    "modelled_tests::",
    "every_result_is_explained_and_compared",
    "every_result_is_modelled_or_refused",
    "every_change_of_a_machine_and_every_question",
    "no_figure_of_a_modelled_machine_has_changed",
];

/// Tests that compare two clocks within microseconds. The emulator takes microseconds to read either, so the first rate
/// is up to 1,300 ppm wrong, and it occasionally translates code between two reads: one run of twelve failed.
const TIMED: &[&str] = &["it_agrees_with_the_operating_systems_clock", "coarse_is_a_past_moment_and_follows"];

/// The calls that qemu 7's user-mode emulation lacks.
const LACKS: &[(&str, &str)] = &[("B5/epoll-pwait2/", "no such call"), ("B5/io-uring/", "no such call")];

pub fn check(cross: &mut Cross) {
    let Some(toolchain) = cross.toolchain(TARGET, "arm-linux") else { return };
    if let Err(reason) = cross.prerequisites.program(LINKER, &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"]) {
        return cross.report.skip("arm-linux", &reason);
    }
    if toolchain.has_clippy() {
        cross.lint(&toolchain, "arm-linux");
    } else {
        cross.report.skip("arm-linux: clippy", "this toolchain has no clippy");
    }
    // Its programs take longer to build and to emulate than the remaining time may allow; a part of them would prove little.
    if cross.only_compiles || !cross.has_time("arm-linux", "arm-linux: under qemu-user") {
        return;
    }
    let emulated = cross
        .prerequisites
        .program(QEMU, &["qemu-user"])
        .and_then(|()| cross.prerequisites.file(Path::new(LIBRARIES), &["libc6-dev-arm64-cross"]));
    if let Err(reason) = emulated {
        return cross.report.skip("arm-linux: under qemu-user", &reason);
    }
    let mut tests = toolchain.cargo("test", &cross.root);
    tests.env(toolchain.variable("LINKER"), LINKER);
    tests.env(toolchain.variable("RUNNER"), format!("{QEMU} -L {LIBRARIES}"));
    // Tests that start themselves again do so through the emulator.
    tests.env("OVERSLEEP_TEST_RUNNER", format!("{QEMU} -L {LIBRARIES}"));
    tests.args(super::tested(&cross.root)).arg("--no-fail-fast");
    tests.arg("--");
    tests.args(COMPUTING.iter().chain(TIMED).flat_map(|name| ["--skip", name]));
    cross.report.step("arm-linux: tests under qemu-user", 12, &[0], &tests);
    let carrier = Carrier {
        name: "qemu-user",
        program: QEMU,
        arguments: &["-L", LIBRARIES],
        starts_programs: false,
        caveat: "measured under an emulator",
        ends_with_7: &["sh", "-c", "exit 7"],
        environment: &[],
        allowed: Allowed { lacks: LACKS, named_by: None, silent: None },
    };
    command_runs::check(cross, "arm-linux", &toolchain, &carrier, &tests);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_that_are_left_out_exist() {
        let root = crate::project_root();
        for name in COMPUTING.iter().chain(TIMED).map(|name| name.trim_end_matches("::")) {
            let named = format!("(fn|mod) {name}");
            let mut git = std::process::Command::new("git");
            let found = git.current_dir(&root).args(["grep", "-qE", &named, "--", "crates"]).status();
            assert!(found.is_err() || found.is_ok_and(|status| status.success()), "no test or module is named {name}");
        }
    }
}
