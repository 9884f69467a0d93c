//! The state machine: events in any order in, finished waits out. It never guesses: what it did not see is counted as
//! unattributed, and it takes no more memory the longer it runs.

mod close;
mod open;

use std::collections::{HashMap, VecDeque};

use crate::calls::{Arch, is_restarted};
use crate::culprit::Turn;
use crate::event::{self, Event, Kind};
use crate::wait::{Request, Wait};
use open::{ByTimer, Fired, Open, Woken};

/// Turns kept for each CPU, to name who ran.
const TURNS_MAX: usize = 512;
/// Threads, timers, processes and CPUs kept at most; beyond this a stream is not of a real machine.
const KEPT_MAX: usize = 65_536;
/// A quota that stops a thread on its way out of a call does so within this time of the call's end. Later it is the
/// program's own work that used up the quota.
const QUOTA_WITHIN_NS: u64 = 100_000;

/// What the machine counted besides waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events fed.
    pub events: u64,
    /// Events that the collector said were lost.
    pub lost: u64,
    /// Waits whose end was not seen.
    pub unfinished: u64,
}

/// A process, as the stream names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Its name.
    pub name: String,
    /// The process that started it, if that was seen.
    pub parent: Option<u32>,
}

/// See the module.
#[derive(Debug)]
pub struct Machine {
    arch: Arch,
    threads: HashMap<u32, Open>,
    timers: HashMap<u64, Timer>,
    turns: HashMap<u16, VecDeque<Turn>>,
    /// From, to, and how much the hypervisor took.
    steal: HashMap<u16, VecDeque<(u64, u64, u64)>>,
    processes: HashMap<u32, Process>,
    counts: Counts,
    done: Vec<Wait>,
}

/// A timer that is no thread's own.
#[derive(Clone, Copy, Debug, Default)]
struct Timer {
    set_by: Option<u32>,
    /// What was requested; later its period.
    requested: Option<u64>,
    /// When it should fire first, where that isn't its expiry.
    deadline: Option<u64>,
    fired: Option<Fired>,
}

impl Timer {
    fn set(event: &Event) -> Timer {
        let [entered, requested, form, soft, ..] = event.fields;
        // A request for a point in time is the expiry itself; io_uring's are in memory that isn't read.
        let deadline = (form == 1 && entered != 0).then(|| entered.saturating_add(requested));
        let since = if form == 2 { entered } else { event.t };
        let requested = if deadline.is_some() { Some(requested) } else { soft.checked_sub(since) };
        Timer { set_by: Some(event.x), requested, deadline, fired: None }
    }
}

impl Machine {
    /// A machine for streams of that processor.
    pub fn new(arch: Arch) -> Machine {
        Machine {
            arch,
            threads: HashMap::new(),
            timers: HashMap::new(),
            turns: HashMap::new(),
            steal: HashMap::new(),
            processes: HashMap::new(),
            counts: Counts::default(),
            done: Vec::new(),
        }
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The processes that the stream named.
    pub fn processes(&self) -> &HashMap<u32, Process> {
        &self.processes
    }

    /// The waits that ended since the last call.
    pub fn take(&mut self) -> Vec<Wait> {
        std::mem::take(&mut self.done)
    }

    /// The stream is over: what is still open is given up, but waits whose call has returned.
    pub fn finish(&mut self) {
        let mut tids: Vec<u32> = self.threads.keys().copied().collect();
        tids.sort_unstable();
        for tid in tids {
            self.close(tid);
        }
    }

    /// Takes one event.
    pub fn feed(&mut self, event: &Event) {
        self.counts.events += 1;
        match event.kind {
            Kind::Arm => self.on_arm(event),
            Kind::Fire => self.on_fire(event),
            Kind::Context => self.on_context(event),
            Kind::Set => {
                bound(&mut self.timers);
                self.timers.insert(event.fields[5], Timer::set(event));
            }
            Kind::Waking => self.on_waking(event),
            Kind::Wakeup | Kind::Out | Kind::In | Kind::Return => self.on_thread(event),
            Kind::Run => self.on_run(event),
            Kind::Fork | Kind::Exec => {
                let parent = (event.kind == Kind::Fork).then_some(event.fields[0] as u32);
                bound(&mut self.processes);
                let process = self.processes.entry(event.tgid).or_default();
                process.name = event::text(&event.name);
                process.parent = parent.or(process.parent);
            }
            Kind::Gone => self.close(event.tid),
            Kind::Lost => {
                self.counts.lost = self.counts.lost.saturating_add(event.fields[0]);
                // Any open wait may miss one of these. It says itself how many, if its end arrives.
            }
            Kind::Steal => {
                bound(&mut self.steal);
                let steal = self.steal.entry(event.cpu).or_default();
                steal.push_back((event.t, event.t.saturating_add(event.fields[1]), event.fields[0]));
                if steal.len() > TURNS_MAX {
                    steal.pop_front();
                }
            }
        }
    }

    fn on_arm(&mut self, event: &Event) {
        let arch = self.arch;
        if let Some(open) = self.threads.get_mut(&event.tid).filter(|open| open.continues(event, arch)) {
            open.seen = open.seen.saturating_add(1);
            open.arm(event);
            return;
        }
        self.close(event.tid);
        bound(&mut self.threads);
        let mut open = Open::new(event, event.x);
        open.seen = 1;
        open.arm(event);
        self.threads.insert(event.tid, open);
    }

    fn on_fire(&mut self, event: &Event) {
        let [interrupt, timer, idle, soft, hard, kind] = event.fields;
        let fired = Fired {
            t: event.t,
            cpu: event.cpu,
            interrupt: Some(interrupt).filter(|&t| t != 0 && t <= event.t),
            soft,
            hard,
            idle: idle_state(idle),
            is_wheel: kind == 2,
            interrupted: (event.x, event.name),
            context: None,
        };
        if kind == 1 {
            bound(&mut self.timers);
            let timer = self.timers.entry(timer).or_default();
            if let Some(last) = timer.fired.replace(fired) {
                timer.requested = soft.checked_sub(last.soft).filter(|&period| period != 0);
                timer.deadline = None;
            }
        } else if let Some(open) = self.threads.get_mut(&event.tid).filter(|open| open.returned.is_none()) {
            open.seen = open.seen.saturating_add(1);
            open.clear_waking();
            open.fired = Some(fired);
        }
    }

    fn on_context(&mut self, event: &Event) {
        let here = |fired: &&mut Fired| fired.t == event.t && fired.cpu == event.cpu;
        let own = self.threads.get_mut(&event.tid).and_then(|open| open.fired.as_mut()).filter(here);
        let mut timers = self.timers.values_mut().filter_map(|timer| timer.fired.as_mut());
        if let Some(fired) = own.or_else(|| timers.find(here)) {
            fired.context = Some(*event);
        }
    }

    fn on_waking(&mut self, event: &Event) {
        let timer = event.fields[0];
        let by = self.timers.get(&timer).filter(|_| timer != 0).and_then(|timer| {
            let Timer { set_by, requested, deadline, fired } = *timer;
            Some(ByTimer { set_by, requested, deadline, fired: fired? })
        });
        let is_open = self.threads.get(&event.tid).is_some_and(|open| open.returned.is_none());
        if !is_open {
            // Only a timer's callback begins a wait in this way.
            if timer == 0 {
                return;
            }
            self.close(event.tid);
            bound(&mut self.threads);
            let mut open = Open::new(event, event.x);
            open.entered = Some(event.fields[1]).filter(|&t| t != 0);
            open.request = Request::Timer;
            open.has_slept = true;
            self.threads.insert(event.tid, open);
        }
        let Some(open) = self.threads.get_mut(&event.tid) else { return };
        open.seen = open.seen.saturating_add(1);
        if open.fired.is_none() && open.by_timer.is_none() {
            // Whatever woke it before its time is of no interest any more.
            (open.waking, open.woken, open.running) = (None, None, None);
            open.by_timer = by;
        }
        open.waking = open.waking.or(Some(event.t));
    }

    fn on_thread(&mut self, event: &Event) {
        let Some(open) = self.threads.get_mut(&event.tid) else { return };
        let is_over = open.returned.is_some();
        if !is_over {
            open.seen = open.seen.saturating_add(1);
        }
        let [a, throttled, ..] = event.fields;
        match event.kind {
            Kind::Wakeup if !is_over && open.woken.is_none() => {
                open.woken = Some(Woken {
                    t: event.t,
                    cpu: event.x as u16,
                    idle: idle_state(a),
                    throttled,
                    prio: event.fields[2] as i32,
                    policy: event.fields[3] as u32,
                    cpus_allowed: event.fields[4] as u32,
                });
            }
            Kind::Out if !is_over => {
                open.has_slept = true;
                if open.running.is_some() && event.x & 1 != 0 {
                    open.preempted_at = Some(event.t);
                }
            }
            Kind::Out => {
                let returned = open.returned.map_or(0, |(t, _)| t);
                if event.x & 2 != 0 && open.throttled_at.is_none() && event.t.saturating_sub(returned) < QUOTA_WITHIN_NS
                {
                    open.throttled_at = Some(event.t);
                } else {
                    self.close(event.tid);
                }
            }
            Kind::In if !is_over => {
                if let Some(from) = open.preempted_at.take() {
                    open.preempted.push((from, event.t, event.cpu));
                    open.preempted.truncate(TURNS_MAX);
                } else if open.waking.or(open.woken.map(|woken| woken.t)).is_some() && open.running.is_none() {
                    open.running = Some((event.t, event.cpu, throttled));
                }
            }
            Kind::In => {
                if open.throttled_at.is_some() {
                    open.resumed = Some(event.t);
                }
                self.close(event.tid);
            }
            Kind::Return if !is_over => {
                open.lost = open.lost.saturating_add(event.x.saturating_sub(open.seen));
                open.seen = 0;
                // The signal of a timer is what its wait was for.
                let is_over = open.by_timer.is_some() && open.fired.is_none();
                if is_restarted(a as i64) && !is_over {
                    open.suspended = Some(event.t);
                } else {
                    open.returned = Some((event.t, a as i64));
                }
            }
            _ => {}
        }
    }

    fn on_run(&mut self, event: &Event) {
        bound(&mut self.turns);
        let [from, prio, policy, cpus_allowed, ..] = event.fields;
        let turns = self.turns.entry(event.cpu).or_default();
        turns.push_back(Turn {
            tid: event.tid,
            tgid: event.tgid,
            name: event.name,
            policy: policy as u32,
            prio: prio as i32,
            cpus_allowed: cpus_allowed as u32,
            from,
            to: event.t,
        });
        if turns.len() > TURNS_MAX {
            turns.pop_front();
        }
    }

    /// Ends what is open of a thread.
    fn close(&mut self, tid: u32) {
        let Some(open) = self.threads.remove(&tid) else { return };
        if open.returned.is_none() && open.suspended.is_none() {
            self.counts.unfinished += 1;
            return;
        }
        if let Some(wait) = self.wait_of(&open) {
            self.done.push(wait);
        }
    }
}

/// The number of an idle state from its field, which counts from 1; 0 is "not idle".
fn idle_state(field: u64) -> Option<u32> {
    u32::try_from(field).ok()?.checked_sub(1)
}

/// Forgets everything rather than growing without bound.
fn bound<K, V>(map: &mut HashMap<K, V>) {
    if map.len() >= KEPT_MAX {
        map.clear();
    }
}
