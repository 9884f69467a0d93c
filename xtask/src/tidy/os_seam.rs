//! Only the places in [`OS_PLACES`](crate::arrows::OS_PLACES) depend on the operating system; everything else is the
//! same code everywhere, and runs on modelled machines too. A condition on the system, a binding to it or a processor's
//! own instruction anywhere else would be a second seam.

use super::Check;
use super::finding::Findings;
use super::paths;
use crate::arrows::{ARCH_PLACES, is_in, is_os_place};
use crate::tree::Tree;

pub const CHECK: Check =
    Check { name: "os-seam", about: "only oversleep-native and sys/ know the system and the processor", run };

const OS_CONDITIONS: &[&str] = &["target_os", "windows", "unix", "target_family", "target_env", "target_vendor"];
const ARCH_CONDITIONS: &[&str] = &["target_arch", "target_feature"];
const OS_PATHS: &[&[&str]] = &[&["libc"], &["windows_sys"], &["nix"], &["rustix"], &["std", "os"]];
const ARCH_PATHS: &[&[&str]] = &[&["std", "arch"], &["core", "arch"], &["raw_cpuid"]];
const REMEDY: &str = "move it to oversleep-native (laboratory) or sys/ (library) and go through their interface";
const REMEDY_IN_TESTS: &str = "move a test of one system to tests/sys/ or tests/platform/";
/// The one constant of the build that doesn't name the system.
const ARCH_CONSTANT: &str = "ARCH";
/// The variables by which a build script learns the system.
const BUILD_VARIABLES: &[&str] =
    &["CARGO_CFG_TARGET_", "CARGO_CFG_WINDOWS", "CARGO_CFG_UNIX", "\"TARGET\"", "\"HOST\""];

fn run(tree: &Tree, findings: &mut Findings) {
    for file in tree.rust_files() {
        if !file.path.starts_with("crates/") || is_os_place(&file.path) {
            continue;
        }
        let remedy = if file.path.contains("/tests/") { REMEDY_IN_TESTS } else { REMEDY };
        let arch_is_fine = is_in(&file.path, ARCH_PLACES);
        let source = file.source();
        for (i, token) in source.tokens.iter().enumerate() {
            let open = match () {
                () if !["cfg", "cfg_attr", "cfg_select"].iter().any(|name| token.is(name)) => continue,
                () if source.reads(i + 1, &["("]) => i + 1,
                () if ["(", "[", "{"].iter().any(|open| source.reads(i + 1, &["!", open])) => i + 2,
                () => continue,
            };
            // Only the condition of a `cfg_attr` matters, but an attribute's own words don't collide with these.
            for word in &source.tokens[open..source.past_closing(open)] {
                let text = word.text.as_str();
                if OS_CONDITIONS.contains(&text) || (ARCH_CONDITIONS.contains(&text) && !arch_is_fine) {
                    findings.add(&file.path, word.line, format!("a condition on `{text}`"), remedy);
                } else if text == "$" {
                    findings.add(&file.path, word.line, "a condition that a macro is given", remedy);
                    break;
                }
            }
        }
        for (at, line) in file.text.lines().enumerate() {
            let is_comment = |name: &str| source.comments.lines().nth(at).is_some_and(|text| text.contains(name));
            if let Some(name) = BUILD_VARIABLES.iter().find(|name| line.contains(**name) && !is_comment(name)) {
                findings.add(&file.path, at + 1, format!("a build script reads `{name}`"), remedy);
            }
        }
        for path in paths::uses(source, &[]) {
            let begins = |starts: &[&[&str]]| {
                let mut starts = starts.iter();
                starts.any(|s| path.segments.len() >= s.len() && path.segments.iter().zip(*s).all(|(a, b)| a == b))
            };
            if names_the_system(&path.segments) {
                findings.add(&file.path, path.line, "the name of the system is read", remedy);
            }
            if begins(OS_PATHS) || (begins(ARCH_PATHS) && !arch_is_fine) {
                findings.add(&file.path, path.line, format!("`{}` used", path.segments.join("::")), remedy);
            }
        }
    }
}

/// Whether it is a constant of `std::env::consts` other than the processor's, or all of them by an alias.
fn names_the_system(path: &[String]) -> bool {
    let Some(at) = path.iter().position(|part| part == "consts") else { return false };
    // `std::f64::consts` and the like are numbers.
    let is_env = at == 0 || path[at - 1] == "env";
    is_env && path.get(at + 1).is_none_or(|name| name != ARCH_CONSTANT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    #[test]
    fn conditions_outside_the_seam_are_found() {
        let path = "crates/oversleep-measure/src/waits.rs";
        for text in [
            "#[cfg(target_os = \"linux\")]",
            "#[cfg(any(test, not(unix)))]",
            "#![cfg_attr(windows, allow(x))]",
            "fn f() { if cfg!(windows) {} }",
            "#[cfg(target_arch = \"x86_64\")]",
            "#[cfg(target_family = \"unix\")]",
            "use std::os::fd::AsRawFd;",
            "fn f() { libc::getpid(); }",
            "use std::arch::asm;",
            "fn f() { if cfg![windows] {} }",
            "fn f() { if cfg! { target_os = \"macos\" } {} }",
            "fn f() -> bool { std::env::consts::OS == \"windows\" }",
            "use std::env::consts::{ARCH, FAMILY};",
            "use std::env::consts::*;",
            "macro_rules! only { ($($c:tt)*) => { #[cfg($($c)*)] fn f() {} } }",
            "fn main() { std::env::var(\"CARGO_CFG_TARGET_OS\"); }",
            "fn main() { std::env::var(\"TARGET\"); }",
            "fn f() -> u8 { cfg_select! { windows => { 1 } _ => { 2 } } }",
            "fn f() -> bool { std::env::consts::EXE_SUFFIX == \".exe\" }",
            "use std::env::consts as c;",
        ] {
            assert_eq!(found_by(&CHECK, &[(path, text)]).len(), 1, "{text}");
            // The name alone doesn't make it a permitted place.
            let named = path.replace("src/", "src/sys/");
            assert_eq!(found_by(&CHECK, &[(&named, text)]).len(), 1, "{named}: {text}");
            for fine in ["crates/oversleep-native/src/linux/a.rs", "crates/oversleep/src/sys/mod.rs", "benches/a.rs"] {
                assert!(found_by(&CHECK, &[(fine, text)]).is_empty(), "{fine}: {text}");
            }
        }
    }

    #[test]
    fn other_conditions_are_fine() {
        let text = "#[cfg(test)]\nmod tests {}\n#[cfg(feature = \"unix\")]\nfn unix() {}\n// cfg(unix), CARGO_CFG_TARGET_OS\nuse std::fmt;\n\
                    use std::env::consts::ARCH;\nuse std::f64::consts::PI;";
        assert!(found_by(&CHECK, &[("crates/oversleep-record/src/lib.rs", text)]).is_empty());
    }

    #[test]
    fn the_librarys_clock_knows_the_processor_but_not_the_system() {
        let path = "crates/oversleep/src/clock/tsc.rs";
        assert!(
            found_by(&CHECK, &[(path, "#[cfg(target_arch = \"x86_64\")]\nuse core::arch::x86_64::_rdtsc;")]).is_empty()
        );
        assert_eq!(
            found_by(&CHECK, &[(path, "#[cfg(all(unix, target_arch = \"x86_64\"))]")]),
            [format!("{path}:1: a condition on `unix`")]
        );
    }
}
