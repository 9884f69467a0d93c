//! Every call to the operating system stands in `PLATFORM.md`, with why it is made and since when it is there. The calls
//! are `libc::name(…)`, `SYS_name`, functions imported from `windows_sys` and functions declared in `extern` blocks, below
//! `platform/` and `sys/`.

use std::collections::BTreeMap;

use super::Check;
use super::arrows::is_os_room;
use super::finding::Findings;
use super::rust::{Source, is_word_char};
use super::tree::Tree;

pub const CHECK: Check = Check { name: "os-calls", about: "PLATFORM.md names every call to the system", run };

const PAGE: &str = "PLATFORM.md";

fn run(tree: &Tree, findings: &mut Findings) {
    let page = tree.get(PAGE).map_or("", |file| &file.text);
    let documented = |name: &str| page.split(|c| !is_word_char(c)).any(|word| word == name);
    let mut first_uses = BTreeMap::new();
    let sources = tree.rust_files().filter(|file| {
        let test_code = file.path.split('/').any(|part| part == "tests" || part == "tests.rs");
        file.path.starts_with("crates/") && is_os_room(&file.path) && !test_code
    });
    for file in sources {
        for (name, line) in calls(file.source()) {
            first_uses.entry(name).or_insert((file.path.as_str(), line));
        }
    }
    for (name, (path, line)) in first_uses {
        if !documented(&name) && !documented(&format!("SYS_{name}")) {
            let remedy = format!("add the call, why it is made and its minimum version to {PAGE}");
            findings.add(path, line, format!("{PAGE} doesn't name `{name}`"), remedy);
        }
    }
}

/// The names called, with the line of each call.
fn calls(source: &Source) -> Vec<(String, usize)> {
    let tokens = &source.tokens;
    let windows = imported_from_windows(source);
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        // `SYS_NICE` is a capability's name; the numbers of system calls are in small letters.
        let number = token.text.strip_prefix("SYS_").filter(|name| name.chars().any(char::is_lowercase));
        if let Some(name) = number {
            found.push((name.to_owned(), token.line));
        } else if source.reads(i, &["libc", "::"]) {
            let Some(name) = tokens.get(i + 2).filter(|_| source.reads(i + 3, &["("])) else { continue };
            // `libc::CPU_SET(…)` and the like are C macros: no call is made.
            if name.text.chars().any(char::is_lowercase) && !is_in_memory(&name.text) {
                found.push((name.text.clone(), name.line));
            }
        } else if windows.contains(&token.text.as_str()) && source.reads(i + 1, &["("]) {
            found.push((token.text.clone(), token.line));
        } else if token.is("extern") && source.reads(i + 1, &["\"", "\"", "{"]) {
            let body = i + 3..source.past_closing(i + 3);
            let names = body.filter(|&at| tokens[at].is("fn")).filter_map(|at| tokens.get(at + 1));
            found.extend(names.map(|name| (name.text.clone(), name.line)));
        }
    }
    found
}

/// What a file imports from the bindings of Windows; those of its names that are called are calls.
fn imported_from_windows(source: &Source) -> Vec<&str> {
    let tokens = &source.tokens;
    let mut names = Vec::new();
    for i in (0..tokens.len()).filter(|&i| source.reads(i, &["use", "windows_sys"])) {
        let tree = tokens[i..].iter().take_while(|token| !token.is(";"));
        names.extend(tree.map(|token| token.text.as_str()).filter(|name| name.starts_with(char::is_alphabetic)));
    }
    names
}

/// Functions of libc that only read or build a value in memory.
fn is_in_memory(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "__errno_location",
        "major",
        "makedev",
        "minor",
        "sigaddset",
        "sigdelset",
        "sigemptyset",
        "sigfillset",
        "sigismember",
        "strerror_r",
        "strlen",
    ];
    NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::said;

    const ROOM: &str = "crates/oversleep/src/sys/linux.rs";

    #[test]
    fn calls_missing_from_the_page_are_named_once() {
        let text =
            "fn f() {\n    libc::nanosleep(a, b);\n    libc::nanosleep(a, b);\n    libc::syscall(libc::SYS_futex);\n}";
        assert_eq!(
            said(&CHECK, &[(ROOM, text)]),
            [
                format!("{ROOM}:2: PLATFORM.md doesn't name `nanosleep`"),
                format!("{ROOM}:4: PLATFORM.md doesn't name `futex`"),
                format!("{ROOM}:4: PLATFORM.md doesn't name `syscall`"),
            ]
        );
        let page = (PAGE, "| `nanosleep(2)` | sleeps |\n| `futex` through `syscall` |\n");
        assert!(said(&CHECK, &[(ROOM, text), page]).is_empty());
        assert_eq!(said(&CHECK, &[(ROOM, text), (PAGE, "clock_nanosleep, futex_waitv, syscall")]).len(), 2);
    }

    #[test]
    fn declared_functions_count_and_what_stays_in_memory_does_not() {
        let text = "unsafe extern \"C\" {\n    fn mach_wait_until(t: u64) -> i32;\n}\nfn f() { libc::CPU_SET(0, s); libc::sigemptyset(m); SYS_NICE }";
        assert_eq!(said(&CHECK, &[(ROOM, text)]), [format!("{ROOM}:2: PLATFORM.md doesn't name `mach_wait_until`")]);
    }

    #[test]
    fn calls_of_windows_are_those_imported_from_its_bindings() {
        let text = "use windows_sys::Win32::System::Threading::{\n    GetCurrentThread, INFINITE,\n};\n\
                    fn f() {\n    own(GetCurrentThread(), INFINITE);\n}";
        let path = "crates/oversleep-lab/src/platform/windows/os.rs";
        assert_eq!(said(&CHECK, &[(path, text)]), [format!("{path}:5: PLATFORM.md doesn't name `GetCurrentThread`")]);
        assert!(said(&CHECK, &[(path, text), (PAGE, "`GetCurrentThread`")]).is_empty());
    }

    #[test]
    fn only_the_products_own_calls_count() {
        let text = "fn f() { libc::kill(1, 2) }";
        for path in ["benches/sys/a.rs", "crates/oversleep/tests/sys/a.rs", "crates/oversleep/src/clock.rs"] {
            assert!(said(&CHECK, &[(path, text)]).is_empty(), "{path}");
        }
    }
}
