//! How the runtime of a program is recognised before it runs, and its version.

use std::sync::OnceLock;

use oversleep_record::words::is_like;
use oversleep_system::runtime_calls::Version;
use serde::Deserialize;

/// A language runtime or library, and how to recognise programs that use it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    /// Its name in the table of runtimes' calls, such as `go` or `python`.
    pub name: String,
    /// File names of its programs; `*` matches anything.
    #[serde(default)]
    programs: Vec<String>,
    /// The name of an ELF note in the program's file.
    #[serde(default)]
    note: Option<String>,
    /// The text in which the compiler names itself in the file.
    #[serde(default)]
    comment: Option<String>,
    /// How the name of a library begins that the file needs.
    #[serde(default)]
    library: Option<String>,
    /// The package that a Rust program was built of.
    #[serde(default)]
    package: Option<String>,
    /// The text that precedes the version in the program's name or file.
    #[serde(default)]
    version_after: Option<String>,
    /// The first number of its versions, where that text leaves it out.
    #[serde(default)]
    major: Option<u32>,
    /// Its version, if that is what the name says.
    #[serde(default)]
    version: Option<Version>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Registry {
    runtime: Vec<Runtime>,
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
    /// The sections of its file in which compilers name themselves.
    pub comment: String,
    /// The libraries that its file needs.
    pub libraries: Vec<String>,
    /// The packages that a Rust program was built of, like `tokio-1.38.0`.
    pub packages: Vec<String>,
    /// The file `release` beside a JDK's programs.
    pub release: String,
}

/// A runtime of a program.
pub struct Recognised {
    /// Which.
    pub runtime: &'static Runtime,
    /// Its version, if that is known.
    pub version: Option<Version>,
    /// How it was recognised.
    pub evidence: String,
}

impl Recognised {
    /// Its name and version.
    pub fn name(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.runtime.name),
            None => format!("{}, of unknown version: the newest with a record", self.runtime.name),
        }
    }
}

/// The runtimes of a program. `version_of` finds a version in the rest of its file.
pub fn recognised(program: &Executed, version_of: impl Fn(&str) -> Option<[u32; 2]>) -> Vec<Recognised> {
    let of = |runtime: &'static Runtime| {
        let by = runtime.is_of(program)?;
        let texts = [&program.file, &program.comment, &program.release, &by];
        let after = |mark: &str| texts.iter().find_map(|text| version(text, mark)).or_else(|| version_of(mark));
        let numbers = runtime.version_after.as_deref().and_then(after);
        let read = numbers.map(|numbers| Version::of(&[runtime.major.as_slice(), &numbers].concat()));
        Some(Recognised { runtime, version: runtime.version.clone().or(read), evidence: by })
    };
    registry().runtime.iter().filter_map(of).collect()
}

/// The runtime of that name, if its programs can be recognised.
#[cfg(test)]
pub fn runtime_named(name: &str) -> Option<&'static Runtime> {
    registry().runtime.iter().find(|runtime| runtime.name == name)
}

impl Runtime {
    /// How a program shows that it is of this runtime.
    fn is_of(&self, program: &Executed) -> Option<String> {
        if self.programs.iter().any(|pattern| is_like(&program.file, pattern)) {
            return Some(format!("the program is called {}", program.file));
        }
        if let Some(comment) = self.comment.as_ref().filter(|&comment| program.comment.contains(comment.as_str())) {
            return Some(format!("its compiler's name in the file, {}", comment.trim()));
        }
        if let Some(note) = self.note.as_ref().filter(|note| has_note(&program.head, note)) {
            return Some(format!("the file's note {note}"));
        }
        let needs = |library: &String| program.libraries.iter().find(|one| one.starts_with(library.as_str()));
        if let Some(library) = self.library.as_ref().and_then(needs) {
            return Some(format!("the file needs {library}"));
        }
        let has = |package: &String| program.packages.iter().find(|one| one.starts_with(&format!("{package}-")));
        self.package.as_ref().and_then(has).map(|package| format!("the file has text of {package}"))
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

    #[test]
    fn versions_are_two_numbers() {
        assert_eq!(version("python3.11", "python"), Some([3, 11]));
        assert_eq!(version("go1.26.8", "go1."), Some([26, 8]));
        assert_eq!(version("go1.26", "go1."), Some([26, 0]));
        assert_eq!(version("go1.x", "go1."), None);
        assert_eq!(version("ruby", "python"), None);
    }

    #[test]
    fn a_program_may_have_several_runtimes_each_with_its_evidence() {
        let program = Executed {
            file: "game".to_owned(),
            comment: "GCC: (Debian)\0rustc version 1.95.0 (5980 2026)".to_owned(),
            libraries: vec!["libSDL2-2.0.so.0".to_owned(), "libc.so.6".to_owned()],
            packages: vec!["tokio-1.38.0".to_owned(), "tokio-util-0.7.1".to_owned()],
            ..Executed::default()
        };
        let names = |program: &Executed| -> Vec<[String; 2]> {
            recognised(program, |_| None).into_iter().map(|one| [one.name(), one.evidence]).collect()
        };
        let expected = [
            ["rust 1.95", "its compiler's name in the file, rustc version"],
            ["tokio 1.38", "the file has text of tokio-1.38.0"],
            ["sdl 2", "the file needs libSDL2-2.0.so.0"],
        ];
        let found = names(&program);
        assert!(expected.iter().all(|one| found.contains(&one.map(str::to_owned))) && found.len() == 3, "{found:?}");
        let java = Executed {
            file: "java".to_owned(),
            release: "IMPLEMENTOR=\"Debian\"\nJAVA_VERSION=\"17.0.15\"\n".to_owned(),
            ..Executed::default()
        };
        assert_eq!(names(&java), [["java 17.0", "the program is called java"]]);
        assert_eq!(names(&Executed { file: "sleep".to_owned(), ..Executed::default() }), [[""; 2]; 0]);
    }
}
