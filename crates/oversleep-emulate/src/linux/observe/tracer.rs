//! The thread that stops an observed program at its timed waits and notes what happens in between.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use oversleep_record::Nanos;
use oversleep_system::rules::PollShare;
use oversleep_why::{Event, Kind};

use super::call::{self, End, Entry, Until, Who};
use super::stream::Stream;
use super::thread::{self, Thread};
use crate::linux::calls::entry::{self, Answer};
use crate::linux::calls::ignored::Outlasting;
use crate::linux::filter;
use crate::linux::process::clock::now;
use crate::linux::process::ptrace::{self, Registers, Stop, Tid};
use crate::linux::process::status::process_of;
use crate::linux::trace::stops::Stops;
use crate::plan::Requested;

/// How long the supervisor waits for a stop before it looks at the threads whose counts it still needs, and how often.
const LOOK: Nanos = Nanos(40_000);
const LOOKS_MAX: u32 = 25;

/// The thread that traces.
pub struct Tracer {
    program: Tid,
    threads: HashMap<Tid, Thread>,
    stops: Stops,
    outlasting: Outlasting,
    /// The slack of the program when it was started.
    slack: Nanos,
    events: Arc<Stream>,
    follows_children: bool,
    has_switches: bool,
    poll_share: Option<PollShare>,
    /// Threads that were let go into a call, and how often their counts were looked at since.
    going: Vec<(Tid, u32)>,
    /// Processes that handle page faults of their own: reading the times of their waits might have to wait for them.
    unread: HashSet<Tid>,
}

impl Tracer {
    pub fn new(program: Tid, slack: i64, events: Arc<Stream>, follows_children: bool, has_switches: bool) -> Tracer {
        let slack = Nanos(slack);
        Tracer {
            program,
            threads: HashMap::from([(program, Thread::new(program, slack))]),
            stops: Stops::default(),
            outlasting: Outlasting::default(),
            slack,
            events,
            follows_children,
            has_switches,
            poll_share: thread::poll_share(),
            going: Vec::new(),
            unread: HashSet::new(),
        }
    }

    /// Serves the program's threads until none is left.
    pub fn run(&mut self) {
        loop {
            let most = (!self.going.is_empty()).then_some(LOOK);
            match self.stops.next(most) {
                // A thread that was killed in the meantime can't be queried; its end is reported separately.
                Ok(Some((tid, stop))) => drop(self.serve(tid, stop)),
                Ok(None) => self.look(),
                Err(_) => return,
            }
        }
    }

    fn serve(&mut self, tid: Tid, stop: Stop) -> std::io::Result<()> {
        match stop {
            Stop::Gone => {
                if let Some(thread) = self.threads.remove(&tid) {
                    self.tell(thread.process, Kind::Gone, tid, [0; 6]);
                }
                self.stops.births.forget(tid);
                self.outlasting.forget(tid);
                self.unread.remove(&tid);
                Ok(())
            }
            Stop::Wait if filter::refuse_others(tid)? => ptrace::go_on(tid, 0),
            Stop::Wait => match self.begin_call(tid) {
                Ok(true) => ptrace::until_call(tid, 0),
                _ => ptrace::go_on(tid, 0),
            },
            Stop::Call => {
                self.end_call(tid);
                self.outlasting.end_call(tid)?;
                ptrace::go_on(tid, 0)
            }
            Stop::Executes => {
                self.note_exec(tid);
                ptrace::go_on(tid, 0)
            }
            Stop::Started => {
                self.note_start(tid);
                ptrace::go_on(tid, 0)
            }
            Stop::WithGroup => ptrace::listen(tid),
            Stop::Signal(signal) => {
                self.outlasting.take_signal(tid, signal)?;
                ptrace::go_on(tid, signal)
            }
            Stop::Overdue => ptrace::go_on(tid, 0),
            Stop::Trap => {
                let is_known = self.threads.contains_key(&tid);
                if self.stops.births.note_stop(tid, is_known, now()) { ptrace::go_on(tid, 0) } else { Ok(()) }
            }
        }
    }

    fn thread(&mut self, tid: Tid) -> &mut Thread {
        let slack = self.slack;
        self.threads.entry(tid).or_insert_with(|| Thread::new(process_of(tid).unwrap_or(tid), slack))
    }

    /// Whether waits of that process are reported.
    fn is_followed(&self, process: Tid) -> bool {
        (self.follows_children || process == self.program) && self.events.is_open()
    }

    /// A call begins. Returns whether its end matters.
    fn begin_call(&mut self, tid: Tid) -> std::io::Result<bool> {
        let (noticed, has_switches) = (now(), self.has_switches);
        let process = self.thread(tid).process;
        let registers = ptrace::registers(tid)?;
        let number = registers.orig_rax as libc::c_long;
        if number == libc::SYS_userfaultfd {
            self.unread.insert(process);
        }
        if self.unread.contains(&process) && number != libc::SYS_clone {
            return Ok(false);
        }
        if number == libc::SYS_prctl {
            let thread = self.thread(tid);
            // 0 stands for the slack that the thread was started with.
            thread.slack = Some(Nanos(registers.rsi as i64)).filter(|ns| ns.0 > 0).unwrap_or(thread.default_slack);
            return Ok(false);
        }
        if let Answer::Start(flags) = entry::answer(tid, &registers) {
            ptrace::set_registers(tid, &Registers { rdi: flags, ..registers })?;
            return Ok(false);
        }
        let made_again = self.outlasting.note_call(tid, &registers);
        if !self.is_followed(process) {
            return Ok(made_again.is_some());
        }
        let (until, slack) = if number == libc::SYS_restart_syscall {
            let Some((deadline, slack)) = self.thread(tid).interrupted else { return Ok(false) };
            (Until::Restarted(deadline), slack)
        } else {
            let Answer::Wait(waiting) = entry::answer(tid, &registers) else { return Ok(made_again.is_some()) };
            let span = match waiting.requested {
                Requested::Span(span) => span,
                Requested::Deadline(deadline) => (deadline - now()).max(Nanos::ZERO),
            };
            let until = made_again.map_or(Until::Requested(waiting.requested), Until::Restarted);
            let share = self.poll_share;
            let slack = self.thread(tid).slack_of(tid, waiting.class, span, share.as_ref());
            (until, slack)
        };
        let thread = self.thread(tid);
        let (stopped, before) = thread.begin(tid, has_switches);
        let (number, called) = (number as u32, stopped.unwrap_or(noticed));
        thread.call = Some(Entry { number, until, slack, called, let_go: now(), before, asleep: None });
        if !has_switches && before.is_some() {
            self.going.push((tid, 0));
        }
        Ok(true)
    }

    /// A call ends.
    fn end_call(&mut self, tid: Tid) {
        let noticed = now();
        self.going.retain(|(going, _)| *going != tid);
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let Some(entry) = thread.call.take() else { return };
        // Asking for the registers waits until the thread has left its CPU, so all its switches are recorded.
        let Ok(registers) = ptrace::registers(tid) else { return };
        let end = End {
            result: registers.rax as i64,
            noticed,
            after: thread.stat(),
            switches: thread.switches(),
            scheduling: thread::scheduling(tid),
        };
        let who = Who { tid: tid.unsigned_abs(), process: thread.process.unsigned_abs(), name: thread.name() };
        let mut deadline = Nanos::ZERO;
        self.events.add(|events| deadline = call::events(who, &entry, &end, events));
        thread.interrupted = Some((deadline, entry.slack));
    }

    /// Looks at the threads that were let go: while one sleeps in its call, its counts have all of the delay before.
    fn look(&mut self) {
        let threads = &mut self.threads;
        self.going.retain_mut(|(tid, looks)| {
            *looks += 1;
            let Some(thread) = threads.get_mut(tid) else { return false };
            let stat = thread.stat();
            let Some(entry) = &mut thread.call else { return false };
            let has_gone = stat.zip(entry.before).is_some_and(|(now, before)| now.switch_ins > before.switch_ins);
            if has_gone {
                entry.asleep = stat;
            }
            !has_gone && *looks < LOOKS_MAX
        });
    }

    /// The process runs another program. Its other threads are gone, and this thread has the id of the first.
    fn note_exec(&mut self, tid: Tid) {
        let former = ptrace::message(tid).map_or(tid, |former| former as Tid);
        let slack = self.threads.get(&former).map_or(self.slack, |thread| thread.slack);
        self.threads.retain(|_, thread| thread.process != tid);
        self.going.retain(|(going, _)| *going != tid && *going != former);
        self.outlasting.forget(tid);
        self.unread.remove(&tid);
        self.threads.insert(tid, Thread::new(tid, slack));
        self.tell(tid, Kind::Exec, tid, [0; 6]);
    }

    /// A thread started another thread or process, which inherits its slack.
    fn note_start(&mut self, tid: Tid) {
        let (process, slack) = {
            let thread = self.thread(tid);
            (thread.process, thread.slack)
        };
        let Ok(started) = ptrace::message(tid) else { return };
        let started = started as Tid;
        let is_thread = std::fs::exists(format!("/proc/{process}/task/{started}")).unwrap_or(false);
        let of = if is_thread { process } else { started };
        self.threads.insert(started, Thread::new(of, slack));
        if !is_thread {
            if self.unread.contains(&process) {
                self.unread.insert(started);
            }
            self.tell(started, Kind::Fork, started, [u64::from(process.unsigned_abs()), 0, 0, 0, 0, 0]);
        }
        if self.stops.births.announce(started) {
            let _ = ptrace::go_on(started, 0);
        }
    }

    /// Reports what a process does besides waiting.
    fn tell(&self, process: Tid, kind: Kind, tid: Tid, fields: [u64; 6]) {
        if !self.is_followed(process) {
            return;
        }
        let name = if kind == Kind::Gone { [0; 16] } else { thread::name_of(process) };
        let t = u64::try_from(now().0).unwrap_or(0);
        let event = Event::new(kind, t, tid.unsigned_abs());
        self.events.add(|events| events.push(Event { tgid: process.unsigned_abs(), fields, name, ..event }));
    }
}
