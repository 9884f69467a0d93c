//! Traces of Windows (ETL), as xperf, WPR and UIforETW record them.

mod event;
mod facts;
mod file;
mod merge;
mod needed;
mod wakes;
mod xpress;

use std::collections::{BTreeMap, VecDeque};

use oversleep_record::Nanos;
use oversleep_record::observed::wait::signed;
use oversleep_record::observed::wakes::Wakes;
use oversleep_record::observed::{By, Losses, Named};
use oversleep_why::calls::Arch;
use oversleep_why::etw::{Record, Stamped, Translator};
use oversleep_why::event::Event;
use oversleep_why::part::Part;
use oversleep_why::recording::Meta;

use crate::source::Source;
use crate::{Events, Fault, Format, Opened};
use facts::Facts;
use file::{Header, ORIGIN_NS};
use merge::Merged;
use needed::{KINDS, short};
use wakes::Sleepers;

pub const FORMAT: Format = Format { name: "an ETL file of Windows", way: "windows", knows, open };

/// What a wait needs, as recorders are told it.
pub const EVERY: &[(&str, &str)] = &[
    ("CSwitch", "CSwitch"),
    ("ReadyThread", "ReadyThread"),
    ("Interrupt", "Interrupt"),
    ("DPC", "DPC"),
    ("TimerResolution", "Microsoft-Windows-Kernel-Power"),
];

fn knows(head: &[u8]) -> bool {
    Header::of(head).is_some() || head.len() < Header::BYTES_MAX && Header::begins(head)
}

fn open<'a>(source: &'a dyn Source, way: &str) -> Result<Opened<'a>, Fault> {
    let mut facts = Facts::of(source)?;
    let has = |kind: &str| facts.count(kind) != 0;
    let has_waits = has("CSwitch") && has("ReadyThread");
    if !has_waits && !has("TimerResolution") {
        return Err(match facts.is_truncated && facts.count("CSwitch") == 0 && facts.count("CompactCSwitch") == 0 {
            true => Fault::CutBefore("its first CSwitch event"),
            false => Fault::Unread(lacking(&facts, way)),
        });
    }
    let has_calls = has("SysCallEnter") && has("SysCallExit");
    let compact = facts.count("CompactCSwitch");
    let mut missing: Vec<String> =
        EVERY.iter().filter(|(kind, _)| !has(kind)).map(|(_, name)| (*name).to_owned()).collect();
    if compact != 0 {
        missing.push(format!("{compact} context switches, which are CompactCSwitch records"));
    }
    let losses = Losses {
        no_room: facts.header.events_lost.max(facts.header.buffers_lost),
        missing,
        is_truncated: facts.is_truncated,
        ..Losses::default()
    };
    let mut meta = Meta::of(facts.arch.unwrap_or(Arch::Unknown));
    meta.os = "windows".to_owned();
    meta.by = By::Recorder;
    meta.recorder = Some("ETW".to_owned());
    meta.kernel = facts.header.version();
    meta.taken_unix_s = facts.header.start_unix_s();
    meta.unseen = unseen(&facts, has_calls);
    meta.resolution_ns = Some(Nanos(signed(facts.clock.unit_ns()))).filter(|ns| ns.0 > 1);
    let named = |(&tgid, (_, name)): (&u32, &(u64, String))| Named { tgid, name: name.clone(), ..Named::default() };
    meta.processes = facts.programs.iter().map(named).collect();
    let mut counts: Vec<(String, u64)> =
        KINDS.iter().zip(facts.counts).map(|(kind, count)| ((*kind).to_owned(), count)).collect();
    counts.push(("records".to_owned(), facts.records));
    let programs = &facts.programs;
    let name = |process: u32| programs.get(&process).map(|(_, name)| name.clone());
    let changes = std::mem::take(&mut facts.timeline).changes(ORIGIN_NS, name);
    let events = Box::new(Reader {
        before: before(&facts),
        merged: Merged::new(source, &facts),
        translator: Translator::new(None, has_calls),
        sleepers: Sleepers::default(),
        programs: facts.programs,
        has_calls,
        has_waits,
        span_ns: facts.span_ns,
    });
    Ok(Opened { meta, losses, counts, changes, events })
}

/// Why nothing is told of a trace, what it has instead, and the next step.
fn lacking(facts: &Facts, way: &str) -> String {
    let records = format!("`oversleep why --how-to-record {way}` prints what records them");
    if facts.count("CompactCSwitch") != 0 && facts.count("CSwitch") == 0 {
        return format!(
            "its context switches are CompactCSwitch records, which only Windows' own library decodes. Record CSwitch \
             events without compaction: {records}"
        );
    }
    let lacks = if facts.count("CSwitch") == 0 { "CSwitch" } else { "ReadyThread" };
    let has: Vec<String> = KINDS
        .iter()
        .zip(facts.counts)
        .filter(|(_, count)| *count != 0)
        .map(|(kind, count)| format!("{kind} {count}"))
        .collect();
    let has = if has.is_empty() { String::new() } else { format!(", of them {}", has.join(", ")) };
    format!(
        "it has no {lacks} events, so nothing tells when a thread waits (it has {} records{has}). {records}",
        facts.records
    )
}

/// Parts that the trace doesn't show, if the user doesn't state what was requested.
fn unseen(facts: &Facts, has_calls: bool) -> Vec<Part> {
    let handlers = facts.count("Interrupt") + facts.count("DPC");
    let never = [Part::Api, Part::Signal, Part::Slack, Part::Irq, Part::Ipi, Part::Quota, Part::User, Part::Fault];
    let rest = [(Part::Irqbody, handlers == 0), (Part::Wake, handlers == 0), (Part::Ret, !has_calls)];
    never.into_iter().chain(rest.into_iter().filter(|(_, is_unseen)| *is_unseen).map(|(part, _)| part)).collect()
}

/// What the trace tells somewhere, and what was so when it began.
fn before(facts: &Facts) -> VecDeque<Stamped> {
    let mut all = Vec::new();
    let programs = facts.programs.iter().map(|(&process, (_, name))| Record::Process { process, name: short(name) });
    all.extend(programs);
    let mut threads: Vec<_> = facts.threads.iter().collect();
    threads.sort_unstable_by_key(|(thread, _)| **thread);
    for (&thread, &(_, process, name)) in threads {
        all.push(match name {
            Some(name) => Record::ThreadName { process, thread, name },
            None => Record::Thread { process, thread },
        });
    }
    all.into_iter().map(|record| Stamped { t: ORIGIN_NS, cpu: 0, thread: 0, record }).collect()
}

struct Reader<'a> {
    before: VecDeque<Stamped>,
    merged: Merged<'a>,
    translator: Translator,
    sleepers: Sleepers,
    programs: BTreeMap<u32, (u64, String)>,
    has_calls: bool,
    has_waits: bool,
    span_ns: u64,
}

impl Events for Reader<'_> {
    fn intend(&mut self, want_ns: u64, unseen: &mut Vec<Part>) {
        self.translator = Translator::new(Some(want_ns), self.has_calls);
        unseen.retain(|part| *part != Part::Slack);
    }

    fn next(&mut self, events: &mut Vec<Event>) -> Result<bool, Fault> {
        if !self.has_waits {
            return Ok(false);
        }
        let next = match self.before.pop_front() {
            Some(stamped) => Some(stamped),
            None => self.merged.next()?,
        };
        if let Some(stamped) = &next {
            self.sleepers.see(stamped);
            self.translator.feed(stamped, events);
        }
        Ok(next.is_some())
    }

    fn span_ns(&self) -> u64 {
        self.span_ns
    }

    fn wakes(&mut self) -> Option<Wakes> {
        let name = |process| self.programs.get(&process).map(|(_, name)| name.clone());
        self.has_waits.then(|| std::mem::take(&mut self.sleepers).finish(name))
    }
}
