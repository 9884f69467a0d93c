//! A thread of the supervisor: it waits for the threads that it traces and leads their waits.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use oversleep_record::Nanos;

use super::crew::{Crew, Member, SHARE, lock};
use super::entry::{self, Answer, LeadsTo, Waiting, now};
use super::inject::{self, Native};
use super::ptrace::{self, Registers, Stop, Tid};
use super::trampoline::Entry;
use crate::plan::{Class, Holder, Plan, Planned, Resolution};
use crate::report::Tally;

/// What the threads of a supervisor share.
pub struct Shared {
    pub plan: Plan,
    pub resolution: RwLock<Resolution>,
    /// Processes that run natively, with why.
    pub natives: RwLock<HashMap<Tid, &'static str>>,
    pub has_natives: AtomicBool,
    pub execs: AtomicU64,
    pub threads: AtomicU64,
    pub threads_max: AtomicU64,
    pub tallies: Mutex<Vec<Arc<Mutex<Tally>>>>,
    pub crew: Crew,
}

const OF_32_BITS: &str = "a program for 32 bits runs with native timing: only the 64-bit calls are redirected";
const REFUSED: &str = "the system refused the mapping that its waits need, so the program runs with native timing";
const SANDBOX: &str =
    "the program filters its own system calls and may forbid those that emulation makes: native timing";
const URING: &str = "io_uring is answered with ENOSYS, so that the program falls back to epoll";
const NO_SUCH_WAIT: &str = "the machine has no wait that stands for it";
const BUSY: Nanos = Nanos(5_000);

/// One thread that traces.
pub struct Tracer {
    shared: Arc<Shared>,
    tally: Arc<Mutex<Tally>>,
    /// The process of a thread, where it had to be looked up.
    processes: HashMap<Tid, Tid>,
    known: HashSet<Tid>,
    /// What it takes threads of others as; the first tracer takes none.
    member: Option<Arc<Member>>,
    /// Threads that come from another tracer, and what their registers will be.
    arriving: HashMap<Tid, Box<Registers>>,
    /// Since when it has not been idle: a thread that stops now may have begun to wait then.
    busy_since: Nanos,
}

impl Tracer {
    pub fn new(shared: Arc<Shared>, member: Option<Arc<Member>>) -> Tracer {
        let tally = Arc::<Mutex<Tally>>::default();
        lock(&shared.tallies).push(Arc::clone(&tally));
        Tracer {
            shared,
            tally,
            processes: HashMap::new(),
            known: HashSet::new(),
            member,
            arriving: HashMap::new(),
            busy_since: Nanos::ZERO,
        }
    }

    /// Runs a tracer. Should it fail, the whole supervisor ends, and the kernel kills the program with it: without a tracer
    /// the program would stop at its next wait for ever.
    pub fn guarded(tracing: impl FnOnce()) {
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(tracing)).is_err() {
            // SAFETY: ends the process.
            unsafe { libc::_exit(101) };
        }
    }

    /// Serves its threads until none is left.
    pub fn run(&mut self) {
        loop {
            let before = now();
            let Ok(Some((tid, stop))) = ptrace::wait(-1, 0) else { return };
            let after = now();
            if after - before > BUSY {
                self.busy_since = after;
            }
            if self.member.as_ref().is_some_and(|member| member.is_bell(tid)) {
                self.receive();
                if stop == Stop::Gone {
                    return;
                }
                let _ = ptrace::go_on(tid, 0);
                continue;
            }
            // A thread that was killed meanwhile can't be asked anything; its end is reported by itself.
            let _ = self.serve(tid, stop, after);
            let is_done = stop == Stop::Gone && self.known.is_empty() && self.arriving.is_empty();
            if is_done && self.member.as_ref().is_some_and(|member| member.close()) {
                return;
            }
        }
    }

    /// Takes the threads that others give.
    fn receive(&mut self) {
        let Some(member) = self.member.clone() else { return };
        for parcel in member.take() {
            if ptrace::seize(parcel.tid).and_then(|()| ptrace::interrupt(parcel.tid)).is_ok() {
                self.arriving.insert(parcel.tid, parcel.registers);
            } else {
                member.count.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// A thread that came from another tracer goes on where it was; one that is new is given away if there are enough.
    fn begins(&mut self, tid: Tid) -> io::Result<()> {
        if let Some(registers) = self.arriving.remove(&tid) {
            self.meet(tid);
            ptrace::set_registers(tid, &Registers { orig_rax: u64::MAX, ..*registers })?;
        } else if !self.known.contains(&tid) && self.known.len() >= SHARE {
            // A process of its own would outlive us on its way.
            let process = process_of(tid);
            if process.is_some_and(|process| process != tid) && self.give_away(tid) {
                return Ok(());
            }
        }
        self.meet(tid);
        ptrace::go_on(tid, 0)
    }

    /// Gives a new thread to another tracer, if one takes it.
    fn give_away(&self, tid: Tid) -> bool {
        let shared = &self.shared;
        shared.crew.give_away(tid, || {
            let shared = Arc::clone(shared);
            Box::new(move |member| Tracer::guarded(|| Tracer::new(shared, Some(member)).run()))
        })
    }

    fn serve(&mut self, tid: Tid, stop: Stop, now: Nanos) -> io::Result<()> {
        match stop {
            Stop::Gone => {
                self.forget(tid, now);
                Ok(())
            }
            Stop::Wait => {
                let led = self.lead(tid, now);
                ptrace::go_on(tid, 0).and(led)
            }
            Stop::Executes => {
                self.executes(tid);
                ptrace::go_on(tid, 0)
            }
            Stop::WithGroup => ptrace::listen(tid),
            Stop::Signal(signal) => ptrace::go_on(tid, signal),
            Stop::Trap => self.begins(tid),
            Stop::Started => {
                self.meet(tid);
                self.inherit(tid);
                ptrace::go_on(tid, 0)
            }
            Stop::Call => ptrace::go_on(tid, 0),
        }
    }

    fn meet(&mut self, tid: Tid) {
        if self.known.insert(tid) {
            let count = self.shared.threads.fetch_add(1, Ordering::Relaxed) + 1;
            self.shared.threads_max.fetch_max(count, Ordering::Relaxed);
        }
    }

    fn forget(&mut self, tid: Tid, now: Nanos) {
        let had = self.known.remove(&tid);
        if had {
            self.shared.threads.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(member) = self.member.as_ref().filter(|_| self.arriving.remove(&tid).is_some() || had) {
            let _ = member.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1));
        }
        self.processes.remove(&tid);
        if self.shared.has_natives.load(Ordering::Relaxed) {
            self.shared.natives.write().unwrap_or_else(PoisonError::into_inner).remove(&tid);
        }
        let is_held = |resolution: &Resolution| resolution.is_per_process();
        if is_held(&self.shared.resolution.read().unwrap_or_else(PoisonError::into_inner)) {
            self.shared.resolution.write().unwrap_or_else(PoisonError::into_inner).forget(tid, now);
        }
    }

    fn executes(&mut self, tid: Tid) {
        self.meet(tid);
        self.shared.execs.fetch_add(1, Ordering::Relaxed);
        // Its other threads are gone, and it has the id of the first.
        self.processes.insert(tid, tid);
        let why = match inject::at_exec(tid) {
            Ok(()) | Err(Native::Gone) => None,
            Err(Native::Of32Bits) => Some(OF_32_BITS),
            Err(Native::Refused) => Some(REFUSED),
        };
        match why {
            Some(why) => self.runs_natively(tid, why),
            None if self.shared.has_natives.load(Ordering::Relaxed) => {
                // A filter stays with all that the process executes.
                let mut natives = self.shared.natives.write().unwrap_or_else(PoisonError::into_inner);
                natives.retain(|&process, &mut why| process != tid || why == SANDBOX);
            }
            None => {}
        }
    }

    fn runs_natively(&mut self, process: Tid, why: &'static str) {
        lock(&self.tally).passed_by("execve", why);
        self.shared.natives.write().unwrap_or_else(PoisonError::into_inner).insert(process, why);
        self.shared.has_natives.store(true, Ordering::Relaxed);
    }

    /// A process that starts has the filter that its parent put on itself.
    fn inherit(&mut self, tid: Tid) {
        if !self.shared.has_natives.load(Ordering::Relaxed) {
            return;
        }
        let process = self.process(tid);
        let mut natives = self.shared.natives.write().unwrap_or_else(PoisonError::into_inner);
        if let (Some(&why), Ok(started)) = (natives.get(&process), ptrace::message(tid)) {
            natives.insert(started as Tid, why);
        }
    }

    /// The process of a thread.
    fn process(&mut self, tid: Tid) -> Tid {
        *self.processes.entry(tid).or_insert_with(|| process_of(tid).unwrap_or(tid))
    }

    fn lead(&mut self, tid: Tid, now: Nanos) -> io::Result<()> {
        self.meet(tid);
        let registers = ptrace::registers(tid)?;
        let call = registers.orig_rax as libc::c_long;
        let name = || entry::name(call);
        if self.shared.has_natives.load(Ordering::Relaxed) {
            let process = self.process(tid);
            let natives = self.shared.natives.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(why) = natives.get(&process) {
                lock(&self.tally).passed_by(name(), why);
                return Ok(());
            }
        }
        match entry::answer(tid, &registers) {
            Answer::AsIs => Ok(()),
            Answer::PassBy(why) => {
                lock(&self.tally).passed_by(name(), why);
                Ok(())
            }
            Answer::Return(value) => {
                lock(&self.tally).passed_by(name(), URING);
                returns(tid, registers, value)
            }
            Answer::Resolution(period) => {
                let process = self.process(tid);
                let requested = (period > 0).then_some(Nanos(period.min(i64::MAX as u64) as i64));
                let mut resolution = self.shared.resolution.write().unwrap_or_else(PoisonError::into_inner);
                let granted = resolution.hold(Holder::Process(process), requested, now);
                returns(tid, registers, granted.map_or(-i64::from(libc::EINVAL), |granted| granted.0))
            }
            Answer::Sandbox => {
                let process = self.process(tid);
                self.runs_natively(process, SANDBOX);
                Ok(())
            }
            Answer::Wait(waiting) => self.wait(tid, registers, &waiting, now),
        }
    }

    fn wait(&mut self, tid: Tid, registers: Registers, waiting: &Waiting, now: Nanos) -> io::Result<()> {
        let (grid, is_as_found) = {
            let is_per_process = self.shared.resolution.read().unwrap_or_else(PoisonError::into_inner).is_per_process();
            let process = if is_per_process { self.process(tid) } else { 0 };
            let resolution = self.shared.resolution.read().unwrap_or_else(PoisonError::into_inner);
            (resolution.grid(process), resolution.is_as_found())
        };
        let plan = &self.shared.plan;
        let name = entry::name(registers.orig_rax as libc::c_long);
        let Some(wait) = plan.wait(waiting.class) else {
            lock(&self.tally).passed_by(name, NO_SUCH_WAIT);
            return Ok(());
        };
        // The timeout of a socket is no wait yet: it lasts as long as one that begins at a tick.
        let from = match (waiting.class, grid) {
            (Class::Socket, Some(grid)) => grid.at_or_before(now),
            _ => now,
        };
        let Some(planned) = plan.end(waiting.class, waiting.requested, from, (grid, is_as_found)) else {
            return Ok(());
        };
        let is_busy = grid.is_some_and(|grid| grid.at_or_before(self.busy_since) < grid.at_or_before(now));
        let spans = [planned.requested, planned.native - from, planned.end - from].map(|span| span.0);
        lock(&self.tally).wait(name, wait.info.name, spans, is_busy && now - self.busy_since > BUSY);
        let interval = |interval: Nanos| match grid.filter(|_| wait.info.ends_at_tick()) {
            Some(grid) if interval > Nanos::ZERO => {
                (interval + Nanos(grid.period.0 / 2)).round_down_to(grid.period).max(grid.period)
            }
            _ => interval,
        };
        lead_to(tid, registers, waiting.leads_to, &planned, from, interval)
    }
}

/// Leads a thread from its call to the code that waits in its place.
fn lead_to(
    tid: Tid,
    mut registers: Registers,
    leads_to: LeadsTo,
    planned: &Planned,
    from: Nanos,
    on_grid: impl Fn(Nanos) -> Nanos,
) -> io::Result<()> {
    let (entry, end, rax) = match leads_to {
        LeadsTo::Number(entry, number) => (entry, planned.end, number as u64),
        LeadsTo::NativeEnd(entry) => (entry, planned.end, planned.native.0 as u64),
        LeadsTo::OnClock(entry, number, ahead) => (entry, planned.end + ahead, number as u64),
        LeadsTo::Timer(entry, interval, ahead) => (entry, planned.end + ahead, on_grid(interval).0 as u64),
        LeadsTo::Socket => (Entry::SetSockOpt, planned.end - from, 0),
    };
    registers.rcx = registers.rip;
    registers.rip = entry.address();
    registers.r11 = end.0 as u64;
    registers.rax = rax;
    registers.orig_rax = u64::MAX;
    ptrace::set_registers(tid, &registers)
}

/// Skips the call: it returns that.
fn returns(tid: Tid, mut registers: Registers, value: i64) -> io::Result<()> {
    registers.orig_rax = u64::MAX;
    registers.rax = value as u64;
    ptrace::set_registers(tid, &registers)
}

/// The process of a thread, as the system says.
fn process_of(tid: Tid) -> Option<Tid> {
    let status = std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}
