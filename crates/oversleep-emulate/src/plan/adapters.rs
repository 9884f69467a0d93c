//! What the Windows port of a language runtime does in place of a Linux call. Applying the rules of Linux calls to a runtime
//! would be wrong: rounding a sleep that the port doesn't make to a tick of 15.6 ms would slow down programs that are fast
//! there.

use std::sync::OnceLock;

use serde::Deserialize;

use super::{Class, ClockChoice, Plan};

/// A language runtime, and how to recognize its programs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    /// Its name, such as `go` or `cpython`.
    pub name: String,
    /// File names of its programs; `*` matches anything.
    #[serde(default)]
    programs: Vec<String>,
    /// The name of an ELF note in the program's file.
    #[serde(default)]
    note: Option<String>,
    /// The text that precedes the version in the program's name or file.
    #[serde(default)]
    version_after: Option<String>,
}

/// What a runtime's port does instead of a call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// The runtime's name.
    pub runtime: String,
    /// The first version that it applies to, and the first that it no longer applies to.
    #[serde(default)]
    from: Option<[u32; 2]>,
    #[serde(default)]
    before: Option<[u32; 2]>,
    /// The operating system of the machines that it applies to.
    on: String,
    /// The kind of wait that it replaces.
    #[serde(default)]
    class: Option<Class>,
    /// Whose call it replaces: `program` is the runtime's own code, as opposed to libraries.
    #[serde(default)]
    caller: Caller,
    /// The machine's waits that the port may make; the first that the machine has is used.
    #[serde(default)]
    waits: Vec<String>,
    /// Whether the port passes a span in whole milliseconds, rounded down, but at least one.
    #[serde(default)]
    truncates_to_ms: bool,
    /// A Linux clock and the machine's clock that the port reads instead: `monotonic=get-tick-count-64`.
    #[serde(default)]
    clock: Option<String>,
    /// What the port does, in a sentence.
    pub does: String,
    /// The source of this claim.
    pub source: String,
}

/// Which code makes a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Caller {
    /// Any code of the process.
    #[default]
    Any,
    /// The program's own file.
    Program,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Registry {
    runtime: Vec<Runtime>,
    adapter: Vec<Adapter>,
}

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        toml::from_str(include_str!("../../adapters.toml")).unwrap_or_else(|error| panic!("adapters.toml: {error}"))
    })
}

/// What is known about a program before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// The name of its file, without folders.
    pub file: String,
    /// The start of its file, which contains its notes.
    pub head: Vec<u8>,
}

/// What the runtime of a program changes.
#[derive(Clone, Debug, Default)]
pub struct Adapted {
    /// By class: the caller, the machine's wait, and whether spans are truncated to whole milliseconds.
    waits: Vec<(Class, Caller, usize, bool)>,
    /// Clocks, in the syntax of the option.
    pub clocks: Option<ClockChoice>,
    /// The adapters, for the report.
    pub adapters: Vec<&'static Adapter>,
}

impl Adapted {
    /// The index of the wait that stands for calls of that class, and whether its span is truncated.
    pub fn wait(&self, class: Class, is_own_code: bool) -> Option<(usize, bool)> {
        let is_met = |caller| caller == Caller::Any || is_own_code;
        let found = self.waits.iter().find(|(of, caller, ..)| *of == class && is_met(*caller));
        found.map(|&(_, _, at, truncates)| (at, truncates))
    }
}

impl Plan {
    /// What the runtime of that program changes on this machine; `None` if no runtime is recognized, or if its port
    /// makes the call that the class implies.
    pub fn adapted(&self, program: &Executed, version_of: impl Fn(&str) -> Option<[u32; 2]>) -> Option<Adapted> {
        let runtime = registry().runtime.iter().find(|runtime| runtime.is_of(program))?;
        let version =
            runtime.version_after.as_deref().and_then(|mark| version(&program.file, mark).or_else(|| version_of(mark)));
        let mut adapted = Adapted::default();
        for adapter in registry().adapter.iter().filter(|adapter| adapter.runtime == runtime.name) {
            if adapter.on != self.machine.os || !adapter.is_in(version) {
                continue;
            }
            let has = |name: &String| {
                self.machine.waits.iter().position(|wait| wait.info.name == *name && wait.unavailable.is_none())
            };
            match (adapter.class, adapter.waits.iter().find_map(has), &adapter.clock) {
                (Some(class), Some(at), _) => {
                    adapted.waits.push((class, adapter.caller, at, adapter.truncates_to_ms));
                }
                (_, _, Some(clock)) => {
                    let these = adapted.clocks.get_or_insert(ClockChoice::These(Vec::new()));
                    if let (ClockChoice::These(these), Ok(ClockChoice::These(one))) = (these, clock.parse()) {
                        these.extend(one);
                    }
                }
                _ => continue,
            }
            adapted.adapters.push(adapter);
        }
        (!adapted.adapters.is_empty()).then_some(adapted)
    }
}

impl Runtime {
    fn is_of(&self, program: &Executed) -> bool {
        let is_named = |pattern: &String| match pattern.split_once('*') {
            Some((begin, end)) => program.file.strip_prefix(begin).is_some_and(|rest| rest.ends_with(end)),
            None => program.file == *pattern,
        };
        self.programs.iter().any(is_named) || self.note.as_deref().is_some_and(|note| has_note(&program.head, note))
    }
}

impl Adapter {
    fn is_in(&self, version: Option<[u32; 2]>) -> bool {
        match version {
            Some(version) => {
                self.from.is_none_or(|from| version >= from) && self.before.is_none_or(|before| version < before)
            }
            // An unknown version is most likely the newest.
            None => self.before.is_none(),
        }
    }
}

/// Whether the head of a file contains a note of that name: the lengths of name and content, a type, and the name,
/// padded to four bytes.
fn has_note(head: &[u8], name: &str) -> bool {
    let (shortest, longest) = (name.len() + 1, (name.len() + 1).next_multiple_of(4));
    let is_named = |note: &[u8]| note[12..].starts_with(name.as_bytes()) && note[12 + name.len()] == 0;
    head.windows(12 + longest).step_by(4).any(|note| {
        let length = u32::from_le_bytes([note[0], note[1], note[2], note[3]]) as usize;
        (shortest..=longest).contains(&length) && is_named(note)
    })
}

/// The first two numbers of the version that follows `mark` in a text.
pub fn version(text: &str, mark: &str) -> Option<[u32; 2]> {
    let rest = &text[text.find(mark)? + mark.len()..];
    let mut numbers = rest.split(|letter: char| !letter.is_ascii_digit()).map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next().flatten().unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(name: &str) -> Plan {
        Plan::named(name, &[], Some(1)).expect("a machine")
    }

    fn file(name: &str) -> Executed {
        Executed { file: name.to_owned(), head: Vec::new() }
    }

    fn go() -> Executed {
        let note =
            [&[0x7f; 64][..], &4_u32.to_le_bytes(), &8_u32.to_le_bytes(), &4_u32.to_le_bytes(), b"Go\0\0build-id"];
        Executed { file: "server".to_owned(), head: note.concat() }
    }

    fn wait_of(plan: &Plan, adapted: Option<&Adapted>, class: Class, is_own_code: bool) -> (&'static str, bool) {
        let (wait, truncates) = plan.wait_of(class, adapted.map(|adapted| (adapted, is_own_code))).expect("a wait");
        (wait.info.name, truncates)
    }

    #[test]
    fn go_waits_as_its_windows_port_of_that_version() {
        let windows = plan("windows-10-2004");
        let of = |version| windows.adapted(&go(), |_| version).expect("adapters");
        let (new, old, ancient) = (of(Some([26, 8])), of(Some([22, 1])), of(Some([15, 0])));
        assert_eq!(wait_of(&windows, Some(&new), Class::Epoll, true), ("waitable-timer-high-resolution", false));
        assert_eq!(wait_of(&windows, Some(&old), Class::Epoll, true), ("get-queued-completion-status", true));
        assert_eq!(wait_of(&windows, Some(&old), Class::Sleep, true), ("waitable-timer-high-resolution", false));
        assert_eq!(wait_of(&windows, Some(&ancient), Class::Sleep, true), ("sleep", false));
        assert_eq!(
            wait_of(&windows, Some(&new), Class::Epoll, false),
            ("get-queued-completion-status", false),
            "a library's"
        );
        assert_eq!(
            wait_of(&windows, Some(&of(None)), Class::Epoll, true).0,
            "waitable-timer-high-resolution",
            "the newest"
        );
    }

    #[test]
    fn python_and_java_wait_and_read_clocks_as_their_ports() {
        let windows = plan("windows-11");
        let python = windows.adapted(&file("python3.11"), |_| None).expect("adapters");
        assert_eq!(wait_of(&windows, Some(&python), Class::SleepUntil, false).0, "waitable-timer-high-resolution");
        assert_eq!(python.clocks, None);
        assert_eq!(windows.adapted(&file("python3.9"), |_| None).map(|_| ()), None);
        let realtime = (super::super::LinuxClock::Realtime, Some("system-time".to_owned()));
        let java = windows.adapted(&file("java"), |_| None).expect("adapters");
        assert_eq!(wait_of(&windows, Some(&java), Class::FutexUntil, false), ("wait-for-single-object", true));
        assert_eq!(java.clocks, Some(ClockChoice::These(vec![realtime])));
        assert_eq!(windows.adapted(&file("sleep"), |_| None).map(|_| ()), None);
        assert_eq!(plan("linux-hz250").adapted(&file("java"), |_| None).map(|_| ()), None, "its own system");
    }

    #[test]
    fn each_adapter_names_what_there_is() {
        let machines = oversleep_model::names();
        for adapter in &registry().adapter {
            assert!(registry().runtime.iter().any(|runtime| runtime.name == adapter.runtime), "{adapter:?}");
            assert!(adapter.source.starts_with("https://") && !adapter.does.is_empty(), "{adapter:?}");
            assert_eq!(adapter.class.is_some(), adapter.clock.is_none(), "{adapter:?}");
            for wait in &adapter.waits {
                let has = |name: &&str| plan(name).machine.waits.iter().any(|one| one.info.name == *wait);
                assert!(machines.iter().any(|name| has(&&**name)), "{wait}");
            }
            if let Some(clock) = &adapter.clock {
                assert_eq!(
                    plan("windows-11").clocks(&clock.parse().expect("a choice")).map(|all| all.len()),
                    Ok(1),
                    "{clock}"
                );
            }
        }
    }

    #[test]
    fn versions_are_two_numbers() {
        assert_eq!(version("python3.11", "python"), Some([3, 11]));
        assert_eq!(version("go1.26.8", "go1."), Some([26, 8]));
        assert_eq!(version("go1.26", "go1."), Some([26, 0]));
        assert_eq!(version("go1.x", "go1."), None);
        assert_eq!(version("ruby", "python"), None);
    }
}
