//! One thread of an observed program: what can be read about it, and the call that it is in.

use std::fs::File;
use std::os::unix::fs::FileExt;

use oversleep_model::sim::Machine;
use oversleep_native::switches::{Switch, SwitchKind, SwitchRing, ThreadStat, ThreadStatFile};
use oversleep_record::Nanos;
use oversleep_system::rules::{PollShare, SleepingThread};
use oversleep_why::event::Name;

use super::call::{Entry, Scheduling};
use crate::linux::process::ptrace::Tid;
use crate::plan::Class;

/// Linux's share of long timeouts of poll and similar calls.
pub fn poll_share() -> Option<PollShare> {
    let machine: Machine = oversleep_model::machine("linux-hz250", &[], oversleep_model::SEED).ok()?;
    Some(machine.timing.poll_share)
}

/// One thread.
pub struct Thread {
    pub process: Tid,
    /// Its timer slack, as far as the supervisor saw it change.
    pub slack: Nanos,
    /// What a slack of 0 stands for: the one it was started with.
    pub default_slack: Nanos,
    /// The call that it is in.
    pub call: Option<Entry>,
    /// The deadline of the call that a signal interrupted, and how late its timer may expire.
    pub interrupted: Option<(Nanos, Nanos)>,
    sources: Option<Sources>,
}

/// What the system shows of the thread.
struct Sources {
    name: Option<File>,
    stat: Option<ThreadStatFile>,
    ring: Option<SwitchRing>,
}

impl Thread {
    pub fn new(process: Tid, slack: Nanos) -> Thread {
        Thread { process, slack, default_slack: slack, call: None, interrupted: None, sources: None }
    }

    /// The thread's sources. Most threads of a program never wait, so they are opened at the first wait.
    fn sources(&mut self, tid: Tid, has_switches: bool) -> &mut Sources {
        let process = self.process;
        self.sources.get_or_insert_with(|| Sources {
            name: File::open(format!("/proc/{process}/task/{tid}/comm")).ok(),
            stat: ThreadStatFile::of_thread(process, tid).ok(),
            ring: has_switches.then(|| SwitchRing::of_thread(tid).ok()).flatten(),
        })
    }

    /// Begins to watch a call: what was recorded before doesn't count. Returns when the thread stopped, if that was
    /// recorded, and its counts.
    pub fn begin(&mut self, tid: Tid, has_switches: bool) -> (Option<Nanos>, Option<ThreadStat>) {
        let sources = self.sources(tid, has_switches);
        let mut last = None;
        if let Some(ring) = &mut sources.ring {
            ring.each(|switch| last = Some(switch));
        }
        let stopped = last.filter(|switch| switch.kind != SwitchKind::In).map(|switch| switch.at);
        (stopped, sources.stat.as_ref().and_then(|stat| stat.read().ok()))
    }

    /// The thread's counts now.
    pub fn stat(&self) -> Option<ThreadStat> {
        self.sources.as_ref()?.stat.as_ref()?.read().ok()
    }

    /// Its switches since the call began; `None` if some are missing.
    pub fn switches(&mut self) -> Option<Vec<Switch>> {
        let ring = self.sources.as_mut()?.ring.as_mut()?;
        let mut switches = Vec::with_capacity(8);
        ring.each(|switch| switches.push(switch)).then_some(switches)
    }

    /// Its name.
    pub fn name(&self) -> Name {
        let mut bytes = [0; 17];
        let file = self.sources.as_ref().and_then(|sources| sources.name.as_ref());
        let length = file.and_then(|file| file.read_at(&mut bytes, 0).ok()).unwrap_or(0);
        trimmed(&bytes[..length])
    }

    /// How late its timer may expire in a wait of that class.
    pub fn slack_of(&self, tid: Tid, class: Class, span: Nanos, poll_share: Option<&PollShare>) -> Nanos {
        let Scheduling { policy, priority, .. } = scheduling(tid);
        let thread = SleepingThread {
            slack: self.slack,
            is_real_time: is_real_time(policy),
            is_nice: priority > NICE_0,
            tier: 0,
        };
        match (class, poll_share) {
            (Class::Poll | Class::Select | Class::Epoll, Some(share)) => share.slack(&thread, span),
            _ => thread.slack_in_force(),
        }
    }
}

/// The kernel's priority of a thread of nice value 0.
const NICE_0: i32 = 120;

fn is_real_time(policy: u32) -> bool {
    [libc::SCHED_FIFO, libc::SCHED_RR, 6].map(|policy: i32| policy as u32).contains(&policy)
}

/// How a thread is scheduled.
pub fn scheduling(tid: Tid) -> Scheduling {
    // SAFETY: calls that take numbers, or writable memory of the right type. These two as system calls: musl's functions
    // refuse, and its struct has more fields. https://man7.org/linux/man-pages/man2/sched_setparam.2.html
    unsafe {
        let mut parameter: libc::sched_param = std::mem::zeroed();
        let policy = libc::syscall(libc::SYS_sched_getscheduler, tid).max(0);
        libc::syscall(libc::SYS_sched_getparam, tid, &raw mut parameter);
        let mut cpus: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(tid, size_of_val(&cpus), &raw mut cpus);
        let priority = match policy as u32 {
            6 => -1,
            policy if is_real_time(policy) => 99 - parameter.sched_priority,
            _ => NICE_0 + libc::getpriority(libc::PRIO_PROCESS, tid as libc::id_t),
        };
        Scheduling { policy: policy as u32, priority, cpus_allowed: libc::CPU_COUNT(&cpus) as u32 }
    }
}

/// The name of a process.
pub fn name_of(process: Tid) -> Name {
    trimmed(&std::fs::read(format!("/proc/{process}/comm")).unwrap_or_default())
}

/// A name as the kernel has it: without the end of the line.
fn trimmed(line: &[u8]) -> Name {
    let mut name = [0; 16];
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let length = text.len().min(15);
    name[..length].copy_from_slice(&text[..length]);
    name
}
