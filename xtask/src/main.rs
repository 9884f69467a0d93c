//! The project's chores, run as `cargo xtask <chore>`. Each chore is a module here and a row in [`CHORES`]; no released
//! crate depends on this package. It depends on the record (for its schemas), on the crates whose registries `docs/` is
//! generated from, on the generator of the C header, on a TOML parser, and on the page's compressor; everything else
//! uses the standard library alone.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod arrows;
mod bpf;
mod built;
mod crates;
mod cross;
mod docs;
mod emulate;
mod faults;
mod generated;
mod header;
mod install_capi;
mod jet;
mod kernels;
mod library;
mod loom;
mod page;
mod platform;
mod rust;
mod schema;
mod sentences;
mod soak;
mod tidy;
mod tree;
mod why_cost;
mod why_truth;

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
    cross "cross": "check Windows, aarch64 Linux and macOS from Linux, and run what Wine and qemu can run; names limit it",
    docs "docs": "write docs/ and generated tables from the registries; --check reports stale ones instead",
    emulate "emulate":
        "hold emulated programs against themselves alone: languages, kills, cost, suites; --all for everything, names limit it",
    faults "faults":
        "stage signals, failing outputs, limits, hostile files: a sample, or --all; --docs writes docs/faults.md",
    header "header": "write the header of the C interface; --check reports a stale one instead",
    install_capi "install-capi":
        "build the C interface and install header, libraries and pkg-config file under --prefix DIR",
    jet "jet":
        "run Hazelcast Jet under emulate windows-10-1909 and hold its throughput against min(CPU rate, Q / park)",
    kernels "kernels":
        "boot other kernels with exact time and check what the command says there; --all for every machine, names limit it",
    library "library":
        "the library as others get it: packages, features, oldest compiler, wasm, loom, CMake, Python, Java; names limit it",
    loom "loom": "try the clock's latch in every order of its threads' memory accesses",
    page "page": "write the page in the browser, which the command embeds; --check reports a stale one instead",
    schema "schema": "write the JSON schemas of results and comparisons; --check reports stale ones instead",
    sentences "sentences":
        "hold what reports say against their own figures, on every modelled machine and here, or in the files named",
    soak "soak": "run a day, a week and 110 days in virtual time: every deadline is counted, memory stays; --short for CI",
    tidy "tidy": "check the rules of the source tree; --list names them, --update lowers the length ratchet",
    why_cost "why-cost":
        "what following a program costs it and this machine, and that nothing is lost uncounted; needs root, names limit it",
    why_truth "why-truth":
        "burn a known time at each stage of a wait and check that why shows it there; needs root, names limit it",
};

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
    if name == "faults-filter" {
        return faults::filtered(&args[1..]).unwrap_or_else(|message| {
            eprintln!("error: {message}");
            ExitCode::from(2)
        });
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

fn usage() -> String {
    let mut text = String::from("usage: cargo xtask <chore> [options]\n");
    for chore in CHORES {
        text.push_str(&format!("\n  {:<12} {}", chore.name, chore.about));
    }
    text
}

/// The directory of the workspace: the parent of this package. It is read at run time, because the binary may have been
/// compiled in another checkout that shares the target directory.
fn project_root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().unwrap_or(&here).to_path_buf()
}
