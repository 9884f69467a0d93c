//! Every call to the operating system is in `xtask/platform/`, in a table of its system; its entry has the reason, the
//! first version and the page. Calls are functions of `libc` and `windows_sys` by any path, alias or import, `SYS_name`,
//! functions declared in `extern` blocks, and functions looked up by name (`c"name"`), in `oversleep-native` and `sys/`.

use std::collections::BTreeMap;
use std::ops::Range;

use xtask_tools::platform::{self, FOLDER};

use super::Check;
use super::call_tables::{CallTables, place};
use super::finding::Findings;
use crate::arrows::is_os_place;
use crate::rust::{Source, is_word_char};
use crate::tree::{File, Tree};

pub const CHECK: Check = Check {
    name: "os-calls",
    about: "xtask/platform/ names every call to the system, with reason, version and page",
    run,
};

/// One call: its name, and its place.
struct Call {
    name: String,
    line: usize,
    on_linux_alone: bool,
}

fn run(tree: &Tree, findings: &mut Findings) {
    let (tables, faults) = platform::read(tree.texts());
    for fault in faults {
        findings.add(&fault.path, fault.line, fault.what, "complete the entry, as CONTRIBUTING.md shows");
    }
    let tables = CallTables::new(&tables);
    let sources = tree.rust_files().filter(|file| {
        let test_code = file.path.split('/').any(|part| part == "tests" || part == "tests.rs");
        file.path.starts_with("crates/") && is_os_place(&file.path) && !test_code
    });
    // A name that is missing in a system's tables is reported once per system.
    let mut reported = BTreeMap::new();
    for file in sources {
        for call in calls(file) {
            if let Some(group) = tables.lack(&file.path, &call.name, call.on_linux_alone) {
                reported.entry((place(&file.path), call.name)).or_insert((file.path.as_str(), call.line, group));
            }
        }
    }
    for ((_, name), (path, line, group)) in reported {
        let group: Vec<String> = group.iter().map(|table| format!("{FOLDER}{table}")).collect();
        let remedy = format!("add an entry to a table of {}", group.join(", "));
        findings.add(path, line, format!("{FOLDER} doesn't name `{name}`"), remedy);
    }
}

/// The calls a file makes.
fn calls(file: &File) -> Vec<Call> {
    let source = file.source();
    let linux = linux_alone(file);
    let mut found = names_of_calls(source);
    found.extend(looked_up(file));
    let on_linux_alone = |line: usize| linux.iter().any(|lines| lines.contains(&line));
    found.into_iter().map(|(name, line)| Call { on_linux_alone: on_linux_alone(line), name, line }).collect()
}

/// The names of the functions that are called, with the line of each call.
fn names_of_calls(source: &Source) -> Vec<(String, usize)> {
    let tokens = &source.tokens;
    let bound = imported(source);
    let mut found = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        // `SYS_NICE` is the name of a capability; the numbers of system calls are in lower case.
        let number = token.text.strip_prefix("SYS_").filter(|name| name.chars().any(char::is_lowercase));
        let own_name = bound.get(token.text.as_str());
        if let Some(name) = number {
            found.push((name.to_owned(), token.line));
        } else if i > 0 && (tokens[i - 1].is("::") || tokens[i - 1].is(".") || tokens[i - 1].is("fn")) {
            // The path was already read from its beginning; a method or a definition only shares the name.
        } else if is_binding(&token.text) || own_name.is_some() {
            let end = path_end(source, i);
            let is_call = source.reads(end + 1, &["("]);
            let Some(name) = tokens.get(end).filter(|_| is_call || is_value(source, i, end)) else { continue };
            let name = own_name.filter(|_| end == i).map_or(name.text.as_str(), String::as_str);
            if is_function(name) {
                found.push((name.to_owned(), tokens[end].line));
            }
        } else if token.is("extern") && source.reads(i + 1, &["\"", "\"", "{"]) {
            let body = i + 3..source.past_closing(i + 3);
            let names = body.filter(|&at| tokens[at].is("fn")).filter_map(|at| tokens.get(at + 1));
            found.extend(names.map(|name| (name.text.clone(), name.line)));
        }
    }
    found
}

fn is_binding(word: &str) -> bool {
    matches!(word, "libc" | "windows_sys")
}

/// `libc::CPU_SET(…)` and the like are C macros and make no call; constructors of types don't, either.
fn is_function(name: &str) -> bool {
    const OF_TYPES: &[&str] = &["default", "from", "from_u128", "try_from", "zeroed"];
    name.chars().any(char::is_lowercase) && !is_in_memory(name) && !OF_TYPES.contains(&name)
}

/// Whether the path is used as a value, passed on or bound, so that the function is called elsewhere. Types of
/// arguments look similar; those of libc are known by their names.
fn is_value(source: &Source, begin: usize, end: usize) -> bool {
    let is_any =
        |at: usize, signs: &[&str]| source.tokens.get(at).is_some_and(|token| signs.contains(&token.text.as_str()));
    let name = source.tokens[end].text.as_str();
    // Numbers of calls are handled elsewhere; the others are types of libc and values of Windows enumerations.
    let is_other = ["c_", "SYS_", "Relation", "ProcessorInformation"].iter().any(|begin| name.starts_with(begin));
    let is_type = is_other || name.ends_with("_t") || name == "sched_param";
    let in_import = source.tokens[..begin].iter().rev().find(|token| token.is("use") || token.is(";"));
    let is_imported = in_import.is_some_and(|token| token.is("use"));
    !is_type
        && !is_imported
        && begin > 0
        && is_any(begin - 1, &["=", "(", ",", "!", "{"])
        && is_any(end + 1, &[";", ")", ",", "}"])
}

/// The index of the last word of the path that begins at `at`.
fn path_end(source: &Source, mut at: usize) -> usize {
    while source.reads(at + 1, &["::"]) && source.tokens.get(at + 2).is_some_and(|token| token.is_word()) {
        at += 2;
    }
    at
}

/// The file's imports from the bindings, by their local names.
fn imported(source: &Source) -> BTreeMap<&str, String> {
    let tokens = &source.tokens;
    let mut names = BTreeMap::new();
    for i in (0..tokens.len()).filter(|&i| tokens[i].is("use")) {
        let tree: Vec<_> = tokens[i + 1..].iter().take_while(|token| !token.is(";")).collect();
        if !tree.iter().any(|token| is_binding(&token.text)) {
            continue;
        }
        for (at, token) in tree.iter().enumerate().filter(|(_, token)| token.text.starts_with(char::is_alphabetic)) {
            let own = if at >= 2 && tree[at - 1].is("as") { &tree[at - 2].text } else { &token.text };
            names.insert(token.text.as_str(), own.clone());
        }
    }
    names
}

/// Names of looked-up functions: C strings of that form, except in tests.
fn looked_up(file: &File) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, (text, code)) in file.text.lines().zip(file.source().code.lines()).enumerate() {
        if text.trim_start().starts_with("#[cfg(test)]") {
            break;
        }
        let (text, code): (Vec<char>, Vec<char>) = (text.chars().collect(), code.chars().collect());
        for start in (0..code.len()).filter(|&i| code[i..].starts_with(&['c', '"'])) {
            let begins_a_word = start == 0 || !is_word_char(code[start - 1]);
            let literal: String = text[start + 2..].iter().take_while(|&&c| c != '"').collect();
            let is_name =
                literal.starts_with(|c: char| c.is_alphabetic() || c == '_') && literal.chars().all(is_word_char);
            if begins_a_word && is_name {
                found.push((literal, at + 1));
            }
        }
    }
    found
}

/// The lines that only Linux compiles: items under exactly that condition.
fn linux_alone(file: &File) -> Vec<Range<usize>> {
    let source = file.source();
    let lines: Vec<&str> = file.text.lines().collect();
    let is_attribute = |line: &str| {
        let line = line.trim_start();
        line.starts_with("#[cfg(target_os = \"linux\")]")
            || line.starts_with("#[cfg(all(test, target_os = \"linux\"))]")
    };
    let begins = (0..lines.len()).filter(|&at| is_attribute(lines[at])).map(|at| at + 1);
    begins
        .filter_map(|begin| {
            let open = source.tokens.iter().position(|token| token.line > begin && token.is("{"))?;
            let last = source.tokens.get(source.past_closing(open) - 1)?;
            Some(begin..last.line + 1)
        })
        .collect()
}

/// Functions of libc that only read or build a value in memory.
const IN_MEMORY: &str = "__errno_location major makedev minor sigaddset sigdelset sigemptyset sigfillset sigismember \
                         strerror_r strlen";

/// Whether it is one of them, or `syscall`, whose argument names the call: `SYS_name`.
fn is_in_memory(name: &str) -> bool {
    name == "syscall" || IN_MEMORY.split(' ').any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::found_by;

    const ROOM: &str = "crates/oversleep/src/sys/linux/a.rs";

    /// A table with one entry: its path and its text.
    fn table(name: &str, names: &[&str]) -> (String, String) {
        let text = format!(
            "versions = \"x\"\n[[call]]\nnames = {names:?}\nwhy = \"y\"\nsince = \"2.6\"\npages = [\"https://a.b\"]\n"
        );
        (format!("{FOLDER}{name}.toml"), text)
    }

    /// What is found in one file beside these tables.
    fn found(path: &str, text: &str, tables: &[(String, String)]) -> Vec<String> {
        let tables = tables.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        found_by(&CHECK, &[(path, text)].into_iter().chain(tables).collect::<Vec<_>>())
    }

    #[test]
    fn calls_missing_from_the_tables_are_named_once() {
        let text =
            "fn f() {\n    libc::nanosleep(a, b);\n    libc::nanosleep(a, b);\n    libc::syscall(libc::SYS_futex);\n}";
        assert_eq!(
            found(ROOM, text, &[]),
            [
                format!("{ROOM}:2: xtask/platform/ doesn't name `nanosleep`"),
                format!("{ROOM}:4: xtask/platform/ doesn't name `futex`"),
            ]
        );
        for names in [["nanosleep(2)", "futex"], ["nanosleep", "SYS_futex"]] {
            assert!(found(ROOM, text, &[table("library/linux", &names)]).is_empty());
            assert_eq!(found(ROOM, text, &[table("library/macos", &names)]).len(), 2);
        }
        let others = table("library/linux", &["clock_nanosleep", "futex_waitv", "syscall(SYS_futex)"]);
        assert_eq!(found(ROOM, text, &[others]).len(), 2);
        let (path, complete) = table("library/linux", &["nanosleep", "futex"]);
        let undated = complete.replace("2.6", "");
        assert!(
            found(ROOM, text, &[(path, undated)])
                .contains(&"xtask/platform/library/linux.toml:5: is no version".to_owned())
        );
    }

    #[test]
    fn declared_functions_count_and_what_stays_in_memory_does_not() {
        let text = "unsafe extern \"C\" {\n    fn mach_wait_until(t: u64) -> i32;\n}\nfn f() { libc::CPU_SET(0, s); libc::sigemptyset(m); SYS_NICE }";
        assert_eq!(found(ROOM, text, &[]), [format!("{ROOM}:2: xtask/platform/ doesn't name `mach_wait_until`")]);
    }

    #[test]
    fn a_call_counts_by_any_name() {
        let path = "crates/oversleep-native/src/windows/a.rs";
        for text in [
            "use windows_sys::Win32::System::Threading::{\n    ExitThread, INFINITE,\n};\nfn f() { ExitThread(INFINITE) }",
            "use windows_sys::Win32::System::Threading as threading;\nfn f() { threading::ExitThread(0) }",
            "use windows_sys::Win32::System::Threading::ExitThread as end;\nfn f() { end(0) }",
            "use windows_sys::Win32::System::{self, Threading};\nfn f() { Threading::ExitThread(0) }",
            "fn f() { windows_sys::Win32::System::Threading::ExitThread(0) }",
            "use libc::ExitThread;\nfn f() { ExitThread(0) }",
            "use libc as c;\nfn f() { c::ExitThread(0) }",
            "static F: Newer<F> = unsafe { Newer::new(c\"kernel32.dll\", c\"ExitThread\", \"Windows\") };",
            "fn f() { os::function(c\"ExitThread\") }",
            "use windows_sys::Win32::System::Threading::ExitThread;\nfn f() { let end = ExitThread; end(0) }",
            "fn f() { let end = libc::ExitThread; end(0) }",
            "use libc::ExitThread;\nfn f() { call!(ExitThread) }",
            "fn f() -> Calls { Calls(1, libc::ExitThread) }",
            "unsafe extern \"system\" { fn ExitThread(code: u32); }",
        ] {
            let unnamed = found(path, text, &[]);
            assert_eq!(unnamed.len(), 1, "{text}: {unnamed:?}");
            assert!(unnamed[0].ends_with("xtask/platform/ doesn't name `ExitThread`"), "{unnamed:?}");
            assert!(found(path, text, &[table("windows/waits", &["ExitThread"])]).is_empty(), "{text}");
        }
        for text in [
            "use windows_sys::Win32::System::IO::OVERLAPPED;\nfn f() { OVERLAPPED::default(); x.OVERLAPPED() }",
            "fn f() -> &'static str { \"c\\\"ExitThread\\\"\" } // c\"ExitThread\"",
            "fn f() { open(c\"/dev/null\", c\"hw.ncpu\") }",
            "#[cfg(test)]\nmod tests { fn f() { os::function(c\"NoSuchCall\") } }",
        ] {
            assert!(found(path, text, &[]).is_empty(), "{text}: {:?}", found(path, text, &[]));
        }
    }

    #[test]
    fn a_call_of_every_unix_stands_with_linux_and_macos() {
        let path = "crates/oversleep-native/src/unix/a.rs";
        let both = [table("linux/other", &["kill"]), table("macos/calls", &["kill"])];
        let text = "fn f() {\n    libc::kill(1, 2)\n}";
        assert_eq!(found(path, text, &both[..1]).len(), 1);
        assert!(found(path, text, &both).is_empty());
        let alone = format!("#[cfg(target_os = \"linux\")]\n{text}\n");
        assert!(found(path, &alone, &both[..1]).is_empty());
        assert_eq!(found(path, &format!("{alone}{text}"), &both[..1]).len(), 1);
    }

    #[test]
    fn what_a_description_calls_needs_no_entry() {
        let text = "fn f() { libc::nanosleep(a, b) }";
        assert!(found("crates/oversleep-native/src/linux/a.rs", text, &[]).is_empty());
        assert_eq!(found("crates/oversleep-native/src/windows/a.rs", text, &[]).len(), 1);
    }

    #[test]
    fn only_the_products_own_calls_count() {
        let text = "fn f() { libc::kill(1, 2) }";
        for path in ["benches/sys/a.rs", "crates/oversleep/tests/sys/a.rs", "crates/oversleep/src/clock.rs"] {
            assert!(found(path, text, &[]).is_empty(), "{path}");
        }
    }
}
