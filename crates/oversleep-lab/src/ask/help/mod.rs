//! What would make a late wait end closer to its time on a modelled machine: each candidate is tried there.

use std::fmt;

use oversleep_record::Nanos;
use oversleep_record::series::Pace;
use oversleep_system::runtime_calls::{CallWait, Host, Record, Rule, can_call_library, version_named};
use oversleep_system::waits::SLEEP_UNTIL;
use oversleep_system::{Clock, Platform};

use crate::ask::answer::{Answer, Meaning};
use crate::ask::calls::of_runtime;
use crate::ask::candidates::{Other, Others, finer, is_sleep, newer, of_system, other_calls};
use crate::ask::measured::ask;
use crate::ask::question::{Question, Subject};
use crate::ask::versions::is_same;
use crate::session::Laboratory;

/// What helps, and what the call took with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Help {
    /// What to do, with the call.
    pub what: String,
    /// The median with it, ns.
    pub p50_ns: f64,
    /// What that is.
    pub meaning: Meaning,
    /// By how much the earliest ended before its time, if one did. A wait that ends at a tick may do so on some systems.
    pub early: Option<Nanos>,
}

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.meaning.words(self.p50_ns))?;
        match self.early {
            Some(early) => write!(f, ", at times {early} early"),
            None => Ok(()),
        }
    }
}

/// A wait that is less late than this, or than a tenth of its request, needs no help.
const LATE_NS: f64 = 20_000.0;
/// What doesn't take away a quarter of the lateness is no help.
const WORTHWHILE: f64 = 0.75;
/// A wait that is early by less ended on time: clocks are read one after the other.
const EARLY_NS: f64 = 1_000.0;

/// What would make that wait end closer to its time: a setting, another sleep of the runtime or of the system, a newer
/// version of the runtime, and the library's sleep, each if it helps; where none does alone, each under a setting. Nothing
/// for a real machine, where trying takes real time, and for a wait that is on time.
///
/// # Errors
/// Why nothing helps a wait that is late.
pub fn helps(machine: &Laboratory, question: &Question, answer: &Answer) -> Result<Vec<Help>, String> {
    let Subject::Wait { name, request } = &question.subject else { return Ok(Vec::new()) };
    let platform = machine.platform();
    let requested_ns = request.0 as f64;
    let usual = Question::of(question.subject.clone()).pace.unwrap_or(Pace::BackToBack);
    let is_usual = question.pace.unwrap_or(Pace::BackToBack) == usual;
    // A call at a fixed rate has deadlines, whose lateness is the answer.
    let on_time_ns = if answer.meaning() == Meaning::Lateness { 0.0 } else { requested_ns };
    let late_ns = answer.quantile_ns(0.5) - on_time_ns;
    if platform.id().modelled.is_none() || !is_usual || late_ns < LATE_NS.max(requested_ns / 10.0) {
        return Ok(Vec::new());
    }
    let call = of_runtime(machine, name).ok().flatten().map(CallWait::record);
    // The version that is meant; without one, it is the newest of those that the record is about.
    let version = machine.version.clone().or_else(|| version_named(name, call?));
    // By its name among waits, the call is that of its version wherever it is asked.
    let name = &call.map_or_else(|| name.clone(), Record::wait_name);
    let question = &Question { subject: Subject::Wait { name: name.clone(), request: *request }, ..question.clone() };
    // A newer version of a runtime may be asked, too.
    let any_version = Laboratory::on(machine.platform.clone());
    let with = |what: &str, question: &Question| {
        let answer = ask(&any_version, question).ok()?;
        let (p50_ns, early_ns) = (answer.quantile_ns(0.5), on_time_ns - answer.min_ns());
        let is_better = (p50_ns - on_time_ns).abs() <= late_ns * WORTHWHILE;
        let early = (early_ns >= EARLY_NS).then_some(Nanos(early_ns as i64));
        is_better.then_some(Help { what: what.to_owned(), p50_ns, meaning: answer.meaning(), early })
    };
    let instead = |what: &str, name: &str, question: &Question| {
        let subject = Subject::Wait { name: name.to_owned(), request: *request };
        with(what, &Question { subject, ..question.clone() })
    };
    // Of each kind, the best is named: calls of the runtime, and sleeps and timers of the system.
    let others = match call {
        Some(record) => other_calls(platform, record, version.as_ref()),
        None => Others { native: of_system(platform, name), ..Others::default() },
    };
    // The library's sleep stands for nothing but a sleep: not for an event loop, nor for a wait for something besides.
    let may_block =
        call.map_or(!others.native.is_empty(), |record| is_sleep(record) && can_call_library(record.family()));
    let newer = call.and_then(|call| newer(&Host::of(platform), call));
    // What replaces the call, under the conditions of a question.
    let replacements = |under: &str, question: &Question| -> Vec<Help> {
        let best = |others: &Vec<Other>| {
            let tried = others.iter().filter_map(|other| Some((other, instead(&other.call, &other.wait, question)?)));
            let (other, help) = tried.min_by(|(_, one), (_, other)| one.p50_ns.total_cmp(&other.p50_ns))?;
            let is_as_good =
                |name: &str| instead("", name, question).is_some_and(|older| is_same(older.p50_ns, help.p50_ns));
            Some(Help { what: format!("{}{under}", other.words(is_as_good)), ..help })
        };
        let newer = newer.as_ref().and_then(|(what, name)| instead(&format!("{what}{under}"), name, question));
        let library = format!("this project's library, which spins at the end ({}){under}", SLEEP_UNTIL.name);
        let library = may_block.then(|| instead(&library, SLEEP_UNTIL.name, question)).flatten();
        let [own, native, asynchronous] = [&others.calls, &others.native, &others.library].map(best);
        // A runtime's own call that is as good goes before one of the system.
        let is_as_good =
            |help: &Help| own.as_ref().is_some_and(|own| own.p50_ns <= help.p50_ns || is_same(own.p50_ns, help.p50_ns));
        let native = native.filter(|help| !is_as_good(help));
        [own, native, newer, asynchronous, library].into_iter().flatten().collect()
    };
    let settings = finer(platform, question, call.map(|record| (record, version.as_ref())));
    // The first setting that helps needs the least power.
    let mut all: Vec<Help> = settings.iter().find_map(|(what, question)| with(what, question)).into_iter().collect();
    all.extend(replacements("", question));
    if all.is_empty() {
        let under = |(setting, finer): &(String, Question)| replacements(&format!(", under {setting}"), finer);
        all = settings.iter().map(under).find(|helps| !helps.is_empty()).unwrap_or_default();
    }
    if all.is_empty() { Err(why_nothing(platform, question, call)) } else { Ok(all) }
}

/// The least step of a clock that puts off the end of a wait that looks at it.
const COARSE: Nanos = Nanos::from_micros(100);

/// Why nothing makes that wait end closer to its time.
fn why_nothing(platform: &dyn Platform, question: &Question, call: Option<&Record>) -> String {
    let Some(record) = call else {
        return "no setting and no other sleep or timer of this system ends closer to the time".to_owned();
    };
    let runtime = &record.runtime;
    if record.least_ms > 0 || record.grid_ms > 0 {
        return format!("{runtime} itself puts the end off, and the system's timers have no part in that");
    }
    let has_settings = !finer(platform, question, None).is_empty();
    if has_settings && finer(platform, question, Some((record, None))).is_empty() {
        return format!(
            "no call of {runtime} changes a setting of the system, and no record knows one of it for such a wait that ends \
             closer to its time"
        );
    }
    let is_otherwise = platform.wait(&record.wait).is_none();
    let moves_in_steps = |clock: &&dyn Clock| clock.stated_step_ns().is_some_and(|step| step >= COARSE);
    if let Some(clock) = record.due_by(platform, is_otherwise).filter(moves_in_steps) {
        let call = clock.info().call;
        return format!(
            "{runtime} waits until {call} shows that the span has passed, and no setting makes that clock finer"
        );
    }
    let passes = record.passes(|name| platform.wait(name).is_some());
    let makes_more = match &question.subject {
        Subject::Wait { request, .. } => passes.span(*request, Nanos::ZERO) > *request,
        _ => false,
    };
    let beneath = platform.wait(passes.wait).map_or(passes.wait, |wait| wait.info().call);
    if makes_more || passes.rounds == Rule::RoundsUpToGrid {
        let clause = passes.rounds.clause();
        return format!("{runtime} calls {beneath}{clause}, and no record knows a better call of it for such a wait");
    }
    format!(
        "{beneath} is as late with every setting of this machine, and no record knows a call of {runtime} for such a wait \
         that ends closer to its time"
    )
}

#[cfg(test)]
mod left_out;
#[cfg(test)]
mod tests;
