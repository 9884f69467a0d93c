//! `cargo xtask page`: builds the page for the browser as one file: the crate `oversleep-web` for WebAssembly,
//! rewritten so that modelled threads can switch, packed into the page's own source. The command embeds it, so it is
//! committed; `--check` reports a stale one and runs its tests; with `--sample` they check one machine per system. It
//! needs Node with npm, which installs Binaryen.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use lzma_rust2::{LzmaOptions, LzmaWriter};

use crate::cross::{Prerequisites, can_build_for, on_path};

const TARGET: &str = "wasm32-unknown-unknown";
/// The path of the page, from the project's root.
const PAGE: &str = "crates/oversleep-cli/oversleep.html";
const SOURCE: &str = "crates/oversleep-web/page";
/// The page's script: its files in the order in which they are joined.
const SCRIPT: &[&str] = &["elements", "client", "documents", "results", "question", "answer", "check", "begin"];
/// The output depends on this version of `wasm-opt`.
const BINARYEN: &str = "binaryen@132.0.0";
/// The WebAssembly features that rustc's output uses.
const FEATURES: &[&str] = &[
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];
/// Functions that never run while a modelled thread switches: those that read, explain, write or allocate. Excluding
/// them halves the size that the rewriting adds. `_RN` is the prefix of names in the precompiled standard library.
const NEVER_STOPPED: &str = "asyncify-removelist@*oversleep_report*,*oversleep_why*,*oversleep_explain*,*oversleep_record*,\
    *serde*,*toml*,*core*fmt*,_RN*,*miniz*,*base64*,*flate2*,*dlmalloc*,*BTreeMap*,*btree*,*raw_vec*,*zmij*,*clap*";
/// The test of each kind of browser, and the names of its programs.
const BROWSERS: &[(&str, &[&str])] = &[
    ("browser.mjs", &["chromium", "chromium-browser", "google-chrome"]),
    ("firefox.mjs", &["firefox", "firefox-esr"]),
];
/// A recording from `oversleep why`.
const RECORDING: &str = "crates/oversleep-why/tests/recorded/fifo.why";
/// The documented limit.
const BYTES_MAX: usize = 1_500_000;

/// Runs the chore. Exit code 0: written, current, or impossible here with the reason; 1: `--check` found it stale.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let (is_check, is_sample) = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => (false, false),
        ["--check"] => (true, false),
        ["--check", "--sample"] => (true, true),
        _ => return Err(format!("page takes --check, or --check --sample, not `{}`", args.join(" "))),
    };
    if let Err(reason) = can_build_for(TARGET, &Prerequisites::new(true)) {
        println!("SKIPPED: page: {reason}");
        return Ok(ExitCode::SUCCESS);
    }
    let Some(binaryen) = binaryen(root) else {
        println!("SKIPPED: page: {BINARYEN} can't be installed; it needs node, npm and the npm registry");
        return Ok(ExitCode::SUCCESS);
    };
    let page = page(root, &engine(root, &binaryen)?)?;
    if page.len() > BYTES_MAX {
        return Err(format!("the page has {} bytes, and {BYTES_MAX} are the most", page.len()));
    }
    let path = root.join(PAGE);
    if is_check {
        let is_current = fs::read(&path).is_ok_and(|kept| kept == page.as_bytes());
        println!("{PAGE} is {}", if is_current { "current" } else { "stale; run `cargo xtask page`" });
        let is_right = tested(root, &page, is_sample)?;
        return Ok(ExitCode::from(u8::from(!is_current || !is_right)));
    }
    fs::write(&path, &page).map_err(|error| format!("{PAGE}: {error}"))?;
    println!("{PAGE}: {} bytes", page.len());
    Ok(ExitCode::SUCCESS)
}

/// Runs the page's own tests: every answer is compared with the command's, and the page is driven in a browser if there is
/// one.
fn tested(root: &Path, page: &str, is_sample: bool) -> Result<bool, String> {
    let scratch = root.join("target/page");
    let built = scratch.join("built.html");
    fs::write(&built, page).map_err(|error| format!("{}: {error}", built.display()))?;
    let command = crate::built::release(root)?;
    let node = |test: &str| {
        let mut node = Command::new("node");
        node.current_dir(root).arg(root.join(SOURCE).join("test").join(test)).arg(&built);
        node
    };
    let mut is_right = succeeds(
        node("identity.mjs").arg(&command).arg(root.join("schema/golden")).args(is_sample.then_some("--sample")),
    )?;
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
    Ok(is_right)
}

fn succeeds(command: &mut Command) -> Result<bool, String> {
    command.status().map(|status| status.success()).map_err(|error| format!("{command:?}: {error}"))
}

/// The directory of binaryen's programs, installed if needed.
fn binaryen(root: &Path) -> Option<PathBuf> {
    let home = root.join("target/page");
    let programs = home.join("node_modules/binaryen/bin");
    if !programs.join("wasm-opt").is_file() && !programs.join("wasm-opt.js").is_file() {
        fs::create_dir_all(&home).ok()?;
        let mut npm = Command::new("npm");
        npm.current_dir(&home).args(["install", "--silent", "--no-audit", "--no-fund", "--prefix", ".", BINARYEN]);
        npm.status().ok().filter(|status| status.success())?;
    }
    Some(home.join("node_modules/.bin"))
}

/// The module, packed.
fn engine(root: &Path, binaryen: &Path) -> Result<Vec<u8>, String> {
    let cargo_home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    // Messages of panics contain file names; the locations of this tree and of external crates must not change the page.
    let mut flags = format!("-C link-arg=--export=__stack_pointer --remap-path-prefix={}=.", root.display());
    if let Some(home) = cargo_home {
        flags += &format!(" --remap-path-prefix={}=cargo", home.display());
    }
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).env("RUSTFLAGS", flags).env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo.args(["build", "--quiet", "-p", "oversleep-web", "--lib", "--profile", "web", "--target", TARGET]);
    run(&mut cargo)?;
    let scratch = root.join("target/page");
    let built = root.join("target").join(TARGET).join("web/oversleep_web.wasm");
    let wasm_opt = |from: &Path, to: &Path, args: &[&str]| {
        run(Command::new(binaryen.join("wasm-opt")).args(FEATURES).args(args).arg(from).arg("-o").arg(to))
    };
    let (small, stopping, bare) =
        (scratch.join("small.wasm"), scratch.join("stopping.wasm"), scratch.join("bare.wasm"));
    // Switching begins and ends in `resume`, `run` and `pass`; if they were inlined, they would be rewritten themselves.
    wasm_opt(&built, &small, &["-g", "--no-inline=*carriers*", "-Oz"])?;
    let imports = "--pass-arg=asyncify-imports@none.none";
    wasm_opt(&small, &stopping, &["-g", "--asyncify", imports, &format!("--pass-arg={NEVER_STOPPED}"), "-Oz"])?;
    wasm_opt(&stopping, &bare, &["--strip-debug", "--strip-producers"])?;
    let module = fs::read(&bare).map_err(|error| format!("{}: {error}", bare.display()))?;
    let length = Some(module.len() as u64);
    let packed = LzmaWriter::new_use_header(Vec::new(), &LzmaOptions::with_preset(9), length)
        .and_then(|mut writer| writer.write_all(&module).and_then(|()| writer.finish()))
        .map_err(|error| error.to_string())?;
    Ok(packed)
}

/// Seven bits per character: a sixth shorter than base64 in UTF-8, and unambiguous for every server and browser.
/// Characters that an HTML parser changes or ends at (NUL, a carriage return, `<`) are shifted by 128.
fn seven_bits(bytes: &[u8]) -> String {
    let (mut text, mut bits, mut count) = (String::with_capacity(bytes.len() * 6 / 5), 0_u32, 0);
    let mut put = |seven: u32| {
        let seven = (seven & 0x7f) as u8;
        text.push(char::from(if matches!(seven, 0 | b'\r' | b'<') { seven + 0x80 } else { seven }));
    };
    for &byte in bytes {
        bits = bits << 8 | u32::from(byte);
        count += 8;
        while count >= 7 {
            count -= 7;
            put(bits >> count);
        }
        bits &= (1 << count) - 1;
    }
    if count > 0 {
        put(bits << (7 - count));
    }
    text
}

fn run(command: &mut Command) -> Result<(), String> {
    if succeeds(command)? { Ok(()) } else { Err(format!("{command:?} failed")) }
}

/// The page with its parts in place.
fn page(root: &Path, engine: &[u8]) -> Result<String, String> {
    let part = |name: &str| {
        fs::read_to_string(root.join(SOURCE).join(name)).map_err(|error| format!("{SOURCE}/{name}: {error}"))
    };
    let mut page = part("page.html")?;
    let script = SCRIPT.iter().map(|name| part(&format!("script/{name}.js"))).collect::<Result<Vec<_>, _>>()?;
    let parts = [
        ("/*style*/", part("page.css")?.trim_end().to_owned()),
        ("/*engine-code*/", (part("lzma.js")? + &part("engine.js")?).trim_end().to_owned()),
        ("/*worker*/", part("worker.js")?.trim_end().to_owned()),
        ("/*script*/", script.join("\n").trim_end().to_owned()),
        ("/*engine*/", seven_bits(engine)),
    ];
    for (place, text) in parts {
        if page.matches(place).count() != 1 {
            return Err(format!("{SOURCE}/page.html has no one place {place}"));
        }
        if text.contains("</script") || text.contains("</style") {
            return Err(format!("what belongs at {place} would end the element that it is in"));
        }
        page = page.replace(place, &text);
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_bits_a_letter_hold_every_byte() {
        let bytes: Vec<u8> = (0..=255).chain([0, 0, 255]).collect();
        let text = seven_bits(&bytes);
        assert!(!text.contains(['\0', '\r', '<']));
        // Decodes as in engine.js.
        let (mut back, mut bits, mut count) = (Vec::new(), 0_u32, 0);
        for letter in text.chars() {
            bits = bits << 7 | (u32::from(letter) & 0x7f);
            count += 7;
            if count >= 8 {
                count -= 8;
                back.push((bits >> count) as u8);
                bits &= (1 << count) - 1;
            }
        }
        assert_eq!(back, bytes);
    }
}
