//! Which clock of the system a clock of a language's runtime reads, by version.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use oversleep_record::Nanos;
use serde::Deserialize;

use super::Version;

/// What one clock of a runtime reads on one system.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeClock {
    /// The names that programmers use, the fullest first.
    pub names: Vec<String>,
    /// The runtime as people call it.
    pub runtime: String,
    /// Its name in `oversleep runtimes`.
    pub family: String,
    /// The first version that it is about.
    pub from: Version,
    /// The first version that it is no longer about.
    #[serde(default)]
    pub before: Option<Version>,
    /// The versions in words.
    pub versions: String,
    /// `windows`, `linux`, `macos`.
    pub system: String,
    /// Registry name of the system's clock that it reads.
    pub clock: String,
    /// The ms to which its value is rounded down, if that is more than the system's clock does.
    #[serde(default)]
    pub unit_ms: i64,
    /// The same in ns, where it is no whole ms.
    #[serde(default)]
    pub unit_ns: i64,
    /// How often it reads that clock, or others that cost as much.
    #[serde(default = "once")]
    pub reads: u32,
    /// What the runtime takes besides, in ns.
    #[serde(default)]
    pub adds_ns: u32,
    /// Why `oversleep emulate` doesn't show it as it is there, although it can tell it apart.
    #[serde(default)]
    pub not_emulated: Option<String>,
    /// What else a reader must know, in a sentence.
    #[serde(default)]
    pub note: String,
    /// Id of its source.
    pub source: String,
}

fn once() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    clock: Vec<RuntimeClock>,
}

/// Those that were read in a runtime's code, then those whose step or cost is the runtime's own.
const FILES: [(&str, &str); 2] = [
    ("clocks", include_str!("../../runtime-calls/clocks.toml")),
    ("clocks-seen", include_str!("../../runtime-calls/clocks-seen.toml")),
];

static ALL: LazyLock<Vec<RuntimeClock>> = LazyLock::new(|| {
    let read = |(name, text): (&str, &str)| {
        let read: Result<File, _> = toml::from_str(text);
        read.unwrap_or_else(|error| panic!("runtime-calls/{name}.toml: {error}")).clock
    };
    FILES.into_iter().flat_map(read).collect()
});

impl RuntimeClock {
    /// Whether it is about that version.
    pub fn covers(&self, version: &Version) -> bool {
        let version = &version.counted(&self.family);
        (*version >= self.from || version.is_start_of(&self.from))
            && self.before.as_ref().is_none_or(|before| version < before)
    }

    /// Whether it is about a version, or, if none is known, about the newest.
    pub fn is_of(&self, version: Option<&Version>) -> bool {
        version.map_or(self.before.is_none(), |version| self.covers(version))
    }

    /// What its value is rounded down to by the runtime.
    pub fn unit(&self) -> Option<Nanos> {
        let unit = Nanos(Nanos::from_millis(self.unit_ms).0.max(self.unit_ns));
        (unit > Nanos::ZERO).then_some(unit)
    }

    /// What its programs see of a step of the system's clock, in ns.
    pub fn step_ns(&self, of_system: f64) -> f64 {
        of_system.max(self.unit().unwrap_or_default().0 as f64)
    }

    /// What a read by its programs costs where the system's takes that, in ns.
    pub fn cost_ns(&self, of_system: f64) -> f64 {
        of_system * f64::from(self.reads) + f64::from(self.adds_ns)
    }

    /// The runtime and its versions: `CPython 3.3 to 3.12`.
    pub fn version_words(&self) -> String {
        match self.versions.starts_with(|c: char| c.is_ascii_digit()) {
            true => format!("{} {}", self.runtime, self.versions),
            false => self.versions.clone(),
        }
    }
}

/// The table.
pub fn clocks() -> &'static [RuntimeClock] {
    &ALL
}

/// The clocks of a runtime's version on a system.
pub fn clocks_of<'a>(
    os: &'a str,
    family: &'a str,
    version: Option<&'a Version>,
) -> impl Iterator<Item = &'static RuntimeClock> + 'a {
    clocks().iter().filter(move |clock| clock.system == os && clock.family == family && clock.is_of(version))
}

/// The clocks of that name on that system, of a version or of all: the newest first. A name may end in `@RUNTIME` or
/// `@RUNTIME-VERSION`. If names differ only in case and none matches exactly, those are meant.
pub fn find_clocks(os: &str, name: &str, version: Option<&Version>) -> Vec<&'static RuntimeClock> {
    let (name, runtime) = name.split_once('@').map_or((name, None), |(name, runtime)| (name, Some(runtime)));
    let of_runtime = |clock: &RuntimeClock| {
        runtime.is_none_or(|runtime| match runtime.strip_prefix(&*clock.family) {
            Some("") => true,
            Some(rest) => rest
                .strip_prefix('-')
                .and_then(|version| version.parse().ok())
                .is_some_and(|version| clock.covers(&version)),
            None => false,
        })
    };
    let named = |fits: &dyn Fn(&str) -> bool| -> Vec<&'static RuntimeClock> {
        let is_it = |clock: &&RuntimeClock| {
            clock.system == os
                && clock.names.iter().any(|known| fits(known))
                && of_runtime(clock)
                && version.is_none_or(|version| clock.covers(version))
        };
        clocks().iter().filter(is_it).collect()
    };
    let mut found = named(&|known| known == name);
    if found.is_empty() {
        found = named(&|known| known.eq_ignore_ascii_case(name));
    }
    found.sort_by(|one, other| other.from.cmp(&one.from));
    found
}

/// The systems for which a clock of that name is known.
pub fn clock_systems(name: &str) -> Vec<&'static str> {
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    let is_named = |clock: &&RuntimeClock| clock.names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let systems: BTreeSet<&str> = clocks().iter().filter(is_named).map(|clock| &*clock.system).collect();
    systems.into_iter().collect()
}

/// The names of all clocks that are known on a system, each once, the fullest of each.
pub fn clock_names(os: &str) -> Vec<&'static str> {
    let of_system = clocks().iter().filter(|clock| clock.system == os);
    let names: BTreeSet<&str> = of_system.map(|clock| clock.names[0].as_str()).collect();
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::all;
    use super::*;

    #[test]
    fn each_clock_reads_one_that_exists_and_no_two_are_about_one_version() {
        for (at, clock) in clocks().iter().enumerate() {
            let info = crate::clocks::of(&clock.system).iter().find(|info| info.name == clock.clock);
            assert!(info.is_some_and(|info| info.is_modelled), "{clock:?}: no clock {}", clock.clock);
            assert!(!clock.versions.is_empty() && !clock.source.is_empty(), "{clock:?}");
            assert!(clock.before.as_ref().is_none_or(|before| clock.from < *before), "{clock:?}");
            let is_twin = |other: &&RuntimeClock| {
                other.system == clock.system
                    && other.family == clock.family
                    && other.names.iter().any(|name| clock.names.contains(name))
                    && (clock.covers(&other.from) || other.covers(&clock.from))
            };
            assert_eq!(clocks()[at + 1..].iter().find(is_twin), None, "{clock:?}");
        }
    }

    /// A call that speaks of its programs' clock says what the table says of that clock.
    #[test]
    fn records_and_the_table_say_the_same_of_a_clock() {
        let mut compared = 0;
        for record in all() {
            let (Some(own), Some(from)) = (&record.own_clock, &record.from) else { continue };
            let found = find_clocks(&record.system, &own.name, Some(from));
            let read: Vec<&str> = found.iter().map(|clock| &*clock.clock).collect();
            assert_eq!(read, [own.clock.as_str()], "{}", record.id);
            compared += 1;
        }
        assert!(compared > 10, "{compared}");
    }

    #[test]
    fn a_clock_is_found_by_name_and_version() {
        let read = |name: &str, version: Option<&str>| -> Vec<&str> {
            let version = version.map(|version| version.parse().expect("a version"));
            find_clocks("windows", name, version.as_ref()).iter().map(|clock| &*clock.clock).collect()
        };
        assert_eq!(read("time.monotonic", None), ["qpc", "get-tick-count-64"]);
        assert_eq!(read("time.monotonic", Some("3.11")), ["get-tick-count-64"]);
        assert_eq!(read("time.monotonic@python-3.12", None), ["get-tick-count-64"]);
        assert_eq!(read("time.monotonic@python-3.13", None), ["qpc"]);
        assert_eq!(read("system.nanotime", Some("17")), ["qpc"]);
        assert_eq!(read("System.nanoTime", Some("1.8")), [""; 0]);
        assert_eq!(clock_systems("SystemTime::now"), ["windows"]);
        assert!(clock_names("linux").contains(&"System.nanoTime"));
    }
}
