//! How runtimes translate a span, for questions and for results: the table of [`oversleep_system::runtime_calls`], and the
//! records that a result of `oversleep runtimes` gives. No runtime is run.

mod lateness;
mod modelled;

use std::collections::BTreeSet;

use oversleep_explain::runtimes::rule::Rule;
use oversleep_explain::runtimes::{RuntimeWait, waits};
use oversleep_model::Source;
use oversleep_record::{Nanos, ResultFile};
use oversleep_system::SharedPlatform;
use oversleep_system::runtime_calls::{CallWait, Counts, HELD, Host, Needs, Passes, beginning, edge, find, namesake};

pub(crate) use modelled::probes;
pub use oversleep_system::runtime_calls::{
    Evidence, Holds, Record, Version, all as runtimes, document, families, systems, versions,
};

/// Whether a record is about that call of that runtime on that system: `window.setTimeout@firefox`.
pub fn knows(os: &str, name: &str) -> bool {
    !find(&[], os, name, None).is_empty()
}

/// The runtime of which that version of the call is known on that system.
pub fn family_of(os: &str, call: &str, version: &Version) -> Option<&'static str> {
    find(&[], os, call, Some(version)).first().map(|record| record.family())
}

/// The records of a result: one for each wait whose rule is known.
pub fn records(file: &ResultFile) -> Vec<Record> {
    let waits = waits(file);
    waits.iter().filter_map(|wait| record(file, &waits, wait)).collect()
}

fn record(file: &ResultFile, all: &[RuntimeWait<'_>], wait: &RuntimeWait<'_>) -> Option<Record> {
    // A question is about an idle program, and a busy one may use another call than the one beneath.
    if wait.idle_name().is_some() {
        return None;
    }
    let rule = wait.ruling().ok()?.rule;
    // `Thread.sleep(ms,ns)` also answers to `Thread.sleep`, unless another form of it preserves more of a request.
    let plain = |name: &str| name.split('(').next().unwrap_or_default().to_owned();
    let is_form = |other: &&RuntimeWait<'_>| {
        other.runtime == wait.runtime && other.idle_name().is_none() && plain(other.name) == plain(wait.name)
    };
    let forms = all.iter().filter(is_form);
    const KEEP: [Rule; 4] = [Rule::Exact, Rule::RoundsUp, Rule::RoundsToNearestAtLeastOne, Rule::RoundsToNearest];
    let keeps = |rule: Rule| KEEP.iter().position(|one| *one == rule);
    let keeps_most =
        forms.filter_map(|form| Some((keeps(form.ruling().ok()?.rule).unwrap_or(usize::MAX), form.name))).min();
    // `Sleep` alone could be a system call, so it is `free-pascal.Sleep`.
    let qualified = |name: String| match name.contains(['.', ':']) {
        true => name,
        false => format!("{}.{name}", wait.runtime.name),
    };
    let mut names = vec![qualified(wait.name.to_owned())];
    if plain(wait.name) != wait.name && keeps_most.is_some_and(|(_, name)| name == wait.name) {
        names.insert(0, qualified(plain(wait.name)));
    }
    let version = wait.runtime.version.parse().ok();
    Some(Record {
        id: format!("{}-{}/{}", wait.runtime.name, wait.runtime.version, wait.name),
        names,
        runtime: wait.runtime.name.clone(),
        family: None,
        from: version,
        before: None,
        versions: wait.runtime.version.clone(),
        system: file.platform.os.clone(),
        wait: wait.beneath.clone()?,
        otherwise: None,
        rounds: rule,
        holds: Holds::Nothing,
        shortest: None,
        longest: None,
        least_ms: 0,
        grid_ms: 0,
        long_grid_ms: 0,
        due_by: None,
        on_older: None,
        counts: Counts::Rounded,
        with_slow_counter: None,
        own_clock: None,
        on_linux: None,
        note: String::new(),
        evidence: Evidence::Measured,
        source: file.name.clone().unwrap_or_else(|| "a result without a name".to_owned()),
    })
}

/// The most translations of other versions that an answer speaks of.
const OTHERS_TOLD: usize = 4;

/// How a record is known.
fn citation(record: &Record) -> String {
    let source = Source::find(&record.source).map_or_else(|| record.source.clone(), Source::citation);
    format!("record {}, {}: {source}; {}", record.id, record.evidence.as_str(), record.versions)
}

/// The sentence about a request: its translation, the evidence, the translations of other versions of that call, and
/// the wait that was made instead.
pub(crate) fn sentence(platform: &SharedPlatform, call: &CallWait, name: &str, request: Nanos) -> String {
    let record = call.record();
    let passes = call.passes(platform);
    let span = passes.span(request, Nanos::ZERO);
    let what = if span == request { String::new() } else { format!(": {request} becomes {span}") };
    let beneath = platform.wait(passes.wait).map_or(passes.wait, |wait| wait.info().call);
    let held = match passes.holds(span) {
        Some(period) if record.holds == Holds::UnlessTens => {
            format!(" It holds {period} meanwhile, because the request is not a multiple of 10 ms.")
        }
        Some(period) if record.holds == Holds::Always => format!(" Its library holds {period} all the time."),
        Some(period) => format!(" It holds {period} meanwhile."),
        None => String::new(),
    };
    let note = if record.note.is_empty() { String::new() } else { format!(" {}", record.note) };
    let told: String = others(platform, record, &passes, name, request).concat();
    let namesakes = namesakes(record, name).unwrap_or_default();
    format!(
        "{name} of {} calls {beneath}{}{what} ({}).{held}{note}{} The runtime was not run: the figures are those of \
         {beneath}; ",
        record.runtime,
        passes.rounds.clause(),
        citation(record),
        told + &namesakes
    )
}

/// What other versions of a call make of a request.
struct Others<'a> {
    /// `1 ms to Sleep`.
    what: String,
    /// The clock by which it is due.
    clock: Option<&'static str>,
    versions: Vec<String>,
    ids: Vec<&'a str>,
}

/// What other versions of that call make of the request, where that differs: a sentence for all that do the same.
fn others(platform: &SharedPlatform, record: &Record, passes: &Passes<'_>, name: &str, request: Nanos) -> Vec<String> {
    let mut told: Vec<Others<'_>> = Vec::new();
    let host = Host::of(&**platform);
    let clock_of = |one: &Record| one.due_by(&**platform, false).map(|clock| clock.info().call);
    let what_matters = |one: &Record| (one.rounds, one.holds, one.wait.clone(), clock_of(one));
    for other in find(&[], &record.system, name, None) {
        let is_same = other.id == record.id || what_matters(other) == what_matters(record);
        if is_same || !host.runs(other) || other.evidence != Evidence::Published {
            continue;
        }
        let other_passes = other.passes(|_| true);
        let call_of = |wait: &str| platform.wait(wait).map_or(wait.to_owned(), |wait| wait.info().call.to_owned());
        let call = if other_passes.wait == passes.wait { "" } else { &format!(" to {}", call_of(other_passes.wait)) };
        let what = format!("{}{call}", other_passes.span(request, Nanos::ZERO));
        let clock = clock_of(other).filter(|_| clock_of(other) != clock_of(record));
        let (versions, id) = (other.version_words(), other.id.as_str());
        match told.iter_mut().find(|known| known.what == what && known.clock == clock) {
            Some(known) if !known.versions.contains(&versions) => {
                known.versions.push(versions);
                known.ids.push(id);
            }
            Some(_) => {}
            None => told.push(Others { what, clock, versions: vec![versions], ids: vec![id] }),
        }
    }
    told.truncate(OTHERS_TOLD);
    let sentence = |Others { what, clock, versions, ids }: &Others<'_>| {
        let (passes, waits, records) =
            if ids.len() > 1 { ("pass", "wait", "records") } else { ("passes", "waits", "record") };
        let until = clock.map(|clock| format!(" and {waits} until {clock} shows that it has passed"));
        let until = until.unwrap_or_default();
        format!(" {} {passes} {what}{until} ({records} {}).", several_versions(versions), ids.join(", "))
    };
    told.iter().map(sentence).collect()
}

/// Versions in one phrase, a runtime that is that of the first once: `CPython 3.10, 3.9 and 3.7`.
pub(crate) fn several_versions(versions: &[String]) -> String {
    let Some(first) = versions.first() else { return String::new() };
    let runtime = first.split_once(' ').map_or("", |(runtime, _)| runtime);
    let short = |version: &String| version.strip_prefix(runtime).map_or(version.clone(), |rest| rest.trim().to_owned());
    let mut words = vec![first.clone()];
    words.extend(versions[1..].iter().map(short));
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} and {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// The published calls whose names end in this one: a browser's `window.setTimeout`, for `setTimeout`.
fn namesakes(record: &Record, name: &str) -> Option<String> {
    let plain = name.split('@').next().unwrap_or(name);
    let of_system = runtimes().iter().filter(|one| {
        one.system == record.system
            && one.evidence == Evidence::Published
            && !one.names.iter().any(|known| known == plain)
    });
    let ends = |known: &&str| known.strip_suffix(plain).is_some_and(|before| before.ends_with('.'));
    let names: BTreeSet<&str> = of_system.flat_map(|one| one.names.iter().map(String::as_str)).filter(ends).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let is_of_another = |one: &&Record| {
        one.system == record.system && one.family() != record.family() && one.names.iter().any(|known| known == plain)
    };
    let others: BTreeSet<String> =
        runtimes().iter().filter(is_of_another).map(|one| format!("{plain}@{}", one.family())).collect();
    let names: Vec<&str> = names.into_iter().chain(others.iter().map(String::as_str)).collect();
    (!names.is_empty()).then(|| format!(" Other calls of that name can be asked as {}.", names.join(", ")))
}

/// Why there is no answer for a request that is rounded to zero.
pub(crate) fn nothing_left(record: &Record, request: Nanos) -> String {
    format!("{} makes 0 ms of {request} and does not wait ({})", record.runtime, citation(record))
}

/// Why there is no answer for a request that the call refuses.
pub(crate) fn refusal(platform: &SharedPlatform, call: &CallWait, request: Nanos) -> Option<String> {
    let (record, refused) = (call.record(), call.refused(platform, request)?);
    let of_all = || record.names.iter().find_map(|name| edge(name)?.longest.as_ref());
    let longest = record.longest.as_ref().or_else(of_all).map(|limit| Nanos::from_millis(limit.ms));
    let longest = longest.filter(|longest| request > *longest);
    let longest = longest.map(|longest| format!("; it takes {longest} at most: for longer, wait again for the rest"));
    Some(format!("{} {refused} for {request} ({}){}", record.names[0], citation(record), longest.unwrap_or_default()))
}

/// Why the version of a call that is meant, or each that a record is about, doesn't run on that machine.
pub(crate) fn runs_nowhere(host: &Host, record: &Record) -> String {
    let needs = host.lacks(record.family()).map(Needs::sentence).unwrap_or_default();
    let here = |one: &&Record| host.runs(one) && one.family() == record.family() && one.evidence == Evidence::Published;
    let instead = match find(&[], &record.system, &record.names[0], None).into_iter().find(here) {
        Some(newest) => format!("the newest with a source that runs there is {}", newest.version_words()),
        None => format!("what an earlier version makes of {} is not known", record.names[0]),
    };
    format!("{needs}, and this machine is older; {instead}")
}

/// Why a call's versions don't answer, or `None` if there is no such call.
pub(crate) fn unknown_version(os: &str, name: &str, version: &Version) -> Option<String> {
    let known = versions(os, name);
    let records = find(&[], os, name, None);
    let later = records.iter().find_map(|record| {
        let begins = beginning(&record.names[0], record.family())?;
        let is_before = *version < begins.from;
        is_before.then(|| format!("{name} came with {} {} ({})", begins.runtime, begins.from, begins.source))
    });
    let other = records.iter().find_map(|record| namesake(record.family(), version));
    let other = other.map(|other| format!(" ({other}, which is another runtime)")).unwrap_or_default();
    let others = records.into_iter().filter(|record| record.covers(version)).map(Record::wait_name);
    let others: BTreeSet<String> = others.collect();
    let others: Vec<String> = others.into_iter().map(|name| format!("; ask {name} for that runtime")).collect();
    (!known.is_empty()).then(|| {
        let others = others.concat();
        if let Some(later) = later {
            return format!("{later}; known: {}{others}", known.join("; "));
        }
        format!("what {name} does in version {version}{other} is not known; known: {}{others}", known.join("; "))
    })
}

#[cfg(test)]
mod judged_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod walk;
