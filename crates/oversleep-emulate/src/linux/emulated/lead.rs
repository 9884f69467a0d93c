//! What a tracer does at the start of a timed wait.

use std::io;
use std::sync::Arc;

use oversleep_record::Nanos;
use oversleep_system::runtime_calls::Caller;

use super::tracer::{BUSY, Tracer};
use crate::linux::calls::entry::{self, Answer, LeadsTo, Waiting};
use crate::linux::calls::remaining::{self, Does, Timer};
use crate::linux::code::inject::SYSCALL_LENGTH;
use crate::linux::code::trampoline::Entry;
use crate::linux::filter::{other_abis, receiving, sending};
use crate::linux::process::lock::lock;
use crate::linux::process::program_file;
use crate::linux::process::ptrace::{self, Registers, Thread, Tid};
use crate::linux::process::status;
use crate::linux::programs::processes::{Program, SANDBOX, Special};
use crate::linux::sites::places::{Done, Frequent, WORTHWHILE};
use crate::plan::{Class, Holder, Origin, Planned, Requested};

const URING: &str = "io_uring is answered with ENOSYS, so that the program falls back to epoll";
const INTERVAL: &str =
    "the interval of a timer is rounded to whole ticks, so it expires at another rate than requested";
const NO_SUCH_WAIT: &str = "the machine has no wait that stands for it";

/// A call of a thread that stopped.
#[derive(Clone, Copy)]
pub(super) struct Stopped<'a> {
    /// When its tracer saw that.
    pub(super) now: Nanos,
    /// Its program, if a port of its runtime waits otherwise.
    pub(super) program: Option<&'a Program>,
}

impl Tracer {
    /// Handles the start of a timed wait, or another call that the filter stops at.
    pub(super) fn lead(&mut self, tid: Tid, now: Nanos) -> io::Result<()> {
        self.meet(tid);
        let registers = ptrace::registers(tid)?;
        let call = registers.orig_rax as libc::c_long;
        if self.shared.settings.plan.is_none() && ![libc::SYS_clone, libc::SYS_userfaultfd].contains(&call) {
            if !self.handles_faults(tid) {
                self.outlasting.note_call(tid, &registers);
            }
            return Ok(());
        }
        let other = other_abis::name(tid, &registers);
        let name = || other.unwrap_or_else(|| entry::name(call));
        let mut program = None;
        if self.shared.processes.are_some() {
            let process = self.process(tid);
            match self.shared.processes.special(process) {
                Some(Special::Native(why)) => {
                    if other.is_none() && why != entry::FAULTS {
                        self.outlasting.note_call(tid, &registers);
                    }
                    lock(&self.tally).note_passed_by(name(), why);
                    return Ok(());
                }
                Some(Special::Adapted(adapted)) => program = Some(adapted),
                None => {}
            }
        }
        if other.is_some() {
            lock(&self.tally).note_passed_by(name(), other_abis::NATIVE);
            return Ok(());
        }
        if receiving::CALLS.contains(&call) {
            return self.receive(tid, registers, Stopped { now, program: program.as_deref() });
        }
        if sending::CALLS.contains(&call) {
            return self.send(tid, registers, Stopped { now, program: program.as_deref() });
        }
        let answer = entry::answer(tid, &registers);
        if remaining::set_by(&registers).is_some() {
            let thread = Thread { process: self.process(tid), tid };
            let is_set = matches!(answer, Answer::Wait(_));
            match self.readings.begin(thread, &registers, is_set, &self.shared.timers) {
                Does::Goes if is_set => return Ok(()),
                Does::Reads(read) => return ptrace::set_registers(tid, &read),
                Does::Goes | Does::Sets => {}
            }
        }
        match answer {
            Answer::AsIs => Ok(()),
            Answer::PassBy(why) => {
                lock(&self.tally).note_passed_by(name(), why);
                Ok(())
            }
            Answer::Return(value) => {
                lock(&self.tally).note_passed_by(name(), URING);
                return_value(tid, registers, value)
            }
            Answer::Clock(entry, clock) => {
                let process = self.process(tid);
                match self.shared.clocks.has(process, clock) {
                    true => go_to(tid, registers, entry, [0; 2]),
                    false => Ok(()),
                }
            }
            Answer::Resolution(period) => {
                let process = self.process(tid);
                let requested = (period > 0).then_some(Nanos(period.min(i64::MAX as u64) as i64));
                let granted = self.shared.hold(Holder::Process(process), requested, now);
                return_value(tid, registers, granted.map_or(-i64::from(libc::EINVAL), |granted| granted.0))
            }
            Answer::Sandbox => {
                let process = self.process(tid);
                self.run_natively(process, SANDBOX);
                Ok(())
            }
            Answer::Natively(why) => {
                let process = self.process(tid);
                self.run_natively(process, why);
                Ok(())
            }
            Answer::WatchesFiles => {
                program_file::leave_alone();
                Ok(())
            }
            Answer::Start(flags) => ptrace::set_registers(tid, &Registers { rdi: flags, ..registers }),
            Answer::Wait(Waiting { leads_to: LeadsTo::Socket, requested: Requested::Span(span), .. })
                if self.set_timeout(tid, &registers, span, now) =>
            {
                Ok(())
            }
            Answer::Wait(waiting) => self.wait(tid, registers, &waiting, Stopped { now, program: program.as_deref() }),
        }
    }

    pub(super) fn wait(
        &mut self,
        tid: Tid,
        registers: Registers,
        waiting: &Waiting,
        Stopped { now, program }: Stopped<'_>,
    ) -> io::Result<()> {
        let process = self.process(tid);
        let shared = Arc::clone(&self.shared);
        let Some(plan) = &shared.settings.plan else { return Ok(()) };
        let name = entry::name(registers.orig_rax as libc::c_long);
        let place = shared.sites.origin(process, registers.rip);
        let is_within =
            |caller: &Caller| program.is_some_and(|of| of.callers.is_within(process, tid, &registers, caller));
        let is_own_code = program.is_some_and(|program| program.own_code.contains(&place));
        let origin = Origin { is_own_code, is_within: &is_within };
        let adapted = program.map(|program| (&program.adapted, &origin));
        let Some(wait) = plan.wait_of(waiting.class, adapted) else {
            self.outlasting.note_call(tid, &registers);
            lock(&self.tally).note_passed_by(name, NO_SUCH_WAIT);
            return Ok(());
        };
        let ahead = match shared.spaces.are_some() && waiting.leads_to != LeadsTo::Socket {
            true => shared.spaces.ahead(process, waiting.clock),
            false => Nanos::ZERO,
        };
        let requested = match waiting.requested {
            // The program takes a deadline from the clock that it sees.
            Requested::Deadline(at) if shared.clocks.steps_exact() => {
                Requested::Deadline(at - ahead + shared.behind(process, waiting.clock, now))
            }
            Requested::Deadline(at) => Requested::Deadline(at - ahead),
            requested => requested,
        };
        let holder = Holder::Wait { process, thread: tid };
        let holds = plan.may_hold(wait).then(|| plan.holds(wait, requested, now)).flatten();
        // Its last wait has ended, maybe before its time.
        if holds.is_some() || program.is_some() && shared.is_held_by(holder) {
            shared.hold(holder, holds, now);
        }
        let ticks = shared.ticks(process);
        let grid = ticks.grid;
        // Setting a socket's timeout doesn't wait yet: the timeout lasts as long as a wait that begins at a tick.
        let from = match (waiting.leads_to, grid) {
            (LeadsTo::Socket, Some(grid)) => grid.at_or_before(now),
            _ => plan.began(wait.wait, ticks.is_as_found, now),
        };
        let Some(planned) = plan.end(wait, requested, from, ticks) else {
            if holds.is_some() {
                shared.hold(holder, None, now);
            }
            return Ok(());
        };
        if holds.is_some() {
            shared.hold_until(holder, planned.end);
        }
        let info = &wait.wait.info;
        if let Some(grid) = grid.filter(|_| waiting.class != Class::Socket)
            && !program.is_some_and(|program| program.adapted.depends_on_caller(waiting.class))
            && !self.is_in_other_time(tid)
            && self.count_stop(tid, &registers)
            && let Some(form) = plan.closed_form(wait)
        {
            let frequent = Frequent {
                tid,
                process,
                call: registers.orig_rax as libc::c_long,
                returns_to: registers.rip,
                waiting,
                form,
                counted: (name, info.name),
                grid,
            };
            let is_deadline = matches!(waiting.requested, Requested::Deadline(_));
            let is_plain = !is_deadline || form.floor == Nanos::ZERO && !shared.clocks.steps_exact();
            if is_plain && shared.sites.replace(&frequent) == Done::Installs {
                return go_to(tid, registers, Entry::Install, [0, registers.orig_rax]);
            }
        }
        let is_busy = grid.is_some_and(|grid| grid.at_or_before(self.busy_since) < grid.at_or_before(now));
        let spans = [planned.requested, planned.native - from, planned.end - from].map(|span| span.0);
        lock(&self.tally).wait(name, info.name, spans, is_busy && now - self.busy_since > BUSY);
        if let LeadsTo::Send(sends) = waiting.leads_to {
            self.sendings.begin(tid, sends, now, planned.end);
        }
        let interval = |interval: Nanos| match grid.filter(|_| info.ends_at_tick()) {
            Some(grid) if interval > Nanos::ZERO => {
                (interval + Nanos(grid.period.0 / 2)).round_down_to(grid.period).max(grid.period)
            }
            _ => interval,
        };
        if let (LeadsTo::Timer(_, requested, _), Some(grid)) = (waiting.leads_to, grid)
            && requested > grid.period
            && interval(requested) != requested
        {
            lock(&self.tally).note_passed_by(name, INTERVAL);
        }
        if let Some(name) = remaining::set_by(&registers) {
            let interval = if let LeadsTo::Timer(_, interval, _) = waiting.leads_to { interval } else { Nanos::ZERO };
            shared.timers.set(process, name, Timer { span: planned.requested, interval, end: planned.end });
        }
        let there = Planned { end: planned.end + ahead, native: planned.native + ahead, ..planned };
        lead_to(tid, registers, waiting.leads_to, &there, from, interval)
    }

    /// Whether reading its memory may have to wait for the program itself.
    pub(super) fn handles_faults(&mut self, tid: Tid) -> bool {
        self.shared.processes.are_some() && {
            let process = self.process(tid);
            matches!(self.shared.processes.special(process), Some(Special::Native(entry::FAULTS)))
        }
    }

    /// Whether its process is in a time namespace of its own, on whose clocks the code of sites doesn't count.
    fn is_in_other_time(&mut self, tid: Tid) -> bool {
        self.shared.spaces.are_some() && {
            let process = self.process(tid);
            self.shared.spaces.has(process)
        }
    }
}

impl Tracer {
    /// A thread has just started in a process of many. It maps the room for the code of their waits first.
    pub(super) fn prepare_waits(&mut self, process: Tid, tid: Tid) -> io::Result<()> {
        let shared = &self.shared;
        let Some(grid) = shared.ticks(process).grid.filter(|_| shared.has_code(process) && !shared.spaces.has(process))
        else {
            return Ok(());
        };
        let registers = ptrace::registers(tid)?;
        if shared.sites.prepare(Thread { process, tid }, registers.rip, grid) {
            // That code repeats the call in front of the address that it returns to.
            let rip = registers.rip + SYSCALL_LENGTH;
            go_to(tid, Registers { rip, ..registers }, Entry::Install, [0, registers.rax])?;
        }
        Ok(())
    }

    /// Counts a stop at this place. Returns whether there were enough to make replacing it worthwhile.
    fn count_stop(&mut self, tid: Tid, registers: &Registers) -> bool {
        const PLACES_MAX: usize = 10_000;
        if self.stops_at.len() > PLACES_MAX {
            self.stops_at.clear();
        }
        let stops = self.stops_at.entry(registers.rip).or_default();
        *stops = stops.saturating_add(1);
        let is_often = *stops > WORTHWHILE;
        is_often
            || self.shared.sites.are_some() && {
                let process = self.process(tid);
                self.shared.sites.wants(process, registers.rip)
            }
    }
}

/// Redirects a thread from its call to the code that waits in its place.
pub(super) fn lead_to(
    tid: Tid,
    registers: Registers,
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
        LeadsTo::Receive(number) => (Entry::Receive, planned.end, number as u64),
        LeadsTo::Send(_) => return Ok(()),
    };
    go_to(tid, registers, entry, [end.0 as u64, rax])
}

/// Lets a thread continue in the injected code instead of making its call. Without a stack for that code, it makes its call.
fn go_to(tid: Tid, mut registers: Registers, entry: Entry, [r11, rax]: [u64; 2]) -> io::Result<()> {
    if !has_stack(tid, registers.rsp) {
        return Ok(());
    }
    registers.rcx = registers.rip;
    registers.rip = entry.address();
    registers.r11 = r11;
    registers.rax = rax;
    registers.orig_rax = u64::MAX;
    ptrace::set_registers(tid, &registers)
}

/// Whether there is room below a thread's stack pointer. A system call needs none, so some programs have none there while
/// they make one.
fn has_stack(tid: Tid, at: u64) -> bool {
    // The red zone, and what the injected code saves there.
    const ROOM: u64 = 128 + 256;
    let is_there =
        |address| !matches!(ptrace::peek(tid, address), Err(error) if error.raw_os_error() == Some(libc::EFAULT));
    // The first thread's stack grows when it is used, but not when it is read from here.
    is_there(at.wrapping_sub(ROOM)) || is_there(at) && status::is_first_stack(tid, at)
}

/// Skips the call and makes it return `value`.
fn return_value(tid: Tid, mut registers: Registers, value: i64) -> io::Result<()> {
    registers.orig_rax = u64::MAX;
    registers.rax = value as u64;
    ptrace::set_registers(tid, &registers)
}
