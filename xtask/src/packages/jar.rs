//! The jar for Java: the classes, and the C library for each system and processor. Maven builds it, and a program that has
//! only the dependency uses it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask_tools::{java_home, older_java_home, target_directory};

use super::Way;
use super::tools::{TARGETS, Target, Tools, glibc_needed};
use super::yard::{Refusal, Yard, run};

pub const WAY: Way = Way {
    name: "jar",
    about: "the jar for Java 22 and later, with the library for each system, by Maven",
    is_quick: false,
    build,
    try_out,
};

/// The first Java with the foreign function interface.
const OLDEST_JAVA: u32 = 22;
const MACS: [Target; 2] = [
    Target { triple: "x86_64-apple-darwin", libc: "", tag: "" },
    Target { triple: "aarch64-apple-darwin", libc: "", tag: "" },
];

fn build(yard: &mut Yard) -> Result<Vec<PathBuf>, Refusal> {
    let home = jdk()?;
    yard.prerequisites.program("mvn", &["maven"]).map_err(Refusal::Missing)?;
    let tools = Tools::prepare(yard)?;
    let natives = yard.empty("natives")?;
    for target in TARGETS.iter().chain(&MACS) {
        library(yard, &tools, target, &natives)?;
    }
    let mut maven = maven(yard, &home, &yard.root.join("bindings/java"));
    run(maven.arg(format!("-Doversleep.natives={}", natives.display())).arg("install"))?;
    let name = name(&yard.root)?;
    let jar = yard.root.join("bindings/java/target").join(&name);
    let kept = yard.dist.join(name);
    fs::copy(&jar, &kept).map_err(|error| format!("{}: {error}", jar.display()))?;
    Ok(vec![kept])
}

/// The file, by the version in the pom.
fn name(root: &Path) -> Result<String, String> {
    let pom = root.join("bindings/java/pom.xml");
    let text = fs::read_to_string(&pom).map_err(|error| format!("{}: {error}", pom.display()))?;
    let version = text.split_once("<version>").and_then(|(_, rest)| rest.split_once("</version>"));
    version
        .map(|(version, _)| format!("oversleep-{version}.jar"))
        .ok_or_else(|| format!("{}: no version", pom.display()))
}

fn jdk() -> Result<PathBuf, Refusal> {
    let missing = || Refusal::Missing(format!("no JDK {OLDEST_JAVA} or later is installed; set JAVA_HOME to one"));
    java_home(OLDEST_JAVA).ok_or_else(missing)
}

/// Maven, with a repository of its own that later runs keep.
fn maven(yard: &Yard, home: &Path, project: &Path) -> Command {
    let repository = target_directory(&yard.root).join("packages/maven");
    let mut maven = Command::new("mvn");
    maven.current_dir(project).env("JAVA_HOME", home).args(["--batch-mode", "--quiet"]);
    maven.arg(format!("-Dmaven.repo.local={}", repository.display()));
    maven
}

/// Puts the C library for a target where the jar takes it from, with its hash.
fn library(yard: &Yard, tools: &Tools, target: &Target, natives: &Path) -> Result<(), Refusal> {
    let mut cargo = tools.cargo(yard, target, "oversleep-capi", "capi")?;
    if target.triple.ends_with("musl") {
        // Without musl in it, it can be a shared library.
        cargo.env("RUSTFLAGS", "-C target-feature=-crt-static");
    }
    run(&mut cargo)?;
    let (built, name) = names(target.triple);
    let built = target_directory(&yard.root).join(target.triple).join("capi").join(built);
    let bytes = fs::read(&built).map_err(|error| format!("{}: {error}", built.display()))?;
    if let Some((major, minor)) = glibc_needed(&bytes).filter(|needed| *needed > (2, 17)) {
        return Err(Refusal::Failed(format!("{} needs glibc {major}.{minor}", built.display())));
    }
    let to = natives.join(folder(target.triple)).join(name);
    let written = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&to, bytes));
    written.map_err(|error| format!("{}: {error}", to.display()))?;
    let hash = run(tools.python().args(["-c", HASH]).arg(&to))?;
    let beside = natives.join(folder(target.triple)).join(format!("{name}.sha256"));
    fs::write(&beside, hash).map_err(|error| format!("{}: {error}", beside.display()))?;
    Ok(())
}

const HASH: &str = "import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())";

/// What Cargo calls the library, and what Java does.
fn names(triple: &str) -> (&'static str, &'static str) {
    if triple.contains("windows") {
        ("oversleep_capi.dll", "oversleep.dll")
    } else if triple.contains("apple") {
        ("liboversleep_capi.dylib", "liboversleep.dylib")
    } else {
        ("liboversleep_capi.so", "liboversleep.so")
    }
}

/// The folder in which `Bundled.java` looks.
fn folder(triple: &str) -> String {
    let processor = triple.split('-').next().unwrap_or_default();
    let system = match triple {
        windows if windows.contains("windows") => "windows",
        mac if mac.contains("apple") => "macos",
        musl if musl.ends_with("musl") => "linux-musl",
        _ => "linux",
    };
    format!("{system}-{processor}")
}

fn try_out(yard: &mut Yard, files: &[PathBuf]) -> Result<String, Refusal> {
    let home = jdk()?;
    let sample = yard.empty("sample")?;
    copy(&yard.root.join("bindings/java/src/it/sample"), &sample)?;
    let said = run(maven(yard, &home, &sample).args(["compile", "exec:exec"]))?;
    if !said.contains("slept until its deadline") {
        return Err(Refusal::Failed(format!("the program that depends on the jar printed {said:?}")));
    }
    let mut seen = "Maven ran its tests; a program with only the dependency sleeps and paces".to_owned();
    if let Some(older) = older_java_home(OLDEST_JAVA) {
        let path = std::env::join_paths(files.iter().chain([&sample.join("target/classes")]));
        let mut java = Command::new(older.join("bin/java"));
        let refused = run(java.arg("-cp").arg(path.map_err(|error| error.to_string())?).arg("Sample"));
        match refused {
            Err(said) if said.contains("oversleep needs Java 22 or later") => seen.push_str("; an older Java says so"),
            other => return Err(Refusal::Failed(format!("an older Java ended with {other:?}"))),
        }
    }
    Ok(seen)
}

/// Copies the sources of the program.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    for entry in fs::read_dir(from).map_err(failed)?.flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() && entry.file_name() != "target" {
            fs::create_dir_all(&target).map_err(failed)?;
            copy(&source, &target)?;
        } else if source.is_file() {
            fs::copy(&source, &target).map_err(failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bindings_have_the_version_of_the_crates() {
        let root = crate::project_root();
        let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
        let version = manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"')).unwrap();
        assert_eq!(name(&root).unwrap(), format!("oversleep-{version}.jar"));
        let python = fs::read_to_string(root.join("bindings/python/Cargo.toml")).unwrap();
        assert!(python.contains(&format!("\nversion = \"{version}\"\n")));
        let sample = fs::read_to_string(root.join("bindings/java/src/it/sample/pom.xml")).unwrap();
        assert!(sample.contains(&format!("<version>{version}</version>")));
    }

    #[test]
    fn folders_are_named_as_java_looks_for_them() {
        let folders: Vec<String> = TARGETS.iter().chain(&MACS).map(|target| folder(target.triple)).collect();
        let expected = [
            "linux-x86_64",
            "linux-aarch64",
            "linux-musl-x86_64",
            "linux-musl-aarch64",
            "windows-x86_64",
            "macos-x86_64",
            "macos-aarch64",
        ];
        assert_eq!(folders, expected);
    }
}
