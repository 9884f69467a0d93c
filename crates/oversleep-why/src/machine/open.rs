//! A wait in progress: what is known of it so far.

use oversleep_record::observed::interruption::Interrupted;
use oversleep_record::observed::period::Between;
use oversleep_record::observed::stack::Frames;

use crate::calls::{Arch, Call};
use crate::event::{Event, Name, UNSEEN_TIMER};
use crate::wait::{Request, TimerClock};

/// The state of the thread's own timer when it was armed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Armed {
    pub t: u64,
    pub soft: u64,
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
    pub clock: Option<TimerClock>,
    pub fired: Fired,
    /// Its period, and how many expirations were missed.
    pub period: Option<(u64, u64)>,
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

/// The thread waits for a CPU: from when to when, on which CPU at first, and on which one it ran.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    pub from: u64,
    pub to: u64,
    pub first: u16,
    pub last: u16,
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
    pub clock: Option<TimerClock>,
    pub rearmed: Option<u64>,
    pub restarts: u32,
    /// When the call ended in order to be restarted, and with which result.
    pub suspended: Option<(u64, i64)>,
    /// Whether a signal or a stop was seen since then.
    pub met: Met,
    /// How much later the timer expired, because signals interrupted the call.
    pub by_signals: u64,
    pub interruptions: Vec<Interrupted>,
    /// The call that set the timer whose signal ended the call.
    pub timer_signal: Option<String>,
    /// What the last entry into the call requested, and when.
    pub last: (u64, u64),
    pub fired: Option<Fired>,
    /// The timer object that woke the thread.
    pub by_timer: Option<ByTimer>,
    pub waking: Option<u64>,
    /// Who woke the thread, if that was no timer, and whether the freezer had it where it slept.
    pub waker: Name,
    pub was_frozen: bool,
    pub woken: Option<Woken>,
    pub running: Option<(u64, u16, u64)>,
    pub has_slept: bool,
    pub preempted_at: Option<(u64, u16)>,
    pub preempted: Vec<Queued>,
    /// When the thread moved to which CPU while it waited for one, as far as that was told.
    pub moves: Vec<(u64, u32)>,
    pub returned: Option<(u64, i64)>,
    /// How long the thread waited for a CPU after it was woken, if no event shows when.
    pub queued: Option<u64>,
    pub throttled_at: Option<u64>,
    pub resumed: Option<u64>,
    /// Events seen for the current call.
    pub seen: u32,
    pub lost: u32,
    pub frames: Frames,
    /// What the thread did since its wait before.
    pub before: Option<Between>,
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
            clock: None,
            rearmed: None,
            restarts: 0,
            suspended: None,
            met: Met::default(),
            by_signals: 0,
            interruptions: Vec::new(),
            timer_signal: None,
            last: (0, 0),
            fired: None,
            by_timer: None,
            waking: None,
            waker: Name::default(),
            was_frozen: false,
            woken: None,
            running: None,
            has_slept: false,
            preempted_at: None,
            preempted: Vec::new(),
            moves: Vec::new(),
            returned: None,
            queued: None,
            throttled_at: None,
            resumed: None,
            seen: 0,
            lost: 0,
            frames: Frames::default(),
            before: None,
        }
    }

    /// Records an armed timer; this wait is new, or is continued by this call.
    pub fn arm(&mut self, event: &Event, arch: Arch) {
        let [entered, requested, form, soft, hard, _] = event.fields;
        let kind = form >> 8 & 0xff;
        let armed = Armed { t: event.t, soft, hard, is_wheel: kind == 2, is_unseen: kind == UNSEEN_TIMER };
        if self.suspended.is_some() || self.armed.is_some() {
            self.restarts = self.restarts.saturating_add(u32::from(self.suspended.is_some()));
            // Either the deadline had already passed, or the call was restarted with the rest of its span.
            let again = event.t.max(soft);
            if let Some(first) = self.first_soft.filter(|&first| again > first) {
                let before = self.rearmed.unwrap_or(first);
                if self.is_by_signal(event, arch) {
                    self.by_signals = self.by_signals.saturating_add(again.saturating_sub(before));
                }
                self.rearmed = Some(again);
            }
            (self.suspended, self.met) = (None, Met::default());
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
            self.clock = clock_in(form);
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
        self.moves.clear();
    }

    /// Whether this call continues the wait because a signal's handler had run. A call with a result of its own for that
    /// is restarted by the kernel if there was no handler, and by the program otherwise.
    fn is_by_signal(&self, event: &Event, arch: Arch) -> bool {
        let by_program = self.suspended.is_some_and(|(_, result)| result == RESTART_BLOCK) && !is_restart(event, arch);
        !self.met.stop && (self.met.signal || by_program)
    }

    /// By how much the rest of a span may differ from what is left: the kernel adds the slack, and calls in milliseconds
    /// round up.
    fn rest_is_rounded_by(&self, requested: u64) -> u64 {
        let slack = self.armed.map_or(0, |armed| armed.hard.saturating_sub(armed.soft));
        let is_whole = [self.last.1, requested].iter().all(|span| span % MILLISECOND_NS == 0);
        slack.saturating_add(if is_whole { MILLISECOND_NS } else { 0 })
    }

    /// Whether an `Arm` event continues this wait because the kernel restarted its call.
    pub fn continues(&self, event: &Event, arch: Arch) -> bool {
        let Some((suspended, _)) = self.suspended else {
            // A call that arms its timer repeatedly, such as a poll after a spurious wake-up.
            return self.returned.is_none() && event.x == self.number && self.entered == Some(event.fields[0]);
        };
        let [entered, requested, ..] = event.fields;
        let is_restart = is_restart(event, arch);
        let is_same = match self.request {
            Request::Deadline => requested == self.requested,
            // select, ppoll and similar calls return the rest of the span to the program, which starts over with that.
            Request::Span => {
                let waited = self.last.1.checked_sub(requested).filter(|&waited| waited != 0);
                let within = REST_WITHIN_NS.saturating_add(self.rest_is_rounded_by(requested));
                waited.is_some_and(|waited| waited.abs_diff(suspended.saturating_sub(self.last.0)) < within)
                    && entered >= suspended
            }
            Request::Timer | Request::Unknown => false,
        };
        is_restart || is_same && event.x == self.number
    }
}

/// What a thread met after its call had ended in order to be restarted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Met {
    pub signal: bool,
    pub stop: bool,
}

fn is_restart(event: &Event, arch: Arch) -> bool {
    Call::of(arch, event.x).is_some_and(|call| call.name == "restart_syscall")
}

/// The rest of a span is computed at most this long before its call ends.
const REST_WITHIN_NS: u64 = 100_000;
/// The unit of calls that take whole milliseconds.
const MILLISECOND_NS: u64 = 1_000_000;
/// The result of a call that a handler's return doesn't start again, and the kernel does by `restart_syscall` alone.
const RESTART_BLOCK: i64 = -516;

/// The clock in the form of a request.
pub(super) fn clock_in(form: u64) -> Option<TimerClock> {
    TimerClock::of((form >> 16 & 0xff).checked_sub(1)?)
}

/// The idle state in a field, which counts from 1; 0 means "not idle".
pub(super) fn idle_state(field: u64) -> Option<u32> {
    u32::try_from(field).ok()?.checked_sub(1)
}
