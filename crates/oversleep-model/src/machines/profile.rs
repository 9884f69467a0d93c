//! A profile: the figures of a machine, each with its source, read from a file and checked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Deserialize;

use super::MachineError;
use super::configured::{Configured, configured};
use super::entries::{Other, cited, others, read_entry, text_of};
use super::evidence;
use super::nature::{Nature, RATE};
use super::parameters::{DEFAULTS, parameter_of};
use super::processor::PROCESSOR;
use super::sources::ASSUMED;
use super::value::{Stated, Value};

/// The figures of a machine.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub name: String,
    pub title: String,
    pub stated: BTreeMap<String, Stated>,
    /// The kind of machine that gave a figure, by its path ([`super::rate`]).
    pub drawn: BTreeMap<String, &'static str>,
    /// The source that is left out.
    pub without: Option<String>,
    /// The user's changes, as typed.
    pub changes: Vec<String>,
}

/// A profile as its file has it: parameters are in tables.
#[derive(Deserialize)]
struct File {
    title: String,
    base: Option<String>,
    /// The kinds of machines whose evidence supplies missing figures, the nearest first ([`super::evidence`]).
    #[serde(default)]
    draws_on: Vec<String>,
    /// Why figures measured on the machine of the base are inherited although they weren't measured on this one: they are
    /// assumed.
    inherited: Option<String>,
    /// By id of the source: its statement about the figures below.
    #[serde(default)]
    sources: BTreeMap<String, String>,
    #[serde(flatten)]
    rooms: BTreeMap<String, BTreeMap<String, toml::Value>>,
}

/// The embedded profiles, by name.
macro_rules! profiles {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../profiles/", $name, ".toml")))),*]
    };
}

/// Every profile and its file.
pub(super) const PROFILES: &[(&str, &str)] = profiles! {
    "windows-xp" "windows-7" "windows-8.1" "windows-10-1909" "windows-10-laptop" "windows-10-hpet" "windows-10-2004"
    "windows-10-510us" "windows-11" "windows-11-half-ms" "windows-server-2022" "windows-server-2025" "wine-8"
    "linux-hz250" "linux-hz1000" "linux-fifo" "linux-intel-desktop" "linux-cloud" "linux-4" "linux-4-14"
    "linux-4-14-hpet" "linux-4-15" "linux-hpet" "linux-acpi-pm" "macos-14-m1" "macos-ci-vm" "macos-intel"
    "macos-intel-napping" "raspberry-pi-4" "raspberry-pi-5" "linux-arm-32" "linux-rt-arm" "linux-arm-cloud"
    "linux-apple-vm" "android-phone" "linux-server-intel" "linux-server-amd" "linux-e-cores" "linux-rt"
    "linux-vm-trapped" "linux-xen" "linux-hyperv" "wsl1" "wsl2"
};

/// The longest chain of profiles that are based on each other.
const BASES_MAX: usize = 8;

impl Profile {
    /// The profile with that name, with all that it is based on. Each is read once.
    pub(super) fn named(name: &str) -> Result<Profile, MachineError> {
        if let Some(configured) = configured(name) {
            return Profile::named(configured.base)?.configured(configured);
        }
        static READ: [OnceLock<Profile>; PROFILES.len()] = [const { OnceLock::new() }; PROFILES.len()];
        let read = PROFILES.iter().zip(&READ).find(|((known, _), _)| *known == name).map(|(_, read)| read);
        if let Some(profile) = read.and_then(OnceLock::get) {
            return Ok(profile.clone());
        }
        let profile = Profile::parsed(name, None)?;
        if let Some(read) = read {
            _ = read.set(profile.clone());
        }
        Ok(profile)
    }

    /// The same profile without one source: its figures fall back to other sources, then to the profile that this one
    /// is based on, then to the rule's default.
    pub(super) fn named_without(name: &str, without: Option<&str>) -> Result<Profile, MachineError> {
        if without.is_none() {
            return Profile::named(name);
        }
        if let Some(configured) = configured(name) {
            return Profile::named_without(configured.base, without)?.configured(configured);
        }
        let mut profile = Profile::parsed(name, without)?;
        profile.fill_defaults().map_err(|why| MachineError::Malformed { name: name.to_owned(), why })?;
        Ok(profile)
    }

    /// The profile of a kernel that differs from this one's by its configuration alone.
    fn configured(self, by: &Configured) -> Result<Profile, MachineError> {
        let title = format!("{}, with {}", self.title, by.set.join(", "));
        let mut profile = Profile { name: by.name.to_owned(), title, ..self };
        by.set.iter().try_for_each(|change| profile.set(change))?;
        Ok(profile)
    }

    fn parsed(name: &str, without: Option<&str>) -> Result<Profile, MachineError> {
        let (_, text) = PROFILES
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| MachineError::UnknownMachine { name: name.to_owned() })?;
        Profile::read(name, text, BASES_MAX, without)
    }

    /// The values of each source for a figure: those of the profile first, then those of its bases, up to the first
    /// base of another kind of machine.
    pub(super) fn statements(name: &str, path: &str) -> Result<Vec<Vec<(String, Value)>>, MachineError> {
        let malformed = |why: String| MachineError::Malformed { name: name.to_owned(), why };
        let mut all = Vec::new();
        let mut next = Some(name.to_owned());
        while let Some(name) = next.take() {
            let (_, text) = PROFILES
                .iter()
                .find(|(known, _)| *known == name)
                .ok_or_else(|| MachineError::UnknownMachine { name: name.clone() })?;
            let mut file: File = toml::from_str(text).map_err(|error| malformed(error.to_string()))?;
            let mut said = Vec::new();
            let own = path.split_once('.').and_then(|(room, key)| file.rooms.get_mut(room)?.remove(key));
            for Other { value, source } in own.map(others).transpose().map_err(malformed)?.unwrap_or_default() {
                let kind = parameter_of(path).map(|parameter| parameter.kind);
                let value = kind.map(|kind| kind.read(&text_of(value)?)).transpose().map_err(malformed)?;
                said.extend(value.filter(|_| source != ASSUMED).map(|value| (source, value)));
            }
            for kind in &file.draws_on {
                let more = evidence::values_of(kind, path).map_err(malformed)?;
                let is_new = |(id, _): &(String, Value)| said.iter().all(|(known, _): &(String, Value)| known != id);
                let more: Vec<_> = more.into_iter().filter(is_new).collect();
                said.extend(more);
            }
            all.push(said);
            if file.inherited.is_none() && all.len() <= BASES_MAX {
                next = file.base;
            }
        }
        Ok(all)
    }

    /// What its figures say about the machine as a whole.
    pub(super) fn nature(&self) -> Nature<'_> {
        Nature { stated: &self.stated, drawn: &self.drawn }
    }

    /// A figure that is a word; empty if there is none.
    pub(super) fn word(&self, path: &str) -> &str {
        self.nature().word(path)
    }

    fn fill_defaults(&mut self) -> Result<(), String> {
        let os = self.word("machine.os").to_owned();
        for (path, text) in DEFAULTS {
            let parameter = parameter_of(path).ok_or("a default of no parameter")?;
            if self.stated.contains_key(*path) || parameter.only_on.is_some_and(|only| only != os) {
                continue;
            }
            let source = "the rule's default".to_owned();
            let stated = Stated {
                value: parameter.kind.read(text)?,
                written: Some((*text).to_owned()),
                source_id: ASSUMED.to_owned(),
                source,
            };
            self.stated.insert((*path).to_owned(), stated);
        }
        Ok(())
    }

    fn read(name: &str, text: &str, bases_left: usize, without: Option<&str>) -> Result<Profile, MachineError> {
        let malformed = |why: String| MachineError::Malformed { name: name.to_owned(), why };
        let file: File = toml::from_str(text).map_err(|error| malformed(error.to_string()))?;
        let mut stated: BTreeMap<String, Stated> = BTreeMap::new();
        let mut drawn = BTreeMap::new();
        // The paths of what isn't from the base.
        let mut own = BTreeSet::new();
        if let Some(base) = &file.base {
            let (_, text) = PROFILES
                .iter()
                .find(|(known, _)| known == base && bases_left > 0)
                .ok_or_else(|| malformed(format!("it is based on '{base}', which is no profile")))?;
            (stated, drawn) =
                Profile::read(base, text, bases_left - 1, without).map(|base| (base.stated, base.drawn))?;
            for figure in stated.values_mut().filter(|figure| figure.source.starts_with("measured")) {
                if let Some(why) = &file.inherited {
                    figure.source_id = ASSUMED.to_owned();
                    figure.source = cited(ASSUMED, why).map_err(malformed)?;
                }
            }
        }
        let base_rate = stated.get(RATE).and_then(|stated| stated.value.as_integer());
        // The nearest kind comes last, so that it replaces the values of the others and of the base.
        for kind in file.draws_on.iter().rev() {
            for (path, figure) in evidence::figures_of(kind, without).map_err(malformed)? {
                drawn.extend(evidence::known(kind).map(|kind| (path.clone(), kind)));
                own.insert(path.clone());
                stated.insert(path, figure);
            }
        }
        let mut stated_here = BTreeSet::new();
        for (room, entries) in file.rooms {
            for (key, entry) in entries {
                let path = format!("{room}.{key}");
                // Excluding a source must not change the identity of a machine.
                let is_identity = matches!(room.as_str(), "machine" | "cpus" | "facts" | "frequencies" | "since");
                let without =
                    without.filter(|_| !is_identity && !["scheduler.policy", "timers.counter"].contains(&&*path));
                let figure = read_entry(&path, entry, &file.sources, without);
                let figure = figure.map_err(|why| malformed(format!("'{path}': {why}")))?;
                if let Some(figure) = figure {
                    drawn.remove(&path);
                    stated_here.insert(path.clone());
                    stated.insert(path, figure);
                }
            }
        }
        let (name, without) = (name.to_owned(), without.map(str::to_owned));
        let mut profile = Profile { name, title: file.title, stated, drawn, without, changes: Vec::new() };
        own.extend(stated_here.iter().cloned());
        profile.runs_unlike(base_rate, &own).map_err(malformed)?;
        if stated_here.contains(PROCESSOR) {
            let processor = profile.word(PROCESSOR).to_owned();
            profile.run_on(&processor, |path, _| !stated_here.contains(path)).map_err(malformed)?;
        }
        profile.follow_version().map_err(malformed)?;
        Ok(profile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::Source;

    #[test]
    fn every_profile_reads_and_every_figure_has_a_source() {
        for (name, _) in PROFILES {
            let profile = Profile::named(name).unwrap_or_else(|error| panic!("{error}"));
            assert!(profile.title.len() > 5);
            for (path, stated) in &profile.stated {
                assert!(stated.source.len() > 10, "{name}: {path}");
            }
        }
    }

    #[test]
    fn no_profile_passes_off_as_measured_what_another_machine_gave() {
        let source = |name: &str, path: &str| Profile::named(name).unwrap().stated[path].source.clone();
        assert!(source("linux-hz250", "wake.cost").starts_with("measured"));
        for name in ["wsl1", "wsl2", "raspberry-pi-4"] {
            for (path, stated) in Profile::named(name).unwrap().stated {
                assert!(!stated.source.starts_with("measured"), "{name}: {path}: {}", stated.source);
            }
            assert!(source(name, "wake.handoff").starts_with("assumed"), "{name}");
        }
        let odd =
            Profile::read("odd", "title = 'odd one'\ninherited = 1\nbase = 'wsl1'", 2, None).unwrap_err().to_string();
        assert!(odd.contains("inherited") && odd.contains("expected a string"), "{odd}");
    }

    #[test]
    fn without_a_source_figures_fall_back_to_the_next_best_evidence() {
        let of = |name: &str, without: &str, path: &str| {
            let stated = Profile::named_without(name, Some(without)).unwrap().stated[path].clone();
            (stated.text(), stated.source_id)
        };
        let is = |text: &str, id: &str| (text.to_owned(), id.to_owned());
        assert_eq!(of("windows-10-2004", "dawson-2020", "timers.tick"), is("15.625ms", "ms-interrupt-time-precise"));
        let others =
            "akinshin-2016 + high-precision-win32 + prosper-2238 + prosper-3056 + srt-637 + timer-resolution-22";
        assert_eq!(of("windows-10-laptop", "hamala-2019", "timers.p-two-tick"), is("0.691", others));
        assert_eq!(of("windows-10-laptop", "linux-intel-idle-c", "timers.margin"), is("10us", "pc-tuning"));
        assert_eq!(of("windows-xp", "dawson-2020", "timers.p-two-tick"), is("1", "pc-tuning"));
        assert_eq!(of("windows-10-laptop", "dawson-2020", "timers.p-two-tick"), is("0.685", "hamala-2019"));
        assert_eq!(of("windows-10-2004", "pc-tuning", "wake.cost"), is("5us", "assumed"));
        assert_eq!(of("macos-14-m1", "trickybits-2024", "machine.os").0, "macos");
        for (name, _) in PROFILES {
            // The others change nothing: no figure of this machine is from them.
            let (texts, kinds) = drawn_from(name);
            let is_cited = |id: &str| {
                texts.iter().any(|text| text.contains(id)) || kinds.iter().any(|kind| evidence::cites(kind, id))
            };
            for source in Source::all().filter(|source| is_cited(&source.id)) {
                let profile = Profile::named_without(name, Some(&source.id)).unwrap();
                crate::machines::build::machine(&profile, 0).unwrap_or_else(|error| panic!("{}: {error}", source.id));
            }
        }
    }

    /// The files of a profile and of those that it is based on, and the kinds of machines that they draw on.
    fn drawn_from(name: &str) -> (Vec<&str>, Vec<String>) {
        let (_, text) = PROFILES.iter().find(|(known, _)| *known == name).unwrap();
        let file: File = toml::from_str(text).unwrap();
        let base = file.base.map(|base| PROFILES.iter().find(|(known, _)| *known == base).unwrap().0);
        let (mut texts, mut kinds) = base.map(drawn_from).unwrap_or_default();
        texts.push(text);
        kinds.extend(file.draws_on);
        (texts, kinds)
    }

    #[test]
    fn a_damaged_profile_is_refused() {
        for (text, says) in [
            ("title = 1", "title"),
            ("title = 't'\nbase = 'nowhere'", "nowhere"),
            ("title = 't'\nx = 1", "expected a map"),
            ("title = 't'\n[timers]\ntock = { value = '1ms', source = 's' }", "timers.tock"),
            ("title = 't'\n[timers]\ntick = '1ms'", "'timers.tick': "),
            ("title = 't'\n[timers]\ntick = { value = '1ms' }", "missing field `source`"),
            ("title = 't'\n[timers]\ntick = { value = '1ms', source = 's' }", "among the sources"),
            ("title = 't'\n[sources]\nassumed = 'x'\n[timers]\ntick = { value = '1', source = 'assumed' }", "unit"),
            (
                "title = 't'\n[sources]\nassumed = 'x'\n[timers]\ntick = { value = '1ms', source = 'assumed', why = '' }",
                "unknown field `why`",
            ),
            (
                "title = 't'\n[sources]\ns = 'x'\n[timers]\ntick = { value = '1ms', source = 's' }",
                "the file of sources",
            ),
            ("][", "damaged"),
        ] {
            let error = Profile::read("damaged", text, 1, None).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
