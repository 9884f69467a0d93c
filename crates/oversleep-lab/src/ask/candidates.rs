//! What may make a late wait end closer to its time: settings, other calls, and newer versions.

use oversleep_record::conditions::Setting;
use oversleep_system::runtime_calls::{self, Evidence, Host, Record, Thread, Version};
use oversleep_system::{Family, Platform, Wait, examples};

use super::question::Question;
use crate::records::version_words;

/// The settings that make waits of this system finer than the question has them, the coarsest first.
pub(super) fn finer(platform: &dyn Platform, question: &Question) -> Vec<(String, Question)> {
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
        let what = format!("{name} {setting} ({})", tunable.info().call);
        let conditions = question.conditions.clone().with(name, setting);
        (what, Question { conditions, ..question.clone() })
    };
    [Some(example), shortest].into_iter().flatten().filter(is_finer).map(under).collect()
}

pub(super) fn is_sleep(record: &Record) -> bool {
    record.thread() != Thread::Serves
}

/// The other blocking sleeps of that runtime's version, if the call is one, and those that other threads can make for an
/// event loop. Without a version, those of the newest.
pub(super) fn other_calls(platform: &dyn Platform, call: &Record, version: Option<&Version>) -> Vec<(String, String)> {
    let (os, host) = (platform.id().os, Host::of(platform));
    // Of versions of which none is meant, the newest is.
    let has = |from: &Version| version.map_or(call.before.as_ref().is_none_or(|end| end > from), |one| one >= from);
    let aside = runtime_calls::aside(&call.names[0]).filter(|aside| has(&aside.from));
    let is_meant = |one: &Record| match aside {
        Some(aside) => one.names.contains(&aside.call),
        None => is_sleep(call) && is_sleep(one) && one.is_public(),
    };
    let fits = |one: &&Record| {
        one.system == os
            && host.runs(one)
            && one.family() == call.family()
            && version.map_or(one.overlaps(call), |version| one.covers(version))
            && one.names[0] != call.names[0]
            && is_meant(one)
    };
    let mut found: Vec<&Record> = Vec::new();
    for one in runtime_calls::all().iter().filter(fits) {
        match found.iter_mut().find(|known| known.names[0] == one.names[0]) {
            Some(known) if known.from < one.from => *known = one,
            Some(_) => {}
            None => found.push(one),
        }
    }
    let named = |one: &Record| {
        // Some versions that the call is of may lack the other one.
        let since = match &one.from {
            Some(from) if version.is_none() && one.from > call.from => format!(" (from {from})"),
            _ => String::new(),
        };
        let how = match aside {
            Some(aside) => format!(", {}", aside.how),
            None if call.thread() == Thread::Parks && one.thread() != Thread::Parks => {
                ", where nothing has to wake the thread earlier".to_owned()
            }
            None => String::new(),
        };
        (format!("{}{since}{how}", one.names[0]), one.wait_name())
    };
    found.into_iter().map(named).collect()
}

/// That call of the runtime's newest version that runs there, if the call is of an older one.
pub(super) fn newer(host: &Host, call: &Record) -> Option<(String, String)> {
    let fits = |one: &&Record| {
        host.runs(one)
            && one.system == call.system
            && one.family() == call.family()
            && one.evidence == Evidence::Published
            && one.names[0] == call.names[0]
            && one.from > call.from
    };
    let newest = runtime_calls::all().iter().filter(fits).max_by(|one, other| one.from.cmp(&other.from))?;
    Some((format!("{} of {}", newest.names[0], version_words(newest)), newest.wait_name()))
}

/// The system's other sleeps and timers, for a sleep or timer. What only one language calls is none of them.
pub(super) fn of_system(platform: &dyn Platform, name: &str) -> Vec<(String, String)> {
    let is_kin = |wait: &dyn Wait| matches!(wait.info().family, Family::Sleep | Family::Timer);
    let waits = || platform.waits().iter().map(AsRef::as_ref).filter(|wait| is_kin(*wait));
    if name != "sleep" && !waits().any(|wait| wait.info().name == name || wait.info().call.contains(name)) {
        return Vec::new();
    }
    let is_of_all = |wait: &&dyn Wait| runtime_calls::call(wait.info().call).is_none();
    waits().filter(is_of_all).map(|wait| (wait.info().call.to_owned(), wait.info().name.to_owned())).collect()
}
