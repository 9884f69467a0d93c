//! A wait in progress: what is known of it so far.

use oversleep_record::observed::stack::Frames;

use crate::calls::{Arch, Call};
use crate::event::{Event, Name, UNSEEN_TIMER};
use crate::wait::Request;

/// The state of the thread's own timer when it was armed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Armed {
    pub t: u64,
    pub hard: u64,
    pub is_wheel: bool,
    /// A supervisor saw the call and not its timer.
    pub is_unseen: bool,
}

/// The callback of a timer.
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

/// The timer object that woke a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByTimer {
    /// The call that set it.
    pub set_by: Option<u32>,
    /// What that call requested; later the period.
    pub requested: Option<u64>,
    /// When it should have fired, if that differs from its expiry.
    pub deadline: Option<u64>,
    pub fired: Fired,
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
    /// When the call ended in order to be restarted.
    pub suspended: Option<u64>,
    /// What the last entry into the call requested, and when.
    pub last: (u64, u64),
    pub fired: Option<Fired>,
    /// The timer object that woke the thread.
    pub by_timer: Option<ByTimer>,
    pub waking: Option<u64>,
    pub woken: Option<Woken>,
    pub running: Option<(u64, u16, u64)>,
    pub has_slept: bool,
    pub preempted_at: Option<u64>,
    pub preempted: Vec<(u64, u64, u16)>,
    pub returned: Option<(u64, i64)>,
    /// How long the thread waited for a CPU after it was woken, if no event shows when.
    pub queued: Option<u64>,
    pub throttled_at: Option<u64>,
    pub resumed: Option<u64>,
    /// Events seen for the current call.
    pub seen: u32,
    pub lost: u32,
    pub frames: Frames,
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
            suspended: None,
            last: (0, 0),
            fired: None,
            by_timer: None,
            waking: None,
            woken: None,
            running: None,
            has_slept: false,
            preempted_at: None,
            preempted: Vec::new(),
            returned: None,
            queued: None,
            throttled_at: None,
            resumed: None,
            seen: 0,
            lost: 0,
            frames: Frames::default(),
        }
    }

    /// Records an armed timer; this wait is new, or is continued by this call.
    pub fn arm(&mut self, event: &Event) {
        let [entered, requested, form, soft, hard, _] = event.fields;
        let kind = form >> 8 & 0xff;
        let armed = Armed { t: event.t, hard, is_wheel: kind == 2, is_unseen: kind == UNSEEN_TIMER };
        if self.suspended.is_some() || self.armed.is_some() {
            self.restarts = self.restarts.saturating_add(u32::from(self.suspended.is_some()));
            self.suspended = None;
            // Either the deadline had already passed, or the call was restarted with the rest of its span.
            let again = event.t.max(soft);
            if self.first_soft.is_some_and(|first| again > first) {
                self.rearmed = Some(again);
            }
            // Its stacks come when it ends.
            self.frames = Frames::default();
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
        self.last = (entered, requested);
        self.armed = Some(armed);
        self.clear_waking();
        self.has_slept = false;
    }

    /// Whether a supervisor saw the call and not its timer.
    pub fn is_unseen(&self) -> bool {
        self.armed.is_some_and(|armed| armed.is_unseen)
    }

    /// Discards how the thread was woken before its timer fired.
    pub fn clear_waking(&mut self) {
        (self.fired, self.by_timer, self.waking, self.woken, self.running) = (None, None, None, None, None);
        self.preempted_at = None;
        self.preempted.clear();
    }

    /// Whether an `Arm` event continues this wait because the kernel restarted its call.
    pub fn continues(&self, event: &Event, arch: Arch) -> bool {
        let Some(suspended) = self.suspended else {
            // A call that arms its timer repeatedly, such as a poll after a spurious wake-up.
            return self.returned.is_none() && event.x == self.number && self.entered == Some(event.fields[0]);
        };
        let [entered, requested, ..] = event.fields;
        let is_restart = Call::of(arch, event.x).is_some_and(|call| call.name == "restart_syscall");
        let is_same = match self.request {
            Request::Deadline => requested == self.requested,
            // select, ppoll and similar calls return the rest of the span to the program, which starts over with that.
            Request::Span => {
                let waited = self.last.1.checked_sub(requested);
                waited.is_some_and(|waited| waited.abs_diff(suspended.saturating_sub(self.last.0)) < REST_WITHIN_NS)
                    && entered >= suspended
            }
            Request::Timer | Request::Unknown => false,
        };
        is_restart || is_same && event.x == self.number
    }
}

/// The rest of a span is computed at most this long before its call ends.
const REST_WITHIN_NS: u64 = 100_000;

/// The idle state in a field, which counts from 1; 0 means "not idle".
pub(super) fn idle_state(field: u64) -> Option<u32> {
    u32::try_from(field).ok()?.checked_sub(1)
}
