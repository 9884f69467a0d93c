//! What a runtime is: the folders of `probes/`, and the `runtime.toml` in each, which says how to find, ask, build and run
//! it, and what it can measure.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use oversleep_record::ExperimentId;
use oversleep_record::probe::OpKind;
use serde::Deserialize;

/// A folder of `probes/`, embedded.
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
    // Those that most people use first; the order of tables.
    let place = |one: &Descriptor| ORDER.iter().position(|name| *name == one.name).unwrap_or(ORDER.len());
    all.sort_by_key(place);
    all
});

/// The order of the runtimes in lists; others follow by name.
const ORDER: &[&str] =
    &["java", "go", "node", "python", "c", "cpp", "rust", "tokio", "free-pascal", "mono", "dotnet", "perl", "jet"];

impl Folder {
    fn text(&self, file: &str) -> Option<&'static str> {
        self.files.iter().find(|(name, _)| *name == file).map(|(_, text)| *text)
    }

    /// A file that a description names, and its text. `../mono/Probe.cs` is that of another folder.
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

/// Every runtime there is a probe for.
pub fn descriptors() -> &'static [Descriptor] {
    &DESCRIPTORS
}

/// A language runtime.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    /// In keys and on the command line: `free-pascal`.
    pub name: String,
    /// In headings: `Free Pascal`.
    pub title: String,
    /// The files of its probe; the first is passed to an interpreter.
    files: Vec<String>,
    /// The command that installs it on Debian.
    pub install: String,
    /// Where it may be.
    pub find: Find,
    /// How to ask for its version.
    pub version: Version,
    /// What runs it, as people write it, where it is a library: `Java`.
    #[serde(default)]
    pub host: String,
    /// Versions of the library that its probe is built on; each is a runtime.
    #[serde(default)]
    pub library: Vec<Library>,
    /// Whether it is measured only where it is named, because it takes minutes.
    #[serde(default)]
    pub only_if_named: bool,
    /// How its probe is compiled.
    pub build: Option<Build>,
    /// How its probe is run.
    pub run: Run,
    /// Options and tricks of its own.
    #[serde(default)]
    pub variant: Vec<Variant>,
    /// What it can measure.
    pub op: Vec<Op>,
    /// Names and texts of its files.
    #[serde(skip)]
    pub sources: Vec<(String, &'static str)>,
}

/// Where a runtime may be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Find {
    /// Environment variables that name the program or a directory above it.
    #[serde(default)]
    pub env: Vec<String>,
    /// Names of the program.
    pub programs: Vec<String>,
    /// Paths of the program, with `*` and `~`.
    #[serde(default)]
    pub roots: Vec<String>,
    /// Keys of Windows' registry.
    #[serde(default)]
    pub registry: Vec<RegistryKey>,
    /// Prints the path of the program that a shim starts.
    pub resolve: Option<Vec<String>>,
    /// Whether every version found is a runtime, instead of the first one.
    #[serde(default)]
    pub all_versions: bool,
}

/// A key of Windows' registry that names directories.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegistryKey {
    /// The key; the keys below it count too.
    pub key: String,
    /// The value that holds a directory.
    pub value: String,
    /// The program in it.
    pub program: String,
}

/// How to ask for a version.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    /// Arguments of the program; the first number it prints is its version.
    pub arguments: Vec<String>,
    /// The version stands in the last line that begins so.
    pub line: Option<String>,
    /// How many numbers of it tell runtimes apart: 17.0.9 is Java 17.
    pub parts: usize,
    /// The version where the program's own is another one.
    pub fixed: Option<String>,
}

/// A version of a library, by its coordinates in Maven's repositories.
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

/// How a probe is compiled. `{exe}`, `{dir}`, `{program}`, `{version}` and `{short}` stand for the runtime, the directory of
/// the sources, the compiler beside the runtime, the version, and its first two numbers; `{jar}`, `{folder}` and
/// `{separator}` for its library, the sources for that, and what stands between the parts of a path.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// The compiler, where it is another program than the runtime.
    pub program: Option<String>,
    /// The command.
    pub command: Vec<String>,
    /// Directory to run it in.
    pub directory: Option<String>,
    /// Variables of its environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files to keep; empty keeps all.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// What it means where it fails.
    pub fails: Option<String>,
    /// What is tried where it fails.
    pub otherwise: Option<Box<Build>>,
}

/// How a probe is run; `{text}` stands for its source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The command.
    pub command: Vec<String>,
    /// Variables of its environment.
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
    /// Systems it is tried on; empty means all.
    #[serde(default)]
    pub systems: Vec<String>,
    /// The operations it is tried on.
    pub ops: Vec<String>,
}

/// Something a probe measures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Op {
    /// What programmers write.
    pub name: String,
    /// What it is.
    #[serde(default)]
    pub kind: OpKind,
    /// The call of the system that it ends up in, by system.
    #[serde(default)]
    pub beneath: BTreeMap<String, String>,
    /// The first version of the runtime that has it.
    pub since: Option<String>,
    /// Systems that have it; empty means all.
    #[serde(default)]
    pub systems: Vec<String>,
    /// Further steps, as an experiment was published.
    pub published: Option<Published>,
    /// Whether each call takes so long that few are made.
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
    /// How many threads share the work, each as much as was requested.
    pub threads: Option<u64>,
}

impl Op {
    /// Whether a system of that name has it.
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
