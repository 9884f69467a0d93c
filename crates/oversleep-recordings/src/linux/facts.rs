//! What has to be known of a recording before its points can be understood: what it has, whose timers are those that threads
//! sleep with, and how its clock relates to the timers' clocks.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use oversleep_why::calls::Arch;

use super::point::Handlers;
use super::{Counts, Head, Point, Set, Stream, What};
use crate::Fault;
use crate::order::{Plausible, Seconds};

pub type Map<K, V> = HashMap<K, V, RandomState>;

/// The most threads, timers or functions that are kept.
pub const KEPT_MAX: usize = 65_536;
/// Times of wall clocks are beyond this: no machine runs for 30 years.
const WALL_NS: u64 = 1_000_000_000_000_000_000;
/// A clock that is that of the timers differs by the time from reading it to the tracepoint.
const SAME_WITHIN_NS: i64 = 50_000;
const SECOND_NS: u64 = 1_000_000_000;
/// How much an expiry counts that didn't wake its thread.
const NOT_WOKEN: u64 = 8;
/// A timer that a thread sleeps with wakes it within this time.
const WAKES_WITHIN_NS: u64 = 1_000_000;
/// Tracepoints that tell exactly whom a timer wakes.
const CALLBACKS: &[&str] = &["sched_waking", "hrtimer_expire_entry", "hrtimer_expire_exit"];
/// The most seconds whose clock is compared.
const SECONDS_MAX: usize = 1 << 20;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub head: Head,
    /// The tracepoints that the file can show.
    pub can: Set,
    /// Functions of timers that threads sleep with.
    sleepers: Map<u64, (u64, u64)>,
    /// By second: the smallest difference of the recording's clock and the timers', of monotonic and of wall clocks.
    offsets: BTreeMap<u64, [Option<i64>; 2]>,
    is_same_clock: bool,
    pub is_truncated: bool,
    /// When its points can be.
    pub plausible: Plausible,
    /// A thread waited on one CPU and ran on another, and no event says when it moved.
    pub has_unseen_moves: bool,
    /// It says of some threads which process they are of.
    pub has_processes: bool,
    pub counts: Counts,
    /// The names of the timers' functions.
    pub functions: Map<u64, String>,
}

/// What a thread has armed since it entered its call.
#[derive(Debug, Default)]
struct Armed {
    functions: [u64; 4],
    count: usize,
}

/// Whether a thread sleeps, and how often it has begun to.
#[derive(Clone, Copy, Debug, Default)]
struct Asleep {
    is_now: bool,
    times: u32,
}

/// Timers that didn't wake their threads, as far as switches and wake-ups tell: less exactly than the ends of callbacks do.
#[derive(Debug, Default)]
struct Unslept {
    asleep: Map<u32, Asleep>,
    /// By timer: its function, its thread, and how often that had slept.
    started: Map<u64, (u64, u32, u32)>,
    /// By thread that sleeps: the function of the timer that expired, and when.
    due: Map<u32, (u64, u64)>,
    /// By function: how often.
    votes: Map<u64, u64>,
    /// Wakings, expiries and the ends of callbacks occurred: then these tell it exactly.
    is_needless: [bool; 3],
}

impl Unslept {
    fn learn(&mut self, point: &Point) {
        if self.is_needless == [true; 3] {
            return;
        }
        match point.what {
            What::Waking { .. } => self.is_needless[0] = true,
            What::Expire { .. } => self.is_needless[1] = true,
            What::Expired => self.is_needless[2] = true,
            _ => {}
        }
        match point.what {
            What::Switch { from, is_runnable, to } => {
                if !is_runnable && from.tid != 0 {
                    let asleep = self.asleep.entry(from.tid).or_default();
                    (asleep.is_now, asleep.times) = (true, asleep.times.wrapping_add(1));
                }
                self.asleep.entry(to.tid).or_default().is_now = false;
                self.due.remove(&to.tid);
            }
            What::Start { function, timer, .. } => {
                let times = self.asleep.get(&point.tid).map_or(0, |asleep| asleep.times);
                self.started.insert(timer, (function, point.tid, times));
            }
            What::Expire { timer, .. } => {
                let Some((function, tid, times)) = self.started.remove(&timer) else { return };
                let Some(asleep) = self.asleep.get(&tid) else { return };
                if asleep.is_now {
                    let before = self.due.insert(tid, (function, point.t));
                    self.unless_within(before, point.t);
                } else if asleep.times != times {
                    self.vote(function);
                }
            }
            What::Waking { task, .. } | What::Wakeup { task, .. } => {
                let due = self.due.remove(&task.tid);
                self.unless_within(due, point.t);
            }
            What::Gap { .. } => {
                let votes = std::mem::take(&mut self.votes);
                *self = Unslept { votes, is_needless: self.is_needless, ..Unslept::default() };
            }
            _ => {}
        }
        if [self.asleep.len(), self.started.len(), self.votes.len()].iter().any(|&len| len >= KEPT_MAX) {
            *self = Unslept { is_needless: self.is_needless, ..Unslept::default() };
        }
    }

    /// The thread of a timer that expired slept on for too long.
    fn unless_within(&mut self, due: Option<(u64, u64)>, t: u64) {
        if let Some((function, _)) = due.filter(|(_, since)| t.saturating_sub(*since) > WAKES_WITHIN_NS) {
            self.vote(function);
        }
    }

    fn vote(&mut self, function: u64) {
        *self.votes.entry(function).or_default() += NOT_WOKEN;
    }
}

/// What the first pass remembers.
#[derive(Debug, Default)]
struct Learnt {
    armed: Map<u32, Armed>,
    /// By CPU: whether an interrupt or a softirq is handled.
    handles: Vec<Handlers>,
    /// By timer: its function, and the thread that started it.
    started: Map<u64, (u64, u32)>,
    /// The same, by CPU, for the timer whose callback runs.
    callbacks: Vec<Option<(u64, u32)>>,
    has_waking: bool,
    /// By thread: the CPU that it waits for.
    queued: Map<u32, u16>,
    /// Moves are told.
    has_moves: bool,
}

impl Learnt {
    /// Forgets all but what the file tells.
    fn forget(&mut self) {
        *self = Learnt { has_waking: self.has_waking, has_moves: self.has_moves, ..Learnt::default() };
    }

    /// Whether a thread gets another CPU than the one that it waited for.
    fn moved_unseen(&mut self, point: &Point) -> bool {
        match point.what {
            What::Migrate { .. } => self.has_moves = true,
            What::Waking { task, cpu } | What::Wakeup { task, cpu } => _ = self.queued.insert(task.tid, cpu),
            What::Switch { from, is_runnable, to } => {
                if is_runnable && from.tid != 0 {
                    self.queued.insert(from.tid, point.cpu);
                }
                return self.queued.remove(&to.tid).is_some_and(|cpu| cpu != point.cpu);
            }
            _ => {}
        }
        false
    }
}

impl Facts {
    /// Of a whole recording.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn of(stream: &mut dyn Stream) -> Result<Facts, Fault> {
        let mut facts = Facts::default();
        let mut learnt = Learnt::default();
        let mut unslept = Unslept::default();
        let mut seconds = Seconds::new(SECOND_NS);
        while let Some(point) = stream.next()? {
            // Names may be told as of the begin of time.
            if !matches!(point.what, What::Named { .. }) {
                seconds.see(point.t);
            }
            facts.learn(&point, &mut learnt);
            unslept.learn(&point);
        }
        facts.head = stream.head().clone();
        facts.counts = stream.counts();
        // Not those that the file declares: a kernel may lack them, or have been forbidden to tell of them.
        facts.can = facts.counts.set();
        if !facts.tells_sleepers() {
            unslept.votes.iter().for_each(|(&function, &weight)| facts.vote(function, false, weight));
        }
        facts.plausible = seconds.plausible();
        let plausible = facts.plausible;
        facts.offsets.retain(|second, _| plausible.has(second * SECOND_NS));
        facts.is_truncated = stream.is_truncated() || facts.plausible.has_dropped;
        // Only x86 has such an interrupt.
        let is_x86 = facts.can.has("local_timer_entry");
        facts.head.arch = facts.head.arch.or(is_x86.then_some(Arch::X86_64));
        let wanted: Vec<u64> = facts.sleepers.keys().copied().collect();
        facts.functions = stream.functions(&wanted).into_iter().collect();
        let smallest = facts.offsets.values().filter_map(|both| both[0]).min();
        // A clock of that name is believed if nothing contradicts, one without a name if it is seen to be the same.
        facts.is_same_clock = match (&*facts.head.clock, smallest) {
            ("mono" | "", Some(offset)) => (0..SAME_WITHIN_NS).contains(&offset),
            (clock, None) => clock == "mono",
            _ => false,
        };
        Ok(facts)
    }

    fn learn(&mut self, point: &Point, learnt: &mut Learnt) {
        if [learnt.armed.len(), learnt.started.len(), learnt.queued.len()].iter().any(|&len| len >= KEPT_MAX) {
            learnt.forget();
        }
        if !learnt.has_moves && !self.has_unseen_moves {
            self.has_unseen_moves = learnt.moved_unseen(point);
        }
        let cpu = usize::from(point.cpu);
        if learnt.handles.len() <= cpu {
            learnt.handles.resize(cpu + 1, Handlers::default());
            learnt.callbacks.resize(cpu + 1, None);
        }
        let handlers = &mut learnt.handles[cpu];
        handlers.see(&point.what);
        self.has_processes |= point.tgid.is_some();
        match point.what {
            What::Start { function, .. } if handlers.is_any() || point.tid == 0 => self.vote(function, false, 1),
            What::Start { function, timer, .. } => {
                learnt.started.insert(timer, (function, point.tid));
                let armed = learnt.armed.entry(point.tid).or_default();
                if let Some(place) = armed.functions.get_mut(armed.count) {
                    *place = function;
                    armed.count += 1;
                }
            }
            What::Switch { from, is_runnable: false, .. } => self.vote_all(learnt.armed.remove(&from.tid), true),
            What::Exit { .. } => self.vote_all(learnt.armed.remove(&point.tid), false),
            What::Enter { .. } => drop(learnt.armed.remove(&point.tid)),
            What::Expire { now, timer } => {
                self.compare(point.t, now);
                learnt.callbacks[cpu] = learnt.started.remove(&timer).or(learnt.callbacks[cpu]);
            }
            What::Waking { task, .. } => {
                learnt.has_waking = true;
                learnt.callbacks[cpu].take_if(|(_, tid)| *tid == task.tid);
            }
            // The timer that a thread sleeps with wakes it.
            What::Expired => {
                if let Some((function, _)) = learnt.callbacks[cpu].take().filter(|_| learnt.has_waking) {
                    self.vote(function, false, NOT_WOKEN);
                }
            }
            What::Gap { .. } => learnt.forget(),
            _ => {}
        }
    }

    fn vote_all(&mut self, armed: Option<Armed>, sleeps: bool) {
        let Some(armed) = armed else { return };
        armed.functions[..armed.count].iter().for_each(|&function| self.vote(function, sleeps, 1));
    }

    fn vote(&mut self, function: u64, sleeps: bool, weight: u64) {
        if self.sleepers.len() >= KEPT_MAX {
            return;
        }
        let votes = self.sleepers.entry(function).or_default();
        *(if sleeps { &mut votes.0 } else { &mut votes.1 }) += weight;
    }

    fn compare(&mut self, t: u64, now: u64) {
        let second = t / SECOND_NS;
        if self.offsets.len() >= SECONDS_MAX && !self.offsets.contains_key(&second) {
            return;
        }
        let smallest = &mut self.offsets.entry(second).or_default()[usize::from(now > WALL_NS)];
        let offset = (t as i64).wrapping_sub(now as i64);
        *smallest = Some(smallest.map_or(offset, |smallest| smallest.min(offset)));
    }

    /// Whether it tells exactly whose timers those are that threads sleep with.
    pub fn tells_sleepers(&self) -> bool {
        self.can.has_all(CALLBACKS)
    }

    /// Whether threads sleep with timers of that function.
    pub fn is_sleeper(&self, function: u64) -> bool {
        self.sleepers.get(&function).is_some_and(|&(yes, no)| yes >= 4 * no.max(1) || (yes > 0 && no == 0))
    }

    /// A time of a timer by the recording's clock; `None` if that can't be told.
    pub fn by_own_clock(&self, time: u64, at: u64) -> Option<u64> {
        let wall = usize::from(time > WALL_NS);
        if wall == 0 && self.is_same_clock {
            return Some(time);
        }
        let second = at / SECOND_NS;
        let of = |(_, both): (&u64, &[Option<i64>; 2])| both[wall];
        let before = self.offsets.range(..=second).rev().take(60).find_map(of);
        let offset = before.or_else(|| self.offsets.range(second..).take(60).find_map(of))?;
        time.checked_add_signed(offset)
    }
}
