//! `cargo xtask install-capi --prefix DIR`: installs the C interface where C programs look for it: the header, both
//! libraries, on Windows the import library, and the files that pkg-config and CMake read.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

const CRATE: &str = "crates/oversleep-capi";
const PACKAGE: &str = "oversleep-capi";
const USAGE: &str =
    "install-capi takes --prefix DIR and, if you need them, --destdir DIR, --target TRIPLE and --profile NAME";

/// The options.
struct Options {
    /// Where programs will look for it.
    prefix: PathBuf,
    /// The directory that replaces `/` while files are copied, for package builds.
    destination: Option<PathBuf>,
    profile: String,
    /// The target system; this one if it isn't stated.
    target: Option<String>,
}

/// Runs the chore. Exit code 0: installed.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let options = options(args)?;
    for file in install(root, &options)? {
        println!("install-capi: {}", file.display());
    }
    if let Some(step) = next_step(&options) {
        println!("install-capi: {step}");
    }
    Ok(ExitCode::SUCCESS)
}

fn options(args: &[String]) -> Result<Options, String> {
    let (mut prefix, mut destination, mut target) = (None, None, None);
    let mut profile = "capi".to_owned();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg.as_str(), args.next().map(String::as_str)),
        };
        let value = value.filter(|value| !value.is_empty()).ok_or(USAGE)?;
        match name {
            "--prefix" => prefix = Some(PathBuf::from(value)),
            "--destdir" => destination = Some(PathBuf::from(value)),
            "--target" => target = Some(value.to_owned()),
            "--profile" => profile = value.to_owned(),
            _ => return Err(format!("{USAGE}; not `{arg}`")),
        }
    }
    let prefix = prefix.ok_or(USAGE)?;
    let prefix = std::path::absolute(&prefix).map_err(|e| format!("{}: {e}", prefix.display()))?;
    Ok(Options { prefix, destination, profile, target })
}

/// What is left to do until programs find the shared library: on Linux it is found by a cache, which knows some prefixes.
fn next_step(options: &Options) -> Option<String> {
    let is_linux = options.target.as_deref().unwrap_or(std::env::consts::OS).contains("linux");
    if !is_linux || options.destination.is_some() {
        return None;
    }
    let prefix = options.prefix.display();
    Some(match options.prefix.to_str() {
        Some("/usr" | "/usr/local") => {
            "run `ldconfig` as root; until then programs don't find liboversleep.so.1".to_owned()
        }
        _ => format!("link programs with -Wl,-rpath,{prefix}/lib; Linux looks for no library in {prefix} by itself"),
    })
}

/// The libraries as built, and the libraries that the static one needs.
struct Built {
    fixed: PathBuf,
    shared: PathBuf,
    private: String,
    version: String,
}

/// The names of the installed files below the prefix.
struct Names {
    shared: &'static str,
    /// The name by which a linker finds the shared library, if it isn't the file itself.
    link: Option<&'static str>,
    /// The import library of a DLL.
    import: Option<&'static str>,
    fixed: &'static str,
}

impl Names {
    fn of(target: Option<&str>) -> Names {
        let target = target.unwrap_or(std::env::consts::OS);
        if target.contains("windows") && target.ends_with("gnu") {
            Names {
                shared: "bin/oversleep_capi.dll",
                link: None,
                import: Some("lib/liboversleep.dll.a"),
                fixed: "lib/liboversleep.a",
            }
        } else if target.contains("windows") {
            Names {
                shared: "bin/oversleep_capi.dll",
                link: None,
                import: Some("lib/oversleep.lib"),
                fixed: "lib/oversleep_static.lib",
            }
        } else if target.contains("macos") || target.contains("apple") {
            let link = Some("lib/liboversleep.dylib");
            Names { shared: "lib/liboversleep.1.dylib", link, import: None, fixed: "lib/liboversleep.a" }
        } else {
            let link = Some("lib/liboversleep.so");
            Names { shared: "lib/liboversleep.so.1", link, import: None, fixed: "lib/liboversleep.a" }
        }
    }
}

fn install(root: &Path, options: &Options) -> Result<Vec<PathBuf>, String> {
    let names = Names::of(options.target.as_deref());
    let built = build(root, options)?;
    let source = root.join(CRATE);
    let place = match &options.destination {
        Some(destination) => destination.join(options.prefix.strip_prefix("/").unwrap_or(&options.prefix)),
        None => options.prefix.clone(),
    };
    let prefix = options.prefix.to_str().ok_or("the prefix must be UTF-8, for pkg-config")?;
    let mut files = vec![
        copy(&source.join("include/oversleep.h"), place.join("include/oversleep.h"))?,
        copy(&built.fixed, place.join(names.fixed))?,
        copy(&built.shared, place.join(names.shared))?,
    ];
    if let Some(name) = names.link {
        let to = Path::new(names.shared).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        files.push(link(to, place.join(name))?);
    }
    if let Some(name) = names.import {
        files.push(copy(&import_library(&built.shared)?, place.join(name))?);
    }
    for (template, to, private) in [
        ("oversleep.pc.in", "lib/pkgconfig/oversleep.pc", built.private.clone()),
        ("oversleep-config.cmake.in", "lib/cmake/oversleep/oversleep-config.cmake", built.private.replace(' ', ";")),
        ("oversleep-config-version.cmake.in", "lib/cmake/oversleep/oversleep-config-version.cmake", String::new()),
    ] {
        let text = read(&source.join(template))?;
        let text = text.replace("@prefix@", prefix).replace("@version@", &built.version).replace("@private@", &private);
        let text = text.replace("@shared@", names.shared).replace("@static@", names.fixed);
        let text = text.replace("@import@", names.import.unwrap_or_default());
        let to = directories(place.join(to))?;
        std::fs::write(&to, text).map_err(|e| format!("could not write {}: {e}", to.display()))?;
        files.push(to);
    }
    Ok(files)
}

/// The import library that the linker has written beside a DLL.
fn import_library(dll: &Path) -> Result<PathBuf, String> {
    let stem = dll.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let names = [format!("{stem}.lib"), format!("lib{stem}.a")];
    let mut files = names.iter().map(|name| dll.with_file_name(name));
    files.find(|file| file.exists()).ok_or_else(|| format!("{} has no import library beside it", dll.display()))
}

fn build(root: &Path, options: &Options) -> Result<Built, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // Cargo runs inside Cargo here, and must not inherit the outer package.
    command.env_remove("CARGO_MANIFEST_DIR").current_dir(root).stderr(Stdio::inherit());
    command.args(["rustc", "--quiet", "--package", PACKAGE, "--lib", "--profile", &options.profile]);
    command.args(options.target.iter().flat_map(|target| ["--target", target]));
    command.args(["--message-format=json", "--", "--print=native-static-libs"]);
    let output = command.output().map_err(|e| format!("cargo did not start: {e}"))?;
    let (mut fixed, mut shared, mut private, mut version) = (None, None, None, None);
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        if let Some(rendered) = message["message"]["rendered"].as_str() {
            match rendered.split_once("native-static-libs:") {
                Some((_, needed)) => private = Some(needed.split_whitespace().collect::<Vec<_>>().join(" ")),
                None if matches!(message["message"]["level"].as_str(), Some("error" | "warning")) => {
                    eprint!("{rendered}")
                }
                None => {}
            }
        }
        if message["target"]["name"] == "oversleep_capi" && message["reason"] == "compiler-artifact" {
            let files = message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for file in files {
                match Path::new(file).extension().and_then(|extension| extension.to_str()) {
                    Some("a" | "lib") if !file.contains(".dll.") => fixed = Some(PathBuf::from(file)),
                    Some("so" | "dylib" | "dll") => shared = Some(PathBuf::from(file)),
                    _ => {}
                }
            }
            let id = message["package_id"].as_str().unwrap_or_default();
            version = id.rsplit(['#', '@']).next().map(str::to_owned);
        }
    }
    if !output.status.success() {
        return Err(format!("the C interface did not build ({})", output.status));
    }
    let missing = |what: &str| format!("cargo's messages don't say {what}; run cargo build -p {PACKAGE} to see why");
    Ok(Built {
        fixed: fixed.ok_or_else(|| missing("where the static library is"))?,
        shared: shared.ok_or_else(|| missing("where the shared library is"))?,
        private: private.ok_or_else(|| missing("what the static library needs"))?,
        version: version.ok_or_else(|| missing("which version it built"))?,
    })
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("could not read {}: {e}", path.display()))
}

/// Makes the directories of a file.
fn directories(file: PathBuf) -> Result<PathBuf, String> {
    let directory = file.parent().unwrap_or(&file);
    std::fs::create_dir_all(directory).map_err(|e| format!("could not make {}: {e}", directory.display()))?;
    Ok(file)
}

fn copy(from: &Path, to: PathBuf) -> Result<PathBuf, String> {
    let to = directories(to)?;
    // A running program keeps the old file; overwriting it would break that program.
    let _ = std::fs::remove_file(&to);
    std::fs::copy(from, &to).map_err(|e| format!("could not copy {} to {}: {e}", from.display(), to.display()))?;
    Ok(to)
}

#[cfg(unix)]
fn link(to: &str, at: PathBuf) -> Result<PathBuf, String> {
    let _ = std::fs::remove_file(&at);
    std::os::unix::fs::symlink(to, &at).map_err(|e| format!("could not make {}: {e}", at.display()))?;
    Ok(at)
}

#[cfg(not(unix))]
fn link(to: &str, at: PathBuf) -> Result<PathBuf, String> {
    copy(&at.with_file_name(to), at)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Prints why something was not tested, bypassing the capture of the test harness.
    fn skip(why: &str) {
        assert!(std::env::var_os("OVERSLEEP_REQUIRE_CC").is_none_or(|value| value != "1"), "{why}");
        let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
    }

    fn run(command: &mut Command) -> String {
        let output = command.output().unwrap();
        let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{command:?}: {said}{complained}");
        said.into_owned()
    }

    /// Installs, then builds and runs an example with only the flags of pkg-config.
    #[test]
    fn what_is_installed_is_found_by_pkg_config() {
        if cfg!(windows) {
            return skip("install-capi knows the directories of Unix");
        }
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        for program in [compiler.as_str(), "pkg-config"] {
            if let Err(error) = Command::new(program).arg("--version").output() {
                return skip(&format!("there is no `{program}` here ({error})"));
            }
        }
        let root = crate::project_root();
        let prefix = std::env::temp_dir().join(format!("oversleep-install-{}", std::process::id()));
        let args = [format!("--prefix={}", prefix.display()), "--profile=dev".to_owned()];
        let files = install(&root, &options(&args).unwrap()).unwrap();
        assert!(files.len() == 7 && files.iter().all(|file| file.exists()), "{files:?}");

        let told = |question: &[&str]| {
            let config = prefix.join("lib/pkgconfig");
            let said = run(Command::new("pkg-config").args(question).arg("oversleep").env("PKG_CONFIG_PATH", config));
            said.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let manifest = read(&root.join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("\nversion = \"{}\"\n", told(&["--modversion"])[0])));
        let program = prefix.join("game_loop");
        let lib = prefix.join("lib");
        let compile = |libraries: Vec<String>| {
            let mut command = Command::new(&compiler);
            command.arg(root.join(CRATE).join("examples/game_loop.c")).args(told(&["--cflags"])).args(libraries);
            run(command.arg("-o").arg(&program));
            let said = run(Command::new(&program).arg("12"));
            assert!(said.starts_with("shown "), "{said}");
        };
        let mut shared = told(&["--libs"]);
        shared.push(format!("-Wl,-rpath,{}", lib.display()));
        compile(shared);
        // Statically, even when only the static library is there.
        for file in &files[2..=3] {
            std::fs::remove_file(file).unwrap();
        }
        compile(told(&["--static", "--libs"]));
        std::fs::remove_dir_all(&prefix).unwrap();
    }

    #[test]
    fn each_system_has_its_names() {
        let of = |target| Names::of(Some(target));
        assert_eq!(of("x86_64-pc-windows-gnu").import, Some("lib/liboversleep.dll.a"));
        assert_eq!(of("x86_64-pc-windows-msvc").import, Some("lib/oversleep.lib"));
        assert_eq!(of("aarch64-apple-darwin").shared, "lib/liboversleep.1.dylib");
        assert_eq!(of("aarch64-unknown-linux-gnu").link, Some("lib/liboversleep.so"));
    }

    #[test]
    fn on_linux_the_next_step_makes_the_library_found() {
        let step = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
            next_step(&options(&args).unwrap())
        };
        let linux = "--target=x86_64-unknown-linux-gnu";
        assert!(step(&["--prefix=/usr/local", linux]).unwrap().starts_with("run `ldconfig` as root"));
        assert!(step(&["--prefix=/home/me", linux]).unwrap().contains("-Wl,-rpath,/home/me/lib"));
        assert_eq!(step(&["--prefix=/usr", "--destdir=stage", linux]), None);
        assert_eq!(step(&["--prefix=/usr/local", "--target=aarch64-apple-darwin"]), None);
    }

    #[test]
    fn a_prefix_is_needed_and_typing_errors_are_found() {
        let typed = |args: &[&str]| options(&args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>());
        assert!(typed(&[]).is_err() && typed(&["--prefix"]).is_err() && typed(&["--prefx", "a"]).is_err());
        let wished = typed(&["--prefix", "/usr", "--destdir=stage"]).unwrap();
        assert_eq!((wished.prefix, wished.destination), ("/usr".into(), Some("stage".into())));
    }
}
