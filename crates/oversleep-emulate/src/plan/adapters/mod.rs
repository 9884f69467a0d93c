//! What the port of a language runtime or library does in place of a Linux call. Applying the rules of Linux calls to a
//! runtime would be wrong: rounding a sleep that the port doesn't make to a tick of 15.6 ms would slow down programs that
//! are fast there.

use oversleep_model::Source;
use oversleep_model::sim::ClockModel;
use oversleep_system::WaitInfo;
use oversleep_system::runtime_calls::{self, Caller, Host, OnLinux, Passes, Record, find, version_named};
use oversleep_system::waits::{ASYNC_SLEEP, PACER, PARK_UNTIL, SLEEP_UNTIL};

use super::classes::classes_of;
use super::recognised::{Executed, Recognised, recognised};
use super::{Class, ClockChoice, LinuxClock, Plan, Stepped};

/// The waits of this project's library.
const LIBRARY: [WaitInfo; 4] = [SLEEP_UNTIL, PACER, PARK_UNTIL, ASYNC_SLEEP];
/// The clock that a program takes a port's own clock for.
const OWN_CLOCK: LinuxClock = LinuxClock::Monotonic;

/// What the runtime of a program changes.
#[derive(Clone, Debug, Default)]
pub struct Adapted {
    waits: Vec<Wait>,
    /// Clocks, in the syntax of the option.
    pub clocks: Option<ClockChoice>,
    /// A clock that some functions of the program alone see.
    pub apart: Option<Stepped>,
    /// For the report.
    pub described: Vec<Described>,
}

/// What stands for the calls of a class.
#[derive(Clone, Debug)]
pub(super) struct Wait {
    class: Class,
    /// Whether only the program's own code.
    own_code: bool,
    caller: Option<&'static Caller>,
    /// The machine's wait.
    pub(super) at: usize,
    pub(super) passes: Passes<'static>,
    /// The clock that decides whether it waits again, if that moves in steps.
    pub(super) due_by: Option<Stepped>,
}

/// What was assumed of a program, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Described {
    /// The runtime with its version, or the program.
    pub runtime: String,
    /// What its calls do on that system.
    pub does: String,
    /// The source of that.
    pub source: String,
    /// How the runtime and its version were recognised.
    pub evidence: String,
}

/// Where a call is made.
pub struct Origin<'a> {
    /// Whether by the program's own code.
    pub is_own_code: bool,
    /// Whether from within that code.
    pub is_within: &'a dyn Fn(&Caller) -> bool,
}

impl Adapted {
    /// What stands for calls of that class.
    pub(super) fn wait(&self, class: Class, origin: &Origin) -> Option<&Wait> {
        let is_it = |wait: &&Wait| {
            wait.class == class
                && (!wait.own_code || origin.is_own_code)
                && wait.caller.is_none_or(|caller| (origin.is_within)(caller))
        };
        self.waits.iter().find(is_it)
    }

    /// Whether it depends on the caller what stands for calls of that class.
    pub fn depends_on_caller(&self, class: Class) -> bool {
        self.waits.iter().any(|wait| wait.class == class && wait.caller.is_some())
    }

    /// Whether some library of the program holds a timer resolution for the process's whole life.
    pub fn always_holds(&self) -> bool {
        self.waits.iter().any(|wait| wait.passes.always_holds())
    }
}

impl Plan {
    /// The record of the call with that name on this machine's system: for the stated version, or for the newest that runs
    /// there.
    ///
    /// # Errors
    /// No source says what it does there.
    pub fn assumed(&self, call: &str) -> Result<&'static Record, String> {
        let os = &self.machine.os;
        let host = Host::described(os, &self.machine.facts);
        let runs = |record: &Record| {
            let version = version_named(call, record);
            host.runs(record) && version.is_none_or(|version| host.lacks_for(record.family(), &version).is_none())
        };
        let has = |record: &&&'static Record| self.stands_for(record).is_some() && runs(record);
        let (name, _) = call.split_once('@').unwrap_or((call, ""));
        let found = find(&[], os, call, None);
        if let Some(record) = found.iter().find(has) {
            return Ok(record);
        }
        if let Some(needs) = found.first().and_then(|first| host.lacks(first.family())) {
            return Err(format!("{}, and {} is older", needs.sentence(), self.machine.name));
        }
        let is_it = |info: &WaitInfo| {
            let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            info.name == name || info.call.split(|c: char| !is_of_word(c)).any(|word| word == name)
        };
        if LIBRARY.iter().any(is_it) {
            return Err(
                "a program with this project's library makes the waits of its sleeps itself, and spins: run such a \
                        program here without --as. `oversleep ask` and `oversleep waits` know these sleeps"
                    .to_owned(),
            );
        }
        if self.machine.waits.iter().any(|wait| is_it(&wait.info)) {
            return Err(
                "that is a call of the system, and --as takes the call of a runtime or a library; `oversleep ask` \
                        and `oversleep waits` know both"
                    .to_owned(),
            );
        }
        let versions = runtime_calls::versions(os, name);
        Err(match versions.is_empty() {
            false => format!("not known for that version; known on {os}: {}", versions.join("; ")),
            true => match &runtime_calls::systems(name)[..] {
                [] => "no call of that name is known; `oversleep runtimes --on MACHINE` lists those of a machine"
                    .to_owned(),
                systems => format!("not known on {os}; known on: {}", systems.join(", ")),
            },
        })
    }

    /// What the runtimes of that program change on this machine, after the calls that its sleeps are said to stand for;
    /// `None` if the plain port does what is left.
    pub fn adapted(
        &self,
        program: &Executed,
        assumed: &[String],
        recognises: bool,
        version_of: impl Fn(&str) -> Option<[u32; 2]>,
    ) -> Option<Adapted> {
        let mut adapted = Adapted::default();
        for call in assumed {
            let Ok(record) = self.assumed(call) else { continue };
            for (class, is_rounded) in classes_of(record) {
                let on_linux = OnLinux { class: String::new(), own_code: false, caller: None, is_rounded };
                let first = adapted.waits.len();
                self.adapt(&mut adapted, record, class, &on_linux, None);
                // The program isn't of that runtime, so it makes one wait and looks at no clock.
                for wait in &mut adapted.waits[first..] {
                    (wait.passes, wait.due_by) = self.waiting_again(record, wait.passes);
                }
            }
            self.describe(&mut adapted, record, &record.version_words(), "--as says so");
        }
        let assumed_waits = adapted.waits.len();
        if recognises {
            for one in recognised(program, version_of) {
                self.adapt_to(&mut adapted, &one);
            }
        }
        // A record about a caller is more special; what the user says goes before all.
        adapted.waits[assumed_waits..].sort_by_key(|wait| wait.caller.is_none() && !wait.own_code);
        (!adapted.described.is_empty()).then_some(adapted)
    }

    fn adapt_to(&self, adapted: &mut Adapted, one: &Recognised) {
        let about = |record: &&Record| {
            let is_about = match &one.version {
                Some(version) => record.covers(version),
                // An unknown version is most likely the newest.
                None => record.before.is_none(),
            };
            is_about && record.family() == one.runtime.name && record.system == self.machine.os
        };
        let first = adapted.described.len();
        for record in runtime_calls::all().iter().filter(about) {
            let Some(on_linux) = &record.on_linux else { continue };
            let Ok(class) = on_linux.class.parse() else { continue };
            if self.adapt(adapted, record, class, on_linux, on_linux.caller.as_ref()) {
                self.describe(adapted, record, &one.name(), &one.evidence);
            }
        }
        if let Some(ClockChoice::These(own)) = self.chosen(&one.runtime.name, one.version.as_ref())
            && let ClockChoice::These(these) = adapted.clocks.get_or_insert(ClockChoice::These(Vec::new()))
        {
            these.extend(own);
        }
        adapted.apart = adapted.apart.take().or_else(|| self.apart(&one.runtime.name, one.version.as_ref()));
        adapted.described.extend(self.about_clocks(one, adapted.described.len() > first));
        if adapted.described.len() > first {
            adapted.described.extend(self.too_new(one));
        }
    }

    /// That a runtime of that version doesn't run on this machine, if its system is too old for it.
    fn too_new(&self, one: &Recognised) -> Option<Described> {
        let host = Host::described(&self.machine.os, &self.machine.facts);
        let needs = match &one.version {
            Some(version) => host.lacks_for(&one.runtime.name, version),
            None => host.lacks(&one.runtime.name),
        }?;
        let older = format!("{}, and {} is older", needs.sentence(), self.machine.name);
        Some(Described {
            runtime: one.name(),
            does: format!("it doesn't run there: {older}. It is emulated as if it did"),
            source: String::new(),
            evidence: one.evidence.clone(),
        })
    }

    /// What is assumed of a program whose runtimes are recognised, and whose ports to this machine's system aren't adapted.
    pub fn not_adapted(&self, program: &Executed, version_of: impl Fn(&str) -> Option<[u32; 2]>) -> Vec<Described> {
        let system = match &*self.machine.os {
            "macos" => "macOS",
            "windows" => "Windows",
            other => other,
        };
        let of = |one: Recognised| {
            let runtime = match &one.version {
                Some(version) => format!("{} {version}", one.runtime.name),
                None => one.runtime.name.clone(),
            };
            let evidence = format!("{}; --as CALL says what its sleeps stand for", one.evidence);
            let does = format!("its port to {system} isn't adapted: {}", self.plain_port());
            let plain = Described { runtime, does, source: String::new(), evidence };
            std::iter::once(plain).chain(self.too_new(&one)).collect::<Vec<_>>()
        };
        recognised(program, version_of).into_iter().flat_map(of).collect()
    }

    fn plain_port(&self) -> String {
        let sleep = self.wait(Class::Sleep).map_or("the machine's own sleep", |wait| wait.info.call);
        format!("its sleeps stand for {sleep}, and its other waits for what a plain port calls")
    }

    /// The wait of this machine that a record names, and what is passed on to it.
    fn stands_for(&self, record: &'static Record) -> Option<(usize, Passes<'static>)> {
        let at = |name: &str| {
            self.machine.waits.iter().position(|wait| wait.info.name == name && wait.unavailable.is_none())
        };
        let passes = record.passes(|name| at(name).is_some());
        Some((at(passes.wait)?, passes))
    }

    /// What is passed on by a program that doesn't look at a clock itself whether the call's time is up, and that clock, if
    /// it moves in steps.
    fn waiting_again(&self, record: &'static Record, passes: Passes<'static>) -> (Passes<'static>, Option<Stepped>) {
        let due_by = self.due_clock(record, passes).and_then(|name| self.clock_named(name));
        (passes.waiting_again(due_by.map(|_| record.counts)), due_by.and_then(|model| self.stepped(OWN_CLOCK, model)))
    }

    /// Registry name of the clock by which a call decides on this machine whether it waits again. A runtime reads it, even
    /// if programs have no function for that.
    pub(super) fn due_clock(&self, record: &'static Record, passes: Passes<'_>) -> Option<&'static str> {
        let host = Host::described(&self.machine.os, &self.machine.facts);
        let hz = |name: &str| self.clock_named(name).map(|clock| clock.frequency_hz);
        record.due_clock(passes.wait != record.wait, &host, hz)
    }

    pub(super) fn clock_named(&self, name: &str) -> Option<&ClockModel> {
        self.machine.clocks.iter().find(|clock| clock.info.name == name)
    }

    /// A record decides for calls of that class, unless an earlier one does.
    pub(super) fn adapt(
        &self,
        adapted: &mut Adapted,
        record: &'static Record,
        class: Class,
        on_linux: &OnLinux,
        caller: Option<&'static Caller>,
    ) -> bool {
        let Some((at, passes)) = self.stands_for(record) else { return false };
        let is_decided =
            |wait: &Wait| wait.class == class && wait.own_code == on_linux.own_code && wait.caller == caller;
        if adapted.waits.iter().any(is_decided) {
            return false;
        }
        let passes = if on_linux.is_rounded { passes.of_rounded() } else { passes };
        adapted.waits.push(Wait { class, own_code: on_linux.own_code, caller, at, passes, due_by: None });
        true
    }

    fn describe(&self, adapted: &mut Adapted, record: &'static Record, runtime: &str, evidence: &str) {
        let Some((wait, passes)) = self.stands_for(record) else { return };
        let (call, clause) = (self.machine.waits[wait].info.call, passes.rounds.clause());
        let held = if passes.may_hold() { ", holding a timer resolution of 1 ms" } else { "" };
        let until = self.due_clock(record, passes);
        let until = until.map(|clock| format!(", again until {clock} shows its end")).unwrap_or_default();
        adapted.described.push(Described {
            runtime: runtime.to_owned(),
            does: format!("{} calls {call}{clause}{held}{until} (record {})", record.names[0], record.id),
            source: Source::find(&record.source).map_or_else(|| record.source.clone(), Source::citation),
            evidence: evidence.to_owned(),
        });
    }

    /// What is assumed of a program without adapters, for the report.
    pub fn plain(&self, program: &str) -> Described {
        Described {
            runtime: program.to_owned(),
            does: self.plain_port(),
            source: String::new(),
            evidence: "no runtime recognised; --as CALL says what its sleeps stand for".to_owned(),
        }
    }

    /// Whether ports of programs differ from what they are on this system.
    pub fn is_of_another_system(&self) -> bool {
        self.machine.os != "linux"
    }
}

#[cfg(test)]
mod tests;
