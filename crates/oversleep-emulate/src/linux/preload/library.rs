//! Where nobody may trace: functions of the C library that wait as the machine does, in a library that the dynamic linker
//! loads before the program's others (LD_PRELOAD). It is made here, of the same code as the places that wait often, so no
//! compiler is needed. It reaches only what calls the C library, in programs that are linked dynamically.

use oversleep_system::rules::Grid;

use super::elf::Library;
use super::frames;
use crate::Request;
use crate::linux::code::rule::{self, NO_SAMPLE, SITE, Target};
use crate::linux::code::trampoline::{self, Entry};
use crate::linux::process::clock::now;
use crate::linux::sites::regions;
use crate::plan::{Class, Holder, Plan};

/// What isn't emulated that way, in words for whoever reads the reason.
pub const REACHES: &str = "so LD_PRELOAD is used instead: it reaches waits by the C library's functions, in programs that are linked \
    dynamically; those linked statically (as Go's are), those for 32 bits, timers, sockets' timeouts, clocks and adapters are \
    as on this system, and neither `emulate ctl` nor the report has anything";

/// Where the data are, counted from the code, and what is where in them, as `preload.s` has it.
const DATA: u64 = 0x3000;
const HEAD: u64 = 0;
const COUNTER: u64 = 0x40;
const FUNCTIONS: u64 = 0x80;
const SITES: u64 = 0x200;
/// The number of what is no call of the system.
const NO_CALL: i64 = -2;

/// What waits in a function's place: the kind of wait, the code, and the number that it takes.
type Rule = (Class, Entry, i64);

struct Function {
    name: &'static str,
    code: Entry,
    /// What waits natively.
    slow: Entry,
    span: Option<Rule>,
    deadline: Option<Rule>,
}

/// The functions, in the order of their sites.
fn functions() -> [Function; 14] {
    use Class as C;
    use Entry as E;
    let of = |name, code, slow, span, deadline| Function { name, code, slow, span, deadline };
    let until = |entry| Some((C::FutexUntil, entry, NO_CALL));
    let absolute = Some((C::SleepUntil, E::AbsRdx, libc::SYS_clock_nanosleep));
    let futex = Some((C::Futex, E::FutexSpan, libc::SYS_futex));
    let futex_until = Some((C::FutexUntil, E::AbsR10, libc::SYS_futex));
    let epoll = |entry| Some((C::Epoll, entry, libc::SYS_epoll_pwait2));
    [
        of("nanosleep", E::CNanosleep, E::CSlow, Some((C::Sleep, E::Nanosleep, -1)), None),
        of("clock_nanosleep", E::CClockNanosleep, E::CSlowError, Some((C::Sleep, E::ClockNanosleep, -1)), absolute),
        of("poll", E::CPoll, E::CSlow, Some((C::Poll, E::Poll, libc::SYS_ppoll)), None),
        // The C library's functions leave their timeout alone, which the kernel's calls don't.
        of("ppoll", E::CPpoll, E::CSlow, Some((C::Poll, E::RelRdx, libc::SYS_ppoll)), None),
        of("select", E::CSelect, E::CSlow, Some((C::Select, E::Select, -1)), None),
        of("pselect", E::CPselect, E::CSlowPselect, Some((C::Select, E::RelR8, libc::SYS_pselect6)), None),
        of("epoll_wait", E::CEpollWait, E::CSlow, epoll(E::EpollWait), None),
        of("epoll_pwait", E::CEpollPwait, E::CSlow, epoll(E::RelR10), None),
        of("epoll_pwait2", E::CEpollPwait2, E::CSlow, epoll(E::RelR10), None),
        of("syscall", E::CSyscall, E::CSlow, futex, futex_until),
        of("pthread_cond_timedwait", E::CCondTimedwait, E::CSlowCondTimedwait, None, until(E::CUntilCondTimedwait)),
        of("pthread_cond_clockwait", E::CCondClockwait, E::CSlowCondClockwait, None, until(E::CUntilCondClockwait)),
        of("sem_timedwait", E::CSemTimedwait, E::CSlowSemTimedwait, None, until(E::CUntilSemTimedwait)),
        of("sem_clockwait", E::CSemClockwait, E::CSlowSemClockwait, None, until(E::CUntilSemClockwait)),
    ]
}

/// The variable that names it.
pub const VARIABLE: &str = "LD_PRELOAD";

/// The library for what is to be emulated; nothing where that isn't possible.
pub fn library_of(request: &Request) -> Option<Vec<u8>> {
    let plan = request.plan.as_ref()?;
    let now = now();
    let mut held = plan.resolution(now);
    if request.resolution.is_some() {
        held.hold(Holder::All, request.resolution, now);
    }
    library(plan, held.grid(0)?)
}

/// The library for a plan, where that grid is in force; nothing where its waits are no matter of arithmetic.
fn library(plan: &Plan, grid: Grid) -> Option<Vec<u8>> {
    let functions = functions();
    let mut data = vec![0; (SITES + SITE * functions.len() as u64) as usize];
    let mut put = |at: u64, bytes: &[u8]| data[at as usize..][..bytes.len()].copy_from_slice(bytes);
    put(HEAD, &regions::head(grid));
    let (mut addresses, mut are_some) = (Vec::new(), false);
    for (function, site) in functions.iter().zip((SITES..).step_by(SITE as usize)) {
        addresses.push((site + rule::SLOW as u64, function.slow.offset()));
        addresses.push((site + rule::HEAD as u64, DATA + HEAD));
        for (rule, at) in [(function.span, rule::SPAN), (function.deadline, rule::DEADLINE)] {
            let (at, Some((class, entry, number))) = (site + at as u64, rule) else { continue };
            let Some(form) = plan.wait_of(class, None).and_then(|wait| plan.closed_form(wait)) else { continue };
            are_some = true;
            put(at, &rule::rule(&form, entry, Target { counter: 0, entry: 0, number, sample: NO_SAMPLE }));
            addresses.push((at + rule::COUNTER as u64, DATA + COUNTER));
            addresses.push((at + rule::ENTRY as u64, entry.offset()));
        }
    }
    let own = [("usleep", Entry::CUsleep)];
    let names: Vec<(&str, u64)> = functions
        .iter()
        .map(|function| (function.name, function.code))
        .chain(own)
        .map(|(name, code)| (name, code.offset()))
        .collect();
    let mut code = trampoline::code_with_functions().to_vec();
    code.resize(code.len().next_multiple_of(8), 0);
    let starts: Vec<u64> = names.iter().map(|&(_, start)| start).collect();
    let ends = [Entry::CFramedEnd, Entry::CCancellableEnd].map(Entry::offset);
    let frames = frames::frames(code.len() as u64, &starts, &ends);
    let frames_at = (code.len() as u64, frames.len() as u64);
    code.extend(frames);
    let library = Library {
        code: &code,
        frames: frames_at,
        functions: &names,
        data: (DATA, &data),
        addresses: &addresses,
        others: &[
            (FUNCTIONS, "__errno_location"),
            (FUNCTIONS + 8, "dlsym"),
            (FUNCTIONS + 16, "dlvsym"),
            (FUNCTIONS + 56, "pthread_setcanceltype"),
        ],
        needs: "libdl.so.2",
        init: Entry::CInit.offset(),
    };
    are_some.then(|| library.file())
}
