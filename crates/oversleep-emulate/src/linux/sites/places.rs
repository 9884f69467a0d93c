//! Sites: replacements for the places in programs whose timed waits need no stop.
//!
//! A stop takes microseconds of two threads, so thousands of threads on one tick would queue for it. But a program waits
//! at few places. Once waits have stopped at a place often enough, the two bytes of its system call are replaced by a jump
//! into padding (`padding.rs`). From there a second jump leads to a stub, where injected code (`sites.s`) does the
//! supervisor's work. The two bytes are written atomically: a thread that is about to make the call executes either the
//! call or the jump, and a thread inside the call returns to the instruction after both. Waits at a place go on stopping
//! if it can't be replaced, or if arithmetic can't tell their end (`ClosedForm`).

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex};

use oversleep_system::rules::Grid;

use super::counters::Counters;
use super::regions::{self, Memory, PAGE_AT, Region};
use super::stub::{self, AFTER_SLOW, Room};
use crate::linux::calls::entry::{LeadsTo, Waiting};
use crate::linux::code::rule::{self, DEADLINE, HEAD, SAMPLED, SITE, SLOW, SPAN, Target};
use crate::linux::code::trampoline::{DATA, Entry};
use crate::linux::process::lock::lock;
use crate::linux::process::ptrace::{self, Registers, Thread, Tid};
use crate::plan::{ClosedForm, Requested};

/// A place is replaced after this many stops.
pub const WORTHWHILE: u32 = 16;

/// How often threads look for a region that another one was to map when it started.
const LOOKS: u32 = 100;

/// Where the code that maps a region finds its arguments.
const INSTALL: u64 = DATA + 0x800;

/// What was done about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Nothing: the stopped thread waits as usual.
    Nothing,
    /// The thread is to map a region first, and then to repeat its call.
    Installs,
}

/// A wait that stops too often.
pub struct Frequent<'a> {
    pub tid: Tid,
    pub process: Tid,
    /// The number of its call, and the call's return address.
    pub call: libc::c_long,
    pub returns_to: u64,
    pub waiting: &'a Waiting,
    pub form: ClosedForm,
    /// The names of its call and of the machine's wait.
    pub counted: (&'static str, &'static str),
    pub grid: Grid,
}

/// A region that a thread is mapping.
#[derive(Clone, Copy)]
struct Pending {
    by: Tid,
    at: u64,
    /// How often other threads may still look whether it is there; 0 if its thread comes back itself.
    looks: u32,
}

/// The replaced places of one process.
#[derive(Clone, Default)]
struct Process {
    regions: Vec<Region>,
    /// The region that one of its threads is mapping.
    pending: Option<Pending>,
    has_failed: bool,
    /// Whether it has so many threads that their first waits would queue for the supervisor.
    is_crowded: bool,
    /// Places that can't be replaced.
    refused: HashSet<u64>,
    /// Places by the return address of their stub's call.
    stubs: HashMap<u64, u64>,
}

/// The replaced places of all processes.
pub struct Sites {
    processes: Mutex<HashMap<Tid, Arc<Mutex<Process>>>>,
    pub counters: Option<Counters>,
}

impl Sites {
    pub fn new() -> Sites {
        Sites { processes: Mutex::default(), counters: Counters::new() }
    }

    /// Whether anything was replaced anywhere.
    pub fn are_some(&self) -> bool {
        !lock(&self.processes).is_empty()
    }

    fn of(&self, process: Tid) -> Option<Arc<Mutex<Process>>> {
        lock(&self.processes).get(&process).map(Arc::clone)
    }

    /// The place that a return address belongs to: a stub's stands for the replaced place, any other for itself.
    pub fn origin(&self, process: Tid, returns_to: u64) -> u64 {
        let Some(of) = self.of(process) else { return returns_to };
        let of = lock(&of);
        of.stubs.get(&returns_to).copied().unwrap_or(returns_to)
    }

    /// A process is crowded. Whether this thread, which has just started there, is to map a region near to the call that
    /// started it.
    pub fn prepare(&self, Thread { process, tid }: Thread, place: u64, grid: Grid) -> bool {
        let Some(counters) = &self.counters else { return false };
        let of = Arc::clone(lock(&self.processes).entry(process).or_default());
        let mut of = lock(&of);
        of.is_crowded = true;
        if of.has_failed || !of.regions.is_empty() {
            return false;
        }
        let Ok(memory) = Memory::open(process) else { return false };
        match of.pending {
            Some(_) => {
                let _ = of.look(Thread { process, tid }, &memory, grid);
                false
            }
            None => of.map(Thread { process, tid }, &memory, counters.path(process).as_bytes(), place, LOOKS).is_ok(),
        }
    }

    /// Whether `replace` is wanted at any stop there: in a crowded process, and where a site's stub stops.
    pub fn wants(&self, process: Tid, returns_to: u64) -> bool {
        self.of(process).is_some_and(|of| {
            let of = lock(&of);
            of.is_crowded || of.stubs.contains_key(&returns_to)
        })
    }

    /// Replaces the place of such a wait, if possible.
    pub fn replace(&self, wait: &Frequent) -> Done {
        let Some(counters) = &self.counters else { return Done::Nothing };
        let of = Arc::clone(lock(&self.processes).entry(wait.process).or_default());
        let mut of = lock(&of);
        if of.refused.contains(&wait.returns_to) || of.has_failed {
            return Done::Nothing;
        }
        match of.replace(wait, counters) {
            Ok(done) => done,
            Err(_) => {
                of.refused.insert(wait.returns_to);
                Done::Nothing
            }
        }
    }

    /// Activates another grid for a process.
    pub fn change(&self, grid_of: impl Fn(Tid) -> Option<Grid>) {
        for (process, of) in lock(&self.processes).iter() {
            let Some(grid) = grid_of(*process) else { continue };
            for region in &lock(of).regions {
                let _ = Memory::open(*process).and_then(|memory| region.set_grid(&memory, grid));
            }
        }
    }

    /// Makes all waits of a process stop again.
    pub fn turn_off(&self, process: Tid) {
        let Some(of) = self.of(process) else { return };
        for region in &lock(&of).regions {
            let _ = Memory::open(process).and_then(|memory| region.turn_off(&memory));
        }
    }

    /// A process started another, which has a copy of its code.
    pub fn note_start(&self, process: Tid, started: Tid, grid: Option<Grid>) {
        let Some(of) = self.of(process) else { return };
        let mut copy = Process { pending: None, is_crowded: false, ..lock(&of).clone() };
        if let (Some(grid), Ok(memory)) = (grid, Memory::open(started)) {
            copy.regions.iter_mut().for_each(|region| region.count_anew(&memory));
            copy.regions.iter().for_each(|region| _ = region.set_grid(&memory, grid));
        }
        lock(&self.processes).insert(started, Arc::new(Mutex::new(copy)));
    }

    /// A process ended, or executes another program.
    pub fn forget(&self, process: Tid) {
        lock(&self.processes).remove(&process);
    }
}

fn refused() -> io::Error {
    io::ErrorKind::Unsupported.into()
}

impl Process {
    fn replace(&mut self, wait: &Frequent, counters: &Counters) -> io::Result<Done> {
        if self.pending.is_some_and(|pending| pending.by != wait.tid && pending.looks == 0) {
            return Ok(Done::Nothing);
        }
        let memory = Memory::open(wait.process)?;
        if self.stubs.contains_key(&wait.returns_to) {
            // The site's stub left this wait to the supervisor: as a sample, or because it had no rule for it until now.
            let site = wait.returns_to - AFTER_SLOW;
            if let Some(offset) = counters.offset(wait.counted)
                && let Some(region) = self.regions.iter_mut().find(|region| region.has(site))
                && let Some(counted) = region.count(&memory, offset)
            {
                counters.add(offset, counted);
            }
            let (at, rule) = self
                .rule(wait, counters, regions::page_of(&self.regions, site).ok_or_else(refused)?)
                .ok_or_else(refused)?;
            if memory.word(site + at as u64 + rule.len() as u64 - 8)? == 0 {
                memory.write(site + at as u64, &rule)?;
            }
            return Ok(Done::Nothing);
        }
        if !self.look(Thread { process: wait.process, tid: wait.tid }, &memory, wait.grid)? {
            return Ok(Done::Nothing);
        }
        let place = wait.returns_to;
        let room = Room::at(&memory, wait.process, place).ok_or_else(refused)?;
        let Some(region) = self.regions.iter_mut().find(|region| region.is_near(place) && region.has_room()) else {
            self.map(
                Thread { process: wait.process, tid: wait.tid },
                &memory,
                counters.path(wait.process).as_bytes(),
                place,
                0,
            )?;
            return Ok(Done::Installs);
        };
        let site = region.next();
        let page = region.at + PAGE_AT;
        let head = region.at;
        let mut bytes = stub::stub(wait.call, wait.returns_to, site).ok_or_else(refused)?;
        bytes.resize(SITE as usize, 0);
        bytes[SLOW..SLOW + 8].copy_from_slice(&(site + AFTER_SLOW - 2).to_le_bytes());
        bytes[HEAD..HEAD + 8].copy_from_slice(&head.to_le_bytes());
        let (at, rule) = self.rule(wait, counters, page).ok_or_else(refused)?;
        bytes[at..at + rule.len()].copy_from_slice(&rule);
        memory.write(site, &bytes)?;
        self.stubs.insert(site + AFTER_SLOW, place);
        room.jump(wait.tid, &memory, site)?;
        Ok(Done::Nothing)
    }

    /// Leaves word where a thread is to map a region near to that place; `counters` is the path of their page.
    fn map(
        &mut self,
        Thread { process, tid }: Thread,
        memory: &Memory,
        counters: &[u8],
        place: u64,
        looks: u32,
    ) -> io::Result<()> {
        let is_its_own = !regions::shares_memory_with_parent(process);
        let at = regions::free_near(process, place).filter(|_| is_its_own).ok_or_else(refused)?;
        memory.write(INSTALL, &[&at.to_le_bytes()[..], counters, &[0]].concat())?;
        self.pending = Some(Pending { by: tid, at, looks });
        Ok(())
    }

    /// Looks whether a pending region is there. Whether none is pending any more.
    fn look(&mut self, Thread { process, tid }: Thread, memory: &Memory, grid: Grid) -> io::Result<bool> {
        let Some(pending) = self.pending else { return Ok(true) };
        if let Some(region) = Region::found(process, pending.at) {
            region.begin(memory, grid)?;
            self.regions.push(region);
        } else if pending.by == tid || pending.looks == 1 {
            self.has_failed = true;
        } else {
            self.pending = Some(Pending { looks: pending.looks - 1, ..pending });
            return Ok(false);
        }
        self.pending = None;
        Ok(!self.has_failed)
    }

    /// A site's rule for such waits, and the rule's offset in the site.
    fn rule(&self, wait: &Frequent, counters: &Counters, page: u64) -> Option<(usize, Vec<u8>)> {
        let (entry, number) = match wait.waiting.leads_to {
            LeadsTo::Number(entry, number) | LeadsTo::OnClock(entry, number, _) => (entry, number),
            LeadsTo::NativeEnd(entry) => (entry, -1),
            LeadsTo::Timer(..) | LeadsTo::Socket | LeadsTo::Receive(_) | LeadsTo::Send(_) => return None,
        };
        let at = if let Requested::Span(_) = wait.waiting.requested { SPAN } else { DEADLINE };
        let counter = page + counters.offset(wait.counted)?;
        Some((at, rule::rule(&wait.form, entry, Target { counter, entry: entry.address(), number, sample: SAMPLED })))
    }
}

/// Whether a signal stopped a thread because our code read a time from an address that the program may not read. If so, the
/// thread continues at the call that stops, which fails with the kernel's own error.
pub fn recover(tid: Tid) -> bool {
    const WORD: u64 = 8;
    let Ok(registers) = ptrace::registers(tid) else { return false };
    let reads = Entry::Load.address()..Entry::Loaded.address();
    // The code that reads was called, so its return address is on the stack.
    let (rip, rsp) = (Entry::Slow.address(), registers.rsp.wrapping_add(WORD));
    reads.contains(&registers.rip)
        && ptrace::set_registers(tid, &Registers { rip, rsp, orig_rax: u64::MAX, ..registers }).is_ok()
}
