//! `cargo prove screens`: every kind of page in a real Chromium at four widths, light and dark, as pictures, and held to
//! what a page owes to its reader (`page/screens.mjs` says what). The pages are of modelled machines and of a recording, so
//! they are the same everywhere. Pictures are in the target directory; `--pictures DIR` puts them elsewhere, names limit
//! the pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use xtask_tools::{on_path, target_directory};

use crate::page::{BROWSERS, PAGE, RECORDING, TESTS, run, succeeds};

/// The checks of accessibility, and the version in which they are judged. It is fetched where npm can.
const AXE: (&str, &str) = ("axe-core", "4.14.1");

/// Each page and the command that writes it; `HTML` stands for its path, `OUT` for the path of its result.
const PAGES: &[(&str, &[&str])] = &[
    ("check", &["check", "--quick", "--quiet", "--on", "windows-11", "--out", "OUT", "--html", "HTML"]),
    ("check-linux", &["check", "--quick", "--quiet", "--on", "linux-hz250", "--out", "OUT", "--html", "HTML"]),
    ("compare", &["compare", "check.json", "check-linux.json", "--html", "HTML"]),
    ("runtimes", &["runtimes", "--quiet", "--on", "windows-11", "--html", "HTML"]),
    ("why", &["why", "RECORDING", "--quiet", "--html", "HTML"]),
    ("ask", &["ask", "sleep(1ms)", "--on", "windows-11,linux-hz250,macos-14-m1", "--html", "HTML"]),
];

/// Exit code 0: no page has a fault, or Chromium or Node is missing; 1: one has.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let scratch = target_directory(root).join("proving/screens");
    let (pictures, names) = match args {
        [option, directory, names @ ..] if option == "--pictures" => (PathBuf::from(directory), names),
        names => (scratch.join("pictures"), names),
    };
    let known =
        |name: &&String| ["archive", "page"].contains(&name.as_str()) || PAGES.iter().any(|(known, _)| known == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        return Err(format!("screens has no page `{unknown}`"));
    }
    let browser = BROWSERS[0].1.iter().find(|name| on_path(name).is_some());
    let (Some(browser), Some(_)) = (browser, on_path("node")) else {
        println!("SKIPPED: screens: chromium or node is not installed");
        return Ok(ExitCode::SUCCESS);
    };
    fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let command = crate::built::debug(root)?;
    let mut pages = Vec::new();
    for (name, words) in PAGES {
        let page = scratch.join(format!("{name}.html"));
        let word = |word: &&str| match *word {
            "HTML" => page.clone(),
            "OUT" => scratch.join(format!("{name}.json")),
            "RECORDING" => root.join(RECORDING),
            word => PathBuf::from(word),
        };
        run(Command::new(&command).current_dir(&scratch).args(words.iter().map(word)).stdout(Stdio::null()))?;
        pages.push((*name, page));
    }
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    if is_wanted("archive") {
        let page = scratch.join("archive.html");
        crate::built::fleet_page(root, &page)?;
        pages.push(("archive", page));
    }
    let in_browser = scratch.join("page.html");
    fs::copy(root.join(PAGE), &in_browser).map_err(|error| format!("{PAGE}: {error}"))?;
    pages.push(("page", in_browser));
    let mut judge = Command::new("node");
    judge.arg(root.join(TESTS).join("screens.mjs")).arg(browser).arg(&pictures).arg(axe(&scratch));
    let is_right = succeeds(judge.args(pages.into_iter().filter(|(name, _)| is_wanted(name)).map(|(_, page)| page)))?;
    println!("pictures: {}", pictures.display());
    Ok(ExitCode::from(u8::from(!is_right)))
}

/// The script of the checks of accessibility; empty where npm doesn't get it.
fn axe(scratch: &Path) -> PathBuf {
    let (name, version) = AXE;
    let script = scratch.join(format!("{name}-{version}.js"));
    let archive = scratch.join(format!("{name}-{version}.tgz"));
    if !script.is_file() && on_path("npm").is_some() {
        let package = format!("{name}@{version}");
        let mut npm = Command::new("npm");
        npm.current_dir(scratch).args(["pack", "--silent", &package]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut tar = Command::new("tar");
        tar.arg("-xzOf").arg(&archive).arg("package/axe.min.js").stderr(Stdio::null());
        if succeeds(&mut npm).is_ok_and(|is_there| is_there) {
            let unpacked = tar.output().ok().filter(|output| output.status.success());
            _ = unpacked.map(|output| fs::write(&script, output.stdout));
        }
    }
    if script.is_file() {
        return script;
    }
    println!("SKIPPED: screens: accessibility isn't checked, because npm didn't get {name} {version}");
    PathBuf::new()
}
