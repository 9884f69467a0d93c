//! Every call to the operating system is in `PLATFORM.md`, in a table of its system, with its reason and the first version
//! that has it. Calls are functions of `libc` and `windows_sys` by any path, alias or import, `SYS_name`, functions declared
//! in `extern` blocks, and functions looked up by name (`c"name"`), in `oversleep-native` and `sys/`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Check;
use super::finding::Findings;
use super::platform_page::{Lack, PAGE, PlatformPage, page_place};
use crate::arrows::is_os_place;
use crate::rust::{Source, is_word_char};
use crate::tree::{File, Tree};

pub const CHECK: Check = Check { name: "os-calls", about: "PLATFORM.md names every call to the system", run };

/// One call: its name, and its place.
struct Call {
    name: String,
    line: usize,
    on_linux_alone: bool,
}

fn run(tree: &Tree, findings: &mut Findings) {
    let page = PlatformPage::read(tree.get(PAGE).map_or("", |file| &file.text));
    let sources = tree.rust_files().filter(|file| {
        let test_code = file.path.split('/').any(|part| part == "tests" || part == "tests.rs");
        file.path.starts_with("crates/") && is_os_place(&file.path) && !test_code
    });
    // A name that is missing in a system's tables is reported once per system.
    let mut reported = BTreeMap::new();
    for file in sources {
        let folder = page_place(&file.path);
        for call in calls(file) {
            let lack = |name: &str| page.lack(&file.path, name, call.on_linux_alone);
            let Some(lack) = lack(&call.name).filter(|_| lack(&format!("SYS_{}", call.name)).is_some()) else {
                continue;
            };
            reported.entry((folder, call.name)).or_insert((file.path.as_str(), call.line, lack));
        }
    }
    for ((_, name), (path, line, lack)) in reported {
        match lack {
            Lack::Row(sections) => {
                let place = if sections.is_empty() { String::new() } else { format!(" below {sections}") };
                let remedy = format!("add the call, its reason and its minimum version to a table of {PAGE}{place}");
                findings.add(path, line, format!("{PAGE} doesn't name `{name}`"), remedy);
            }
            Lack::VersionOrPage => {
                let remedy = format!("fill in the columns of its row in {PAGE}");
                findings.add(path, line, format!("{PAGE} gives `{name}` no version or no page"), remedy);
            }
        }
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
    // Numbers of calls are handled elsewhere; the other two are a Windows enumeration and the types of libc.
    let is_other = ["c_", "SYS_", "Relation"].iter().any(|begin| name.starts_with(begin));
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

    /// A page whose only row is of these sections' kind.
    fn page(section: &str, names: &str) -> String {
        format!(
            "{section}\n| call | what for | since | page |\n|---|---|---|---|\n| {names} | why | 2.6 | [page](https://a.b) |\n"
        )
    }

    #[test]
    fn calls_missing_from_the_page_are_named_once() {
        let text =
            "fn f() {\n    libc::nanosleep(a, b);\n    libc::nanosleep(a, b);\n    libc::syscall(libc::SYS_futex);\n}";
        assert_eq!(
            found_by(&CHECK, &[(ROOM, text)]),
            [
                format!("{ROOM}:2: PLATFORM.md doesn't name `nanosleep`"),
                format!("{ROOM}:4: PLATFORM.md doesn't name `futex`"),
            ]
        );
        let section = "## The library\n### Linux and Android";
        let names = page(section, "`nanosleep(2)`, `futex` through `syscall`");
        assert!(found_by(&CHECK, &[(ROOM, text), (PAGE, &names)]).is_empty());
        let others = page(section, "`clock_nanosleep`, `futex_waitv`, `syscall`");
        assert_eq!(found_by(&CHECK, &[(ROOM, text), (PAGE, &others)]).len(), 2);
        let elsewhere = page("## The library\n### macOS", "`nanosleep(2)`, `futex` through `syscall`");
        assert_eq!(found_by(&CHECK, &[(ROOM, text), (PAGE, &elsewhere)]).len(), 2);
        let undated = names.replace("2.6", "");
        assert_eq!(
            found_by(&CHECK, &[(ROOM, text), (PAGE, &undated)])[0],
            format!("{ROOM}:2: PLATFORM.md gives `nanosleep` no version or no page")
        );
    }

    #[test]
    fn declared_functions_count_and_what_stays_in_memory_does_not() {
        let text = "unsafe extern \"C\" {\n    fn mach_wait_until(t: u64) -> i32;\n}\nfn f() { libc::CPU_SET(0, s); libc::sigemptyset(m); SYS_NICE }";
        assert_eq!(
            found_by(&CHECK, &[(ROOM, text)]),
            [format!("{ROOM}:2: PLATFORM.md doesn't name `mach_wait_until`")]
        );
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
            let found = found_by(&CHECK, &[(path, text)]);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].ends_with("PLATFORM.md doesn't name `ExitThread`"), "{found:?}");
            let named = page("## The laboratory on Windows\n### Waits", "`ExitThread`");
            assert!(found_by(&CHECK, &[(path, text), (PAGE, &named)]).is_empty(), "{text}");
        }
        for text in [
            "use windows_sys::Win32::System::IO::OVERLAPPED;\nfn f() { OVERLAPPED::default(); x.OVERLAPPED() }",
            "fn f() -> &'static str { \"c\\\"ExitThread\\\"\" } // c\"ExitThread\"",
            "fn f() { open(c\"/dev/null\", c\"hw.ncpu\") }",
            "#[cfg(test)]\nmod tests { fn f() { os::function(c\"NoSuchCall\") } }",
        ] {
            assert!(found_by(&CHECK, &[(path, text)]).is_empty(), "{text}: {:?}", found_by(&CHECK, &[(path, text)]));
        }
    }

    #[test]
    fn a_call_of_every_unix_stands_with_linux_and_macos() {
        let path = "crates/oversleep-native/src/unix/a.rs";
        let linux = page("## Other calls", "`kill`");
        let both = format!("{linux}{}", page("## The laboratory on macOS", "`kill`"));
        let text = "fn f() {\n    libc::kill(1, 2)\n}";
        assert_eq!(found_by(&CHECK, &[(path, text), (PAGE, &linux)]).len(), 1);
        assert!(found_by(&CHECK, &[(path, text), (PAGE, &both)]).is_empty());
        let alone = format!("#[cfg(target_os = \"linux\")]\n{text}\n");
        assert!(found_by(&CHECK, &[(path, &alone), (PAGE, &linux)]).is_empty());
        assert_eq!(found_by(&CHECK, &[(path, &format!("{alone}{text}")), (PAGE, &linux)]).len(), 1);
    }

    #[test]
    fn only_the_products_own_calls_count() {
        let text = "fn f() { libc::kill(1, 2) }";
        for path in ["benches/sys/a.rs", "crates/oversleep/tests/sys/a.rs", "crates/oversleep/src/clock.rs"] {
            assert!(found_by(&CHECK, &[(path, text)]).is_empty(), "{path}");
        }
    }
}
