//! The description of a runtime: the folders of `probes/`, each with a `runtime.toml` that says how to find, query,
//! build and run the runtime, and what it can measure.

mod in_process;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use oversleep_record::ExperimentId;
use oversleep_record::probe::OpKind;
use serde::Deserialize;

pub use in_process::InProcess;

/// An embedded folder of `probes/`.
struct Folder {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const FOLDERS: &[Folder] = include!(concat!(env!("OUT_DIR"), "/folders.rs"));

static DESCRIPTORS: LazyLock<Vec<Descriptor>> = LazyLock::new(|| {
    let read = |folder: &Folder| {
        let text = folder.text("runtime.toml").expect("only folders with one are embedded");
        let mut read: Descriptor =
            toml::from_str(text).unwrap_or_else(|error| panic!("probes/{}/runtime.toml: {error}", folder.name));
        read.sources = read.files.iter().map(|file| folder.source(file)).collect();
        read
    };
    let mut all: Vec<Descriptor> = FOLDERS.iter().map(read).collect();
    // The most widely used runtimes come first; this is also the order of tables.
    let place = |one: &Descriptor| ORDER.iter().position(|name| *name == one.name).unwrap_or(ORDER.len());
    all.sort_by_key(place);
    all
});

/// The order of the runtimes in lists; others follow by name.
const ORDER: &[&str] = &[
    "java",
    "go",
    "node",
    "python",
    "c",
    "cpp",
    "rust",
    "tokio",
    "free-pascal",
    "mono",
    "dotnet",
    "perl",
    "ruby",
    "jet",
];

impl Folder {
    fn text(&self, file: &str) -> Option<&'static str> {
        self.files.iter().find(|(name, _)| *name == file).map(|(_, text)| *text)
    }

    /// The name and text of a file that a description names. `../mono/Probe.cs` is in another folder.
    fn source(&self, file: &str) -> (String, &'static str) {
        let (name, text) = match file.strip_prefix("../").and_then(|rest| rest.split_once('/')) {
            None => (file, self.text(file)),
            Some((other, name)) => {
                (name, FOLDERS.iter().find(|folder| folder.name == other).and_then(|folder| folder.text(name)))
            }
        };
        (name.to_owned(), text.unwrap_or_else(|| panic!("probes/{}/{file}", self.name)))
    }
}

/// All runtimes that have a probe.
pub fn descriptors() -> &'static [Descriptor] {
    &DESCRIPTORS
}

/// A language runtime.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    /// The name in keys and on the command line: `free-pascal`.
    pub name: String,
    /// The name in headings: `Free Pascal`.
    pub title: String,
    /// The files of its probe; the first is passed to an interpreter.
    files: Vec<String>,
    /// The command that installs it on Debian.
    pub install: String,
    /// Where to look for it.
    pub find: Find,
    /// How to ask for its version.
    pub version: Version,
    /// For a library, the runtime that hosts it, in the usual spelling: `Java`.
    #[serde(default)]
    pub host: String,
    /// Versions of the library that its probe uses; each one counts as a runtime.
    #[serde(default)]
    pub library: Vec<Library>,
    /// Whether it is measured only on request, because it takes minutes.
    #[serde(default)]
    pub only_if_named: bool,
    /// How its probe is compiled.
    pub build: Option<Build>,
    /// How its probe is run.
    pub run: Run,
    /// Its own options and tricks.
    #[serde(default)]
    pub variant: Vec<Variant>,
    /// How a running process is known to have it.
    pub process: Option<InProcess>,
    /// What it can measure.
    pub op: Vec<Op>,
    /// Names and texts of its files.
    #[serde(skip)]
    pub sources: Vec<(String, &'static str)>,
}

/// Where to look for a runtime.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Find {
    /// Environment variables that name the program or a directory above it.
    #[serde(default)]
    pub env: Vec<String>,
    /// File names of the program.
    pub programs: Vec<String>,
    /// Paths of the program, with `*` and `~`.
    #[serde(default)]
    pub roots: Vec<String>,
    /// Keys of the Windows registry.
    #[serde(default)]
    pub registry: Vec<RegistryKey>,
    /// A command that prints the path of the program behind a shim.
    pub resolve: Option<Vec<String>>,
    /// Whether every version that is found counts as a runtime, instead of only the first.
    #[serde(default)]
    pub all_versions: bool,
}

/// A key of the Windows registry that names directories.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegistryKey {
    /// The key, which includes the keys below it.
    pub key: String,
    /// The value that holds a directory.
    pub value: String,
    /// The program in that directory.
    pub program: String,
}

/// How to ask for a version.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    /// Arguments of the program; the first number it prints is its version.
    pub arguments: Vec<String>,
    /// The prefix of the line that contains the version; the last such line counts.
    pub line: Option<String>,
    /// How many of its numbers distinguish runtimes: 17.0.9 is Java 17.
    pub parts: usize,
    /// A fixed version, if the program reports another one.
    pub fixed: Option<String>,
}

/// A version of a library, by its Maven coordinates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// The group.
    pub group: String,
    /// The artifact.
    pub artifact: String,
    /// The version.
    pub version: String,
    /// The folder with the sources for it.
    pub folder: String,
}

/// How a probe is compiled. Placeholders: `{exe}` is the runtime, `{dir}` the source directory, `{program}` the
/// compiler next to the runtime, `{version}` the version and `{short}` its first two numbers; `{jar}` is the library,
/// `{folder}` its sources, and `{separator}` the separator of search paths.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// The compiler, if it isn't the runtime itself.
    pub program: Option<String>,
    /// The command.
    pub command: Vec<String>,
    /// The working directory of the command.
    pub directory: Option<String>,
    /// Environment variables of the command.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files to keep; empty keeps all.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// The command that fetches what it needs from the network. It runs only if the user permits.
    pub fetch: Option<Vec<String>>,
    /// What a failure means.
    pub fails: Option<String>,
    /// The fallback on failure.
    pub otherwise: Option<Box<Build>>,
}

/// How a probe is run; `{text}` stands for its source text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The command.
    pub command: Vec<String>,
    /// Environment variables of the command.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// An option of the runtime, or a condition that the probe sets up.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// An argument after the program.
    pub option: Option<String>,
    /// A step before all others.
    pub step: Option<String>,
    /// Systems on which it is tried; empty means all.
    #[serde(default)]
    pub systems: Vec<String>,
    /// The operations on which it is tried.
    pub ops: Vec<String>,
}

/// Something a probe measures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Op {
    /// The operation as programmers write it.
    pub name: String,
    /// The kind of operation.
    #[serde(default)]
    pub kind: OpKind,
    /// The underlying system call, by system.
    #[serde(default)]
    pub beneath: BTreeMap<String, String>,
    /// The first version of the runtime that has it.
    pub since: Option<String>,
    /// Systems that have it; empty means all.
    #[serde(default)]
    pub systems: Vec<String>,
    /// Additional steps, as in a published experiment.
    pub published: Option<Published>,
    /// Whether a call takes so long that few are made.
    #[serde(default)]
    pub slow: bool,
}

/// Steps of a published experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Its id.
    pub experiment: ExperimentId,
    /// What was requested, in ns.
    pub requests_ns: Vec<i64>,
    /// How often.
    pub count: u64,
    /// How many threads share the work; each one makes the full number of requests.
    pub threads: Option<u64>,
}

impl Op {
    /// Whether the operation exists on a system with that name.
    pub fn is_on(&self, os: &str) -> bool {
        self.systems.is_empty() || self.systems.iter().any(|system| system == os)
    }
}

/// Replaces `{name}` in each argument by its value.
pub fn filled(template: &[String], values: &[(&str, &str)]) -> Vec<String> {
    let fill = |argument: &String| {
        values.iter().fold(argument.clone(), |text, (name, value)| match argument.contains(&format!("{{{name}}}")) {
            true => text.replace(&format!("{{{name}}}"), value),
            false => text,
        })
    };
    template.iter().map(fill).collect()
}

#[cfg(test)]
mod tests;
