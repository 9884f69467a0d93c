//! One tracepoint of Linux, whatever file it is from. A tracepoint is one entry of [`POINTS`].

use oversleep_why::event::Name;

/// Something that a recording tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// When, by the recording's clock, in ns.
    pub t: u64,
    pub cpu: u16,
    /// The thread that ran there.
    pub tid: u32,
    /// Its process, where the recording says so.
    pub tgid: Option<u32>,
    pub what: What,
}

impl Point {
    /// The gap before it on its CPU, whose event before that was at `last`; 0 if there was none: such a gap has no
    /// beginning.
    pub fn gap_before(self, last: u64, count: u64) -> Point {
        let t = if last == 0 { self.t } else { last };
        Point { t, tid: 0, what: What::Gap { until: self.t, count }, ..self }
    }
}

/// A task in a tracepoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Task {
    pub tid: u32,
    pub name: Name,
    pub prio: i32,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Switch {
        from: Task,
        is_runnable: bool,
        to: Task,
    },
    Waking {
        task: Task,
        cpu: u16,
    },
    Wakeup {
        task: Task,
        cpu: u16,
    },
    /// A thread that has no CPU belongs to another one's run queue from then on.
    Migrate {
        tid: u32,
        to: u16,
    },
    /// A thread was started.
    Fork {
        child: u32,
        name: Name,
    },
    /// A thread has another name, that of its event if `tid` is 0; or its process has, which executes another program.
    Renamed {
        tid: u32,
        name: Name,
        is_program: bool,
    },
    /// A thread was started: of the process that started it, or of a new one.
    NewTask {
        child: u32,
        name: Name,
        is_thread: bool,
    },
    Gone {
        tid: u32,
    },
    Start {
        timer: u64,
        function: u64,
        hard: u64,
        soft: u64,
    },
    Expire {
        timer: u64,
        now: u64,
    },
    Expired,
    TimerIn,
    TimerOut,
    IrqIn {
        number: u32,
        name: Name,
    },
    IrqOut,
    SoftIn {
        vector: u8,
    },
    SoftOut,
    /// The CPU idles in that state, or no more.
    Idle {
        state: Option<u32>,
    },
    Enter {
        number: u32,
        registers: Option<[u64; 6]>,
    },
    Exit {
        result: i64,
    },
    /// The name of a thread.
    Named {
        tid: u32,
        tgid: u32,
        name: Name,
    },
    /// Events of this CPU are missing from here until that time.
    Gap {
        until: u64,
        count: u64,
    },
}

impl What {
    /// Which kind of handler begins or ends on its CPU, as a bit: of the timer's interrupt, another one, a softirq; and
    /// whether it begins.
    pub fn handler(&self) -> Option<(u8, bool)> {
        match self {
            What::TimerIn => Some((1, true)),
            What::TimerOut => Some((1, false)),
            What::IrqIn { .. } => Some((2, true)),
            What::IrqOut => Some((2, false)),
            What::SoftIn { .. } => Some((4, true)),
            What::SoftOut => Some((4, false)),
            _ => None,
        }
    }
}

/// The handlers that run on a CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Handlers(u8);

impl Handlers {
    pub fn see(&mut self, what: &What) {
        match what.handler() {
            Some((bit, true)) => self.0 |= bit,
            Some((bit, false)) => self.0 &= !bit,
            // None of these happens within a handler: its end is missing, or wasn't recorded at all.
            None if matches!(what, What::Switch { .. } | What::Enter { .. } | What::Exit { .. }) => self.0 = 0,
            None => {}
        }
    }

    pub fn is_any(self) -> bool {
        self.0 != 0
    }
}

/// The fields of a tracepoint's record, by their places in its entry.
pub trait Fields {
    /// Whether the record has it.
    fn has(&self, field: usize) -> bool;
    fn number(&self, field: usize) -> u64;
    /// One of several numbers.
    fn element(&self, field: usize, index: usize) -> u64;
    /// A name, shortened to what a task's name can have. Of the path of a program ([`PATH`]), it is the file's.
    fn name(&self, field: usize) -> Name;
}

/// A tracepoint that is read.
#[derive(Debug)]
pub struct Entry {
    pub system: &'static str,
    pub name: &'static str,
    pub fields: &'static [&'static str],
    /// Its field in Perfetto's `FtraceEvent`, and the fields of its message; 0 if it has no message of its own.
    pub message: (u32, &'static [u32]),
    pub make: fn(&dyn Fields) -> What,
}

impl Entry {
    /// As recorders are told it: `sched:sched_switch`.
    pub fn full_name(&self) -> String {
        format!("{}:{}", self.system, self.name)
    }

    /// Whether the records of every kernel have a field. Some leave out which thread has another name.
    pub fn needs(&self, field: usize) -> bool {
        (self.name, self.fields[field]) != ("task_rename", "pid")
    }
}

/// A set of tracepoints, by their places in [`POINTS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set(u32);

/// How often each tracepoint occurred, by its place in [`POINTS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; 32]);

impl Counts {
    /// Counts one.
    pub fn add(&mut self, place: usize) {
        self.0[place] += 1;
    }

    /// Those that occurred.
    pub fn set(&self) -> Set {
        Set(self.iter().fold(0, |set, (entry, _)| set | bit(entry.name)))
    }

    /// Those that occurred, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Entry, u64)> + '_ {
        POINTS.iter().zip(self.0).filter(|(_, count)| *count != 0)
    }
}

impl Set {
    /// Whether it has the tracepoint of that name.
    pub fn has(self, name: &str) -> bool {
        self.0 & bit(name) != 0
    }

    /// Whether it has all of these.
    pub fn has_all(self, names: &[&str]) -> bool {
        names.iter().all(|name| self.has(name))
    }
}

fn bit(name: &str) -> u32 {
    place(name).map_or(0, |place| 1 << place)
}

/// The place of a tracepoint in [`POINTS`].
pub fn place(name: &str) -> Option<usize> {
    POINTS.iter().position(|entry| entry.name == name)
}

const fn entry(
    system: &'static str,
    name: &'static str,
    fields: &'static [&'static str],
    message: (u32, &'static [u32]),
    make: fn(&dyn Fields) -> What,
) -> Entry {
    Entry { system, name, fields, message, make }
}

fn task(raw: &dyn Fields, first: usize) -> Task {
    Task { name: raw.name(first), tid: raw.number(first + 1) as u32, prio: raw.number(first + 2) as i32 }
}

const WAKE: &[&str] = &["comm", "pid", "prio", "target_cpu"];

fn woken(raw: &dyn Fields) -> What {
    What::Wakeup { task: task(raw, 0), cpu: raw.number(3) as u16 }
}

/// The field that has a program's path.
pub const PATH: &str = "filename";

const NO_MESSAGE: (u32, &[u32]) = (0, &[]);

/// The bits of a task's state that say why it sleeps. Without any it is runnable; a further bit says that it was preempted.
pub const SLEEPS: u64 = 0xff;

/// What `clone` is told of a thread that doesn't begin a process.
const CLONE_THREAD: u64 = 0x1_0000;

/// Every tracepoint that is read.
pub const POINTS: &[Entry] = &[
    entry(
        "sched",
        "sched_switch",
        &["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"],
        (4, &[1, 2, 3, 4, 5, 6, 7]),
        |raw| What::Switch { from: task(raw, 0), is_runnable: raw.number(3) & SLEEPS == 0, to: task(raw, 4) },
    ),
    entry("sched", "sched_waking", WAKE, (20, &[1, 2, 3, 5]), |raw| What::Waking {
        task: task(raw, 0),
        cpu: raw.number(3) as u16,
    }),
    entry("sched", "sched_wakeup", WAKE, (17, &[1, 2, 3, 5]), woken),
    entry("sched", "sched_migrate_task", &["pid", "dest_cpu"], (491, &[2, 5]), |raw| What::Migrate {
        tid: raw.number(0) as u32,
        to: raw.number(1) as u16,
    }),
    entry("sched", "sched_process_fork", &["child_pid", "child_comm"], (239, &[4, 3]), |raw| What::Fork {
        child: raw.number(0) as u32,
        name: raw.name(1),
    }),
    entry("sched", "sched_process_exec", &["pid", PATH], (237, &[2, 1]), |raw| What::Renamed {
        tid: raw.number(0) as u32,
        name: raw.name(1),
        is_program: true,
    }),
    entry("sched", "sched_process_exit", &["pid"], (238, &[2]), |raw| What::Gone { tid: raw.number(0) as u32 }),
    entry("task", "task_newtask", &["pid", "comm", "clone_flags"], (235, &[1, 2, 3]), |raw| What::NewTask {
        child: raw.number(0) as u32,
        name: raw.name(1),
        is_thread: raw.number(2) & CLONE_THREAD != 0,
    }),
    entry("task", "task_rename", &["pid", "newcomm"], (236, &[1, 3]), |raw| What::Renamed {
        tid: raw.number(0) as u32,
        name: raw.name(1),
        is_program: false,
    }),
    entry("timer", "hrtimer_start", &["hrtimer", "function", "expires", "softexpires"], NO_MESSAGE, |raw| {
        What::Start { timer: raw.number(0), function: raw.number(1), hard: raw.number(2), soft: raw.number(3) }
    }),
    entry("timer", "hrtimer_expire_entry", &["hrtimer", "now"], NO_MESSAGE, |raw| What::Expire {
        timer: raw.number(0),
        now: raw.number(1),
    }),
    entry("timer", "hrtimer_expire_exit", &["hrtimer"], NO_MESSAGE, |_| What::Expired),
    entry("irq_vectors", "local_timer_entry", &[], NO_MESSAGE, |_| What::TimerIn),
    entry("irq_vectors", "local_timer_exit", &[], NO_MESSAGE, |_| What::TimerOut),
    entry("irq", "irq_handler_entry", &["irq", "name"], (36, &[1, 2]), |raw| What::IrqIn {
        number: raw.number(0) as u32,
        name: raw.name(1),
    }),
    entry("irq", "irq_handler_exit", &["irq"], (37, &[1]), |_| What::IrqOut),
    entry("irq", "softirq_entry", &["vec"], (24, &[1]), |raw| What::SoftIn { vector: raw.number(0) as u8 }),
    entry("irq", "softirq_exit", &["vec"], (25, &[1]), |_| What::SoftOut),
    entry("power", "cpu_idle", &["state"], (13, &[1]), |raw| What::Idle {
        state: Some(raw.number(0) as u32).filter(|&state| state != u32::MAX),
    }),
    entry("raw_syscalls", "sys_enter", &["id", "args"], (329, &[1, 2]), |raw| What::Enter {
        number: raw.number(0) as u32,
        registers: raw.has(1).then(|| std::array::from_fn(|index| raw.element(1, index))),
    }),
    entry("raw_syscalls", "sys_exit", &["ret"], (330, &[2]), |raw| What::Exit { result: raw.number(0) as i64 }),
];
