//! `cargo xtask install-capi --prefix DIR`: installs the C interface where C programs look for it: the header, both
//! libraries, and the file that pkg-config reads.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

const CRATE: &str = "crates/oversleep-capi";
const PACKAGE: &str = "oversleep-capi";
const USAGE: &str = "install-capi takes --prefix DIR and, if you need them, --profile NAME and --destdir DIR";

/// What was typed.
struct Options {
    /// Where programs will look for it.
    prefix: PathBuf,
    /// The directory that stands for `/` while files are copied, for those who make packages.
    destination: Option<PathBuf>,
    profile: String,
}

/// Runs the chore. Exit code 0: installed.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    for file in install(root, &options(args)?)? {
        println!("install-capi: {}", file.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn options(args: &[String]) -> Result<Options, String> {
    let (mut prefix, mut destination, mut profile) = (None, None, "release".to_owned());
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
            "--profile" => profile = value.to_owned(),
            _ => return Err(format!("{USAGE}; not `{arg}`")),
        }
    }
    let prefix = prefix.ok_or(USAGE)?;
    let prefix = std::path::absolute(&prefix).map_err(|e| format!("{}: {e}", prefix.display()))?;
    Ok(Options { prefix, destination, profile })
}

/// The libraries as built, and the libraries that the static one needs.
struct Built {
    fixed: PathBuf,
    shared: PathBuf,
    private: String,
    version: String,
}

fn install(root: &Path, options: &Options) -> Result<Vec<PathBuf>, String> {
    let (shared, links) = match std::env::consts::OS {
        "windows" => {
            return Err(format!(
                "install-capi installs on Unix only; on Windows copy oversleep_capi.dll, oversleep_capi.dll.lib \
                 and oversleep_capi.lib from `cargo build --release -p {PACKAGE}`, and the header from {CRATE}/include to where your compiler looks"
            ));
        }
        "macos" => ("liboversleep.1.dylib", "liboversleep.dylib"),
        _ => ("liboversleep.so.1", "liboversleep.so"),
    };
    let built = build(root, &options.profile)?;
    let source = root.join(CRATE);
    let place = match &options.destination {
        Some(destination) => destination.join(options.prefix.strip_prefix("/").unwrap_or(&options.prefix)),
        None => options.prefix.clone(),
    };
    let pc = read(&source.join("oversleep.pc.in"))?;
    let prefix = options.prefix.to_str().ok_or("the prefix must be UTF-8, for pkg-config")?;
    let pc = pc.replace("@prefix@", prefix).replace("@version@", &built.version).replace("@private@", &built.private);
    let (lib, config) = (place.join("lib"), place.join("lib/pkgconfig"));
    let include = place.join("include");
    for directory in [&include, &config] {
        std::fs::create_dir_all(directory).map_err(|e| format!("could not make {}: {e}", directory.display()))?;
    }
    let header = copy(&source.join("include/oversleep.h"), include.join("oversleep.h"))?;
    let fixed = copy(&built.fixed, lib.join("liboversleep.a"))?;
    let shared_file = copy(&built.shared, lib.join(shared))?;
    let link = link(shared, lib.join(links))?;
    let config = config.join("oversleep.pc");
    std::fs::write(&config, pc).map_err(|e| format!("could not write {}: {e}", config.display()))?;
    Ok(vec![header, fixed, shared_file, link, config])
}

fn build(root: &Path, profile: &str) -> Result<Built, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // Cargo runs inside Cargo here, and must not inherit the outer package.
    command.env_remove("CARGO_MANIFEST_DIR").current_dir(root).stderr(Stdio::inherit());
    command.args(["rustc", "--quiet", "--package", PACKAGE, "--lib", "--profile", profile]);
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
                    Some("a") => fixed = Some(PathBuf::from(file)),
                    Some("so" | "dylib") => shared = Some(PathBuf::from(file)),
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

fn copy(from: &Path, to: PathBuf) -> Result<PathBuf, String> {
    // A running program keeps the old file; writing into it would break that program.
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
    use super::*;
    use std::io::Write;

    /// Says why something was not tested, where the harness can't keep it to itself.
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

    /// Installs, then builds and runs an example with nothing but what pkg-config says.
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
        assert!(files.len() == 5 && files.iter().all(|file| file.exists()), "{files:?}");

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
        for file in &files[2..4] {
            std::fs::remove_file(file).unwrap();
        }
        compile(told(&["--static", "--libs"]));
        std::fs::remove_dir_all(&prefix).unwrap();
    }

    #[test]
    fn a_prefix_is_needed_and_typing_errors_are_found() {
        let typed = |args: &[&str]| options(&args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>());
        assert!(typed(&[]).is_err() && typed(&["--prefix"]).is_err() && typed(&["--prefx", "a"]).is_err());
        let wished = typed(&["--prefix", "/usr", "--destdir=stage"]).unwrap();
        assert_eq!((wished.prefix, wished.destination), ("/usr".into(), Some("stage".into())));
    }
}
