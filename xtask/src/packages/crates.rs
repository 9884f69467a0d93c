//! The crates, as crates.io gets them. They are packed, and the command is installed from the packed ones alone: in an
//! empty `CARGO_HOME`, offline, by the line of `docs/install/cargo.md`. A program that depends on the library as that page
//! says is built in the same way.
//!
//! Cargo would verify each crate by compiling it with everything below it. Here the command verifies those that it is
//! made of, and the program the others. A directory of sources takes the place of crates.io: the packed crates, and those
//! of other projects as `cargo vendor` fetches them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};
use xtask_tools::target_directory;

use super::Way;
use super::yard::{Refusal, Yard, run};

pub const WAY: Way = Way {
    name: "crates",
    about: "every crate, the command by `cargo install`, and a program that depends on the library",
    is_quick: true,
    build,
    try_out,
};

/// How to install the command and depend on the library.
const PAGE: &str = "docs/install/cargo.md";

/// All that a Cargo in its own home knows of crates.io: a directory of sources.
fn config(sources: &Path) -> String {
    let sources = sources.display();
    format!(
        "[source.crates-io]\nreplace-with = \"packed\"\n\n[source.packed]\ndirectory = '{sources}'\n\n\
         [net]\noffline = true\n"
    )
}

/// Packs every crate that is published.
fn build(yard: &mut Yard) -> Result<Vec<PathBuf>, Refusal> {
    let target = target(yard);
    let packed = target.join("package");
    empty(&packed)?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(&yard.root).args(["package", "--quiet", "--no-verify", "--allow-dirty", "--target-dir"]);
    cargo.arg(&target);
    for name in published(&yard.root)? {
        cargo.args(["--package", &name]);
    }
    run(&mut cargo)?;
    let dist = yard.dist.join("crates");
    empty(&dist)?;
    let mut files = Vec::new();
    for entry in fs::read_dir(&packed).map_err(|error| format!("{}: {error}", packed.display()))? {
        let from = entry.map_err(|error| error.to_string())?.path();
        if from.extension().is_some_and(|extension| extension == "crate") {
            let to = dist.join(from.file_name().unwrap_or_default());
            fs::copy(&from, &to).map_err(|error| format!("{}: {error}", to.display()))?;
            files.push(to);
        }
    }
    files.sort();
    Ok(files)
}

/// Installs the command, asks it what it needs no tree for, and builds a program with the library.
fn try_out(yard: &mut Yard, files: &[PathBuf]) -> Result<String, Refusal> {
    // Always the same place: Cargo compiles again what is elsewhere than before.
    let home = target(yard).join("home");
    empty(&home)?;
    let sources = home.join("sources");
    let mut vendor = Command::new("cargo");
    vendor.current_dir(&yard.root).args(["vendor", "--quiet", "--locked", "--versioned-dirs"]).arg(&sources);
    run(&mut vendor)?;
    let names = files.iter().map(|file| unpacked(file, &sources)).collect::<Result<Vec<String>, String>>()?;
    write(&home.join("config.toml"), &config(&sources))?;
    let page = yard.root.join(PAGE);
    let page = fs::read_to_string(&page).map_err(|error| format!("{}: {error}", page.display()))?;

    forget_own(&target(yard))?;
    let installed = yard.empty("installed")?;
    let mut install = elsewhere(yard, &home)?;
    install.args(install_line(&page)?).arg("--root").arg(&installed);
    run(install.arg("--target-dir").arg(target(yard)))?;
    let command = installed.join("bin").join(format!("oversleep{}", std::env::consts::EXE_SUFFIX));
    let size = fs::metadata(&command).map_err(|error| format!("{}: {error}", command.display()))?.len();
    let mut said = used(yard, &command)?;
    said.push(format!("the command has {:.1} MB", size as f64 / 1e6));

    let lock = fs::read_to_string(sources.join(folder_of("oversleep-cli", &names)?).join("Cargo.lock"));
    let lock = lock.map_err(|error| format!("the lock of oversleep-cli: {error}"))?;
    let others: Vec<(&str, &str)> = names
        .iter()
        .filter_map(|folder| folder.rsplit_once('-'))
        .filter(|(name, _)| *name != "oversleep" && !lock.contains(&format!("name = \"{name}\"\n")))
        .collect();
    said.push(format!("a program: {}", program(yard, &home, &page, &others)?));
    Ok(said.join("; "))
}

/// Cargo's output. Later runs compile only what changed.
fn target(yard: &Yard) -> PathBuf {
    target_directory(&yard.root).join("crates")
}

/// Has Cargo compile our crates again: of a published version, it takes what it compiled once.
fn forget_own(target: &Path) -> Result<(), String> {
    let known = target.join("release/.fingerprint");
    for entry in fs::read_dir(&known).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("oversleep") {
            fs::remove_dir_all(entry.path()).map_err(|error| format!("{}: {error}", known.display()))?;
        }
    }
    Ok(())
}

/// Cargo outside of the project, with a home of its own.
fn elsewhere(yard: &Yard, home: &Path) -> Result<Command, String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(yard.empty("elsewhere")?).env("CARGO_HOME", home).env_remove("RUSTFLAGS");
    if !yard.is_for_publication() {
        // That it builds and works doesn't depend on it, and it takes a third of the time.
        cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
    }
    Ok(cargo)
}

/// The names of the crates that may be published.
fn published(root: &Path) -> Result<Vec<String>, String> {
    let mut cargo = Command::new("cargo");
    let text = run(cargo.current_dir(root).args(["metadata", "--quiet", "--no-deps", "--format-version", "1"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let packages = packages.filter(|package| package["publish"].is_null());
    Ok(packages.filter_map(|package| package["name"].as_str()).map(str::to_owned).collect())
}

/// Unpacks a crate as Cargo expects a source to be, and returns the folder's name.
fn unpacked(file: &Path, sources: &Path) -> Result<String, String> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    run(Command::new("tar").arg("xzf").arg(file).arg("-C").arg(sources))?;
    let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let sum: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    // The lock of the command has the same sum. Those of single files are for other tools.
    write(&sources.join(&name).join(".cargo-checksum.json"), &format!("{{\"files\":{{}},\"package\":\"{sum}\"}}"))?;
    Ok(name)
}

fn folder_of<'a>(package: &str, folders: &'a [String]) -> Result<&'a str, String> {
    let mut folders = folders.iter().filter(|folder| folder.rsplit_once('-').is_some_and(|(name, _)| name == package));
    folders.next().map(String::as_str).ok_or_else(|| format!("{package} is not packed"))
}

/// What the installed command says where neither the project nor a home is. It needs its probes, its profiles and the page.
fn used(yard: &Yard, command: &Path) -> Result<Vec<String>, String> {
    let here = yard.empty("user")?;
    let ask = |line: &str| {
        let mut command = Command::new(command);
        command.current_dir(&here).env_clear().env("HOME", &here).env("PATH", "/usr/bin:/bin");
        run(command.args(line.split(' ')))
    };
    let version = ask("--version")?;
    let waits = ask("waits nanosleep --count 50 --quiet")?;
    let wait = lateness(&waits).ok_or_else(|| format!("no result of nanosleep in:\n{waits}"))?;
    let runtimes = ask("runtimes --list")?;
    let is_listed = |name: &&str| runtimes.lines().any(|line| line.starts_with(name));
    if let Some(missing) = ["java", "tokio", "free-pascal"].iter().find(|name| !is_listed(name)) {
        return Err(format!("the probe of {missing} is not in the command:\n{runtimes}"));
    }
    let model = ask("ask sleep(1ms) --on windows-11")?;
    if !model.contains("windows-11") {
        return Err(format!("the profile windows-11 gives no result:\n{model}"));
    }
    let page = ask("page --html page.html").and_then(|_| {
        let page = fs::metadata(here.join("page.html")).map_err(|error| format!("the page: {error}"))?;
        Ok(format!("its page has {:.1} MB", page.len() as f64 / 1e6))
    })?;
    Ok(vec![version.trim().to_owned(), wait, "its probes and profiles are found".to_owned(), page])
}

/// The row of the report that `--count 50` of nanosleep is about.
fn lateness(waits: &str) -> Option<String> {
    let (_, table) = waits.split_once("Lateness of nanosleep 1 ms\n")?;
    let mut rows = table.lines().map(|row| row.split("  ").filter(|cell| !cell.is_empty()).map(str::trim));
    let (names, values) = (rows.next()?, rows.next()?);
    let cells = names.zip(values).skip(1).map(|(name, value)| format!("{name} {value}"));
    let cells = cells.collect::<Vec<String>>().join(", ");
    cells.starts_with("count 50, ").then(|| format!("lateness of nanosleep 1 ms: {cells}"))
}

/// What a program says that depends on the library as the page states, and on crates that the command isn't made of.
fn program(yard: &Yard, home: &Path, page: &str, others: &[(&str, &str)]) -> Result<String, Refusal> {
    let folder = yard.empty("program")?;
    let dependencies = block(page, "toml")?;
    let mut manifest = format!("[package]\nname = \"program\"\nedition = \"2024\"\n\n{dependencies}");
    for (name, version) in others.iter().filter(|(name, _)| !dependencies.contains(&format!("\n{name} "))) {
        manifest.push_str(&format!("{name} = \"{version}\"\n"));
    }
    write(&folder.join("Cargo.toml"), &manifest)?;
    fs::create_dir(folder.join("src")).map_err(|error| error.to_string())?;
    write(&folder.join("src/main.rs"), block(page, "rust")?)?;
    let mut cargo = elsewhere(yard, home)?;
    cargo.args(["run", "--quiet", "--release", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    Ok(run(cargo.arg("--target-dir").arg(target(yard)))?.trim().to_owned())
}

/// The arguments of the line by which the page installs the command.
fn install_line(page: &str) -> Result<Vec<&str>, String> {
    let mut lines = page.lines().filter_map(|line| line.strip_prefix("$ cargo "));
    let line = lines.find(|line| line.starts_with("install oversleep"));
    Ok(line.ok_or_else(|| format!("{PAGE} has no `cargo install oversleep…`"))?.split(' ').collect())
}

/// The first block of the page in a language.
fn block<'a>(page: &'a str, language: &str) -> Result<&'a str, String> {
    let block = page.split_once(&format!("```{language}\n")).and_then(|(_, rest)| Some(rest.split_once("```")?.0));
    block.ok_or_else(|| format!("{PAGE} has no block of {language}"))
}

/// Makes a folder, without what was in it before.
fn empty(folder: &Path) -> Result<(), String> {
    let removed = fs::remove_dir_all(folder).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    });
    removed.and_then(|()| fs::create_dir_all(folder)).map_err(|error| format!("{}: {error}", folder.display()))
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;

    fn manifest(path: &str) -> Table {
        fs::read_to_string(crate::project_root().join(path)).unwrap().parse().unwrap()
    }

    /// What `cargo binstall` makes of its templates.
    fn binstall(target: &str, exe: &str) -> (String, String) {
        let package = manifest("Cargo.toml")["workspace"]["package"].as_table().unwrap().clone();
        let command = manifest("crates/oversleep-cli/Cargo.toml");
        let metadata = command["package"]["metadata"]["binstall"].as_table().unwrap();
        let own = metadata["overrides"].get(target);
        let filled = |key: &str| {
            let template = own.and_then(|own| own.get(key)).unwrap_or_else(|| &metadata[key]).as_str().unwrap();
            let bin = command["bin"][0]["name"].as_str().unwrap();
            let text = template.replace("{ repo }", package["repository"].as_str().unwrap());
            let text = text.replace("{ version }", "1.2.3").replace("{ target }", target);
            text.replace("{ bin }", bin).replace("{ binary-ext }", exe)
        };
        let format = own.and_then(|own| own.get("pkg-fmt")).unwrap_or_else(|| &metadata["pkg-fmt"]).as_str().unwrap();
        let url = filled("pkg-url");
        assert!(url.ends_with(if format == "zip" { ".zip" } else { ".tar.gz" }), "{url}");
        (url, filled("bin-dir"))
    }

    #[test]
    fn binstall_looks_for_the_archives_of_a_release() {
        let release = "https://github.com/oversleep/oversleep/releases/download/v1.2.3/";
        for (target, exe, archive, program) in [
            (
                "x86_64-unknown-linux-gnu",
                "",
                "oversleep-1.2.3-x86_64-unknown-linux-gnu.tar.gz",
                "oversleep-1.2.3-x86_64-unknown-linux-gnu/oversleep",
            ),
            (
                "aarch64-apple-darwin",
                "",
                "oversleep-1.2.3-aarch64-apple-darwin.tar.gz",
                "oversleep-1.2.3-aarch64-apple-darwin/oversleep",
            ),
            (
                "x86_64-pc-windows-gnu",
                ".exe",
                "oversleep-1.2.3-x86_64-pc-windows-gnu.zip",
                "oversleep-1.2.3-x86_64-pc-windows-gnu/oversleep.exe",
            ),
            (
                "x86_64-pc-windows-msvc",
                ".exe",
                "oversleep-1.2.3-x86_64-pc-windows-gnu.zip",
                "oversleep-1.2.3-x86_64-pc-windows-gnu/oversleep.exe",
            ),
        ] {
            assert_eq!(binstall(target, exe), (format!("{release}{archive}"), program.to_owned()));
        }
    }

    #[test]
    fn only_crates_that_may_be_published_are_packed() {
        let names = published(&crate::project_root()).unwrap();
        assert!(
            ["oversleep", "oversleep-cli", "oversleep-runtimes"].iter().all(|name| names.iter().any(|n| n == name))
        );
        assert!(!names.iter().any(|name| name == "oversleep-testing" || name == "oversleep-web"), "{names:?}");
    }

    #[test]
    fn the_row_of_the_wait_is_read() {
        let table = "Lateness of nanosleep 300 µs\n\nLateness of nanosleep 1 ms\n\
            view         count      min      p50      max\nas recorded     50  35.5 µs  74.3 µs  3.12 ms\n";
        let row = "lateness of nanosleep 1 ms: count 50, min 35.5 µs, p50 74.3 µs, max 3.12 ms";
        assert_eq!(lateness(table).as_deref(), Some(row));
        assert_eq!(lateness(&table.replace("50", "49")), None);
    }

    #[test]
    fn the_page_states_what_is_tried() {
        let page = fs::read_to_string(crate::project_root().join(PAGE)).unwrap();
        assert_eq!(install_line(&page).unwrap(), ["install", "oversleep-cli", "--locked"]);
        assert!(block(&page, "toml").unwrap().contains("\noversleep = "));
        assert!(block(&page, "rust").unwrap().contains("fn main()"));
        assert!(block(&page, "cobol").is_err() && install_line("$ cargo build\n").is_err());
    }
}
