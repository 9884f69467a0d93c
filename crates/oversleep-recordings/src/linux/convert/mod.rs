//! From points to the events of the state machine.

mod queues;
mod shows;
mod timers;
mod wakes;

use oversleep_why::calls::Arch;
use oversleep_why::event::{Event, Kind, Name};
use oversleep_why::wakes::{Cause, Tally};

use super::facts::{Facts, KEPT_MAX, Map};
use super::point::{Handlers, Task};
use super::{Point, What};

/// Tracepoints of calls.
const CALLS: &[&str] = &["sys_enter", "sys_exit"];

/// What a thread does.
#[derive(Clone, Debug, Default)]
struct Thread {
    name: Name,
    tgid: Option<u32>,
    /// Since when it is in which call, and with which arguments.
    call: Option<(u64, u32, Option<[u64; 6]>)>,
    /// The call, and the wait, are of this epoch: after a gap they mean nothing.
    epoch: u64,
    wait: Option<Open>,
    /// The end of its wait was told, and its next turn ends it for certain.
    has_returned: bool,
    /// It left its CPU to sleep; and what woke it since.
    is_asleep: bool,
    cause: Option<Cause>,
}

/// A wait that was told of.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    epoch: u64,
    sent: u32,
    /// When its timer was to expire at first.
    first_soft: u64,
    has_fired: bool,
    is_woken: bool,
    /// Since when it waits for which CPU.
    queued: Option<(u64, u16)>,
    /// It waits for a CPU.
    is_pending: bool,
}

/// What a CPU does.
#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    task: Option<(u32, u64)>,
    /// Its priority, where its switch told that.
    prio: Option<i32>,
    /// Who is woken there, until something else happens.
    waking: Option<u32>,
    timer_in: u64,
    irq: (u64, u64, u32, Name),
    soft: (u64, u64, u8),
    idle: Option<u32>,
    idle_at: u64,
    /// The timer whose callback runs.
    callback: Option<u64>,
    /// Its function, if the CPU idled, until it has woken a thread.
    tick: Option<u64>,
    handlers: Handlers,
}

/// A timer that was started.
#[derive(Clone, Copy, Debug)]
struct Timer {
    /// The thread that sleeps with it; `None` for a timer of a program.
    sleeper: Option<u32>,
    soft: u64,
    hard: u64,
    epoch: u64,
}

/// See the module.
#[derive(Debug)]
pub struct Converter {
    facts: Facts,
    arch: Arch,
    threads: Map<u32, Thread>,
    timers: Map<u64, Timer>,
    cpus: Vec<Cpu>,
    /// Gaps end what was known: each one begins an epoch, and ends with another.
    epoch: u64,
    gap_until: Option<u64>,
    pending: usize,
    has_calls: bool,
    has_timers: bool,
    has_wakings: bool,
    has_wakeups: bool,
    /// The ends of callbacks are told: whoever is woken before one is woken by it.
    has_callbacks: bool,
    /// Names of processes, which were told before the first event.
    programs: Vec<Event>,
    /// Functions of timers that were started, and who woke up.
    functions: Map<u64, u64>,
    tally: Tally,
    out: Vec<Event>,
}

impl Converter {
    pub fn new(facts: Facts, arch: Arch) -> Converter {
        let has = |names: &[&str]| facts.can.has_all(names) && facts.can.has("sched_switch");
        let (has_calls, has_timers) = (has(CALLS), has(&["hrtimer_start"]));
        let (has_wakings, has_wakeups) = (has(&["sched_waking"]), has(&["sched_wakeup"]));
        let has_callbacks = has(&["hrtimer_expire_exit"]);
        let mut converter = Converter {
            facts,
            arch,
            threads: Map::default(),
            timers: Map::default(),
            cpus: Vec::new(),
            epoch: 0,
            gap_until: None,
            pending: 0,
            has_calls,
            has_timers,
            has_wakings,
            has_wakeups,
            has_callbacks,
            programs: Vec::new(),
            functions: Map::default(),
            tally: Tally::default(),
            out: Vec::new(),
        };
        for (tid, name) in std::mem::take(&mut converter.facts.head.names) {
            converter.thread(tid).name = name;
        }
        converter
    }

    /// Takes a point. The events that follow from it are in `events` afterwards.
    pub fn feed(&mut self, point: &Point, events: &mut Vec<Event>) {
        if self.gap_until.is_some_and(|until| point.t >= until) {
            self.gap_until = None;
            self.begin_epoch();
        }
        if let Some(tgid) = point.tgid {
            self.thread(point.tid).tgid = Some(tgid);
        }
        self.note(point);
        self.on_point(point);
        // What is told of names before the first event is no part of the time that was recorded.
        if !matches!(point.what, What::Named { .. } | What::Gap { .. }) {
            for mut event in self.programs.drain(..) {
                event.t = point.t;
                let process = Event { kind: Kind::Process, ..event };
                events.extend([event, process]);
            }
        }
        events.append(&mut self.out);
    }

    fn begin_epoch(&mut self) {
        self.epoch += 1;
        self.pending = 0;
        self.cpus.clear();
    }

    fn thread(&mut self, tid: u32) -> &mut Thread {
        if self.threads.len() >= KEPT_MAX && !self.threads.contains_key(&tid) {
            self.threads.clear();
            self.pending = 0;
        }
        self.threads.entry(tid).or_default()
    }

    fn event(&mut self, kind: Kind, t: u64, cpu: u16, tid: u32) -> Event {
        let thread = self.thread(tid);
        let (tgid, name) = (thread.tgid.unwrap_or(tid), thread.name);
        Event { cpu, tgid, name, ..Event::new(kind, t, tid) }
    }

    /// The wait of a thread, if it has begun since the last gap.
    fn open(&mut self, tid: u32) -> Option<&mut Open> {
        let epoch = self.epoch;
        self.threads.get_mut(&tid)?.wait.as_mut().filter(|open| open.epoch == epoch)
    }

    /// An event of a thread's wait, if there is one.
    fn of_wait(&mut self, kind: Kind, point: &Point, tid: u32, fill: impl FnOnce(&mut Event)) -> bool {
        let Some(open) = self.open(tid) else { return false };
        open.sent += 1;
        let mut event = self.event(kind, point.t, point.cpu, tid);
        fill(&mut event);
        self.out.push(event);
        true
    }

    fn on_point(&mut self, point: &Point) {
        let Point { t, cpu, tid, .. } = *point;
        self.see(point);
        let of_cpu = self.cpu(cpu);
        of_cpu.handlers.see(&point.what);
        of_cpu.waking = match point.what {
            What::Waking { task, .. } => Some(task.tid),
            What::Migrate { .. } => of_cpu.waking,
            _ => None,
        };
        match point.what {
            What::Switch { from, is_runnable, to } => self.on_switch(point, from, is_runnable, to),
            What::Migrate { tid, to } => self.on_migrate(point, tid, to),
            What::Waking { task, cpu } => {
                // `perf sched record` has no other event of waking.
                if self.is_scheduler_only() && !self.has_wakeups {
                    self.on_wakeup(point, task, cpu);
                } else {
                    self.on_waking(point, task);
                }
            }
            What::Wakeup { task, cpu } => self.on_wakeup(point, task, cpu),
            What::Fork { child, name } => self.thread(child).name = name,
            What::Renamed { tid, name, is_program } => {
                let tid = if tid == 0 { point.tid } else { tid };
                self.end_turn_of(point, tid);
                let thread = self.thread(tid);
                thread.name = name;
                // Only the first thread of a process can execute another program, and give the process its name.
                if is_program || thread.tgid == Some(tid) {
                    let named = |kind| Event { cpu, name, ..Event::new(kind, t, tid) };
                    self.out.extend([Kind::Exec, Kind::Process].map(named));
                }
            }
            What::NewTask { child, name, is_thread } => {
                let tgid = if is_thread { self.thread(tid).tgid.unwrap_or(tid) } else { child };
                let thread = self.thread(child);
                (thread.name, thread.tgid) = (name, Some(tgid));
                if is_thread {
                    // It has the name of the thread that started it, which may have another one than its process.
                    let name = Some(self.thread(tgid).name).filter(|name| name[0] != 0).unwrap_or(name);
                    self.programs.push(Event { cpu, name, ..Event::new(Kind::Exec, t, tgid) });
                }
            }
            What::Named { tid, tgid, name } => {
                let name = self.facts.head.programs.get(&tid).copied().unwrap_or(name);
                self.end_turn_of(point, tid);
                let thread = self.thread(tid);
                (thread.name, thread.tgid) = (name, Some(tgid));
                if tid == tgid && tid != 0 {
                    self.programs.push(Event { cpu, name, ..Event::new(Kind::Exec, t, tid) });
                }
            }
            What::Gone { tid } => {
                let event = self.event(Kind::Gone, t, cpu, tid);
                self.out.push(event);
                self.threads.remove(&tid);
            }
            What::Start { timer, function, hard, soft } => self.on_start(point, timer, function, (soft, hard)),
            What::Expire { timer, .. } => self.on_expire(point, timer),
            What::Expired => self.cpu(cpu).callback = None,
            What::TimerIn => self.cpu(cpu).timer_in = t,
            What::TimerOut => self.cpu(cpu).timer_in = 0,
            What::IrqIn { number, name } => {
                let is_timer = &name[..10] == b"arch_timer";
                let cpu = self.cpu(cpu);
                cpu.irq = (t, 0, number, name);
                cpu.timer_in = if is_timer { t } else { cpu.timer_in };
            }
            What::IrqOut => self.cpu(cpu).irq.1 = t,
            What::SoftIn { vector } => self.cpu(cpu).soft = (t, 0, vector),
            What::SoftOut => self.cpu(cpu).soft.1 = t,
            What::Idle { state } => {
                let cpu = self.cpu(cpu);
                cpu.idle_at = t;
                cpu.idle = state.or(cpu.idle);
            }
            What::Enter { number, registers } => self.on_enter(point, number, registers),
            What::Exit { result } => {
                if self.has_calls {
                    self.end(point, tid, result);
                    self.thread(tid).call = None;
                }
            }
            What::Gap { until, count } => {
                self.begin_epoch();
                self.gap_until = Some(self.gap_until.unwrap_or(0).max(until));
                let mut lost = Event { cpu, ..Event::new(Kind::Lost, t, 0) };
                lost.fields[0] = count;
                self.out.push(lost);
            }
        }
    }

    /// Every event says which thread runs: some kernels don't tell of the switch away from the idle task.
    fn see(&mut self, point: &Point) {
        if matches!(point.what, What::Switch { .. } | What::Gap { .. } | What::Named { .. }) {
            return;
        }
        let cpu = self.cpu(point.cpu);
        if cpu.task.is_none_or(|(tid, _)| tid != point.tid) {
            (cpu.task, cpu.prio) = (Some((point.tid, point.t)), None);
        }
    }

    fn cpu(&mut self, number: u16) -> &mut Cpu {
        let at = usize::from(number);
        if self.cpus.len() <= at {
            self.cpus.resize(at + 1, Cpu::default());
        }
        &mut self.cpus[at]
    }

    /// Nothing can be said of the wait of a thread.
    fn drop_wait(&mut self, point: &Point, tid: u32) {
        let epoch = self.epoch;
        let Some(open) = self.threads.get_mut(&tid).and_then(|thread| thread.wait.take()) else { return };
        if open.epoch == epoch && open.is_pending {
            self.pending = self.pending.saturating_sub(1);
        }
        let event = self.event(Kind::Gone, point.t, point.cpu, tid);
        self.out.push(event);
    }

    /// The wait of a thread is over.
    fn end(&mut self, point: &Point, tid: u32, result: i64) {
        let epoch = self.epoch;
        let Some(open) = self.threads.get_mut(&tid).and_then(|thread| thread.wait.take()) else { return };
        if open.epoch != epoch || self.gap_until.is_some() {
            // Its events may be missing in part.
            self.thread(tid).wait = Some(open);
            self.drop_wait(point, tid);
            return;
        }
        if open.is_pending {
            self.pending = self.pending.saturating_sub(1);
        }
        let mut event = self.event(Kind::Return, point.t, point.cpu, tid);
        event.x = open.sent + 1;
        event.fields[0] = result as u64;
        self.out.push(event);
        self.thread(tid).has_returned = true;
    }
}

/// The policy, as far as a priority tells it.
fn policy(prio: i32) -> u64 {
    match prio {
        ..0 => 6,
        0..100 => 1,
        _ => 0,
    }
}
