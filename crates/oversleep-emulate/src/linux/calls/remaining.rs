//! What a program reads of its timers. An emulated timer ends later than it was set to, and its interval has whole ticks;
//! the program sees neither: what is left is at most what it requested, and the interval is the one that it requested.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Mutex;

use oversleep_record::Nanos;

use crate::linux::code::inject;
use crate::linux::process::lock::lock;
use crate::linux::process::ptrace::{self, Registers, Thread, Tid};

/// What a timer is known by within its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// Of `setitimer` and `alarm`.
    Interval,
    /// Of `timer_create`.
    Created(i32),
    /// Of `timerfd_create`, by its descriptor.
    File(i32),
}

/// A timer as its program set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    pub span: Nanos,
    pub interval: Nanos,
    /// When it ends first, on the emulated machine.
    pub end: Nanos,
}

impl Timer {
    /// Interval and rest as the program sees them, of what the kernel has.
    fn seen(&self, [interval, rest]: [Nanos; 2], now: Nanos) -> [Nanos; 2] {
        let is_first = now < self.end || self.interval == Nanos::ZERO;
        let most = if is_first { self.span } else { self.interval };
        [if interval > Nanos::ZERO { self.interval } else { interval }, rest.min(most)]
    }
}

/// The emulated timers of all processes.
#[derive(Default)]
pub struct Timers(Mutex<HashMap<Tid, BTreeMap<Name, Timer>>>);

impl Timers {
    /// Whether there are any.
    pub fn are_some(&self) -> bool {
        !lock(&self.0).is_empty()
    }

    /// A process sets one.
    pub fn set(&self, process: Tid, name: Name, timer: Timer) {
        lock(&self.0).entry(process).or_default().insert(name, timer);
    }

    /// A process started another, which has the same files, and none of its other timers.
    pub fn note_start(&self, process: Tid, started: Tid) {
        let mut all = lock(&self.0);
        let files = all.get(&process).into_iter().flatten().filter(|(name, _)| matches!(name, Name::File(_)));
        let files: BTreeMap<Name, Timer> = files.map(|(&name, &timer)| (name, timer)).collect();
        if !files.is_empty() {
            all.insert(started, files);
        }
    }

    /// A process has ended.
    pub fn forget(&self, process: Tid) {
        lock(&self.0).remove(&process);
    }

    fn of(&self, process: Tid, name: Name) -> Option<Timer> {
        lock(&self.0).get(&process)?.get(&name).copied()
    }

    fn remove(&self, process: Tid, name: Name) {
        if let Some(timers) = lock(&self.0).get_mut(&process) {
            timers.remove(&name);
        }
    }
}

/// The timer that a call sets or reads, the number of the call that reads it, and where that writes to.
fn timer_of(registers: &Registers) -> Option<(Name, libc::c_long, u64)> {
    let id = registers.rdi as i32;
    match registers.orig_rax as libc::c_long {
        libc::SYS_setitimer => Some((Name::Interval, libc::SYS_getitimer, registers.rdx)),
        libc::SYS_timer_settime => Some((Name::Created(id), libc::SYS_timer_gettime, registers.r10)),
        libc::SYS_timerfd_settime => Some((Name::File(id), libc::SYS_timerfd_gettime, registers.r10)),
        read @ libc::SYS_getitimer => Some((Name::Interval, read, registers.rsi)),
        read @ libc::SYS_timer_gettime => Some((Name::Created(id), read, registers.rsi)),
        read @ libc::SYS_timerfd_gettime => Some((Name::File(id), read, registers.rsi)),
        _ => None,
    }
}

/// The timer that a call sets, which `alarm` does, too.
pub fn set_by(registers: &Registers) -> Option<Name> {
    match registers.orig_rax as libc::c_long {
        libc::SYS_alarm => Some(Name::Interval),
        _ => timer_of(registers).map(|(name, ..)| name),
    }
}

/// What a thread does that reads a timer.
struct Reading {
    process: Tid,
    name: Name,
    /// Where the call writes interval and rest to, and the ns in a unit of their fractions.
    place: u64,
    unit: i64,
    next: Next,
}

/// What follows the reading.
enum Next {
    Nothing,
    /// The timer is no longer emulated, if the call succeeds.
    Ends,
    /// The thread makes that call, which sets the timer.
    Sets(Box<Registers>),
}

/// What a call that sets or reads a timer does now.
pub enum Does {
    /// The call is made. What it says of an emulated timer is put right after it.
    Goes,
    /// It is made in place of the thread's, which follows.
    Reads(Box<Registers>),
    /// It sets the timer, and whoever reads the former one has read it.
    Sets,
}

/// The threads of a tracer that read timers.
#[derive(Default)]
pub struct Readings {
    threads: HashMap<Tid, Reading>,
    /// The threads that have read what their next call would, at which place, and whether that succeeded.
    done: HashMap<Tid, ([u64; 2], bool)>,
}

impl Readings {
    /// Whether the thread's next stop is the end of such a call.
    pub fn has(&self, tid: Tid) -> bool {
        self.threads.contains_key(&tid)
    }

    /// A thread is gone.
    pub fn forget(&mut self, tid: Tid) {
        self.threads.remove(&tid);
        self.done.remove(&tid);
    }

    /// A thread makes a call, which sets an emulated timer if `is_set`.
    pub fn begin(
        &mut self,
        Thread { process, tid }: Thread,
        registers: &Registers,
        is_set: bool,
        timers: &Timers,
    ) -> Does {
        let Some((name, read, place)) = timer_of(registers) else { return Does::Sets };
        let call = registers.orig_rax as libc::c_long;
        let unit = if name == Name::Interval { 1_000 } else { 1 };
        let mut reads = |next| _ = self.threads.insert(tid, Reading { process, name, place, unit, next });
        if !is_set {
            if timers.of(process, name).is_some() {
                reads(if call == read { Next::Nothing } else { Next::Ends });
            }
            return Does::Goes;
        }
        match self.done.remove(&tid) {
            Some((at, has_read)) if at == [registers.rip, registers.rsp] => {
                // Where it can't be read, the call itself says how it fails.
                if has_read { Does::Sets } else { Does::Goes }
            }
            _ if place == 0 => Does::Sets,
            _ => {
                reads(Next::Sets(Box::new(*registers)));
                Does::Reads(Box::new(Registers { orig_rax: read as u64, rsi: place, ..*registers }))
            }
        }
    }

    /// A thread's call ends.
    ///
    /// # Errors
    /// The thread is gone.
    pub fn end(&mut self, tid: Tid, timers: &Timers, now: Nanos) -> io::Result<()> {
        let Some(reading) = self.threads.remove(&tid) else { return Ok(()) };
        let has_read = ptrace::registers(tid)?.rax == 0;
        if let Some(timer) = timers.of(reading.process, reading.name).filter(|_| has_read && reading.place != 0) {
            let [interval_s, interval, rest_s, rest] = ptrace::read(tid, reading.place)?;
            let time = |secs, fraction| Nanos(secs * 1_000_000_000 + fraction * reading.unit);
            let seen = timer.seen([time(interval_s, interval), time(rest_s, rest)], now);
            let words = seen.map(|time| [time.0 / 1_000_000_000, time.0 % 1_000_000_000 / reading.unit]);
            for (word, at) in words.as_flattened().iter().zip((reading.place..).step_by(8)) {
                ptrace::poke(tid, at, *word as u64)?;
            }
        }
        match reading.next {
            Next::Nothing => Ok(()),
            Next::Ends => {
                if has_read {
                    timers.remove(reading.process, reading.name);
                }
                Ok(())
            }
            Next::Sets(registers) => {
                self.done.insert(tid, ([registers.rip, registers.rsp], has_read));
                ptrace::set_registers(tid, &inject::again(&registers))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn thread(process: Tid, tid: Tid) -> Thread {
        Thread { process, tid }
    }

    #[test]
    fn a_program_sees_no_more_than_it_requested_and_the_interval_that_it_requested() {
        let timer = Timer { span: Nanos(MS), interval: Nanos(20 * MS), end: Nanos(100 * MS) };
        let seen = |interval, rest, now| timer.seen([Nanos(interval * MS), Nanos(rest * MS)], Nanos(now * MS));
        assert_eq!(seen(31, 15, 85), [Nanos(20 * MS), Nanos(MS)], "before its first end");
        assert_eq!(seen(31, 30, 101), [Nanos(20 * MS), Nanos(20 * MS)], "within an interval");
        assert_eq!(seen(31, 7, 124), [Nanos(20 * MS), Nanos(7 * MS)]);
        assert_eq!(seen(0, 0, 90), [Nanos::ZERO; 2], "it was disarmed");
        let once = Timer { interval: Nanos::ZERO, ..timer };
        assert_eq!(once.seen([Nanos::ZERO, Nanos(3 * MS)], Nanos(101 * MS)), [Nanos::ZERO, Nanos(MS)], "late");
    }

    #[test]
    fn a_timer_is_read_before_it_is_set_anew_and_a_started_process_has_files_only() {
        // SAFETY: a struct of numbers.
        let zero: Registers = unsafe { std::mem::zeroed() };
        let (timers, mut readings) = (Timers::default(), Readings::default());
        let timer = Timer { span: Nanos(MS), interval: Nanos::ZERO, end: Nanos(MS) };
        for name in [Name::File(3), Name::Created(3), Name::Interval] {
            timers.set(7, name, timer);
        }
        timers.note_start(7, 8);
        let has =
            |process| [Name::File(3), Name::Created(3), Name::Interval].map(|name| timers.of(process, name).is_some());
        assert_eq!((has(7), has(8)), ([true; 3], [true, false, false]));
        let call = |call: libc::c_long, r10| Registers { orig_rax: call as u64, rdi: 3, rsi: 16, r10, ..zero };
        let Does::Reads(read) = readings.begin(thread(7, 9), &call(libc::SYS_timerfd_settime, 64), true, &timers)
        else {
            panic!("it reads first")
        };
        assert_eq!((read.orig_rax, read.rsi, readings.has(9)), (libc::SYS_timerfd_gettime as u64, 64, true));
        assert!(matches!(readings.begin(thread(7, 6), &call(libc::SYS_timerfd_settime, 0), true, &timers), Does::Sets));
        assert!(!readings.has(6), "nobody reads the former one");
        assert!(matches!(readings.begin(thread(8, 8), &call(libc::SYS_timer_gettime, 0), false, &timers), Does::Goes));
        assert!(!readings.has(8), "a timer of another process");
        assert!(matches!(readings.begin(thread(7, 7), &call(libc::SYS_timer_gettime, 0), false, &timers), Does::Goes));
        assert!(readings.has(7));
        readings.forget(7);
        assert!(!readings.has(7));
    }
}
