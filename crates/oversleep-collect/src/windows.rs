//! The collector for Windows: a session of the kernel logger, whose records become events of the same state machine.
//!
//! Written from Microsoft's documentation; it compiles, but has never run on Windows.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::process::{Child, Command};

use oversleep_native::kernel_trace::{self, KernelRecord, KernelTrace, TraceError};
use oversleep_why::etw::{Class, Record, Stamped, Translator, decode};
use oversleep_why::event::{Event, Kind};
use oversleep_why::recording::Named;

use crate::{CollectError, Losses, Options};

/// The first parts of the GUIDs of the classes `Thread` and `PerfInfo`.
const THREAD: u32 = 0x3d6f_a8d1;
const PERF_INFO: u32 = 0xce1d_bfb4;
/// What these records can't show.
const MISSING: &[&str] = &[
    "what a call requested (state it with --want)",
    "rounding before the call (api), CPU quotas, and idle states",
    "processes that a followed one starts",
];

/// A session of the kernel logger. Dropping it ends the session.
pub struct Collector {
    trace: KernelTrace,
    options: Options,
    followed: BTreeSet<u32>,
    translator: Translator,
    lost: u64,
    received: u64,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Collector {
    /// Starts a session.
    ///
    /// # Errors
    /// Why the session can't be started, and the remedy.
    pub fn open(options: Options) -> Result<Collector, CollectError> {
        let trace = KernelTrace::start().map_err(|error| match error {
            TraceError::NotAdministrator => CollectError::Refused {
                missing: "the kernel's logger needs an administrator".to_owned(),
                remedy: "Run it in a terminal that was started with “Run as administrator”".to_owned(),
                command: None,
                more: Vec::new(),
            },
            TraceError::Failed(call, error) => CollectError::Load(format!("{call} failed with error {error}")),
        })?;
        Ok(Collector {
            trace,
            options,
            followed: BTreeSet::new(),
            translator: Translator::new(None, true),
            lost: 0,
            received: 0,
        })
    }

    /// Sets the lateness from which a wait's stacks are taken, in ns; these records have none.
    pub fn stacks_from(&mut self, _lateness_ns: i64) {}

    /// The time until the next read.
    pub fn pause(&self) -> std::time::Duration {
        std::time::Duration::from_millis(100)
    }

    /// Sets how long the program intends to wait, in ns, if the user says so: the records don't contain it.
    pub fn want(&mut self, want_ns: Option<u64>) {
        self.translator = Translator::new(want_ns, true);
    }

    /// Follows a process that runs already.
    ///
    /// # Errors
    /// If there is no such process.
    pub fn follow(&mut self, pid: u32) -> Result<(), CollectError> {
        if kernel_trace::program_of(pid).is_none() {
            return Err(CollectError::NoProcess(pid));
        }
        self.followed.insert(pid);
        Ok(())
    }

    /// Starts a program and follows it.
    ///
    /// # Errors
    /// If the program can't be started.
    pub fn spawn(&mut self, command: &mut Command) -> io::Result<Child> {
        let child = command.spawn()?;
        self.followed.insert(child.id());
        Ok(child)
    }

    /// Reads what arrived.
    pub fn drain(&mut self, events: &mut Vec<Event>, _is_last: bool) -> bool {
        let (records, lost) = self.trace.take();
        if lost > self.lost {
            let mut event = Event::new(Kind::Lost, 0, 0);
            event.fields[0] = lost - self.lost;
            events.push(event);
            self.lost = lost;
        }
        let mut all = Vec::new();
        for record in &records {
            let Some(stamped) = self.stamped(record) else { continue };
            self.received += 1;
            self.translator.feed(&stamped, &mut all);
        }
        let own = std::process::id();
        let is_wanted = |event: &Event| {
            event.kind == Kind::Run
                || if self.options.everyone { event.tgid != own } else { self.followed.contains(&event.tgid) }
        };
        events.extend(all.into_iter().filter(is_wanted));
        false
    }

    /// Does nothing: the session ends when it is dropped; what it delivered until then has been counted.
    pub fn stop(&mut self) {}

    /// The record with its times in nanoseconds.
    fn stamped(&self, record: &KernelRecord) -> Option<Stamped> {
        let class = match record.class {
            THREAD => Class::Thread,
            PERF_INFO => Class::PerfInfo,
            _ => return None,
        };
        let ns = |counter: u64| {
            u64::try_from(u128::from(counter) * 1_000_000_000 / u128::from(self.trace.counter_hz())).unwrap_or(u64::MAX)
        };
        let decoded = match decode(class, record.opcode, &record.bytes)? {
            Record::Handler { began, is_interrupt } => Record::Handler { began: ns(began), is_interrupt },
            other => other,
        };
        Some(Stamped { t: ns(record.counter), cpu: record.cpu, thread: record.thread, record: decoded })
    }

    /// Ends the session.
    pub fn unload(self) {
        drop(self);
    }

    /// What was lost.
    pub fn losses(&mut self) -> Losses {
        Losses {
            sent: self.received,
            received: self.received,
            no_room: self.lost,
            missing: MISSING.to_vec(),
            ..Losses::default()
        }
    }
}

/// A process's name, and its place among the groups that share the CPUs.
pub fn named(tgid: u32) -> Option<Named> {
    Some(Named { tgid, name: kernel_trace::program_of(tgid)?, ..Named::default() })
}
