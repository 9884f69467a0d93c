//! What the Windows port of a language runtime does in place of a Linux call. Applying the rules of Linux calls to a runtime
//! would be wrong: rounding a sleep that the port doesn't make to a tick of 15.6 ms would slow down programs that are fast
//! there.

use std::sync::OnceLock;

use oversleep_model::Source;
use oversleep_system::runtime_calls::{self, Passes, Record, Version};
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
    /// The text in the file's `.comment` section.
    #[serde(default)]
    comment: Option<String>,
    /// The text that precedes the version in the program's name or file.
    #[serde(default)]
    version_after: Option<String>,
    /// The first number of its versions, where that text leaves it out.
    #[serde(default)]
    major: Option<u32>,
}

/// A clock that a runtime's port reads in place of Linux's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PortClock {
    /// The runtime's name.
    runtime: String,
    /// The operating system of the machines that it applies to.
    on: String,
    /// A Linux clock and the machine's clock that the port reads instead: `monotonic=get-tick-count-64`.
    clock: String,
    /// What the port does, in a sentence.
    does: String,
    /// The source of this claim.
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Registry {
    runtime: Vec<Runtime>,
    clock: Vec<PortClock>,
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
    /// The `.comment` section of its file, in which compilers name themselves.
    pub comment: String,
}

/// What the runtime of a program changes.
#[derive(Clone, Debug, Default)]
pub struct Adapted {
    /// By class: whether only the program's own code, the machine's wait, and what is passed on to it.
    waits: Vec<(Class, bool, usize, Passes<'static>)>,
    /// Clocks, in the syntax of the option.
    pub clocks: Option<ClockChoice>,
    /// For the report: the runtime with its version, what its port does, and the source.
    pub described: Vec<[String; 3]>,
}

impl Adapted {
    /// The index of the wait that stands for calls of that class, and what is passed on to it.
    pub fn wait(&self, class: Class, is_own_code: bool) -> Option<(usize, Passes<'static>)> {
        let found = self.waits.iter().find(|(of, own_code, ..)| *of == class && (!own_code || is_own_code));
        found.map(|&(_, _, at, passes)| (at, passes))
    }
}

impl Plan {
    /// What the runtime of that program changes on this machine; `None` if no runtime is recognized, or if its port
    /// makes the call that the class implies.
    pub fn adapted(&self, program: &Executed, version_of: impl Fn(&str) -> Option<[u32; 2]>) -> Option<Adapted> {
        let runtime = registry().runtime.iter().find(|runtime| runtime.is_of(program))?;
        let of_program = |mark: &str| {
            version(&program.file, mark).or_else(|| version(&program.comment, mark)).or_else(|| version_of(mark))
        };
        let numbers = runtime.version_after.as_deref().and_then(of_program);
        let version = numbers.map(|numbers| Version::of(&[runtime.major.as_slice(), &numbers].concat()));
        let mut adapted = Adapted::default();
        let about = |record: &&Record| {
            let is_about = match &version {
                Some(version) => record.covers(version),
                // An unknown version is most likely the newest.
                None => record.before.is_none(),
            };
            is_about && record.family() == runtime.name && record.system == self.machine.os
        };
        let name = version.as_ref().map_or_else(
            || format!("{}, of unknown version: the newest with a record", runtime.name),
            |version| format!("{} {version}", runtime.name),
        );
        for record in runtime_calls::all().iter().filter(about) {
            let Some(on_linux) = &record.on_linux else { continue };
            let at = |name: &str| {
                self.machine.waits.iter().position(|wait| wait.info.name == name && wait.unavailable.is_none())
            };
            let passes = record.passes(|name| at(name).is_some());
            let (Some(wait), Ok(class)) = (at(passes.wait), on_linux.class.parse()) else { continue };
            adapted.waits.push((class, on_linux.own_code, wait, passes));
            let (call, clause) = (self.machine.waits[wait].info.call, passes.rounds.clause());
            let does = format!("{} calls {call}{clause} (record {})", record.names[0], record.id);
            let source = Source::find(&record.source).map_or_else(|| record.source.clone(), Source::citation);
            adapted.described.push([name.clone(), does, source]);
        }
        for port in registry().clock.iter().filter(|port| port.runtime == runtime.name && port.on == self.machine.os) {
            let these = adapted.clocks.get_or_insert(ClockChoice::These(Vec::new()));
            if let (ClockChoice::These(these), Ok(ClockChoice::These(one))) = (these, port.clock.parse()) {
                these.extend(one);
            }
            adapted.described.push([name.clone(), port.does.clone(), port.source.clone()]);
        }
        (!adapted.described.is_empty()).then_some(adapted)
    }
}

impl Runtime {
    fn is_of(&self, program: &Executed) -> bool {
        let is_named = |pattern: &String| match pattern.split_once('*') {
            Some((begin, end)) => program.file.strip_prefix(begin).is_some_and(|rest| rest.ends_with(end)),
            None => program.file == *pattern,
        };
        let is_by = |comment: &String| program.comment.contains(comment.as_str());
        self.programs.iter().any(is_named)
            || self.comment.as_ref().is_some_and(is_by)
            || self.note.as_deref().is_some_and(|note| has_note(&program.head, note))
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
    use oversleep_system::runtime_calls::Rule;

    use super::*;

    fn plan(name: &str) -> Plan {
        Plan::named(name, &[], Some(1)).expect("a machine")
    }

    fn file(name: &str) -> Executed {
        Executed { file: name.to_owned(), ..Executed::default() }
    }

    fn go() -> Executed {
        let note =
            [&[0x7f; 64][..], &4_u32.to_le_bytes(), &8_u32.to_le_bytes(), &4_u32.to_le_bytes(), b"Go\0\0build-id"];
        Executed { file: "server".to_owned(), head: note.concat(), comment: String::new() }
    }

    fn wait_of(plan: &Plan, adapted: Option<&Adapted>, class: Class, is_own_code: bool) -> (&'static str, bool) {
        let (wait, passes) = plan.wait_of(class, adapted.map(|adapted| (adapted, is_own_code))).expect("a wait");
        (wait.info.name, passes.rounds == Rule::TruncatesToAtLeastOne)
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
    fn rust_sleeps_as_its_windows_port_of_that_version() {
        let windows = plan("windows-11");
        let of = |comment: &str| {
            let program = Executed { comment: comment.to_owned(), file: "game".to_owned(), ..Executed::default() };
            windows.adapted(&program, |_| None).map(|adapted| wait_of(&windows, Some(&adapted), Class::Sleep, false).0)
        };
        assert_eq!(of("GCC: (Debian)\0rustc version 1.95.0 (5980 2026)"), Some("waitable-timer-high-resolution"));
        assert_eq!(of("rustc version 1.70.0 (90c5 2023)"), Some("sleep"));
        assert_eq!(of("GCC: (Debian)"), None);
    }

    /// The table has one record for a call of a version, so its wait and what is passed on are those of `ask`.
    #[test]
    fn each_class_of_a_record_is_one_and_is_emulated_as_the_record_says() {
        for record in runtime_calls::all().iter().filter(|record| record.on_linux.is_some()) {
            let on_linux = record.on_linux.as_ref().expect("it was asked");
            assert!(on_linux.class.parse::<Class>().is_ok(), "{}: {}", record.id, on_linux.class);
            let runtime = registry().runtime.iter().find(|runtime| runtime.name == record.family());
            assert!(runtime.is_some(), "{}: {} is recognized", record.id, record.family());
        }
        for port in &registry().clock {
            assert!(registry().runtime.iter().any(|runtime| runtime.name == port.runtime), "{port:?}");
            assert_eq!(plan("windows-11").clocks(&port.clock.parse().expect("a choice")).map(|all| all.len()), Ok(1));
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
