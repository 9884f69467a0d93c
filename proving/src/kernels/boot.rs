//! Boots a machine in QEMU without the host's processor: `-icount` makes the guest's time its count of instructions, 4
//! ns each, and skips idle time. The guest's clock and random numbers derive from it too, so the host doesn't affect
//! any figure. <https://www.qemu.org/docs/master/devel/tcg-icount.html>

use std::path::Path;
use std::process::Command;

use super::guest::Guest;
use super::machine::{Arch, Machine};
use super::program;
use crate::report::run_limited;

/// The emulators, each with its packages.
pub const EMULATORS: [(Arch, &str, &[&str]); 2] =
    [(Arch::X86, "qemu-system-x86_64", &["qemu-system-x86"]), (Arch::Arm, "qemu-system-aarch64", &["qemu-system-arm"])];

/// Ends a machine that hangs. The slowest takes 40 s.
const MINUTES_MAX: u32 = 8;
/// Parameters of every kernel. Self-tests of ciphers would keep new kernels busy for seconds.
const ALWAYS: &str = "loglevel=4 panic=-1 cryptomgr.notests";

/// Boots a machine and returns the files that it left.
///
/// # Errors
/// It didn't boot, or never ended.
pub fn boot(machine: &Machine, kernel: &Path, base: &[u8], directory: &Path) -> Result<Guest, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    if directory.exists() {
        std::fs::remove_dir_all(directory).map_err(failed)?;
    }
    let out = directory.join("out");
    std::fs::create_dir_all(&out).map_err(failed)?;
    let (initrd, console, sent) = (directory.join("initrd"), directory.join("console"), directory.join("out.tgz"));
    std::fs::write(&initrd, [base, &program::script(machine.script)].concat()).map_err(failed)?;
    let mut qemu = command(machine);
    qemu.arg("-kernel").arg(kernel).arg("-initrd").arg(&initrd);
    qemu.arg("-serial").arg(format!("file:{}", console.display()));
    match machine.kernel.arch {
        Arch::X86 => qemu.arg("-serial").arg(format!("file:{}", sent.display())),
        Arch::Arm => qemu
            .arg("-chardev")
            .arg(format!("file,id=out,path={}", sent.display()))
            .args(["-device", "pci-serial,chardev=out"]),
    };
    let code = run_limited(&qemu, MINUTES_MAX, &directory.join("qemu.log"));
    _ = std::fs::remove_file(&initrd);
    let tail = || {
        let text = std::fs::read(&console).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = text.unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join("\n")
    };
    match code? {
        0 => {}
        124 | 137 => return Err(format!("it had not ended after {MINUTES_MAX} min; its console ends:\n{}", tail())),
        code => return Err(format!("qemu: exit code {code}; its console ends:\n{}", tail())),
    }
    let mut unpack = Command::new("tar");
    unpack.arg("-xzmf").arg(&sent).arg("-C").arg(&out);
    match unpack.status() {
        Ok(status) if status.success() => Ok(Guest { directory: out }),
        _ => Err(format!("it sent no files; its console ends:\n{}", tail())),
    }
}

fn command(machine: &Machine) -> Command {
    let (_, program, _) = EMULATORS.iter().find(|(arch, ..)| *arch == machine.kernel.arch).expect("each has one");
    let mut qemu = Command::new(program);
    qemu.args(["-accel", "tcg,thread=single", "-icount", "shift=2,sleep=off"]);
    qemu.args(["-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", "1"]);
    qemu.args(["-m", "1024", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]);
    qemu.args(["-smp", &machine.cpus.to_string()]);
    // With CMPXCHG16B, which qemu 7.2 leaves behind with wrong flags now and then, a boot of 6.12 ended in a panic.
    // cortex-a72 boots in 2 s; `max` needs 8 s, for its pointer authentication.
    let (model, console) = match machine.kernel.arch {
        Arch::X86 => (["-cpu", "max,cx16=off"].as_slice(), "ttyS0"),
        Arch::Arm => (["-M", "virt", "-cpu", "cortex-a72"].as_slice(), "ttyAMA0"),
    };
    qemu.args(model).args(["-append", &format!("console={console} {ALWAYS} {}", machine.boot)]);
    qemu
}
