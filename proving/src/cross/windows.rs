//! Windows, x86-64, GNU: linked by mingw, run under Wine.

use std::process::Command;

use xtask_tools::wine::{LINKER, LINKER_PACKAGE, WINE, environment, prefix};

use super::Cross;
use super::command_runs::{self, Carrier};
use super::results::Allowed;

const TARGET: &str = "x86_64-pc-windows-gnu";

/// Wine's server ends after that many seconds without a program, if it isn't ended before.
const SERVER_IDLE_S_MAX: &str = "-p1200";

/// Series that can't be measured under Wine 8, with the reason.
const LACKS: &[(&str, &str)] = &[
    ("A1/interrupt-time", "kernelbase's functions of Windows 10"),
    ("A1/unbiased-interrupt-time-precise", "the same"),
    ("A1/process-cycle-time", "call not implemented"),
    ("A1/thread-cycle-time", "call not implemented"),
    ("C6/sleep/resolution=", "Wine counts no interrupts"),
    ("C6/waitable-timer-tolerant/tolerance=", "the same"),
];

pub fn check(cross: &mut Cross) {
    let Some(toolchain) = cross.toolchain(TARGET, "windows") else { return };
    if let Err(reason) = cross.prerequisites.program(LINKER, &[LINKER_PACKAGE]) {
        return cross.report.skip("windows", &reason);
    }
    if toolchain.has_clippy() {
        cross.lint(&toolchain, "windows");
    } else {
        cross.report.skip("windows: clippy", "this toolchain has no clippy");
    }
    let mut tests = toolchain.cargo("test", &cross.root);
    tests.env(toolchain.variable("LINKER"), LINKER);
    tests
        .args(super::tested(&cross.root))
        .args(["-p", "oversleep-report", "-p", "oversleep-cli"])
        .arg("--no-fail-fast");
    // A program under Wine can't start the host's cargo to find the snapshots.
    tests.env("INSTA_WORKSPACE_ROOT", format!("Z:{}", cross.root.display()));
    if cross.only_compiles {
        cross.report.step("windows: compile the tests", 25, &[0], tests.arg("--no-run"));
        return;
    }
    let prefix = match prefix(&cross.scratch, &mut cross.prerequisites) {
        Ok(prefix) => prefix,
        Err(reason) => return cross.report.skip("windows: under Wine", &reason),
    };
    let runner = match super::under_wine::runner(WINE) {
        Ok(runner) => runner,
        Err(reason) => return cross.report.skip("windows: under Wine", &reason),
    };
    // One server for all programs: by default Debian's ends with each program, while the next one starts.
    xtask_tools::quietly(Command::new("wineserver").arg(SERVER_IDLE_S_MAX).envs(environment(&prefix)));
    tests.env(toolchain.variable("RUNNER"), runner).envs(environment(&prefix));
    // Programs under Wine can't use this system's browser and compilers, whatever the caller demands.
    tests.env_remove("OVERSLEEP_REQUIRE_BROWSER").env_remove("OVERSLEEP_REQUIRE_CC");
    cross.report.step("windows: tests under Wine", 20, &[0], &tests);
    let environment = environment(&prefix);
    let carrier = Carrier {
        name: "Wine",
        program: WINE,
        arguments: &[],
        starts_programs: true,
        caveat: "measured under wine",
        ends_with_7: &["cmd", "/c", "exit 7"],
        environment: &environment,
        allowed: Allowed { lacks: LACKS, named_by: Some("OVS-W012"), silent: Some("OVS-W") },
    };
    command_runs::check(cross, "windows", &toolchain, &carrier, &tests);
    let (root, program) = (cross.root.clone(), command_runs::binary(cross, &toolchain));
    cross.report.check("windows: imported calls", || super::imports::check(&root, &program));
    xtask_tools::quietly(Command::new("wineserver").arg("-k").env("WINEPREFIX", &prefix));
}
