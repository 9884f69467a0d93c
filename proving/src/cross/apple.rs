//! macOS on both processors. Its programs can't run here, so they are compiled, and one of them is linked by zig. A
//! second link would take as long again and differ only in the processor.

use std::path::Path;

use xtask_tools::Zig;

use super::Cross;
use super::toolchain::Toolchain;

/// The targets, each with the first bytes of its programs: the magic number of a 64-bit Mach-O file and the processor,
/// from `<mach-o/loader.h>` and `<mach/machine.h>`, low byte first.
const TARGETS: &[(&str, [u8; 8])] = &[
    ("aarch64-apple-darwin", [0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1]),
    ("x86_64-apple-darwin", [0xcf, 0xfa, 0xed, 0xfe, 0x07, 0, 0, 1]),
];

pub fn check(cross: &mut Cross) {
    for &(target, _) in TARGETS {
        if let Some(toolchain) = cross.toolchain(target, target) {
            cross.lint(&toolchain, target);
        }
    }
    if cross.only_compiles {
        return;
    }
    let (target, begins) = TARGETS[0];
    // Last, because it takes longest if cargo-zigbuild has to be built first.
    if let Some(toolchain) = cross.toolchain(target, &format!("{target}: link the command")) {
        link(cross, target, &toolchain, begins);
    }
}

fn link(cross: &mut Cross, target: &str, toolchain: &Toolchain, begins: [u8; 8]) {
    let name = format!("{target}: link the command");
    if !toolchain.is_rustups() {
        return cross.report.skip(&name, "Debian's toolchain has no standard library for macOS");
    }
    if !cross.has_time("macos", &name) {
        return;
    }
    let zig = match Zig::prepare(&cross.scratch, &mut cross.prerequisites) {
        Ok(zig) => zig,
        Err(reason) => return cross.report.skip(&name, &reason),
    };
    let mut build = zig.cargo_build();
    build.current_dir(&cross.root).args(["--target", target, "-p", "oversleep-cli"]);
    if cross.report.step(&name, 6, &[0], &build) {
        let program = super::command_runs::target_directory(cross).join(target).join("debug/oversleep");
        cross.report.check(&format!("{target}: the linked file is a program for it"), || is_program(&program, begins));
    }
}

fn is_program(file: &Path, begins: [u8; 8]) -> Result<(), String> {
    let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    if bytes.starts_with(&begins) {
        Ok(())
    } else {
        Err(format!("{} is not a program for that system", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_first_bytes() {
        let file = std::env::temp_dir().join(format!("oversleep-proving-macho-{}", std::process::id()));
        std::fs::write(&file, [TARGETS[0].1.as_slice(), &[0; 8]].concat()).unwrap();
        assert_eq!(is_program(&file, TARGETS[0].1), Ok(()));
        assert!(is_program(&file, TARGETS[1].1).is_err(), "another processor's");
        std::fs::remove_file(&file).unwrap();
        assert!(is_program(&file, TARGETS[0].1).is_err());
    }
}
