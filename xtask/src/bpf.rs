//! Compiles the kernel program of `oversleep why`, and checks that its source and the committed object agree.
//!
//! The object is committed, so that building oversleep needs no clang. A file beside it records the source and the
//! compiler: the source is always compared, the object only if the same compiler is available.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

const DIR: &str = "crates/oversleep-collect/bpf";
/// The programs, and the headers that all of them include. Those of one program are in a directory of its name.
const PROGRAMS: &[&str] = &["why", "inject"];
const HEADERS: &[&str] = &["kernel.h"];

pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let is_check = match args {
        [] => false,
        [one] if one == "--check" => true,
        _ => return Err("usage: cargo xtask bpf [--check]".to_owned()),
    };
    let mut failed = false;
    for program in PROGRAMS {
        match one(root, program, is_check) {
            Ok(line) => println!("{line}"),
            Err(line) => {
                failed = true;
                println!("{line}");
            }
        }
    }
    Ok(ExitCode::from(u8::from(failed)))
}

fn one(root: &Path, program: &str, is_check: bool) -> Result<String, String> {
    let dir = root.join(DIR);
    let (object, made_from) = (dir.join(format!("{program}.bpf.o")), dir.join(format!("{program}.bpf.txt")));
    let sources = sources(&dir, program)?;
    let stated = fs::read_to_string(&made_from).unwrap_or_default();
    let of = |key: &str| stated.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().trim().to_owned();
    if is_check && of("source") != sources {
        return Err(format!("{program}.bpf.o is of another source: run `cargo xtask bpf` and commit what it writes"));
    }
    let compiler = compiler();
    if is_check && compiler.as_deref() != Some(&of("compiler")) {
        let here = compiler.unwrap_or_else(|| "no clang".to_owned());
        return Ok(format!(
            "SKIPPED: {program}.bpf.o is of this source; it was made by `{}`, and here is {here}, so the object is not \
             compared",
            of("compiler")
        ));
    }
    let compiler = compiler.ok_or("clang is not installed: apt-get install clang llvm libbpf-dev")?;
    if let Some(lacking) = lacking() {
        let says = format!("{lacking} is not installed: apt-get install clang llvm libbpf-dev");
        let skipped = format!("SKIPPED: {program}.bpf.o is of this source; the object is not compared, because {says}");
        return if is_check { Ok(skipped) } else { Err(says) };
    }
    let bytes = compile(&dir, program)?;
    if !is_check {
        fs::write(&object, &bytes).map_err(|error| format!("{}: {error}", object.display()))?;
        let text = format!("source {sources}\ncompiler {compiler}\n");
        fs::write(&made_from, text).map_err(|error| format!("{}: {error}", made_from.display()))?;
        return Ok(format!("{program}.bpf.o: {} bytes by {compiler}", bytes.len()));
    }
    match fs::read(&object) {
        Ok(committed) if committed == bytes => Ok(format!("{program}.bpf.o and its source agree")),
        Ok(_) => Err(format!("{program}.bpf.o is not what {compiler} makes of its source: run `cargo xtask bpf`")),
        Err(error) => Err(format!("{}: {error}", object.display())),
    }
}

/// A hash of the sources (FNV-1a).
fn sources(dir: &Path, program: &str) -> Result<String, String> {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let own = fs::read_dir(dir.join(program)).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<_> = HEADERS.iter().map(|name| dir.join(name)).chain(own).collect();
    paths.sort();
    paths.push(dir.join(format!("{program}.bpf.c")));
    for path in paths {
        for byte in fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))? {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(format!("{sum:016x}"))
}

/// The first line of the compiler's version; `None` without one.
fn compiler() -> Option<String> {
    let output = Command::new("clang").arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned())
}

/// What clang alone doesn't bring along.
fn lacking() -> Option<&'static str> {
    let succeeds = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        let command = command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let headers = ["-target", "bpf", "-E", "-include", "bpf/bpf_helpers.h", "-x", "c", "-"];
    match (succeeds("clang", &headers), succeeds("llvm-strip", &["--version"])) {
        (false, _) => Some("libbpf-dev"),
        (true, false) => Some("llvm"),
        (true, true) => None,
    }
}

fn compile(dir: &Path, program: &str) -> Result<Vec<u8>, String> {
    let object = std::env::temp_dir().join(format!("oversleep-{program}-{}.bpf.o", std::process::id()));
    let shown = object.display().to_string();
    let source = format!("{program}.bpf.c");
    let result = run(dir, "clang", &["-O2", "-g", "-target", "bpf", "-Wall", "-Werror", "-c", &source, "-o", &shown])
        // Types are kept; other debug information is removed, including paths of this machine.
        .and_then(|()| run(dir, "llvm-strip", &["-g", &shown]))
        .and_then(|()| fs::read(&object).map_err(|error| format!("{shown}: {error}")));
    let _ = fs::remove_file(&object);
    result
}

fn run(dir: &Path, program: &str, args: &[&str]) -> Result<(), String> {
    // libbpf's headers include the kernel's own, which are in an architecture-specific directory on Debian.
    let include = format!("-I/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    let mut command = Command::new(program);
    command.current_dir(dir).args(args);
    if program == "clang" {
        // The object must not depend on the location of the tree.
        command.arg(include).arg(format!("-fdebug-prefix-map={}=.", dir.display()));
    }
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} failed ({status})")),
        Err(error) => Err(format!("{program}: {error}; apt-get install clang llvm libbpf-dev")),
    }
}
