//! `cargo xtask page`: builds the page for the browser as one file: the crate `oversleep-web` for WebAssembly,
//! rewritten so that modelled threads can switch, packed into the page's own source. The command embeds it, so it is
//! committed; `--check` reports a stale one. `cargo prove page` holds its answers against the command's. It needs Node with
//! npm, which installs Binaryen.
//!
//! WebAssembly can't switch stacks, so `cargo xtask page` rewrites the module with Binaryen's Asyncify: to suspend a
//! carrier, its functions unwind to where it was resumed, and are re-entered later. `carriers/asyncify.rs` keeps their
//! locals and their part of the stack. Functions that never run while a modelled thread switches (those that read,
//! explain or write) are left out, which halves the added size. The page is packed with LZMA, its code in streams
//! (streams.rs), and written in letters of UTF-8, because a server may declare it as that.
//! `crates/oversleep-cli/oversleep.html` is the built page; `cargo xtask page --check` rebuilds and compares it, and `cargo
//! prove page --all` checks the answers of all modelled machines and every form of question against the command in Node, and
//! drives the page in Chromium and Firefox. The code that models run in is optimised for speed, the rest for size.

mod streams;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use lzma_rust2::{LzmaOptions, LzmaWriter};
use xtask_tools::{Prerequisites, can_build_for, generated, target_directory};

const TARGET: &str = "wasm32-unknown-unknown";
/// The path of the page, from the project's root.
const PAGE: &str = "crates/oversleep-cli/oversleep.html";
const SOURCE: &str = "crates/oversleep-web/page";
/// The page's script: its files in the order in which they are joined.
const SCRIPT: &[&str] = &["elements", "tabs", "client", "documents", "results", "question", "answer", "check", "begin"];
/// The output depends on these versions of `wasm-opt` and of what shortens scripts.
const PROGRAMS: [&str; 2] = ["binaryen@132.0.0", "terser@5.51.4"];
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
    *serde*,*toml*,*core*fmt*,_RN*,*miniz*,*base64*,*flate2*,*dlmalloc*,*BTreeMap*,*btree*,*raw_vec*,*zmij*,*clap*,\
    *oversleep_exchange*,*oversleep_request*,*oversleep_distribution*,*ruzstd*";
/// The documented limit.
const BYTES_MAX: usize = 2_000_000;

/// Runs the chore. Exit code 0: written, current, or impossible here with the reason; 1: `--check` found it stale.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    if args.iter().any(|arg| arg == "--sample") {
        return Err("`cargo prove page` holds the page's answers, for a sample of machines or with --all".to_owned());
    }
    let is_check = generated::only_checks("page", args)?;
    if let Err(reason) = can_build_for(TARGET, &Prerequisites::new(true)) {
        println!("SKIPPED: page: {reason}");
        return Ok(ExitCode::SUCCESS);
    }
    let Some(programs) = programs(root) else {
        println!("SKIPPED: page: {} can't be installed; it needs node, npm and its registry", PROGRAMS.join(" and "));
        return Ok(ExitCode::SUCCESS);
    };
    let page = page(root, &programs, &engine(root, &programs)?)?;
    if page.len() > BYTES_MAX {
        return Err(format!("the page has {} bytes, and {BYTES_MAX} are the most", page.len()));
    }
    let path = root.join(PAGE);
    if is_check {
        let is_current = fs::read(&path).is_ok_and(|kept| kept == page.as_bytes());
        println!(
            "{PAGE} is {}",
            if is_current { "current; `cargo prove page` holds its answers" } else { "stale; run `cargo xtask page`" }
        );
        return Ok(ExitCode::from(u8::from(!is_current)));
    }
    fs::write(&path, &page).map_err(|error| format!("{PAGE}: {error}"))?;
    println!("{PAGE}: {} bytes", page.len());
    Ok(ExitCode::SUCCESS)
}

/// The directory of binaryen's and terser's programs, installed if needed.
fn programs(root: &Path) -> Option<PathBuf> {
    let home = target_directory(root).join("page");
    let programs = home.join("node_modules/.bin");
    if !["wasm-opt", "terser"].iter().all(|program| programs.join(program).is_file()) {
        fs::create_dir_all(&home).ok()?;
        let mut npm = Command::new("npm");
        npm.current_dir(&home).args(["install", "--silent", "--no-audit", "--no-fund", "--prefix", "."]).args(PROGRAMS);
        npm.status().ok().filter(|status| status.success())?;
    }
    Some(programs)
}

/// The module, packed.
fn engine(root: &Path, programs: &Path) -> Result<Vec<u8>, String> {
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
    let scratch = target_directory(root).join("page");
    let built = target_directory(root).join(TARGET).join("web/oversleep_web.wasm");
    let wasm_opt = |from: &Path, to: &Path, args: &[&str]| {
        run(Command::new(programs.join("wasm-opt")).args(FEATURES).args(args).arg(from).arg("-o").arg(to))
    };
    let (small, stopping, bare) =
        (scratch.join("small.wasm"), scratch.join("stopping.wasm"), scratch.join("bare.wasm"));
    // Switching begins and ends in `resume`, `run` and `pass`; if they were inlined, they would be rewritten themselves.
    wasm_opt(&built, &small, &["-g", "--no-inline=*carriers*", "-Oz"])?;
    let imports = "--pass-arg=asyncify-imports@none.none";
    wasm_opt(&small, &stopping, &["-g", "--asyncify", imports, &format!("--pass-arg={NEVER_STOPPED}"), "-Oz"])?;
    // Functions of like names are alike: packed, they take 0.2 % less beside each other. So does what merging those that are
    // alike without names leaves to shorten: 0.5 %, for a minute and a half.
    let last = ["--reorder-functions-by-name", "--strip-debug", "--strip-producers", "--merge-similar-functions"];
    wasm_opt(&stopping, &bare, &[&last[..], &["-Oz", "--converge"]].concat())?;
    let module = fs::read(&bare).map_err(|error| format!("{}: {error}", bare.display()))?;
    let module = streams::split(&module)?;
    let length = Some(module.len() as u64);
    // A byte says more about the next than its position does: 0.8 % shorter than the preset.
    let options = LzmaOptions { lc: 4, lp: 0, pb: 0, nice_len: 273, ..LzmaOptions::with_preset(9) };
    let packed = LzmaWriter::new_use_header(Vec::new(), &options, length)
        .and_then(|mut writer| writer.write_all(&module).and_then(|()| writer.finish()))
        .map_err(|error| error.to_string())?;
    Ok(packed)
}

/// How many values a digit of the packed engine has. 125 letters of UTF-8 take a byte each: all but NUL, a carriage return
/// and `<`, which an HTML parser changes or ends at. The 13 digits beyond them share one of the 1,920 letters of two bytes
/// with the digit that follows, so that each digit takes a byte: 7.1 bits of the engine, where base64 has 6.
const DIGITS: u64 = 138;
/// The digits that are a letter of their own.
const LETTERS: u64 = 125;
/// The least number that gives a byte back; with a digit more it still has 31 bits, which browsers are fast with.
const WAITING: u64 = 1 << 23;

/// The bytes in letters that every server and browser keeps. A number takes the bytes and gives digits as it grows; whoever
/// reads takes the digits from the last to the first, and gets the bytes in the same order.
fn letters(bytes: &[u8]) -> String {
    let (mut digits, mut number) = (Vec::with_capacity(bytes.len() * 8 / 7), WAITING / 256);
    for &byte in bytes {
        while number >= WAITING / 256 * DIGITS {
            digits.push(number % DIGITS);
            number /= DIGITS;
        }
        number = number * 256 + u64::from(byte);
    }
    while number > 0 {
        digits.push(number % DIGITS);
        number /= DIGITS;
    }
    let mut text = String::with_capacity(digits.len() + 1);
    let mut digits = digits.into_iter();
    while let Some(digit) = digits.next() {
        let letter = match digit {
            0..LETTERS => [b'\r', b'<'].iter().fold(digit + 1, |at, &no| at + u64::from(at >= u64::from(no))),
            _ => 0x80 + (digit - LETTERS) * DIGITS + digits.next().unwrap_or(0),
        };
        text.extend(u32::try_from(letter).ok().and_then(char::from_u32));
    }
    text
}

fn run(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{command:?} failed")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

/// A document or style without indentation, which nobody reads in the built page.
fn tight(source: &str) -> String {
    source.lines().map(str::trim_start).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// A script that does the same in fewer letters.
fn short(root: &Path, programs: &Path, name: &str, script: &str) -> Result<String, String> {
    let from = target_directory(root).join("page").join(name);
    fs::write(&from, script).map_err(|error| format!("{}: {error}", from.display()))?;
    let ended = Command::new(programs.join("terser")).arg(&from).args(["--compress", "--mangle"]).output();
    match ended {
        Ok(ended) if ended.status.success() => {
            String::from_utf8(ended.stdout).map(|text| text.trim_end().to_owned()).map_err(|error| error.to_string())
        }
        Ok(ended) => Err(format!("terser {name}: {}", String::from_utf8_lossy(&ended.stderr))),
        Err(error) => Err(format!("terser: {error}")),
    }
}

/// The page with its parts in place.
fn page(root: &Path, programs: &Path, engine: &[u8]) -> Result<String, String> {
    let part = |name: &str| {
        fs::read_to_string(root.join(SOURCE).join(name)).map_err(|error| format!("{SOURCE}/{name}: {error}"))
    };
    let mut page = tight(&part("page.html")?);
    let script = SCRIPT.iter().map(|name| part(&format!("script/{name}.js"))).collect::<Result<Vec<_>, _>>()?;
    let parts = [
        ("/*style*/", tight(&part("page.css")?)),
        (
            "/*engine-code*/",
            short(root, programs, "engine.js", &(part("lzma.js")? + &part("streams.js")? + &part("engine.js")?))?,
        ),
        ("/*worker*/", short(root, programs, "worker.js", &part("worker.js")?)?),
        ("/*script*/", short(root, programs, "script.js", &script.join("\n"))?),
        ("/*engine*/", letters(engine)),
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

    /// As in engine.js.
    fn unpacked(text: &str) -> Vec<u8> {
        let digits = text.chars().rev().map(u64::from).flat_map(|letter| match letter {
            0..0x80 => vec![letter - 1 - u64::from(letter > 13) - u64::from(letter > 60)],
            _ => vec![(letter - 0x80) % DIGITS, LETTERS + (letter - 0x80) / DIGITS],
        });
        let (mut bytes, mut number) = (Vec::new(), 0);
        for digit in digits {
            number = number * DIGITS + digit;
            while number >= WAITING {
                bytes.push((number % 256) as u8);
                number /= 256;
            }
        }
        bytes.reverse();
        bytes
    }

    #[test]
    fn letters_hold_every_byte_in_less_than_base64() {
        let bytes: Vec<u8> = (0..60_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 21) as u8).collect();
        for bytes in [&[][..], &[0], &[255], &[60, 13, 0], &[0; 999], &[255; 999], &bytes] {
            let text = letters(bytes);
            assert!(!text.contains(['\0', '\r', '<']));
            assert_eq!(unpacked(&text), bytes);
        }
        let text = letters(&bytes);
        assert!(text.len() * 7108 / 8000 <= bytes.len(), "{} bytes", text.len());
        assert!(text.contains('\u{7f}') && text.contains(|letter| letter > '\u{780}'));
    }
}
