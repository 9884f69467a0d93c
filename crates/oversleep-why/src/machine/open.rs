//! A wait in progress: what was seen of it so far.

use crate::calls::{Arch, Call};
use crate::event::{Event, Name};
use crate::wait::Request;

/// How the thread armed its own timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Armed {
    pub t: u64,
    pub hard: u64,
    pub is_wheel: bool,
}

/// A timer's callback.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fired {
    pub t: u64,
    pub cpu: u16,
    pub interrupt: Option<u64>,
    pub soft: u64,
    pub hard: u64,
    pub idle: Option<u32>,
    pub is_wheel: bool,
    pub interrupted: (u32, Name),
    /// What the CPU did before, if the timer was late.
    pub context: Option<Event>,
}

/// The thread is in a run queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Woken {
    pub t: u64,
    pub cpu: u16,
    pub idle: Option<u32>,
    pub throttled: u64,
    pub prio: i32,
    pub policy: u32,
    pub cpus_allowed: u32,
}

/// A wait in progress.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub tid: u32,
    pub tgid: u32,
    pub name: Name,
    pub number: u32,
    pub entered: Option<u64>,
    pub request: Request,
    pub requested: u64,
    pub first_soft: Option<u64>,
    pub armed: Option<Armed>,
    pub rearmed: Option<u64>,
    pub restarts: u32,
    /// The call ended to be restarted.
    pub is_suspended: bool,
    pub fired: Option<Fired>,
    /// The timer object that woke the thread, and when its callback ran.
    pub by_timer: Option<(u64, Fired)>,
    pub waking: Option<u64>,
    pub woken: Option<Woken>,
    pub running: Option<(u64, u16, u64)>,
    pub has_slept: bool,
    pub preempted_at: Option<u64>,
    pub preempted: Vec<(u64, u64, u16)>,
    pub returned: Option<(u64, i64)>,
    pub throttled_at: Option<u64>,
    pub resumed: Option<u64>,
    /// Events seen for the present call.
    pub seen: u32,
    pub lost: u32,
}

impl Open {
    pub fn new(event: &Event, number: u32) -> Open {
        Open {
            tid: event.tid,
            tgid: event.tgid,
            name: event.name,
            number,
            entered: None,
            request: Request::Unknown,
            requested: 0,
            first_soft: None,
            armed: None,
            rearmed: None,
            restarts: 0,
            is_suspended: false,
            fired: None,
            by_timer: None,
            waking: None,
            woken: None,
            running: None,
            has_slept: false,
            preempted_at: None,
            preempted: Vec::new(),
            returned: None,
            throttled_at: None,
            resumed: None,
            seen: 0,
            lost: 0,
        }
    }

    /// Takes note of an armed timer; `self` is new, or continued by this call.
    pub fn arm(&mut self, event: &Event) {
        let [entered, requested, form, soft, hard, _] = event.fields;
        let armed = Armed { t: event.t, hard, is_wheel: form >> 8 & 0xff == 2 };
        if self.is_suspended || self.armed.is_some() {
            self.restarts = self.restarts.saturating_add(u32::from(self.is_suspended));
            self.is_suspended = false;
            if self.first_soft.is_some_and(|soft| event.t > soft) {
                self.rearmed = Some(event.t);
            }
        } else {
            self.entered = Some(entered).filter(|&entered| entered != 0);
            self.requested = requested;
            self.request = match form & 0xff {
                1 => Request::Span,
                2 => Request::Deadline,
                _ => Request::Unknown,
            };
            self.first_soft = Some(soft);
            self.name = event.name;
        }
        self.armed = Some(armed);
        self.clear_waking();
        self.has_slept = false;
    }

    /// Forgets how the thread was woken before its timer fired.
    pub fn clear_waking(&mut self) {
        (self.fired, self.by_timer, self.waking, self.woken, self.running) = (None, None, None, None, None);
        self.preempted_at = None;
        self.preempted.clear();
    }

    /// Whether an event of arming continues this wait: the kernel restarted its call.
    pub fn continues(&self, event: &Event, arch: Arch) -> bool {
        if !self.is_suspended {
            // One call that arms its timer again, such as a poll that was woken for nothing.
            return self.returned.is_none() && event.x == self.number && self.entered == Some(event.fields[0]);
        }
        let is_restart = Call::of(arch, event.x).is_some_and(|call| call.name == "restart_syscall");
        let is_same = self.request == Request::Deadline && event.x == self.number && event.fields[1] == self.requested;
        is_restart || is_same
    }
}
