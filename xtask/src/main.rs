//! The project's own chores, run as `cargo xtask <chore>`. Each chore is a module here and a row in [`CHORES`]; nothing
//! that ships depends on this package. It is built with the record, for its schemas, with the crates whose registries
//! `docs/` is written from, with the generator of the C header, and otherwise with the standard library alone.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod crates;
mod cross;
mod docs;
mod header;
mod install_capi;
mod schema;
mod tidy;

struct Chore {
    name: &'static str,
    about: &'static str,
    run: fn(&Path, &[String]) -> Result<ExitCode, String>,
}

const CHORES: &[Chore] = &[
    Chore {
        name: "crates",
        about: "compile the pure crates for WebAssembly and check what they are built from; --no-install installs nothing",
        run: crates::command,
    },
    Chore {
        name: "cross",
        about: "check Windows, aarch64 Linux and macOS from here, running what can be run; names limit it",
        run: cross::command,
    },
    Chore {
        name: "docs",
        about: "write the pages and tables that the registries state; --check only says which are stale",
        run: docs::command,
    },
    Chore {
        name: "header",
        about: "write the header of the C interface; --check only says whether the committed one is current",
        run: header::command,
    },
    Chore {
        name: "install-capi",
        about: "build the C interface and install header, libraries and pkg-config file under --prefix DIR",
        run: install_capi::command,
    },
    Chore {
        name: "schema",
        about: "write the JSON schemas of results and comparisons; --check only says whether the committed ones are current",
        run: schema::command,
    },
    Chore {
        name: "tidy",
        about: "check the source tree's rules; --list names them, --update lowers the file-length ratchet",
        run: tidy::command,
    },
];

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
    let Some(chore) = CHORES.iter().find(|chore| chore.name == name) else {
        eprintln!("error: there is no chore `{name}`\n\n{}", usage());
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

/// The directory that holds the workspace: the parent of this package. Cargo says where that is at run time; what it
/// said when this was compiled may name another checkout that shares the target directory.
fn project_root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().unwrap_or(&here).to_path_buf()
}
