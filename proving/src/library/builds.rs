//! Compilers, targets and configurations.

use xtask_tools::{Prerequisites, can_build_for};

use super::{Answer, Context, output, starts, write};

/// The crates that applications build.
const CRATES: [&str; 3] = ["oversleep", "oversleep-async", "oversleep-channel"];

pub fn features(context: &Context) -> Result<Answer, String> {
    for features in ["", "std", "serde", "std,serde"] {
        let check = ["check", "--quiet", "-p", "oversleep", "--no-default-features", "--features", features];
        output(&mut context.cargo(&check))?;
    }
    output(&mut context.cargo(&["test", "--quiet", "-p", "oversleep", "--features", "serde", "--lib", "serialized"]))?;
    Ok(Answer::Holds("std and serde, each alone, both and neither, compile".to_owned()))
}

/// The minimum version in `Cargo.toml`.
pub fn oldest_compiler(context: &Context) -> Result<Answer, String> {
    let manifest = std::fs::read_to_string(context.root.join("Cargo.toml")).map_err(|error| error.to_string())?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \""));
    let version = version.and_then(|rest| rest.split('"').next()).ok_or("Cargo.toml states no rust-version")?;
    let toolchain = format!("+{version}");
    if !starts("rustup", "--version") {
        return Ok(Answer::Skipped("rustup is not installed, so there is one compiler only".to_owned()));
    }
    if output(&mut context.cargo(&[&toolchain, "--version"])).is_err() {
        if !context.may_install {
            return Ok(Answer::Skipped(format!("run `rustup toolchain install {version}`")));
        }
        let mut install = std::process::Command::new("rustup");
        if let Err(reason) = output(install.args(["toolchain", "install", version, "--profile", "minimal"])) {
            let last = reason.lines().last().unwrap_or_default();
            return Ok(Answer::Skipped(format!("`rustup toolchain install {version}` failed: {last}")));
        }
    }
    let mut check =
        context.cargo(&[&toolchain, "check", "--quiet", "-p", "oversleep-capi", "--features", "oversleep/serde"]);
    check
        .args(["-p", "oversleep-cli"])
        .args(CRATES.iter().flat_map(|name| ["-p", name]))
        .env("CARGO_TARGET_DIR", context.scratch.join("target"));
    // The outer toolchain would take precedence over the stated one.
    output(check.env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC").env_remove("CARGO"))?;
    Ok(Answer::Holds(format!("library and command compile with Rust {version}")))
}

/// Calls the C interface of a WebAssembly module from JavaScript.
const PROGRAM: &str = "
const bytes = require('fs').readFileSync(process.argv[2]);
const host = { oversleep: { performance_now: () => performance.now() } };
WebAssembly.instantiate(bytes, host).then(({ instance: { exports } }) => {
    const start = exports.oversleep_clock_now_ns();
    const status = exports.oversleep_sleep_ns(2000000n);
    const duration = exports.oversleep_clock_now_ns() - start;
    console.log(`slept ${duration} ns`);
    process.exit(status === 0 && duration >= 2000000n ? 0 : 1);
});
";

pub fn web_assembly(context: &Context) -> Result<Answer, String> {
    const TARGET: &str = "wasm32-unknown-unknown";
    if let Err(reason) = can_build_for(TARGET, &Prerequisites::new(context.may_install)) {
        return Ok(Answer::Skipped(reason));
    }
    let bare = ["check", "--quiet", "-p", "oversleep", "--no-default-features", "--target", TARGET];
    output(&mut context.cargo(&bare))?;
    let target = context.scratch.join("target");
    let mut build = context.cargo(&["build", "--quiet", "-p", "oversleep-capi", "--target", TARGET]);
    output(build.env("CARGO_TARGET_DIR", &target))?;
    if !starts("node", "--version") {
        return Ok(Answer::Skipped("it compiles, and was not run: node is not installed".to_owned()));
    }
    let program = context.scratch.join("sleep.cjs");
    write(&program, PROGRAM)?;
    let module = target.join(TARGET).join("debug/oversleep_capi.wasm");
    let said = output(std::process::Command::new("node").arg(&program).arg(module))?;
    Ok(Answer::Holds(format!("with performance.now of node it {}", said.trim())))
}

pub fn interleavings(context: &Context) -> Result<Answer, String> {
    let target = context.scratch.join("target");
    let mut test = context.cargo(&["test", "--quiet", "-p", "oversleep", "--test", "loom"]);
    let said = output(test.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target))?;
    let passed = said.lines().find_map(|line| line.strip_prefix("test result: ok. "));
    let passed = passed.and_then(|rest| rest.split(' ').next()).filter(|count| *count != "0");
    let passed = passed.ok_or("no test ran; is `--cfg loom` still known to tests/loom.rs?")?;
    Ok(Answer::Holds(format!("{passed} models of the parker's token hold in every interleaving")))
}
