//! The clocks of a program: its vDSO advances in the steps of the emulated machine's clocks.
//!
//! The kernel maps its vDSO into every program, and the C library or runtime looks up the clock functions in the vDSO's
//! symbol table at startup. The supervisor patches the values of those symbols in the program's own copy of the page so that
//! they lead to injected functions (`clocks.s`), which call the kernel's and round down. Code, unwind tables and versions
//! stay the kernel's.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

use oversleep_record::Nanos;
use oversleep_system::rules::Grid;

use super::apart;
use super::vdso::Vdso;
use crate::linux::code::trampoline::{DATA, Entry};
use crate::linux::process::clock::now_on;
use crate::linux::process::ptrace::{self, Tid};
use crate::plan::{LinuxClock, Stepped};

/// Offsets into the data; must match `clocks.s`.
const FUNCTIONS: u64 = 8;
/// A marker word that identifies oversleep's data.
const MARK_AT: u64 = 0x38;
const MARK: u64 = u64::from_le_bytes(*b"ovsClock");
const TABLES: u64 = 0x100;
const TABLE: usize = 0x300;
const ROW: usize = 64;
/// The row of a clock that some functions alone see.
const ROW_APART: usize = 10 * ROW;

/// Reasons why a program keeps reading this system's clocks.
pub const NO_VDSO: &str = "the program has no vDSO whose clocks could be replaced, so only clocks that it reads by system calls \
    are emulated";

const UNWRITABLE: &str = "the system doesn't let its memory be written, so the program reads this system's clocks";

/// The symbols that are replaced in a vDSO, and where the data keeps the kernel's own address of each.
const SYMBOLS: [(&[&str], Entry, u64); 4] = [
    (&["clock_gettime", "__vdso_clock_gettime"], Entry::ClockGettime, 0),
    (&["gettimeofday", "__vdso_gettimeofday"], Entry::Gettimeofday, 1),
    (&["clock_getres", "__vdso_clock_getres"], Entry::ClockGetres, 2),
    (&["time", "__vdso_time"], Entry::Time, 3),
];

/// The steps of a program's clocks at one time, in the layout of the injected data.
pub struct Table(Vec<u8>);

impl Table {
    /// The table for these clocks, with timer interrupts on that grid of the monotonic clock, where the program's clocks are
    /// ahead of ours by `ahead`.
    pub fn new(stepped: &[Stepped], grid: Option<Grid>, ahead: impl Fn(libc::clockid_t) -> Nanos) -> Table {
        let mut bytes = vec![0; TABLE];
        for clock in stepped {
            let read = clock.clock.reads().id();
            let own = now_on(read) - now_on(libc::CLOCK_MONOTONIC) + ahead(read);
            let (period, origin) = match grid.filter(|_| clock.follows_interrupts) {
                Some(grid) => (grid.period, grid.origin + own),
                None => (Nanos(1), Nanos::ZERO),
            };
            let reads = i64::from(clock.clock.reads().id()) + 1;
            let words = [period.0.max(1), origin.0, clock.step.0, clock.unit.0, reads];
            let row = if clock.is_apart { ROW_APART } else { clock.clock.id() as usize * ROW };
            for (word, room) in words.iter().zip(bytes[row..].chunks_mut(8)) {
                room.copy_from_slice(&word.to_le_bytes());
            }
        }
        Table(bytes)
    }
}

/// A changed grid as running programs get it: it begins at a tick that is still to come, and until then their clocks
/// show the time itself. So no clock goes back, whichever table a thread has read: what it showed before isn't later
/// than the time, and what it shows afterwards isn't earlier than that tick.
pub fn from_next_tick(grid: Option<Grid>, now: Nanos) -> Option<Grid> {
    /// By then, all programs have the table.
    const WRITTEN: Nanos = Nanos(5_000_000);
    grid.map(|grid| Grid { origin: grid.at_or_after(now + WRITTEN), ..grid })
}

/// Writes the table of a program that was just executed.
///
/// # Errors
/// The reason why it keeps reading this system's clocks.
pub fn write(tid: Tid, table: &Table) -> Result<(), &'static str> {
    let written = memory_of(tid).and_then(|memory| {
        memory.write_all_at(&[table.0.as_slice(), &table.0].concat(), DATA + TABLES)?;
        memory.write_all_at(&MARK.to_le_bytes(), DATA + MARK_AT)?;
        let is_apart = table.0[ROW_APART + 32] != 0;
        memory.write_all_at(&u64::from(is_apart).to_le_bytes(), DATA + apart::STATE)
    });
    written.map_err(|_| UNWRITABLE)
}

/// Replaces the functions by which the program reads its clocks.
///
/// # Errors
/// The reason why it keeps reading this system's clocks.
pub fn redirect(tid: Tid, stepped: &[Stepped]) -> Result<(), &'static str> {
    let memory = memory_of(tid).map_err(|_| UNWRITABLE)?;
    let vdso = Vdso::find(tid, &memory).ok_or(NO_VDSO)?;
    let steps_realtime = stepped.iter().any(|clock| clock.clock == LinuxClock::Realtime);
    // All or nothing: a program with some emulated clocks and some of the kernel's would see them disagree.
    let mut changes = Vec::new();
    for (names, entry, number) in SYMBOLS {
        if matches!(entry, Entry::Gettimeofday | Entry::Time) && !steps_realtime {
            continue;
        }
        for symbol in vdso.symbols(names) {
            memory
                .write_all_at(&symbol.address.to_le_bytes(), DATA + FUNCTIONS + 8 * number)
                .map_err(|_| UNWRITABLE)?;
            changes.push((symbol.value_at, entry.address().wrapping_sub(vdso.bias)));
        }
        if entry == Entry::ClockGettime && changes.is_empty() {
            return Err(NO_VDSO);
        }
    }
    for (at, value) in changes {
        let written = memory.write_all_at(&value.to_le_bytes(), at);
        written.or_else(|_| ptrace::poke(tid, at, value)).map_err(|_| UNWRITABLE)?;
    }
    Ok(())
}

/// Gives a running process another table. The active table stays valid while the other one is written.
///
/// # Errors
/// The process is gone, or none of its clocks are emulated.
pub fn change(process: Tid, table: &Table) -> io::Result<()> {
    let memory = memory_of(process)?;
    if word(&memory, DATA + MARK_AT)? != MARK {
        return Err(io::ErrorKind::NotFound.into());
    }
    let generation = word(&memory, DATA)?.wrapping_add(1);
    memory.write_all_at(&table.0, DATA + TABLES + (generation & 1) * TABLE as u64)?;
    memory.write_all_at(&generation.to_le_bytes(), DATA)
}

fn word(memory: &File, address: u64) -> io::Result<u64> {
    let mut bytes = [0; 8];
    memory.read_exact_at(&mut bytes, address)?;
    Ok(u64::from_le_bytes(bytes))
}

fn memory_of(process: Tid) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/mem"))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;
    use crate::plan::{ClockChoice, Plan};

    static TIME: AtomicI64 = AtomicI64::new(0);
    /// Tests use the same data.
    static TURN: Mutex<()> = Mutex::new(());

    extern "C" fn kernels_gettime(clock: i32, time: *mut libc::timespec) -> i32 {
        if clock == 3 {
            return -22;
        }
        let now = TIME.load(Ordering::SeqCst);
        // SAFETY: the callers below pass a valid place.
        unsafe { *time = libc::timespec { tv_sec: now / 1_000_000_000, tv_nsec: now % 1_000_000_000 } };
        0
    }

    extern "C" fn kernels_gettimeofday(time: *mut libc::timeval, _zone: *mut libc::c_void) -> i32 {
        let now = TIME.load(Ordering::SeqCst);
        // SAFETY: as above.
        unsafe { *time = libc::timeval { tv_sec: now / 1_000_000_000, tv_usec: now % 1_000_000_000 / 1_000 } };
        0
    }

    /// Maps the code and its data into this process at the address that programs use; `None` if the address is taken.
    fn placed() -> Option<File> {
        let memory = crate::linux::tests::placed()?;
        let kernels = [
            kernels_gettime as *const () as u64,
            kernels_gettimeofday as *const () as u64,
            kernels_gettime as *const () as u64,
        ];
        for (at, function) in kernels.into_iter().enumerate() {
            memory.write_all_at(&function.to_le_bytes(), DATA + FUNCTIONS + 8 * at as u64).ok()?;
        }
        Some(memory)
    }

    #[test]
    fn no_clock_goes_back_when_the_resolution_changes() {
        let _turn = TURN.lock();
        if placed().is_none() {
            return oversleep_testing::skip("the code's address is taken");
        }
        let own = std::process::id() as Tid;
        // SAFETY: the signature of that function.
        let gettime: extern "C" fn(i32, *mut libc::timespec) -> i32 =
            unsafe { std::mem::transmute(Entry::ClockGettime.address()) };
        let plan = Plan::named("windows-10-1909", &[], Some(1)).expect("a machine");
        let stepped = ClockChoice::These(vec![(LinuxClock::Monotonic, Some("interrupt-time".to_owned()))]);
        let stepped = plan.clocks(&stepped).expect("clocks");
        let is_stepped = |clock: &Stepped| clock.clock == LinuxClock::Monotonic;
        assert!(stepped.iter().any(is_stepped));
        let read = |now: i64| {
            TIME.store(now, Ordering::SeqCst);
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            assert_eq!(gettime(libc::CLOCK_MONOTONIC, &raw mut time), 0);
            time.tv_sec * 1_000_000_000 + time.tv_nsec
        };
        let grid = |origin, period| Some(Grid { origin: Nanos(origin), period: Nanos(period) });
        let mut now = 1_000_000_000_000;
        write(own, &Table::new(&stepped, grid(77_000_000, 15_625_000), |_| Nanos::ZERO)).expect("it is written");
        let mut shown = 0;
        for round in 0..200 {
            let period = [997_300, 15_625_000, 500_000][round % 3];
            // The table is in force only after that time, here by up to 4 ms.
            let changed = from_next_tick(grid(now - 1_234_567, period), Nanos(now));
            for step in 0..400 {
                if step == round * 2 {
                    change(own, &Table::new(&stepped, changed, |_| Nanos::ZERO)).expect("it is changed");
                }
                now += 10_000;
                let next = read(now);
                assert!((shown..=now).contains(&next), "{round}, {step}: {shown} and then {next} at {now}");
                shown = next;
            }
            now += 40_000_000;
        }
    }

    #[test]
    fn a_program_reads_what_the_machine_would_show() {
        let _turn = TURN.lock();
        if placed().is_none() {
            return oversleep_testing::skip("the code's address is taken");
        }
        let own = std::process::id() as Tid;
        // SAFETY: the signatures of those functions.
        let gettime: extern "C" fn(i32, *mut libc::timespec) -> i32 =
            unsafe { std::mem::transmute(Entry::ClockGettime.address()) };
        // SAFETY: as above.
        let getres: extern "C" fn(i32, *mut libc::timespec) -> i32 =
            unsafe { std::mem::transmute(Entry::ClockGetres.address()) };
        // SAFETY: as above.
        let of_day: extern "C" fn(*mut libc::timeval, *mut libc::c_void) -> i32 =
            unsafe { std::mem::transmute(Entry::Gettimeofday.address()) };
        // SAFETY: as above.
        let seconds: extern "C" fn(*mut i64) -> i64 = unsafe { std::mem::transmute(Entry::Time.address()) };
        let plan = Plan::named("windows-10-1909", &[], Some(1)).expect("a machine");
        let stepped = plan.clocks(&ClockChoice::All).expect("clocks");
        let read = |clock| {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            (gettime(clock, &raw mut time), time.tv_sec * 1_000_000_000 + time.tv_nsec)
        };
        for (round, period) in [15_625_000, 997_300, 500_000].into_iter().enumerate() {
            let grid = Grid { origin: Nanos(77_000_000), period: Nanos(period) };
            let table = Table::new(&stepped, Some(grid), |_| Nanos::ZERO);
            match round {
                0 => write(own, &table).expect("it is written"),
                _ => change(own, &table).expect("it is changed"),
            }
            for clock in &stepped {
                let row = clock.clock.id() as usize * ROW;
                let origin = i64::from_le_bytes(table.0[row + 8..row + 16].try_into().expect("8 bytes"));
                for at in [1, 76_999_999, 1_000_000_000_007, 1_795_437_689_123_456_789, i64::MAX / 4] {
                    TIME.store(at, Ordering::SeqCst);
                    let wanted = clock.reading(Nanos(at), Some(Grid { origin: Nanos(origin), period: Nanos(period) }));
                    assert_eq!(read(clock.clock.id()), (0, wanted.0), "{clock:?} {period} at {at}");
                    if clock.clock == LinuxClock::Realtime {
                        let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
                        assert_eq!(of_day(&raw mut time, std::ptr::null_mut()), 0);
                        let from_micros = clock.reading(
                            Nanos(at / 1_000 * 1_000),
                            Some(Grid { origin: Nanos(origin), period: Nanos(period) }),
                        );
                        assert_eq!(time.tv_sec * 1_000_000 + time.tv_usec, from_micros.0 / 1_000);
                        let mut stored = 0;
                        assert_eq!(
                            (seconds(&raw mut stored), stored),
                            (wanted.0 / 1_000_000_000, wanted.0 / 1_000_000_000)
                        );
                    }
                }
                let mut time = libc::timespec { tv_sec: 9, tv_nsec: 9 };
                assert_eq!(getres(clock.clock.id(), &raw mut time), 0);
                assert_eq!((time.tv_sec, time.tv_nsec), (0, clock.shows_multiples_of(Nanos(period)).0), "{clock:?}");
            }
        }
        TIME.store(1_234_567_891, Ordering::SeqCst);
        assert_eq!(read(libc::CLOCK_MONOTONIC), (0, 1_234_567_891), "an exact one is the kernel's");
        assert_eq!(read(libc::CLOCK_THREAD_CPUTIME_ID).0, -22, "errors are the kernel's, too");
        assert_eq!(read(-6), (0, 1_234_567_891), "a clock of another process");
    }
}
