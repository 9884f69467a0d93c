//! What may make a late wait end closer to its time: settings, other calls, and newer versions.

use std::cmp::Reverse;

use oversleep_record::conditions::Setting;
use oversleep_record::{FactName, Nanos};
use oversleep_system::runtime_calls::{self, Evidence, Host, Record, Thread, Version, asides, native};
use oversleep_system::tunables::names::RESOLUTION;
use oversleep_system::waits::{ASYNC_SLEEP, SLEEP_UNTIL};
use oversleep_system::{Family, Platform, Wait, examples};

use super::question::Question;

/// The settings that make waits of this system finer than the question has them, the coarsest first, if programs of the
/// call's runtime can hold them.
pub(super) fn finer(
    platform: &dyn Platform,
    question: &Question,
    call: Option<(&Record, Option<&Version>)>,
) -> Vec<(String, Question)> {
    let id = platform.id();
    let Some((name, example)) = examples::of(&id.os, &id.arch).map(|examples| examples.finer) else {
        return Vec::new();
    };
    let (Some(tunable), Ok(example)) = (platform.tunable(name), example.parse::<Setting>()) else { return Vec::new() };
    let shortest = tunable.info().compared.iter().min().map(|shortest| Setting::Nanos(*shortest));
    let held = question.conditions.setting(name);
    let is_finer = |setting: &Setting| match (setting, held) {
        (_, None) => true,
        (Setting::Nanos(span), Some(Setting::Nanos(held))) => span < held,
        _ => false,
    };
    let shortest = shortest.filter(|shortest| *shortest != example);
    let under = |setting: Setting| {
        let how = match call {
            Some((record, version)) => held_by(platform, name, &setting, tunable.info().call, record, version)?,
            None => tunable.info().call.to_owned(),
        };
        let what = format!("{name} {setting} ({how})");
        let conditions = question.conditions.clone().with(name, setting);
        Some((what, Question { conditions, ..question.clone() }))
    };
    [Some(example), shortest].into_iter().flatten().filter(is_finer).filter_map(under).collect()
}

/// The first builds of Windows where a process's request holds for itself alone, and not while its windows are hidden
/// (<https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod>).
const FOR_ONE_PROCESS: u32 = 19_041;
const NOT_WHILE_HIDDEN: u32 = 22_000;

/// How programs of a call's runtime hold a setting, if they can: what does it, and for whom that is.
fn held_by(
    platform: &dyn Platform,
    name: &str,
    setting: &Setting,
    call: &str,
    record: &Record,
    version: Option<&Version>,
) -> Option<String> {
    let family = record.family();
    let host = Host::of(platform);
    let is_before = |build: u32| host.is_before(&Version::of(&[build]));
    let is_resolution = name == RESOLUTION && platform.environment().text(FactName::OsWineVersion).is_none();
    let reach = match is_resolution {
        false => "",
        true if is_before(FOR_ONE_PROCESS) => " for every process",
        true if is_before(NOT_WHILE_HIDDEN) => " for this process alone",
        true => " for this process alone, and not while all its windows are hidden",
    };
    let holding = runtime_calls::holding(family, name, &setting.as_typed());
    // It depends on the version of the runtime whether its call holds anything.
    let does = |call: &String| {
        let version = version.filter(|_| !call.contains('@'));
        let found = runtime_calls::find(&[], &platform.id().os, call, version);
        let here = found.into_iter().find(|one| host.runs(one) && (version.is_some() || one.overlaps(record)));
        let long = Nanos::from_millis(i64::MAX / 1_000_000);
        here.and_then(|one| one.passes(|name| platform.wait(name).is_some()).holds(long)).map(Setting::Nanos)
    };
    match (holding, native(family)) {
        (Some(holding), _) if holding.call.as_ref().is_none_or(|call| does(call).as_ref() == Some(setting)) => {
            Some(format!("{} holds it{reach}", holding.by))
        }
        (_, Some(native)) if native.how.is_empty() => Some(call.to_owned()),
        (_, Some(native)) => Some(format!("{call} {} holds it{reach}", native.how)),
        (_, None) if is_resolution && is_before(FOR_ONE_PROCESS) => Some(format!("another process holds it{reach}")),
        (_, None) => None,
    }
}

pub(super) fn is_sleep(record: &Record) -> bool {
    record.thread() != Thread::Serves
}

/// Another call that may end closer to the time.
pub(super) struct Other {
    /// As in advice, without its versions.
    pub(super) call: String,
    /// What is to be known when one makes it, as a clause.
    how: String,
    /// Its name among waits.
    pub(super) wait: String,
    /// Its runtime and version, if it is another one than that of the call that was asked.
    of: Option<String>,
    /// The version that it was measured in, if no source says which versions it is of.
    measured_in: Option<Version>,
    /// Its first version, and its names among waits and first versions before, newest first: of those that are meant.
    from: Option<Version>,
    pub(super) older: Vec<(String, Option<Version>)>,
}

impl Other {
    /// A call of the system, which has no versions.
    fn of_system(call: &str, wait: &str) -> Other {
        let (call, wait) = (call.to_owned(), wait.to_owned());
        Other { call, how: String::new(), wait, of: None, measured_in: None, from: None, older: Vec::new() }
    }

    /// The call in advice. A first version is named where those before, which programs may have, gain less:
    /// `is_as_good` says whether a wait does as much as this one.
    pub(super) fn words(&self, is_as_good: impl Fn(&str) -> bool) -> String {
        let mut from = &self.from;
        for (wait, earlier) in &self.older {
            if !is_as_good(wait) {
                let since = match &self.of {
                    Some(of) => format!(" ({of})"),
                    None => from.as_ref().map(|from| format!(" (from {from})")).unwrap_or_default(),
                };
                return format!("{}{since}{}", self.call, self.how);
            }
            from = earlier;
        }
        let measured = self.measured_in.as_ref().map(|version| format!(" (measured in {version})")).unwrap_or_default();
        format!("{}{measured}{}", self.call, self.how)
    }
}

/// Other calls that a program may make instead of one, by whose they are.
#[derive(Default)]
pub(super) struct Others {
    /// Of its runtime, and of one that its programs can call, too.
    pub(super) calls: Vec<Other>,
    /// Of the system.
    pub(super) native: Vec<Other>,
    /// Of this project's libraries.
    pub(super) library: Vec<Other>,
}

/// The other sleeps of that runtime's version and of the system that its programs can make, if the call is a sleep, and
/// those that other threads can make for an event loop. Without a version, those of the newest.
pub(super) fn other_calls(platform: &dyn Platform, call: &Record, version: Option<&Version>) -> Others {
    let mut others = Others::default();
    for aside in asides(call).filter(|aside| aside.is_for(call, version)) {
        match aside.call.as_deref() {
            None => others.native.extend(of_machine(platform, &native_words(call, &aside.how))),
            Some(name) if name == ASYNC_SLEEP.name => others.library.push(Other {
                how: format!(" ({name}), {}", aside.how),
                ..Other::of_system(ASYNC_SLEEP.call, ASYNC_SLEEP.name)
            }),
            Some(name) => {
                let family = aside.family.as_deref().unwrap_or(call.family());
                let is_meant = |one: &Record| one.family() == family && one.names.iter().any(|known| known == name);
                others.calls.extend(calls(platform, call, version, &is_meant, |_| format!(", {}", aside.how)));
            }
        }
    }
    if !is_sleep(call) {
        return others;
    }
    let is_meant =
        |one: &Record| one.family() == call.family() && is_sleep(one) && one.is_public() && !one.is_same_call(call);
    others.calls.extend(calls(platform, call, version, &is_meant, |newest| {
        let wakes = call.thread() == Thread::Parks && newest.thread() != Thread::Parks;
        if wakes { ", where nothing has to wake the thread earlier".to_owned() } else { String::new() }
    }));
    if native(call.family()).is_some_and(|native| native.waits) {
        others.native.extend(of_machine(platform, &native_words(call, "")));
    }
    others
}

/// Their names among waits, older versions too.
#[cfg(test)]
pub(super) fn waits_of(others: Others) -> Vec<String> {
    let all = [others.calls, others.native, others.library].into_iter().flatten();
    all.flat_map(|other| other.older.into_iter().map(|(wait, _)| wait).chain([other.wait])).collect()
}

/// How a call of the system is made by programs of that call's runtime, and what else is to be known.
fn native_words(call: &Record, how: &str) -> String {
    let by = native(call.family()).map(|native| native.how.as_str()).unwrap_or_default();
    [by, how].into_iter().filter(|words| !words.is_empty()).map(|words| format!(" {words}")).collect()
}

/// The calls of runtimes that are meant, each with its versions that run there.
fn calls(
    platform: &dyn Platform,
    instead_of: &Record,
    version: Option<&Version>,
    is_meant: &dyn Fn(&Record) -> bool,
    how: impl Fn(&Record) -> String,
) -> Vec<Other> {
    let (os, host) = (platform.id().os, Host::of(platform));
    let is_of_version = |one: &Record| match one.family() == instead_of.family() {
        true => version.map_or(one.overlaps(instead_of), |version| one.covers(version)),
        // Of another runtime, no version is meant.
        false => one.evidence == Evidence::Published,
    };
    let fits = |one: &&Record| one.system == os && host.runs(one) && is_of_version(one) && is_meant(one);
    let mut found: Vec<Vec<&Record>> = Vec::new();
    for one in runtime_calls::all().iter().filter(fits) {
        match found.iter_mut().find(|known| known[0].is_same_call(one)) {
            Some(known) => known.push(one),
            None => found.push(vec![one]),
        }
    }
    let other = |mut versions: Vec<&Record>| {
        versions.sort_by_key(|one| (one.evidence != Evidence::Published, Reverse(one.from.clone())));
        let (newest, older) = versions.split_first().expect("each has one");
        let is_published = |one: &&&Record| one.evidence == Evidence::Published;
        // A measured record is about one version, and says nothing of others.
        let measured_in = newest.from.clone().filter(|_| version.is_none() && newest.evidence == Evidence::Measured);
        let older = older.iter().filter(is_published).map(|one| (one.wait_name(), one.from.clone())).collect();
        let (call, wait) = (newest.names[0].clone(), newest.wait_name());
        let of = (newest.family() != instead_of.family()).then(|| newest.version_words());
        Other { call, how: how(newest), wait, of, measured_in, from: newest.from.clone(), older }
    };
    found.into_iter().map(other).collect()
}

/// That call of the runtime's newest version that runs there, if the call is of an older one.
pub(super) fn newer(host: &Host, call: &Record) -> Option<(String, String)> {
    let fits = |one: &&Record| {
        host.runs(one)
            && one.system == call.system
            && one.family() == call.family()
            && one.evidence == Evidence::Published
            && one.is_same_call(call)
            && one.from > call.from
    };
    let newest = runtime_calls::all().iter().filter(fits).max_by(|one, other| one.from.cmp(&other.from))?;
    Some((format!("{} of {}", newest.names[0], newest.version_words()), newest.wait_name()))
}

/// The system's other sleeps and timers, for a sleep or timer. What only one language calls is none of them.
pub(super) fn of_system(platform: &dyn Platform, name: &str) -> Vec<Other> {
    let is_kin = |wait: &dyn Wait| matches!(wait.info().family, Family::Sleep | Family::Timer);
    let waits = || platform.waits().iter().map(AsRef::as_ref).filter(|wait| is_kin(*wait));
    if name != "sleep" && !waits().any(|wait| wait.info().name == name || wait.info().call.contains(name)) {
        return Vec::new();
    }
    of_machine(platform, "")
}

/// The system's sleeps and timers, with what is to be known when one makes them.
fn of_machine(platform: &dyn Platform, how: &str) -> Vec<Other> {
    let is_kin = |wait: &&dyn Wait| matches!(wait.info().family, Family::Sleep | Family::Timer);
    let is_of_all = |wait: &&dyn Wait| runtime_calls::call(wait.info().call).is_none();
    let all = platform.waits().iter().map(AsRef::as_ref).filter(is_kin).filter(is_of_all);
    let all = all.filter(|wait| wait.info().name != SLEEP_UNTIL.name);
    all.map(|wait| Other { how: how.to_owned(), ..Other::of_system(wait.info().call, wait.info().name) }).collect()
}
