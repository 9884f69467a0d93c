//! Who ran instead: what the kernel's events say of the waits of this process.

use std::collections::VecDeque;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use oversleep_collect::{CollectError, Collector, Options, named};
use oversleep_record::Nanos;
use oversleep_record::observed::culprit::IrqCause;
use oversleep_record::part::{Part, Parts};
use oversleep_record::words::counted;
use oversleep_report::view::observed::irq_words;
use oversleep_why::calls::Arch;
use oversleep_why::culprit::Culprit;
use oversleep_why::recording::{Meta, Recorder};
use oversleep_why::{Event, Machine, Occupied, Wait};
use serde::{Deserialize, Serialize};

use super::threads::NAME;
use crate::command::why;
use crate::exit::Failure;
use crate::output::file::why_not;

/// The most waits that are kept to be found again: a few seconds of them.
const WAITS_MAX: usize = 1_024;
/// The most events that are kept: about a minute of a sampler alone, 1.4 MB.
const EVENTS_MAX: usize = 16_384;
/// The most tasks that are named for one wait.
const NAMED_MAX: usize = 3;
/// What a thread of this process is named, whatever its own name: no program of yours ran then.
const OWN: &str = "oversleep itself";
/// How far back the turns before a late wait are told.
const BEFORE_NS: u64 = 10_000_000;

/// Follows this process.
pub struct Witness {
    collector: Collector,
    arch: Arch,
    machine: Machine,
    batch: Vec<Event>,
    waits: VecDeque<Wait>,
    events: VecDeque<Event>,
}

/// What the kernel's events say of a late wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Its lateness in parts.
    #[serde(rename = "parts_ns")]
    pub parts: Parts,
    /// Who ran while it waited for a CPU, the longest first.
    pub ran: Vec<Ran>,
    /// What delayed its timer interrupt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irq: Option<IrqCause>,
}

/// A task that ran instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// Its name.
    pub name: String,
    /// The name of its process, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Its thread id.
    pub tid: u32,
    /// Whether it is a thread of the process that samples.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_own: bool,
    /// For how long.
    pub ns: Nanos,
}

impl Account {
    fn of(wait: &Wait) -> Account {
        let ran = |of: &Culprit| Ran {
            name: of.name.clone(),
            // A worker of the kernel is its own process, whose name may also say what it last did.
            process: of.process.clone().filter(|_| of.tid != of.tgid),
            tid: of.tid,
            is_own: of.tgid == wait.tgid,
            ns: nanos(of.ran_ns),
        };
        Account { parts: wait.parts, ran: wait.culprits.iter().map(ran).collect(), irq: wait.irq_cause.clone() }
    }

    /// In words: who ran, or else the part of the lateness that is the largest.
    pub fn words(&self) -> String {
        let largest = self.parts.largest();
        let time = Nanos(self.parts.get(largest));
        match (largest, &self.irq) {
            (Part::Runq | Part::Ret, _) if !self.ran.is_empty() => {
                let named: Vec<String> = self.ran.iter().take(NAMED_MAX).map(Ran::words).collect();
                let others = self.ran.get(NAMED_MAX..).unwrap_or_default();
                let sum: Nanos = others.iter().map(|ran| ran.ns).sum();
                let others = if others.is_empty() {
                    String::new()
                } else {
                    format!(", {} {sum}", counted(others.len(), "other"))
                };
                format!("ran instead: {}{others}", named.join(", "))
            }
            (Part::Irq, Some(cause)) => format!("timer interrupt {time} late: {}", irq_words(cause)),
            _ => format!("most of it, {time}: {}", largest.about()),
        }
    }
}

impl Ran {
    fn words(&self) -> String {
        if self.is_own {
            return format!("{OWN} ({}) {}", self.tid, self.ns);
        }
        let process = self.process.as_ref().map(|process| format!(" of {process}")).unwrap_or_default();
        format!("{}{process} ({}) {}", self.name, self.tid, self.ns)
    }
}

impl Witness {
    /// Begins to follow this process.
    ///
    /// # Errors
    /// Why the kernel doesn't allow it, and the remedy.
    pub fn open() -> Result<Witness, CollectError> {
        let arch = Arch::named(std::env::consts::ARCH).ok_or(CollectError::System)?;
        let options =
            Options { everyone: false, children: false, stacks: false, periods: false, tick_ns: why::tick_ns() };
        let mut collector = Collector::open(options)?;
        collector.follow(std::process::id())?;
        let (waits, events) = (VecDeque::new(), VecDeque::new());
        Ok(Witness { collector, arch, machine: Machine::new(arch), batch: Vec::new(), waits, events })
    }

    /// Takes in what has arrived; with `is_last`, all of it.
    pub fn look(&mut self, is_last: bool) {
        let Witness { collector, machine, batch, waits, events, .. } = self;
        let taken = collector.drain_each(batch, is_last, |batch| {
            for event in batch {
                machine.feed(event);
            }
            events.extend(batch);
            events.drain(..events.len().saturating_sub(EVENTS_MAX));
            waits.extend(machine.take().into_iter().filter(|wait| wait.thread.starts_with(NAME)));
            waits.drain(..waits.len().saturating_sub(WAITS_MAX));
            Ok::<(), std::convert::Infallible>(())
        });
        let Ok(()) = taken;
    }

    /// The wait of that thread that ended late at that time of the monotonic clock.
    fn wait(&self, thread: &str, end: Nanos, lateness: Nanos) -> Option<Wait> {
        let returned: Vec<Wait> = self.machine.returned().collect();
        found(self.waits.iter().chain(&returned), thread, end, lateness).cloned()
    }

    /// What is known of the wait of that thread that ended late at that time of the monotonic clock.
    pub fn account(&self, thread: &str, end: Nanos, lateness: Nanos) -> Option<Account> {
        self.wait(thread, end, lateness).map(|wait| Account::of(&wait))
    }

    /// Who had its CPU in the 10 ms before its deadline and until its end, a line each.
    pub fn before(&self, thread: &str, end: Nanos, lateness: Nanos) -> Vec<String> {
        let Some(wait) = self.wait(thread, end, lateness) else { return Vec::new() };
        let Some(cpu) = wait.cpu else { return Vec::new() };
        let from = wait.deadline.saturating_sub(BEFORE_NS);
        let turns = self.machine.turns(cpu, from, wait.end).filter(|turn| turn.tid != wait.tid);
        turns.map(|turn| turn_before(&turn, cpu, &wait)).collect()
    }

    /// Writes the kept events as a recording that `oversleep why` reads.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn record(&self, path: &Path) -> Result<(), Failure> {
        let own = std::process::id();
        let platform = oversleep_native::here();
        let meta = Meta {
            os: platform.id().os,
            target: format!("process {own}"),
            processes: named(own).into_iter().collect(),
            taken_unix_s: platform.unix_time_s(),
            ..Meta::of(self.arch)
        };
        let write = || {
            let mut recorder = Recorder::new(BufWriter::new(File::create(path)?), &meta)?;
            let (older, newer) = self.events.as_slices();
            recorder.write(older)?;
            recorder.write(newer)?;
            recorder.finish(meta.processes.clone(), Vec::new())
        };
        write().map(drop).map_err(|error: std::io::Error| Failure::failed(why_not(path, &error)))
    }
}

/// Who had the CPU of a late wait, and when that was.
fn turn_before(turn: &Occupied, cpu: u16, wait: &Wait) -> String {
    let begun = Nanos(signed(turn.from) - signed(wait.deadline));
    let when = if begun < Nanos::ZERO { "before" } else { "after" };
    let (begun, ran) = (Nanos(begun.0.abs()), nanos(turn.to.saturating_sub(turn.from)));
    let name = if turn.tgid == wait.tgid { OWN } else { turn.name.as_str() };
    format!("CPU {cpu}: {name} ({}) for {ran}, from {begun} {when} the deadline", turn.tid)
}

/// The last wait of the thread whose call ended between the deadline and that end.
fn found<'a>(waits: impl Iterator<Item = &'a Wait>, thread: &str, end: Nanos, lateness: Nanos) -> Option<&'a Wait> {
    let deadline = end - lateness;
    let is_it = |wait: &&Wait| {
        wait.thread == thread && (deadline.0..=end.0).contains(&signed(wait.end)) && wait.lateness_ns > 0
    };
    waits.filter(is_it).max_by_key(|wait| wait.end)
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

fn nanos(ns: u64) -> Nanos {
    Nanos(signed(ns))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wait(thread: &str, deadline: u64, late: i64, extra: &serde_json::Value) -> Wait {
        let mut wait = json!({
            "tgid": 5, "tid": 6, "thread": thread, "request": "span", "deadline_ns": deadline,
            "end_ns": deadline + late.unsigned_abs(), "lateness_ns": late, "outcome": "timer", "parts": {}, "marks": {},
        });
        let (Some(wait_of), Some(extra)) = (wait.as_object_mut(), extra.as_object()) else { panic!("objects") };
        wait_of.extend(extra.clone());
        serde_json::from_value(wait).expect("a wait")
    }

    fn task(name: &str, tid: u32, ran_ns: u64) -> serde_json::Value {
        json!({
            "tid": tid, "tgid": tid, "name": name, "policy": 0, "prio": 120, "ran_ns": ran_ns, "why": "turn_not_over",
            "is_pinned": false,
        })
    }

    #[test]
    fn a_late_wait_is_found_by_its_thread_and_its_time() {
        let none = json!({});
        let waits = [
            wait("sampler", 1_000_000, 300_000, &none),
            wait("sampler 1", 2_000_000, 300_000, &none),
            wait("sampler", 2_000_000, 290_000, &none),
            wait("sampler", 3_000_000, 60_000, &none),
        ];
        // The timestamp after the call is a little later than the call's end.
        let at = |thread, end, late| found(waits.iter(), thread, Nanos(end), Nanos(late)).map(|wait| wait.deadline);
        assert_eq!(at("sampler", 2_290_900, 290_900), Some(2_000_000));
        assert_eq!(at("sampler 1", 2_300_900, 300_900), Some(2_000_000));
        assert_eq!(at("sampler", 2_600_000, 100_000), None, "none ended after that deadline and up to that end");
        assert_eq!(at("main", 2_290_900, 290_900), None);
    }

    #[test]
    fn who_ran_is_named_and_where_nobody_did_the_largest_part_is() {
        let ran = [task("hog", 41, 2_000_000), task("a", 42, 500_000), task("b", 43, 400_000), task("c", 44, 60_000)];
        let words = |extra| Account::of(&wait("sampler", 0, 3_000_000, &extra)).words();
        let queued = words(json!({ "parts": { "runq": 2_960_000, "ret": 40_000 }, "culprits": ran }));
        assert_eq!(queued, "ran instead: hog (41) 2 ms, a (42) 500 µs, b (43) 400 µs, 1 other 60 µs");
        let idle =
            json!({ "parts": { "irq": 2_500_000, "runq": 500_000 }, "irq_cause": { "what": "idle", "state": 2 } });
        assert_eq!(words(idle), "timer interrupt 2.5 ms late: the CPU was idle (state 2)");
        assert_eq!(words(json!({ "parts": { "slack": 3_000_000 } })), "most of it, 3 ms: timer slack");
    }

    #[test]
    fn threads_of_this_process_are_named_as_oversleep_itself() {
        let mut own = task("serve", 7, 300_000);
        own["tgid"] = json!(5);
        let late = wait("sampler", 0, 3_000_000, &json!({ "parts": { "runq": 2_960_000 }, "culprits": [own] }));
        let account = Account::of(&late);
        assert_eq!(account.words(), "ran instead: oversleep itself (7) 300 µs");
        let text = serde_json::to_string(&account.ran).expect("plain data");
        assert_eq!(text, r#"[{"name":"serve","tid":7,"is_own":true,"ns":300000}]"#);
        let turn = |tgid| Occupied { name: "hog".to_owned(), tid: 7, tgid, from: 500_000, to: 900_000 };
        let late = wait("sampler", 1_000_000, 3_000_000, &json!({}));
        let words = [5, 8].map(|tgid| turn_before(&turn(tgid), 1, &late));
        assert_eq!(words[0], "CPU 1: oversleep itself (7) for 400 µs, from 500 µs before the deadline");
        assert_eq!(words[1], "CPU 1: hog (7) for 400 µs, from 500 µs before the deadline");
    }

    #[test]
    fn an_account_reads_back_as_it_was_written() {
        let account =
            Account::of(&wait("sampler", 0, 3, &json!({ "parts": { "runq": 3 }, "culprits": [task("a", 1, 3)] })));
        let text = serde_json::to_string(&account).expect("plain data");
        assert_eq!(text, r#"{"parts_ns":{"runq":3},"ran":[{"name":"a","tid":1,"ns":3}]}"#);
        assert_eq!(serde_json::from_str::<Account>(&text).expect("its own text"), account);
    }
}
