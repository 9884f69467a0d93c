//! The collector for Linux: an eBPF program on the kernel's tracepoints, and a ring buffer that it fills.

mod namespace;
mod refusal;
mod steal;

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use aya::maps::{Array, HashMap, Map, MapData, RingBuf};
use aya::programs::{BtfTracePoint, Program};
use aya::{Btf, Ebpf, EbpfLoader};
use oversleep_why::calls::{Arch, CALLS};
use oversleep_why::event::{Event, Kind};

use crate::{CollectError, Losses, Options};
use namespace::Ids;
use steal::StealMeter;

/// The kernel program, compiled from `bpf/why.bpf.c` by `cargo xtask bpf`.
static OBJECT: &[u8] = aya::include_bytes_aligned!("../../bpf/why.bpf.o");

/// The functions of the kernel program, the tracepoint of each, and what is missing without it; empty where nothing works.
const HOOKS: &[(&str, &str, &str)] = &[
    ("on_sys_exit", "sys_exit", ""),
    ("on_hrtimer_start", "hrtimer_start", ""),
    ("on_hrtimer_fire", "hrtimer_expire_entry", ""),
    ("on_hrtimer_fired", "hrtimer_expire_exit", ""),
    ("on_waking", "sched_waking", ""),
    ("on_queued", "sched_wakeup", ""),
    ("on_switch", "sched_switch", ""),
    ("on_exit", "sched_process_exit", ""),
    ("on_timer_start", "timer_start", "timeouts of sockets (no tracepoint timer_start)"),
    ("on_timer_fire", "timer_expire_entry", "timeouts of sockets (no tracepoint timer_expire_entry)"),
    (
        "on_migrate",
        "sched_migrate_task",
        "who ran on a CPU that a thread was moved to (no tracepoint sched_migrate_task)",
    ),
    ("on_local_timer", "local_timer_entry", ""),
    ("on_irq", "irq_handler_entry", "which interrupt came first (no tracepoint irq_handler_entry)"),
    ("on_irq_end", "irq_handler_exit", "which interrupt came first (no tracepoint irq_handler_exit)"),
    ("on_softirq", "softirq_entry", "which softirq came first (no tracepoint softirq_entry)"),
    ("on_softirq_end", "softirq_exit", "which softirq came first (no tracepoint softirq_exit)"),
    ("on_idle", "cpu_idle", "idle states of CPUs (no tracepoint cpu_idle)"),
    ("on_fork", "sched_process_fork", "children (no tracepoint sched_process_fork)"),
    ("on_exec", "sched_process_exec", "names of programs (no tracepoint sched_process_exec)"),
    // Last, so that no wait begins before its other steps can be seen.
    ("on_sys_enter", "sys_enter", ""),
];
/// Without these nothing can be said.
const NEEDED: usize = 8;

/// Bytes of a CPU's state in the kernel program, and where its counters are.
const CPU_BYTES: usize = 384;
const CPU_SENT_AT: usize = 120;
const CPU_LOST_AT: usize = 248;
const CPU_FULL_AT: usize = 376;
const KINDS: usize = 16;

/// Events that are younger than this when the buffer is read are kept for the next time: another CPU may be about to
/// deliver an older one.
const KEPT_BACK_NS: u64 = 2_000_000;

/// How often and how long the last look waits for events that are counted and not there yet.
const COMMIT_LOOKS: u32 = 5;
const COMMIT_WAIT: Duration = Duration::from_millis(1);

/// A kernel program that is attached, and what it delivers. Dropping it detaches and unloads; so does the end of this
/// process, however it comes about.
pub struct Collector {
    bpf: Ebpf,
    ring: RingBuf<MapData>,
    /// Processes to follow, by the ids that this process knows.
    targets: HashMap<MapData, u32, u32>,
    /// Set where these are not the kernel's own.
    ids: Option<Ids>,
    cpus: Array<MapData, [u8; CPU_BYTES]>,
    cpu_count: u32,
    options: Options,
    follows_own: bool,
    kept: Vec<Event>,
    /// Memory for the next look, so that not every look allocates.
    spare: Vec<Event>,
    received: u64,
    /// Events that were sent before the last look.
    sent: Option<u64>,
    lost_reported: u64,
    missing: Vec<&'static str>,
    steal: StealMeter,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Collector {
    /// Detaches and unloads the kernel program, as dropping it does.
    pub fn unload(self) {
        drop(self);
    }

    /// Loads and attaches the kernel program.
    ///
    /// # Errors
    /// Why it can't be, and what would help.
    pub fn open(options: Options) -> Result<Collector, CollectError> {
        let btf = Btf::from_sys_fs().map_err(|error| refusal::types(&error))?;
        let arch = Arch::named(std::env::consts::ARCH).ok_or(CollectError::System)?;
        let namespace = namespace::own();
        let globals = [
            ("everyone", u32::from(options.everyone)),
            ("follow", u32::from(options.children)),
            ("own_tgid", std::process::id()),
            ("namespace", namespace),
        ];
        let mut loader = EbpfLoader::new();
        loader.btf(Some(&btf)).override_global("tick_ns", &options.tick_ns, true);
        for (name, value) in &globals {
            loader.override_global(name, value, true);
        }
        let mut bpf = loader.load(OBJECT).map_err(|error| refusal::load(&error))?;
        let mut calls: Array<MapData, [u8; 4]> = taken(&mut bpf, "calls")?;
        for call in CALLS {
            if let Some(number) = call.number(arch) {
                let form = [call.form as u8, call.timeout, call.width, call.flags];
                calls.set(number, form, 0).map_err(|error| refusal::load(&error))?;
            }
        }
        let ring = RingBuf::try_from(map(&mut bpf, "ring")?).map_err(|error| refusal::load(&error))?;
        let targets = if namespace == 0 { "targets" } else { "followed" };
        let targets = HashMap::try_from(map(&mut bpf, targets)?).map_err(|error| refusal::load(&error))?;
        let cpus = taken(&mut bpf, "cpus")?;
        let missing = attach(&mut bpf, &btf)?;
        Ok(Collector {
            bpf,
            ring,
            targets,
            ids: (namespace != 0).then(Ids::default),
            cpus,
            cpu_count: cpu_count(),
            options,
            follows_own: false,
            kept: Vec::new(),
            spare: Vec::new(),
            received: 0,
            sent: None,
            lost_reported: 0,
            missing,
            steal: StealMeter::new(),
        })
    }

    /// What the program means to wait for. The kernel's events say what it requested, so they need no help.
    pub fn want(&mut self, _want_ns: Option<u64>) {}

    /// Follows a process that runs already.
    ///
    /// # Errors
    /// If there is none, or too many are followed.
    pub fn follow(&mut self, pid: u32) -> Result<(), CollectError> {
        if !Path::new(&format!("/proc/{pid}")).exists() {
            return Err(CollectError::NoProcess(pid));
        }
        // Its own waits are of interest only to who asks for them by name.
        self.follows_own |= pid == std::process::id();
        self.targets.insert(pid, 0, 0).map_err(|error| refusal::load(&error))
    }

    /// Starts a program and follows it from its first instruction.
    ///
    /// # Errors
    /// If the program can't be started.
    pub fn spawn(&mut self, command: &mut Command) -> io::Result<Child> {
        if self.options.everyone {
            return command.spawn();
        }
        if self.ids.is_some() {
            // The id of this process is known only where it runs: the child is met at its first wait.
            let child = command.spawn()?;
            self.targets.insert(child.id(), 0, 0).map_err(|error| io::Error::other(error.to_string()))?;
            return Ok(child);
        }
        // The kernel program adds the child of whoever is followed: for this moment that is this process.
        let own = std::process::id();
        let failed = |error: aya::maps::MapError| io::Error::other(error.to_string());
        self.targets.insert(own, 1, 0).map_err(failed)?;
        let child = command.spawn();
        self.targets.remove(&own).map_err(failed)?;
        child
    }

    /// Reads what arrived, in the order of time. What is too young to be in order is kept for the next time, unless this
    /// is the last.
    pub fn drain(&mut self, events: &mut Vec<Event>, is_last: bool) {
        let mut fresh = std::mem::take(&mut self.kept);
        let before = fresh.len();
        // What is sent from here on has no part in the account.
        self.sent = is_last.then(|| self.counted(CPU_SENT_AT));
        let wanting = |received: u64| self.sent.is_some_and(|sent| received < sent);
        for _ in 0..COMMIT_LOOKS {
            while let Some(item) = self.ring.next() {
                fresh.extend(Event::of_bytes(&item));
            }
            // Another CPU may be about to fill in an event that has its place already.
            if !wanting(self.received + (fresh.len() - before) as u64) {
                break;
            }
            std::thread::sleep(COMMIT_WAIT);
        }
        self.received += (fresh.len() - before) as u64;
        fresh.sort_by_key(|event| event.t);
        let newest = fresh.last().map_or(0, |event| event.t);
        let ready = if is_last { fresh.len() } else { fresh.partition_point(|e| e.t + KEPT_BACK_NS <= newest) };
        let mut kept = std::mem::take(&mut self.spare);
        kept.extend(fresh.drain(ready..));
        self.kept = kept;
        if let Some(ids) = &mut self.ids {
            fresh.iter_mut().for_each(|event| ids.translate(event));
        }
        let lost = self.counted(CPU_LOST_AT);
        if lost > self.lost_reported {
            let mut event = Event::new(Kind::Lost, fresh.first().map_or(newest, |event| event.t), 0);
            event.fields[0] = lost - self.lost_reported;
            events.push(event);
            self.lost_reported = lost;
        }
        self.steal.read(fresh.first().map_or(newest, |event| event.t), newest, events);
        let own = std::process::id();
        let is_followed = |event: &&Event| self.follows_own || event.tgid != own || event.kind == Kind::Run;
        events.extend(fresh.iter().filter(is_followed));
        fresh.clear();
        self.spare = fresh;
    }

    /// The kernel's counters.
    pub fn losses(&mut self) -> Losses {
        Losses {
            sent: self.sent.unwrap_or_else(|| self.counted(CPU_SENT_AT)),
            received: self.received,
            no_room: self.counted(CPU_LOST_AT),
            not_run: self.not_run(),
            threads_not_followed: self.states().map(|cpu| u64_at(&cpu, CPU_FULL_AT)).sum(),
            missing: self.missing.clone(),
        }
    }

    fn states(&self) -> impl Iterator<Item = [u8; CPU_BYTES]> + '_ {
        (0..self.cpu_count).filter_map(|cpu| self.cpus.get(&cpu, 0).ok())
    }

    fn counted(&self, at: usize) -> u64 {
        self.states().flat_map(|cpu| (0..KINDS).map(move |kind| u64_at(&cpu, at + 8 * kind))).sum()
    }

    /// How often the kernel left one of the programs out, because it ran on that CPU already.
    fn not_run(&self) -> u64 {
        let missed = |program: &Program| {
            let fd = program.fd().ok()?.as_fd().as_raw_fd();
            let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).ok()?;
            info.lines().find_map(|line| line.strip_prefix("recursion_misses:")?.trim().parse::<u64>().ok())
        };
        self.bpf.programs().filter_map(|(_, program)| missed(program)).sum()
    }
}

fn attach(bpf: &mut Ebpf, btf: &Btf) -> Result<Vec<&'static str>, CollectError> {
    let mut missing = HashSet::new();
    for (n, (function, tracepoint, without)) in HOOKS.iter().enumerate() {
        let program = bpf.program_mut(function).ok_or_else(|| CollectError::Load(format!("no function {function}")))?;
        let attached = <&mut BtfTracePoint>::try_from(program).and_then(|program| {
            program.load(tracepoint, btf)?;
            program.attach()
        });
        match attached {
            Ok(_) => {}
            Err(error) if n < NEEDED || *tracepoint == "sys_enter" || refusal::is_permission(&error) => {
                return Err(refusal::load(&error));
            }
            Err(_) if without.is_empty() => {}
            Err(_) => {
                missing.insert(*without);
            }
        }
    }
    let mut missing: Vec<_> = missing.into_iter().collect();
    missing.sort_unstable();
    Ok(missing)
}

fn map(bpf: &mut Ebpf, name: &str) -> Result<Map, CollectError> {
    bpf.take_map(name).ok_or_else(|| CollectError::Load(format!("no map {name}")))
}

fn taken<const N: usize>(bpf: &mut Ebpf, name: &str) -> Result<Array<MapData, [u8; N]>, CollectError> {
    Array::try_from(map(bpf, name)?).map_err(|error| refusal::load(&error))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// CPUs that this machine may have.
fn cpu_count() -> u32 {
    let possible = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    possible.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<u32>().ok()).map_or(1024, |last| last + 1)
}

/// The group whose quota a process has.
pub fn cgroup_of(pid: u32) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let of = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let has_quota = controllers.is_empty() || controllers.split(',').any(|name| name == "cpu");
        (has_quota && path != "/").then(|| path.to_owned())
    };
    text.lines().find_map(of)
}

/// The name of a process.
pub fn command_name(pid: u32) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim_end().to_owned())
}
