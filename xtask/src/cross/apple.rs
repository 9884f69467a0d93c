//! macOS on both processors. Nothing runs its programs here: they are checked, and linked where zig's linker is there.

use super::Cross;
use super::toolchain::Toolchain;

const TARGETS: &[&str] = &["aarch64-apple-darwin", "x86_64-apple-darwin"];

pub fn check(cross: &mut Cross) {
    for target in TARGETS {
        let toolchain = match Toolchain::for_target(target, &mut cross.prerequisites) {
            Ok(toolchain) => toolchain,
            Err(reason) => {
                cross.report.skip(target, &reason);
                continue;
            }
        };
        let verb = if toolchain.has_clippy() { "clippy" } else { "check" };
        let mut check = toolchain.cargo(verb, &cross.root);
        check.args(super::PRODUCT).arg("--all-targets");
        if verb == "clippy" {
            check.args(["--", "-D", "warnings"]);
        }
        cross.report.step(&format!("{target}: {verb}"), 8, &[0], &check);
    }
}
