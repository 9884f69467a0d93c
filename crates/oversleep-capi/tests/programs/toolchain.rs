//! Finds this system's compilers and the two libraries, and builds programs with them. Skips what it can't do.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    Static,
    Shared,
}

pub struct Toolchain {
    language: Language,
    compiler: String,
}

/// A program and its directory, which is removed on drop.
pub struct Program {
    path: PathBuf,
    directory: PathBuf,
}

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");
const STEM: &str = "oversleep_capi";

/// Says why something wasn't tested, or fails if `OVERSLEEP_REQUIRE_CC=1`.
#[track_caller]
fn skip(why: &str) {
    assert!(env::var_os("OVERSLEEP_REQUIRE_CC").is_none_or(|value| value != "1"), "{why}");
    oversleep_testing::skip(why);
}

/// The directory of the libraries: Cargo builds them next to this test.
fn libraries() -> PathBuf {
    let test = env::current_exe().expect("a running program has a path");
    test.parent().expect("a file is in a directory").to_path_buf()
}

fn shared_name(stem: &str) -> String {
    format!("{}{stem}{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX)
}

/// The file that a program linked with the shared library looks for; see `build.rs`.
fn runtime_name() -> String {
    match env::consts::OS {
        "macos" | "ios" => "liboversleep.1.dylib".to_owned(),
        _ => format!("{}.1", shared_name("oversleep")),
    }
}

/// The system libraries that the static library needs, according to the compiler.
fn system_libraries() -> Result<Vec<String>, String> {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let mut command = Command::new(&rustc);
    command.args(["-", "--crate-type=staticlib", "--print=native-static-libs", "-o"]);
    let empty = scratch("empty")?.join("empty.a");
    let output =
        command.arg(&empty).stdin(Stdio::null()).output().map_err(|e| format!("{rustc} did not start: {e}"))?;
    let _ = std::fs::remove_dir_all(empty.parent().unwrap_or(&empty));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let list = stderr.lines().find_map(|line| line.split_once("native-static-libs:"));
    let list = list.ok_or_else(|| format!("{rustc} doesn't list the libraries a static library needs:\n{stderr}"))?.1;
    Ok(list.split_whitespace().map(str::to_owned).collect())
}

fn scratch(name: &str) -> Result<PathBuf, String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory = env::temp_dir().join(format!("oversleep-capi-{}-{count}-{name}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|e| format!("could not create {}: {e}", directory.display()))?;
    Ok(directory)
}

fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

impl Toolchain {
    /// The compiler that `CC` or `CXX` names, otherwise `cc` or `c++`.
    pub fn find(language: Language) -> Option<Self> {
        let (variable, usual) = match language {
            Language::C => ("CC", "cc"),
            Language::Cpp => ("CXX", "c++"),
        };
        let compiler = env::var(variable).unwrap_or_else(|_| usual.to_owned());
        match Command::new(&compiler).arg("--version").output() {
            Ok(output) if output.status.success() => Some(Self { language, compiler }),
            Ok(output) => {
                skip(&format!("`{compiler}` does not work: {}", printed(&output)));
                None
            }
            Err(error) => {
                skip(&format!("there is no `{compiler}` here ({error}); set {variable} to another compiler"));
                None
            }
        }
    }

    /// Compiles and links `source`, a path in this package. Warnings are failures.
    pub fn build(&self, source: &str, linkage: Linkage) -> Option<Program> {
        let directory = scratch(Path::new(source).file_stem().unwrap().to_str().unwrap()).unwrap();
        let path = directory.join(format!("program{}", env::consts::EXE_SUFFIX));
        let mut command = Command::new(&self.compiler);
        let language = match self.language {
            Language::C => ["-std=c99", "-x", "c"],
            Language::Cpp => ["-std=c++11", "-x", "c++"],
        };
        command.args(language).args(["-Wall", "-Wextra", "-Wpedantic", "-Wredundant-decls", "-Werror", "-O1", "-I"]);
        command.arg(Path::new(PACKAGE).join("include")).arg(Path::new(PACKAGE).join(source));
        // The libraries aren't in the language of the source.
        command.args(["-x", "none", "-o"]).arg(&path);
        match linkage {
            Linkage::Static => {
                let library = libraries().join(format!("lib{STEM}.a"));
                assert!(library.is_file(), "{} is missing", library.display());
                match system_libraries() {
                    Ok(needed) => command.arg(library).args(needed),
                    Err(why) => {
                        skip(&why);
                        return None;
                    }
                };
            }
            Linkage::Shared => {
                let built = libraries().join(shared_name(STEM));
                let library = directory.join(runtime_name());
                std::fs::copy(&built, &library).unwrap_or_else(|e| panic!("{}: {e}", built.display()));
                command.arg(&library).arg(format!("-Wl,-rpath,{}", directory.display()));
            }
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{source} ({:?}, {linkage:?}):\n{}", self.language, printed(&output));
        Some(Program { path, directory })
    }
}

impl Program {
    /// Runs the program and returns what it printed.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(&self.path).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}: {}", output.status, printed(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// The names that the shared library exports.
pub fn exported_names() -> Option<Vec<String>> {
    let dynamic = if env::consts::OS == "macos" { "-gU" } else { "-D" };
    let library = libraries().join(shared_name(STEM));
    let mut command = Command::new("nm");
    match command.args([dynamic, "--defined-only"]).arg(library).output() {
        Ok(output) if output.status.success() => {
            let names = String::from_utf8_lossy(&output.stdout).into_owned();
            Some(names.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect())
        }
        Ok(output) => {
            skip(&format!("`nm` can't read the shared library: {}", printed(&output)));
            None
        }
        Err(error) => {
            skip(&format!("there is no `nm` here ({error})"));
            None
        }
    }
}
