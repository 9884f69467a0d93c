//! The project's chores, run as `cargo xtask <chore>`: the rules of the tree, and everything that is generated. Each chore
//! is a module here and a row in [`CHORES`]; no released crate depends on this package. What proves the product elsewhere
//! is the proving ground's (`cargo prove`).

use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod arrows;
mod bpf;
mod crates;
mod docs;
mod header;
mod install_capi;
mod packages;
mod page;
mod release;
mod rust;
mod schema;
mod tidy;
mod tree;

struct Chore {
    name: &'static str,
    about: &'static str,
    run: fn(&Path, &[String]) -> Result<ExitCode, String>,
}

macro_rules! chores {
    ($($module:ident $name:literal: $about:literal,)+) => {
        &[$(Chore { name: $name, about: $about, run: $module::command }),+]
    };
}

const CHORES: &[Chore] = chores! {
    bpf "bpf": "compile the kernel program of why; --check compares it with its source instead, where there is a clang",
    crates "crates":
        "compile the pure crates for WebAssembly and check their dependencies; --no-install forbids installing",
    docs "docs": "write docs/ and generated tables from the registries; --check reports stale ones instead",
    header "header": "write the header of the C interface; --check reports a stale one instead",
    install_capi "install-capi":
        "build the C interface and install header, libraries and pkg-config file under --prefix DIR",
    packages "packages": "build every package and use it in a clean root; --quick tries what every change must pass",
    page "page": "write the page in the browser, which the command embeds; --check reports a stale one instead",
    release "release":
        "build all that a release publishes into dist/, with sums, notes and recipes; --twice proves that the bytes repeat",
    schema "schema": "write the JSON schemas of results and comparisons; --check reports stale ones instead",
    tidy "tidy":
        "check the rules of the source tree; --list names them, --fix sorts imports, --update lowers the length ratchet",
};

/// Suites of the proving ground that were chores once; they are passed on to it.
const PROVING: &[&str] =
    &["cross", "emulate", "faults", "jet", "kernels", "library", "loom", "sentences", "soak", "why-cost", "why-truth"];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(name) = args.first() else {
        eprintln!("{}", usage());
        return ExitCode::from(2);
    };
    if matches!(name.as_str(), "help" | "-h" | "--help") {
        println!("{}", usage());
        return ExitCode::SUCCESS;
    }
    if PROVING.contains(&name.as_str()) {
        return prove(&project_root(), &args);
    }
    let Some(chore) = CHORES.iter().find(|chore| chore.name == name) else {
        eprintln!("error: no chore is named `{name}`\n\n{}", usage());
        return ExitCode::from(2);
    };
    match (chore.run)(&project_root(), &args[1..]) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Runs a suite of the proving ground.
fn prove(root: &Path, args: &[String]) -> ExitCode {
    let mut cargo = std::process::Command::new(env!("CARGO"));
    cargo.current_dir(root).args([
        "run",
        "--quiet",
        "--package",
        "proving",
        "--manifest-path",
        "proving/Cargo.toml",
        "--target-dir",
    ]);
    // It finds the project by this variable, if it was compiled elsewhere.
    cargo.arg(xtask_tools::target_directory(root)).env_remove("CARGO_MANIFEST_DIR").arg("--").args(args);
    match cargo.status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: can't run cargo: {error}");
            ExitCode::from(2)
        }
    }
}

fn usage() -> String {
    let mut text = String::from("usage: cargo xtask <chore> [options]\n");
    for chore in CHORES {
        text.push_str(&format!("\n  {:<12} {}", chore.name, chore.about));
    }
    text.push_str(&format!("\n\n`cargo prove` has {}; their names work here, too.\n", PROVING.join(", ")));
    text
}

/// The directory of the workspace: the parent of this package. It is read at run time, because the binary may have been
/// compiled in another checkout that shares the target directory.
fn project_root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().unwrap_or(&here).to_path_buf()
}
