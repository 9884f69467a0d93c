//! The collector for Linux: an eBPF program on the kernel's tracepoints, and a ring buffer that it fills.

mod counters;
mod drain;
mod hooks;
mod namespace;
mod process;
mod refusal;
mod steal;
mod symbols;
mod whole;

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, Command};

use aya::maps::{Array, HashMap, Map, MapData, RingBuf};
use aya::programs::Program;
use aya::{Btf, Ebpf, EbpfLoader};
use oversleep_native::memory;
use oversleep_why::calls::{Arch, CALLS};

use crate::{CollectError, Losses, Options};
use counters::{Counter, Counters};
use drain::Arrived;
use namespace::Ids;
use steal::StealMeter;
use symbols::Symbols;
use whole::THREAD_BYTES;

pub use process::{command_name, named};

/// The kernel program, compiled from `bpf/why.bpf.c` by `cargo xtask bpf`.
static OBJECT: &[u8] = aya::include_bytes_aligned!("../../bpf/why.bpf.o");

/// Marks this process while it starts the one to follow.
const STARTS: u32 = 2;

/// What becomes one of the worst waits ends a little after its stack is taken.
const STACK_MARGIN: i64 = 8;

/// A kernel program that is attached, and what it delivers. Dropping it detaches and unloads; so does the end of this
/// process, however it comes about.
pub struct Collector {
    bpf: Ebpf,
    ring: RingBuf<MapData>,
    /// Processes to follow, by the ids that this process knows.
    targets: HashMap<MapData, u32, u32>,
    /// Set where these are not the kernel's own.
    ids: Option<Ids>,
    counters: Counters,
    options: Options,
    own: u32,
    follows_own: bool,
    /// The kernel program's threads, with the steps of the waits that they are in.
    threads: HashMap<MapData, u32, [u8; THREAD_BYTES]>,
    arrived: Arrived,
    /// Records that were sent before the last look.
    sent: Option<u64>,
    lost_reported: u64,
    not_run_at_stop: Option<u64>,
    missing: Vec<&'static str>,
    steal: StealMeter,
    stacks_from: Array<MapData, i64>,
    symbols: Symbols,
    /// Processes whose names were asked.
    named: HashSet<u32>,
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

    /// Detaches the kernel program. What it sent before is still there to be read, and its counters are final.
    pub fn stop(&mut self) {
        if self.not_run_at_stop.is_some() {
            return;
        }
        self.not_run_at_stop = Some(self.not_run());
        for (_, program) in self.bpf.programs_mut() {
            // One that was not attached, because the kernel lacks what it follows, can't be detached.
            let _ = match program {
                Program::BtfTracePoint(program) => program.unload(),
                Program::FEntry(program) => program.unload(),
                Program::FExit(program) => program.unload(),
                _ => Ok(()),
            };
        }
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
            ("stacks", u32::from(options.stacks)),
            ("periods", u32::from(options.periods)),
        ];
        let mut loader = EbpfLoader::new();
        loader.btf(Some(&btf)).override_global("tick_ns", &options.tick_ns, true);
        for (name, value) in &globals {
            loader.override_global(name, value, true);
        }
        if !options.stacks {
            loader.map_max_entries("places", 1);
        }
        let mut bpf = loader.load(OBJECT).map_err(|error| refusal::load(&error))?;
        let mut calls: Array<MapData, [u8; 4]> = taken(&mut bpf, "calls")?;
        for call in CALLS {
            if let Some(number) = call.number(arch) {
                let form = [call.form as u8, call.timeout, call.width, call.flags];
                calls.set(number, form, 0).map_err(|error| refusal::load(&error))?;
            }
        }
        let targets = if namespace == 0 { "targets" } else { "followed" };
        let targets = HashMap::try_from(map(&mut bpf, targets)?).map_err(|error| refusal::load(&error))?;
        let threads = HashMap::try_from(map(&mut bpf, "threads")?).map_err(|error| refusal::load(&error))?;
        let counters = Counters::of(taken(&mut bpf, "cpus")?);
        let stacks_from = Array::try_from(map(&mut bpf, "stacks_from")?).map_err(|error| refusal::load(&error))?;
        // The ring is mapped when the kernel's types, which take 20 MB, have been freed. What is delivered before stays in
        // it.
        let ring = map(&mut bpf, "ring")?;
        let missing = hooks::attach(&mut bpf, &btf, options.periods)?;
        drop(btf);
        memory::give_back_freed();
        let ring = RingBuf::try_from(ring).map_err(|error| refusal::load(&error))?;
        Ok(Collector {
            bpf,
            ring,
            targets,
            ids: (namespace != 0).then(Ids::default),
            counters,
            options,
            own: std::process::id(),
            follows_own: false,
            threads,
            arrived: Arrived::default(),
            sent: None,
            lost_reported: 0,
            not_run_at_stop: None,
            missing,
            steal: StealMeter::new(),
            stacks_from,
            symbols: Symbols::default(),
            named: HashSet::new(),
        })
    }

    /// How late a wait has to be for its stacks, where they are asked for: the lateness of the worst waits so far.
    pub fn stacks_from(&mut self, lateness_ns: i64) {
        if self.options.stacks {
            // At worst, more stacks are taken than are shown.
            let _ = self.stacks_from.set(0, lateness_ns - lateness_ns / STACK_MARGIN, 0);
        }
    }

    /// What the program means to wait for. The kernel's events say what it requested, so they need no help.
    pub fn want(&mut self, _want_ns: Option<u64>) {}

    /// Follows a process that runs already.
    ///
    /// # Errors
    /// If there is none, if it is a thread, or if too many are followed.
    pub fn follow(&mut self, pid: u32) -> Result<(), CollectError> {
        let process = process::process_of(pid).ok_or(CollectError::NoProcess(pid))?;
        if process != pid {
            return Err(CollectError::Thread { thread: pid, process });
        }
        // Its own waits are of interest only to who asks for them by name.
        self.follows_own |= pid == self.own;
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
        // The kernel program adds the child of this process, whatever becomes of other children.
        let own = std::process::id();
        let failed = |error: aya::maps::MapError| io::Error::other(error.to_string());
        self.targets.insert(own, STARTS, 0).map_err(failed)?;
        let child = command.spawn();
        self.targets.remove(&own).map_err(failed)?;
        child
    }

    /// The kernel's counters.
    pub fn losses(&mut self) -> Losses {
        Losses {
            sent: self.sent.unwrap_or_else(|| self.counters.sum(Counter::Sent)),
            received: self.arrived.received,
            no_room: self.counters.sum(Counter::Lost),
            not_run: self.not_run_at_stop.unwrap_or_else(|| self.not_run()),
            threads_not_followed: self.counters.sum(Counter::Full),
            missing: self.missing.clone(),
        }
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

fn map(bpf: &mut Ebpf, name: &str) -> Result<Map, CollectError> {
    bpf.take_map(name).ok_or_else(|| CollectError::Load(format!("no map {name}")))
}

fn taken<const N: usize>(bpf: &mut Ebpf, name: &str) -> Result<Array<MapData, [u8; N]>, CollectError> {
    Array::try_from(map(bpf, name)?).map_err(|error| refusal::load(&error))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).map_or(0, u16::from_le_bytes)
}
