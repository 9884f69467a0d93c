//! Windows programs on Linux: the linker for them, and Wine with files of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::limited::{run_limited, tail};
use crate::prerequisites::Prerequisites;

/// The linker.
pub const LINKER: &str = "x86_64-w64-mingw32-gcc";
/// Debian's package of it.
pub const LINKER_PACKAGE: &str = "gcc-mingw-w64-x86-64";
/// Debian's `wine` also wants a 32-bit loader; the programs here are 64-bit and don't need one.
pub const WINE: &str = "wine";

/// Rust's standard library takes its random numbers from ProcessPrng, which Wine 8 lacks. RtlGenRandom is the older name
/// of the same source.
const PROCESS_PRNG: &str = "\
#include <stddef.h>
__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *buffer, unsigned long length);
__declspec(dllexport) int __stdcall ProcessPrng(void *buffer, size_t length) {
    return SystemFunction036(buffer, (unsigned long)length);
}
";

/// The location of Wine's files, with messages and browser disabled.
pub fn environment(prefix: &Path) -> [(&'static str, &Path); 3] {
    [("WINEPREFIX", prefix), ("WINEDEBUG", Path::new("-all")), ("WINEDLLOVERRIDES", Path::new("mscoree,mshtml="))]
}

/// A Wine prefix of its own below `scratch`, with the library that Wine lacks.
///
/// # Errors
/// What is missing, and why.
pub fn prefix(scratch: &Path, prerequisites: &mut Prerequisites) -> Result<PathBuf, String> {
    prerequisites.program(WINE, &["wine", "wine64"])?;
    prerequisites.program(LINKER, &[LINKER_PACKAGE])?;
    let prefix = scratch.join("wine");
    let system = prefix.join("drive_c/windows/system32");
    if !system.join("kernel32.dll").exists() {
        let mut boot = Command::new("wineboot");
        boot.arg("--init").envs(environment(&prefix));
        let log = scratch.join("wineboot.log");
        let code = run_limited(&boot, 4, &log)?;
        if code != 0 {
            return Err(format!("wineboot: exit code {code}: {}", tail(&log)));
        }
    }
    let (source, library) = (scratch.join("process_prng.c"), system.join("bcryptprimitives.dll"));
    std::fs::write(&source, PROCESS_PRNG).map_err(|error| format!("{}: {error}", source.display()))?;
    let mut compile = Command::new(LINKER);
    compile.args(["-shared", "-O2", "-o"]).arg(&library).arg(&source).arg("-ladvapi32");
    let log = scratch.join("process_prng.log");
    match run_limited(&compile, 1, &log)? {
        0 => Ok(prefix),
        code => Err(format!("{LINKER}: exit code {code}: {}", tail(&log))),
    }
}
