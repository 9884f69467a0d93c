//! `cargo prove page`: the committed page in the browser answers as the command does, byte for byte, in Node; then it is
//! driven in the browsers that are here. It checks one machine per system, or all with `--all`. `cargo xtask page --check`
//! says whether the committed page is that of the source.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use xtask_tools::{on_path, target_directory};

/// The path of the page, from the project's root.
pub const PAGE: &str = "crates/oversleep-cli/oversleep.html";
/// The programs for Node.
pub const TESTS: &str = "proving/page";
/// The test of each kind of browser, and the names of its programs.
pub const BROWSERS: &[(&str, &[&str])] = &[
    ("browser.mjs", &["chromium", "chromium-browser", "google-chrome"]),
    ("firefox.mjs", &["firefox", "firefox-esr"]),
];
/// A recording from `oversleep why`.
pub const RECORDING: &str = "crates/oversleep-why/tests/recorded/fifo.why";

/// Exit code 0: every answer is the command's, or Node is missing; 1: one isn't.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let is_whole = match args {
        [] => false,
        [one] if one == "--all" => true,
        _ => return Err(format!("page takes --all, not `{}`", args.join(" "))),
    };
    if on_path("node").is_none() {
        println!("SKIPPED: page: node is not installed");
        return Ok(ExitCode::SUCCESS);
    }
    let scratch = target_directory(root).join("proving/page");
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let command = crate::built::release(root)?;
    let node = |test: &str| {
        let mut node = Command::new("node");
        node.current_dir(root).arg(root.join(TESTS).join(test)).arg(root.join(PAGE));
        node
    };
    let mut identity = node("identity.mjs");
    identity.arg(&command).arg(root.join("schema/golden")).args((!is_whole).then_some("--sample"));
    let mut is_right = succeeds(&mut identity)?;
    let mut results = Vec::new();
    for machine in ["linux-hz250", "windows-11"] {
        let result = scratch.join(format!("{machine}.json"));
        let mut check = Command::new(&command);
        check.args(["check", "--quick", "--quiet", "--on", machine, "--out"]).arg(&result);
        run(check.arg("--html").arg(scratch.join("unused.html")).stdout(Stdio::null()))?;
        results.push(result);
    }
    let why = scratch.join("why.json");
    let mut replayed = Command::new(&command);
    replayed.current_dir(root).args(["why", RECORDING, "--quiet", "--out"]).arg(&why);
    run(replayed.stdout(Stdio::null()))?;
    results.push(why);
    for (test, browsers) in BROWSERS {
        match browsers.iter().find(|name| on_path(name).is_some()) {
            None => println!("SKIPPED: the page in a browser: {} is not installed", browsers[0]),
            Some(browser) => is_right &= succeeds(node(test).arg(browser).args(&results))?,
        }
    }
    Ok(ExitCode::from(u8::from(!is_right)))
}

pub fn succeeds(command: &mut Command) -> Result<bool, String> {
    command.status().map(|status| status.success()).map_err(|error| format!("{command:?}: {error}"))
}

pub fn run(command: &mut Command) -> Result<(), String> {
    if succeeds(command)? { Ok(()) } else { Err(format!("{command:?} failed")) }
}
