//! What may make a late wait end closer to its time: settings, other calls, and newer versions.

use std::cmp::Reverse;

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

/// Another call that may end closer to the time.
pub(super) struct Other {
    /// As in advice, without its versions.
    pub(super) call: String,
    /// What is to be known when one makes it, as a clause.
    how: String,
    /// Its name among waits.
    pub(super) wait: String,
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
        Other { call, how: String::new(), wait, measured_in: None, from: None, older: Vec::new() }
    }

    /// The call in advice. A first version is named where those before, which programs may have, gain less:
    /// `is_as_good` says whether a wait does as much as this one.
    pub(super) fn words(&self, is_as_good: impl Fn(&str) -> bool) -> String {
        let mut from = &self.from;
        for (wait, earlier) in &self.older {
            if !is_as_good(wait) {
                let since = from.as_ref().map(|from| format!(" (from {from})")).unwrap_or_default();
                return format!("{}{since}{}", self.call, self.how);
            }
            from = earlier;
        }
        let measured = self.measured_in.as_ref().map(|version| format!(" (measured in {version})")).unwrap_or_default();
        format!("{}{measured}{}", self.call, self.how)
    }
}

/// The other blocking sleeps of that runtime's version, if the call is one, and those that other threads can make for an
/// event loop. Without a version, those of the newest.
pub(super) fn other_calls(platform: &dyn Platform, call: &Record, version: Option<&Version>) -> Vec<Other> {
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
            && !one.is_same_call(call)
            && is_meant(one)
    };
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
        let how = match aside {
            Some(aside) => format!(", {}", aside.how),
            None if call.thread() == Thread::Parks && newest.thread() != Thread::Parks => {
                ", where nothing has to wake the thread earlier".to_owned()
            }
            None => String::new(),
        };
        // A measured record is about one version, and says nothing of others.
        let measured_in = newest.from.clone().filter(|_| version.is_none() && newest.evidence == Evidence::Measured);
        let older = older.iter().filter(is_published).map(|one| (one.wait_name(), one.from.clone())).collect();
        let (call, wait) = (newest.names[0].clone(), newest.wait_name());
        Other { call, how, wait, measured_in, from: newest.from.clone(), older }
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
    Some((format!("{} of {}", newest.names[0], version_words(newest)), newest.wait_name()))
}

/// The system's other sleeps and timers, for a sleep or timer. What only one language calls is none of them.
pub(super) fn of_system(platform: &dyn Platform, name: &str) -> Vec<Other> {
    let is_kin = |wait: &dyn Wait| matches!(wait.info().family, Family::Sleep | Family::Timer);
    let waits = || platform.waits().iter().map(AsRef::as_ref).filter(|wait| is_kin(*wait));
    if name != "sleep" && !waits().any(|wait| wait.info().name == name || wait.info().call.contains(name)) {
        return Vec::new();
    }
    let is_of_all = |wait: &&dyn Wait| runtime_calls::call(wait.info().call).is_none();
    waits().filter(is_of_all).map(|wait| Other::of_system(wait.info().call, wait.info().name)).collect()
}
