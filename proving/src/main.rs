//! The proving ground, run as `cargo prove SUITE`: what takes real time, other systems, other kernels, other people's
//! programs or a browser to show that the product works. Each suite is a module here and a row in [`SUITES`]. It is a
//! workspace of its own, so that `cargo test --workspace` compiles none of it. No released crate depends on it, and it
//! judges the built command from outside: by its exit codes, its documents and its result files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod archive;
mod built;
mod check;
mod cross;
mod emulate;
mod exchange;
mod faults;
mod gate;
mod jet;
mod kernels;
mod library;
mod loom;
mod page;
mod real_time;
mod report;
mod screens;
mod sentences;
mod serve;
mod serve_cost;
mod serve_hostile;
mod serve_otlp;
mod serving;
mod soak;
mod why;

struct Suite {
    name: &'static str,
    about: &'static str,
    run: fn(&Path, &[String]) -> Result<ExitCode, String>,
}

macro_rules! suites {
    ($($run:path, $name:literal: $about:literal;)+) => {
        &[$(Suite { name: $name, about: $about, run: $run }),+]
    };
}

const SUITES: &[Suite] = suites! {
    archive::command, "archive":
        "archive a simulated fleet, hold its page and other engines' answers against what is planted; --all, --fetch, --hosts N";
    check::command, "check":
        "an older `oversleep check` and today's by turns, idle and beside two busy threads: same conclusions, ten seconds; --old PATH";
    cross::command, "cross":
        "check Windows, aarch64 Linux and macOS from Linux, and run what Wine and qemu can run; names limit it";
    emulate::command, "emulate":
        "hold emulated programs against themselves alone: languages, kills, cost, suites; --all for everything, names limit it";
    exchange::command, "exchange":
        "have Java, hdrh and an XML parser read what is exported, and hold it against the result; --fetch installs them";
    faults::command, "faults":
        "stage signals, failing outputs, limits, hostile files: a sample, or --all; --docs writes docs/faults.md";
    gate::command, "gate":
        "hold assert's verdicts on this machine against what is true: settings and programs, the same and worse; --full for 660 gates";
    jet::command, "jet":
        "run Hazelcast Jet under emulate windows-10-1909 and hold its throughput against min(CPU rate, Q / park)";
    kernels::command, "kernels":
        "boot other kernels with exact time and check what the command says there; --all for every machine, names limit it";
    library::command, "library":
        "the library as others get it: packages, features, oldest compiler, wasm, loom, CMake, Python, Java; names limit it";
    loom::command, "loom": "try the clock's latch in every order of its threads' memory accesses";
    page::command, "page": "hold the answers of the page against the command's, in Node and in browsers; --all for all machines";
    real_time::command, "real-time": "run the tests that look at real time, each up to three times; none fails, what differs is DISTURBED";
    screens::command, "screens":
        "look at every page in Chromium at four widths: letters, labels, scrolling, accessibility; names limit it";
    sentences::command, "sentences":
        "hold what reports say against their own figures, on every modelled machine and here, or in the files named";
    serve::command, "serve":
        "let a real Prometheus scrape what is served, over restarts, and hold its answers against the result; also rules, dashboard; \
         --otlp pushes to Prometheus 3, --hostile attacks it and ends it, --cost measures CPU, memory and a neighbour's \
         lateness";
    soak::command, "soak": "run a day, a week and 110 days in virtual time: every deadline is counted, memory stays";
    why::cost, "why-cost":
        "what following a program costs it and this machine, and that nothing is lost uncounted; needs root, names limit it";
    why::truth, "why-truth":
        "burn a known time at each stage of a wait and check that why shows it there; needs root, names limit it";
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
    let Some(suite) = SUITES.iter().find(|suite| suite.name == name) else {
        eprintln!("error: no suite is named `{name}`\n\n{}", usage());
        return ExitCode::from(2);
    };
    match (suite.run)(&project_root(), &args[1..]) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn usage() -> String {
    let rows = SUITES.iter().map(|suite| format!("\n  {:<12} {}", suite.name, suite.about));
    format!("usage: cargo prove <suite> [options]\n{}\n", rows.collect::<String>())
}

/// The project's root: the parent of this package. It is read at run time, because the binary may have been compiled in
/// another checkout that shares the target directory.
fn project_root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().unwrap_or(&here).to_path_buf()
}
