//! The records that oversleep comes with.

use std::sync::LazyLock;

use oversleep_record::Nanos;
use oversleep_record::series::Pace;
use serde::{Deserialize, Serialize};

use super::ways::{Aside, Holding, Native};
use super::{Evidence, Limit, Needs, Record, Version};

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../runtime-calls/", $name, ".toml")))),+]
    };
}

/// Published ones by language, then measured ones.
const FILES: &[(&str, &str)] = files! {
    "calls", "ways", "java", "dotnet", "dotnet-older", "go", "go-older", "go-oldest", "python", "python-queue", "node",
    "deno-bun", "rust", "cpp", "libraries", "libraries-more", "free-pascal", "erlang", "julia", "compiled", "qt", "browsers",
    "scripts", "mobile", "measured",
};

static ALL: LazyLock<File> = LazyLock::new(|| {
    let mut all = File::default();
    for (name, text) in FILES {
        let read: File = toml::from_str(text).unwrap_or_else(|error| panic!("runtime-calls/{name}.toml: {error}"));
        all.record.extend(read.record);
        all.trick.extend(read.trick);
        all.call.extend(read.call);
        all.library.extend(read.library);
        all.namesake.extend(read.namesake);
        all.edge.extend(read.edge);
        all.needs.extend(read.needs);
        all.alias.extend(read.alias);
        all.owner.extend(read.owner);
        all.aside.extend(read.aside);
        all.begin.extend(read.begin);
        all.native.extend(read.native);
        all.holding.extend(read.holding);
    }
    all.record.iter_mut().for_each(complete);
    let published: Vec<Record> = all.record.iter().filter(|one| one.evidence == Evidence::Published).cloned().collect();
    all.record.iter_mut().for_each(|record| take_names(record, &published));
    all
});

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    record: Vec<Record>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    trick: Vec<Trick>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    call: Vec<Call>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    library: Vec<Families>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    namesake: Vec<Namesake>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edge: Vec<Edge>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    needs: Vec<Needs>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    alias: Vec<Alias>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    owner: Vec<Owner>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aside: Vec<Aside>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    begin: Vec<Beginning>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    native: Vec<Native>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    holding: Vec<Holding>,
}

/// The version of a runtime that a call came with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beginning {
    /// The names of the call.
    pub names: Vec<String>,
    /// The runtime's name in `oversleep runtimes`.
    pub family: String,
    /// As people call it: `.NET`.
    pub runtime: String,
    /// The first version that has it.
    pub from: Version,
    /// Where that is said.
    pub source: String,
}

/// Another way to make a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alias {
    /// What stands in the code: `TimeUnit.SECONDS.sleep`.
    pub names: Vec<String>,
    /// The call that it makes, by a name of that.
    pub call: String,
    /// The call that it makes instead if its last argument says that it happens once, after the one before.
    #[serde(default)]
    pub once: Option<String>,
    /// The unit of a number, if it differs from that of the call.
    #[serde(default)]
    pub unit: Option<String>,
    /// The number of its arguments, if that tells it from other calls of its name.
    #[serde(default)]
    pub arguments: Option<usize>,
    /// Whether its span is the first of several arguments.
    #[serde(default)]
    pub span_first: bool,
}

/// What a call may be called on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Owner {
    /// Packages and namespaces that stand before the names of classes and modules.
    #[serde(default)]
    packages: Vec<String>,
    /// Calls of objects, whose names say nothing.
    #[serde(default)]
    methods: Vec<String>,
}

/// Versions that are not of a runtime but of another one with its name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Namesake {
    family: String,
    from: Version,
    before: Version,
    is: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Families {
    families: Vec<String>,
}

/// What holds for calls of these names on every system and in every version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The names.
    pub names: Vec<String>,
    /// The unit of a number without one; without it, a number alone means nothing.
    #[serde(default)]
    pub unit: Option<String>,
    /// The span that it waits where programs give it none.
    #[serde(default)]
    pub alone: Option<String>,
    /// Whether programs give it a span of zero, for which it may wait nevertheless.
    #[serde(default)]
    pub takes_zero: bool,
    /// Whether it is due at multiples of its span from its first call on: a late one makes the next interval shorter.
    #[serde(default)]
    pub fixed_rate: bool,
    /// What the thread does in it.
    #[serde(default)]
    pub thread: Thread,
    /// Whether it is a function that the runtime alone can call.
    #[serde(default)]
    pub internal: bool,
    /// Whether it takes a rate: a number is so many in a second.
    #[serde(default)]
    pub per_second: bool,
    /// Whether its span is the first of several arguments. That of other calls is the last one.
    #[serde(default)]
    pub span_first: bool,
}

/// What calls do with spans that are no waits: as in "with a negative span, Thread.sleep throws …".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The names of the calls.
    pub names: Vec<String>,
    /// What they do with a span of zero.
    #[serde(default)]
    pub zero: Option<String>,
    /// What they do with a negative one.
    #[serde(default)]
    pub negative: Option<String>,
    /// The longest span that they take in every version.
    #[serde(default)]
    pub longest: Option<Limit>,
    /// Where that is said.
    pub source: String,
}

/// What the thread does in a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thread {
    /// It may have something else to do: it runs an event loop, or waits for something besides.
    #[default]
    Serves,
    /// It does nothing but wait for the time.
    Sleeps,
    /// The same, but others may wake it earlier.
    Parks,
}

/// A published trick for making waits of a runtime finer on Windows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trick {
    /// `sleeping-thread`.
    pub name: String,
    /// The runtime, as `oversleep runtimes` names it.
    pub family: String,
    /// The wait for which it was published.
    pub wait: String,
    /// Whether the process then holds a timer resolution of 1 ms.
    pub holds_a_millisecond: bool,
    /// Id of its source.
    pub source: String,
}

/// A measured record is about the version that was measured.
pub(super) fn complete(record: &mut Record) {
    if record.evidence == Evidence::Measured && record.from.is_none() {
        record.from = record.versions.parse().ok();
    }
}

/// A call has all names that some published record gives it: a measured one has the name of one probe. `node.setTimeout` is
/// Node's `setTimeout`.
fn take_names(record: &mut Record, published: &[Record]) {
    let plain =
        |name: &String| name.strip_prefix(record.family()).and_then(|rest| rest.strip_prefix('.')).map(str::to_owned);
    let own: Vec<String> = record.names.iter().cloned().chain(record.names.iter().filter_map(plain)).collect();
    let same = |one: &&Record| {
        one.evidence == Evidence::Published
            && one.family() == record.family()
            && one.names.iter().any(|name| own.contains(name))
    };
    let others: Vec<String> = published.iter().filter(same).flat_map(|one| one.names.iter().cloned()).collect();
    for name in others {
        if !record.names.contains(&name) {
            record.names.push(name);
        }
    }
}

/// The record with all names of its call.
pub(super) fn with_all_names(mut record: Record) -> Record {
    take_names(&mut record, all());
    record
}

/// The version that the call came with.
pub fn beginning(name: &str, family: &str) -> Option<&'static Beginning> {
    let plain = name.split('@').next().unwrap_or(name);
    ALL.begin.iter().find(|one| one.family == family && one.names.iter().any(|known| known == plain))
}

/// All versions that calls came with.
#[cfg(test)]
pub(super) fn beginnings() -> &'static [Beginning] {
    &ALL.begin
}

/// All built-in records.
pub fn all() -> &'static [Record] {
    &ALL.record
}

/// All published tricks.
pub fn tricks() -> &'static [Trick] {
    &ALL.trick
}

/// What is known of spans that are no waits for calls of that name, `Thread.sleep@java-17` too.
pub fn edge(name: &str) -> Option<&'static Edge> {
    let plain = name.split('@').next().unwrap_or(name);
    ALL.edge.iter().find(|edge| edge.names.iter().any(|known| known == plain))
}

/// All that is known of spans that are no waits.
#[cfg(test)]
pub(super) fn edges() -> &'static [Edge] {
    &ALL.edge
}

/// How programs leave event loops, make calls of the system, and hold settings.
pub(super) fn ways() -> (&'static [Aside], &'static [Native], &'static [Holding]) {
    (&ALL.aside, &ALL.native, &ALL.holding)
}

/// What runtimes need of systems.
pub(super) fn needs() -> &'static [Needs] {
    &ALL.needs
}

/// All other ways to make a call.
pub fn aliases() -> &'static [Alias] {
    &ALL.alias
}

/// Whether that is what stands before the name of a known call's class or module, like `java.lang.`.
pub fn is_package(text: &str) -> bool {
    ALL.owner.iter().any(|owner| owner.packages.iter().any(|package| package == text))
}

/// Whether objects are asked to wait by that name.
pub fn is_method(name: &str) -> bool {
    ALL.owner.iter().any(|owner| owner.methods.iter().any(|method| method == name))
}

/// All entries about calls.
#[cfg(test)]
pub(super) fn calls() -> &'static [Call] {
    &ALL.call
}

/// What holds for calls of that name. `Thread.sleep(ms)` and `Thread.sleep@java-17` are `Thread.sleep`.
pub fn call(name: &str) -> Option<&'static Call> {
    let plain = name.split(['(', '@']).next().unwrap_or(name);
    ALL.call.iter().find(|call| call.names.iter().any(|known| known == plain))
}

/// Whether calls of that name take no span: a model gives them the one that they wait.
pub fn takes_no_span(name: &str) -> bool {
    call(name).is_some_and(|call| call.alone.is_some())
}

/// Whether calls of that name are due at multiples of their span.
pub fn is_at_fixed_rate(name: &str) -> bool {
    call(name).is_some_and(|call| call.fixed_rate)
}

/// The other runtime that has this version, if that runtime never had it: .NET Framework, for 4.8 of .NET.
pub fn namesake(family: &str, version: &Version) -> Option<&'static str> {
    let is_it = |one: &&Namesake| one.family == family && (&one.from..&one.before).contains(&version);
    ALL.namesake.iter().find(is_it).map(|one| &*one.is)
}

/// How many values a model gives of a call of that span, unless somebody chooses otherwise: enough for p99, and ten
/// years at most, while every modelled clock counts exactly.
pub fn count(span: Nanos) -> u64 {
    const COUNT: u64 = 1_000;
    const TIME_MAX: Nanos = Nanos::from_secs(10 * 365 * 86_400);
    COUNT.min((TIME_MAX.0 / span.0.max(1)).unsigned_abs().max(1))
}

/// How calls of that name follow one another, unless somebody chooses otherwise: at their rate if they have one, and
/// else each when the one before has ended, as in a program that waits in a loop.
pub fn pace(name: &str) -> Pace {
    if is_at_fixed_rate(name) { Pace::Periodic } else { Pace::BackToBack }
}

/// The names of all calls of which something holds everywhere.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.call.iter().flat_map(|call| call.names.iter().map(String::as_str))
}

/// Whether programs of that runtime can call this project's library.
pub fn can_call_library(family: &str) -> bool {
    ALL.library.iter().any(|library| library.families.iter().any(|known| known == family))
}

/// The runtimes with records for that system, by their names in `oversleep runtimes`.
pub fn families(os: &str) -> Vec<&'static str> {
    let mut families: Vec<&str> = all().iter().filter(|one| one.system == os).map(Record::family).collect();
    families.sort_unstable();
    families.dedup();
    families
}

/// Records as a file of them.
///
/// # Errors
/// The errors of the TOML writer.
pub fn document(records: Vec<Record>) -> Result<String, toml::ser::Error> {
    toml::to_string(&File { record: records, ..File::default() })
}

/// The records of such a file.
///
/// # Errors
/// The errors of the TOML reader.
pub fn read(text: &str) -> Result<Vec<Record>, toml::de::Error> {
    toml::from_str::<File>(text).map(|file| file.record)
}
