//! A thread of the supervisor, which waits for its traced threads and redirects their waits.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex};

use oversleep_record::Nanos;

use super::shared::Shared;
use crate::linux::calls::ignored::Outlasting;
use crate::linux::calls::remaining::Readings;
use crate::linux::calls::sends::Sendings;
use crate::linux::clocks::apart;
use crate::linux::code::cancel::{self, Cancelled};
use crate::linux::code::interrupted;
use crate::linux::filter;
use crate::linux::job::supervising::guard;
use crate::linux::process::clock::now;
use crate::linux::process::lock::lock;
use crate::linux::process::ptrace::{self, Registers, Stop, Thread, Tid};
use crate::linux::process::status::{self, filters_of, process_of};
use crate::linux::sites::places;
use crate::linux::trace::crew::{Member, Parcel, SHARE};
use crate::linux::trace::seizure::Seizure;
use crate::linux::trace::stops::{BRIEFLY, Stops};
use crate::report::Tally;

/// A tracer that slept no longer than this before a stop was busy, and may have been late for it.
pub const BUSY: Nanos = Nanos(5_000);

/// How often a tracer looks whether a wait that holds a resolution has ended, at least.
const RELEASES: Nanos = Nanos(500_000_000);

/// A tracing thread.
pub struct Tracer {
    pub(super) shared: Arc<Shared>,
    pub(super) tally: Arc<Mutex<Tally>>,
    /// The process of a thread, if it had to be looked up.
    processes: HashMap<Tid, Tid>,
    known: HashSet<Tid>,
    /// Its membership in the crew, through which it takes threads from others; the first tracer takes none.
    member: Option<Arc<Member>>,
    /// Its means to take threads; the first tracer has none.
    seizure: Option<Seizure>,
    /// Threads that it couldn't take yet, since their process executes a program.
    delayed: Vec<Parcel>,
    /// Threads that arrive from another tracer, and the registers that they will get.
    arriving: HashMap<Tid, Box<Registers>>,
    cancelled: Cancelled,
    pub(super) sendings: Sendings,
    pub(super) outlasting: Outlasting,
    pub(super) readings: Readings,
    /// How often threads stopped at a place in their program's code.
    pub(super) stops_at: HashMap<u64, u32>,
    stops: Stops,
    /// Since when it has not been idle: a thread that stops now may have begun its wait then.
    pub(super) busy_since: Nanos,
}

impl Drop for Tracer {
    fn drop(&mut self) {
        self.shared.counts.end_tally(&self.tally);
    }
}

impl Tracer {
    pub fn new(shared: Arc<Shared>, member: Option<Arc<Member>>) -> Tracer {
        let tally = shared.counts.begin_tally();
        Tracer {
            shared,
            tally,
            processes: HashMap::new(),
            known: HashSet::new(),
            seizure: member.as_ref().and_then(|_| Seizure::of_this_thread().ok()),
            member,
            delayed: Vec::new(),
            arriving: HashMap::new(),
            cancelled: Cancelled::default(),
            sendings: Sendings::default(),
            outlasting: Outlasting::default(),
            readings: Readings::default(),
            stops_at: HashMap::new(),
            stops: Stops::default(),
            busy_since: Nanos::ZERO,
        }
    }

    /// Serves its threads until none is left.
    pub fn run(&mut self) {
        loop {
            let before = now();
            let most = (!self.delayed.is_empty() || self.cancelled.any_waits()).then_some(BRIEFLY);
            let most = self.sendings.none_ends(before, BRIEFLY).or(most);
            let release = self.shared.release_ended(before).map(|at| (at - before).clamp(Nanos(1), RELEASES));
            let most = most.into_iter().chain(release).min();
            let Ok(stopped) = self.stops.next(most) else { return };
            let after = now();
            if after - before > BUSY {
                self.busy_since = after;
            }
            if most.is_some() {
                self.shared.release_ended(after);
                self.cancelled.send();
                self.sendings.end(after);
            }
            match stopped {
                Some((bell, stop)) if self.member.as_ref().is_some_and(|member| member.is_bell(bell)) => {
                    self.take_over(stop == Stop::Gone);
                    let _ = ptrace::go_on(bell, 0);
                }
                // A thread that was killed in the meantime can't be queried; its end is reported separately.
                Some((tid, stop)) => _ = self.serve(tid, stop, after),
                None => {}
            }
            if most.is_some() {
                let delayed = std::mem::take(&mut self.delayed);
                self.seize(delayed);
            }
            if self.known.is_empty()
                && self.arriving.is_empty()
                && self.delayed.is_empty()
                && let Some(member) = &self.member
            {
                member.close();
            }
        }
    }

    /// Takes the threads that other tracers hand over.
    fn take_over(&mut self, are_last: bool) {
        let Some(member) = &self.member else { return };
        let parcels = if are_last { member.take_last() } else { member.take() };
        self.seize(parcels);
    }

    fn seize(&mut self, parcels: Vec<Parcel>) {
        for parcel in parcels {
            let seized = match &self.seizure {
                Some(seizure) => seizure.seize(parcel.tid),
                None => ptrace::seize(parcel.tid),
            };
            match seized.and_then(|()| ptrace::interrupt(parcel.tid)) {
                Ok(()) => {
                    self.arriving.insert(parcel.tid, parcel.registers);
                    self.processes.insert(parcel.tid, parcel.process);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => self.delayed.push(parcel),
                Err(_) => {
                    if let Some(member) = &self.member {
                        member.note_lost();
                    }
                }
            }
        }
    }

    /// A thread that came from another tracer continues where it was; a new one runs once it was announced.
    fn note_trap(&mut self, tid: Tid, now: Nanos) -> io::Result<()> {
        let is_known = self.known.contains(&tid) || self.arriving.contains_key(&tid);
        if self.stops.births.note_stop(tid, is_known, now) { self.let_run(tid) } else { Ok(()) }
    }

    /// A thread that came from another tracer continues where it was; a new one is handed over if this tracer has enough.
    fn let_run(&mut self, tid: Tid) -> io::Result<()> {
        if let Some(registers) = self.arriving.remove(&tid) {
            self.meet(tid);
            ptrace::set_registers(tid, &Registers { orig_rax: u64::MAX, ..*registers })?;
        } else if !self.known.contains(&tid) && self.known.len() >= SHARE {
            // A process would outlive the supervisor on its way to another tracer.
            let is_parkable = |&process: &Tid| process != tid && self.shared.has_code(process);
            if let Some(process) = process_of(tid).filter(is_parkable) {
                self.prepare_waits(process, tid)?;
                if self.give_away(process, tid) {
                    return Ok(());
                }
            }
        }
        self.meet(tid);
        ptrace::go_on(tid, 0)
    }

    /// Hands a new thread over to another tracer, if one takes it.
    fn give_away(&self, process: Tid, tid: Tid) -> bool {
        let shared = &self.shared;
        shared.crew.give_away(Thread { process, tid }, || {
            let shared = Arc::clone(shared);
            Box::new(move |member| guard(|| Tracer::new(shared, Some(member)).run()))
        })
    }

    fn serve(&mut self, tid: Tid, stop: Stop, now: Nanos) -> io::Result<()> {
        match stop {
            Stop::Gone => {
                self.forget(tid, now);
                Ok(())
            }
            Stop::Wait => {
                if self.shared.may_have_other_filters() && filter::refuse_others(tid)? {
                    return ptrace::go_on(tid, 0);
                }
                let led = self.lead(tid, now);
                let ends = self.sendings.has(tid) || self.outlasting.has_changed(tid) || self.readings.has(tid);
                let goes_on = if ends { ptrace::until_call } else { ptrace::go_on };
                goes_on(tid, 0).and(led)
            }
            Stop::Executes => {
                self.prepare_program(tid, now);
                ptrace::go_on(tid, 0)
            }
            Stop::WithGroup => ptrace::listen(tid),
            Stop::Signal(libc::SIGSEGV | libc::SIGBUS) if places::recover(tid) => ptrace::go_on(tid, 0),
            Stop::Signal(libc::SIGILL) if self.meets_clock_apart(tid) => ptrace::go_on(tid, 0),
            Stop::Signal(signal) => {
                let gets = self.signal(tid, signal);
                ptrace::go_on(tid, gets.unwrap_or(signal))
            }
            Stop::Trap => self.note_trap(tid, now),
            Stop::Overdue => self.let_run(tid),
            Stop::Started => {
                self.meet(tid);
                self.note_start(tid);
                ptrace::go_on(tid, 0)
            }
            Stop::Call => self.end_call(tid),
        }
    }

    /// Whether a thread stopped because its program's functions are now to be told apart by the clock that they read.
    fn meets_clock_apart(&mut self, tid: Tid) -> bool {
        let process = self.process(tid);
        let Some(met) = apart::meet(process, tid) else { return false };
        if let Err(why) = met {
            lock(&self.tally).note_passed_by("clock_gettime", why);
        }
        true
    }

    /// A thread is about to get a signal. What it gets now: the signal, or 0.
    fn signal(&mut self, tid: Tid, signal: i32) -> io::Result<i32> {
        let process = self.process(tid);
        let shared = Arc::clone(&self.shared);
        let ahead = shared.spaces.ahead(process, libc::CLOCK_MONOTONIC);
        let of = interrupted::Process { origin: &|place| shared.sites.origin(process, place), ahead };
        match signal {
            cancel::SIGNAL | cancel::OF_MUSL => return self.cancelled.signal(Thread { process, tid }, signal, &of),
            _ => {
                let registers = self.outlasting.take_signal(tid, signal)?;
                if interrupted::may_be_brought_back(&registers)
                    && shared.settings.plan.is_some()
                    && !self.handles_faults(tid)
                    && status::handles(tid, signal)
                {
                    interrupted::bring_back(tid, &registers, &of)?;
                }
            }
        }
        Ok(signal)
    }

    pub(super) fn meet(&mut self, tid: Tid) {
        if self.known.insert(tid) {
            self.shared.counts.count_thread();
        }
    }

    /// A thread is gone.
    pub(super) fn forget(&mut self, tid: Tid, now: Nanos) {
        self.lose(tid);
        self.stops.births.forget(tid);
        self.shared.forget(tid, now);
    }

    /// This tracer has a thread no longer.
    fn lose(&mut self, tid: Tid) {
        let had = self.known.remove(&tid);
        if had {
            self.shared.counts.uncount_thread();
        }
        if let Some(member) = self.member.as_ref().filter(|_| self.arriving.remove(&tid).is_some() || had) {
            member.note_lost();
        }
        self.processes.remove(&tid);
        self.cancelled.forget(tid);
        self.sendings.forget(tid);
        self.outlasting.forget(tid);
        self.readings.forget(tid);
    }

    /// A new process inherits what its parent has; a new thread shares it anyway.
    fn note_start(&mut self, tid: Tid) {
        let Ok(started) = ptrace::message(tid) else { return };
        let started = started as Tid;
        if self.shared.follows_starts() {
            let process = self.process(tid);
            if !std::fs::exists(format!("/proc/{process}/task/{started}")).unwrap_or(false) {
                self.shared.note_start(process, started);
                self.shared.timeouts.note_start(process, started, filters_of);
            }
        }
        // Its parent's places count on the parent's clocks.
        if self.shared.spaces.meet(started) {
            self.shared.sites.turn_off(started);
        }
        if self.stops.births.announce(started) {
            let _ = self.let_run(started);
        }
    }

    /// The process runs another program now. Its other threads are gone, and this thread has the id of the first. No stop
    /// tells that its former id is gone.
    pub(super) fn note_exec(&mut self, tid: Tid) {
        let former = ptrace::message(tid).map_or(tid, |former| former as Tid);
        if former != tid {
            self.lose(former);
        }
        self.cancelled.forget(tid);
        self.sendings.forget(tid);
        self.outlasting.forget(tid);
        self.readings.forget(tid);
        self.meet(tid);
        self.processes.insert(tid, tid);
    }

    /// The process of a thread.
    pub(super) fn process(&mut self, tid: Tid) -> Tid {
        *self.processes.entry(tid).or_insert_with(|| process_of(tid).unwrap_or(tid))
    }
}
