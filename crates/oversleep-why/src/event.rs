//! One step of a wait, as a collector delivers it: a fixed-size record whose fields mean what its kind says.
//!
//! The layout is that of `struct event` in the collector's kernel program. Nothing here trusts a value: a stream may be
//! truncated, shuffled or hostile.

/// Bytes of one event as the kernel program writes it.
pub const EVENT_BYTES: usize = 88;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A thread armed the timer of its wait. `x` call number, `a` entry into the call, `b` request, `c` form of the
    /// request and kind of timer, `d` soft expiry, `e` hard expiry.
    Arm,
    /// That timer's callback begins. `a` entry of the timer interrupt, `b` timer, `c` idle state of the CPU + 1, `d` soft,
    /// `e` hard expiry, `f` kind of timer, `x` and `name` the interrupted task.
    Fire,
    /// The thread is about to be woken. `a` the timer whose callback does it, `b` entry into the call, `x` call number.
    Waking,
    /// It is in a run queue. `x` CPU, `a` idle state of that CPU + 1, `b` throttled time of its groups, `c` priority,
    /// `d` policy, `e` number of CPUs it may use.
    Wakeup,
    /// It leaves its CPU and does not sleep. `x` bit 0: it could go on, bit 1: a CPU quota stops it; `b` throttled time of
    /// its groups.
    Out,
    /// It has a CPU. `x` the task before it, `a` whether it slept since it armed its timer, `b` throttled time of its
    /// groups.
    In,
    /// The call returns. `x` events sent for this call, `a` its result.
    Return,
    /// Another task leaves a CPU that a followed thread waits for. `a` since when it ran, `b` priority, `c` policy, `d`
    /// number of CPUs it may use, `x` bit 0: it was preempted.
    Run,
    /// What a CPU did before a late timer fired. `a`, `b` last interrupt from, to; `c`, `d` last softirq from, to; `e` their
    /// numbers; `f`, `x` last change of idle state; `name` the interrupt.
    Context,
    /// A followed process started another. `a` the parent.
    Fork,
    /// A followed process runs another program from now on.
    Exec,
    /// A thread ended; `x` is not 0 for the last one of its process.
    Gone,
    /// A thread set a timer of its own (timerfd, POSIX timer, itimer, io_uring). As `Arm`, `f` is the timer.
    Set,
    /// Events were lost since the last one of this kind: `a` how many. Made by the collector.
    Lost,
    /// The hypervisor ran something else: `a` for how long on this CPU since the last such event. Made by the collector.
    Steal,
    /// Where a late wait was called from. `x` bit 0: in the program, else in the kernel; the fields are addresses, the
    /// innermost first, 0 after the last one. More of them follow in events of the same time.
    Stack,
    /// What is at an address. `a` the address, `x` where this piece of the text begins; `b` to `f` the piece. A process of 0
    /// is the kernel. Made by the collector.
    Symbol,
}

const KINDS: [Kind; 17] = [
    Kind::Arm,
    Kind::Fire,
    Kind::Waking,
    Kind::Wakeup,
    Kind::Out,
    Kind::In,
    Kind::Return,
    Kind::Run,
    Kind::Context,
    Kind::Fork,
    Kind::Exec,
    Kind::Gone,
    Kind::Set,
    Kind::Lost,
    Kind::Steal,
    Kind::Stack,
    Kind::Symbol,
];

impl Kind {
    /// The kind of that number; `None` for one that only a later version knows.
    pub fn of(number: u16) -> Option<Kind> {
        KINDS.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// Its number in records.
    pub fn number(self) -> u16 {
        self as u16 + 1
    }
}

/// Text of at most 16 bytes, padded with zeros: the kernel's names of tasks and interrupts.
pub type Name = [u8; 16];

/// One event. Times are nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub t: u64,
    /// What.
    pub kind: Kind,
    /// The CPU it happened on.
    pub cpu: u16,
    /// The thread it is about.
    pub tid: u32,
    /// Its process.
    pub tgid: u32,
    /// See [`Kind`].
    pub x: u32,
    /// See [`Kind`]: a to f.
    pub fields: [u64; 6],
    /// See [`Kind`].
    pub name: Name,
}

impl Event {
    /// An event without fields.
    pub fn new(kind: Kind, t: u64, tid: u32) -> Event {
        Event { t, kind, cpu: 0, tid, tgid: tid, x: 0, fields: [0; 6], name: [0; 16] }
    }

    /// The event in the bytes that the kernel program wrote; `None` for another length or an unknown kind.
    pub fn of_bytes(bytes: &[u8]) -> Option<Event> {
        if bytes.len() != EVENT_BYTES {
            return None;
        }
        let u64_at = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
        let u32_at = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
        let u16_at = |at: usize| bytes.get(at..at + 2)?.try_into().ok().map(u16::from_le_bytes);
        let mut fields = [0; 6];
        for (n, field) in fields.iter_mut().enumerate() {
            *field = u64_at(24 + 8 * n)?;
        }
        Some(Event {
            t: u64_at(0)?,
            tid: u32_at(8)?,
            tgid: u32_at(12)?,
            kind: Kind::of(u16_at(16)?)?,
            cpu: u16_at(18)?,
            x: u32_at(20)?,
            fields,
            name: bytes.get(72..88)?.try_into().ok()?,
        })
    }
}

/// A kernel's name as text, without what a terminal would obey.
pub fn text(name: &Name) -> String {
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    // Nearly all names: for each wait one is made.
    if let Some(plain) =
        str::from_utf8(&name[..end]).ok().filter(|text| text.bytes().all(|b| (0x20..0x7f).contains(&b)))
    {
        return plain.to_owned();
    }
    String::from_utf8_lossy(&name[..end]).chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
