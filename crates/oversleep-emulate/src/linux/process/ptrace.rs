//! The ptrace calls of the supervisor. Each one operates on a thread that is stopped for the supervisor.
//! <https://man7.org/linux/man-pages/man2/ptrace.2.html>

use std::ffi::c_void;
use std::io;

use oversleep_record::Nanos;

pub use libc::siginfo_t as SignalInfo;
pub use libc::user_regs_struct as Registers;

/// A thread of an emulated program.
pub type Tid = libc::pid_t;

/// A thread and its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    pub process: Tid,
    pub tid: Tid,
}

/// What an interrupted call leaves in `rax`.
pub const INTERRUPTED: i64 = -(libc::EINTR as i64);
/// What it leaves until the kernel decides whether the call is repeated (`include/linux/errno.h`): of calls that a handler
/// with `SA_RESTART` doesn't interrupt.
pub const RESTARTS_ALWAYS: i64 = -512;

/// The signals of group-stops.
pub const STOPS: [i32; 4] = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// The type of requests: glibc and musl differ.
#[cfg(not(target_env = "musl"))]
pub type Request = libc::c_uint;
#[cfg(target_env = "musl")]
pub type Request = libc::c_int;

fn ask(request: Request, tid: Tid, address: usize, data: usize) -> io::Result<i64> {
    // SAFETY: the callers pass numbers, or pointers to memory that is valid during the call.
    match unsafe { libc::ptrace(request, tid, address as *mut c_void, data as *mut c_void) } {
        -1 => Err(io::Error::last_os_error()),
        answer => Ok(answer),
    }
}

/// What a traced thread stops for. Everything that it starts is traced, too, and is killed when the tracer ends.
pub const OPTIONS: i32 = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;

/// Starts to trace a running thread. While its process executes a program, this waits until all its other threads are
/// gone; a tracer of one of these takes [`crate::linux::trace::seizure`] instead.
pub fn seize(tid: Tid) -> io::Result<()> {
    ask(libc::PTRACE_SEIZE, tid, 0, OPTIONS as usize).map(drop)
}

/// Continues the thread, with a signal or 0.
pub fn go_on(tid: Tid, signal: i32) -> io::Result<()> {
    ask(libc::PTRACE_CONT, tid, 0, signal as usize).map(drop)
}

/// Continues the thread, with a signal or 0, until the next system call begins or ends.
pub fn until_call(tid: Tid, signal: i32) -> io::Result<()> {
    ask(libc::PTRACE_SYSCALL, tid, 0, signal as usize).map(drop)
}

/// Leaves the thread in its group-stop until something ends that.
pub fn listen(tid: Tid) -> io::Result<()> {
    ask(libc::PTRACE_LISTEN, tid, 0, 0).map(drop)
}

/// Stops tracing the thread, which continues.
pub fn let_go(tid: Tid) -> io::Result<()> {
    ask(libc::PTRACE_DETACH, tid, 0, 0).map(drop)
}

/// Stops the thread wherever it is.
pub fn interrupt(tid: Tid) -> io::Result<()> {
    ask(libc::PTRACE_INTERRUPT, tid, 0, 0).map(drop)
}

/// The thread's registers.
pub fn registers(tid: Tid) -> io::Result<Registers> {
    // SAFETY: a struct of numbers.
    let mut registers: Registers = unsafe { std::mem::zeroed() };
    ask(libc::PTRACE_GETREGS, tid, 0, &raw mut registers as usize)?;
    Ok(registers)
}

/// Sets the thread's registers.
pub fn set_registers(tid: Tid, registers: &Registers) -> io::Result<()> {
    ask(libc::PTRACE_SETREGS, tid, 0, registers as *const Registers as usize).map(drop)
}

/// Reads the word at an address of the thread's memory.
pub fn peek(tid: Tid, address: u64) -> io::Result<u64> {
    read::<1>(tid, address).map(|[word]| word as u64)
}

/// Reads words at an address of the thread's memory.
///
/// # Errors
/// `EFAULT` if there is nothing to read. Others, like `EIO`, may mean that the system protects the memory.
pub fn read<const N: usize>(tid: Tid, address: u64) -> io::Result<[i64; N]> {
    let mut words = [0_i64; N];
    let length = size_of_val(&words);
    let here = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: length };
    let there = libc::iovec { iov_base: address as *mut c_void, iov_len: length };
    // SAFETY: there is room for what is read; the kernel checks the other address.
    match unsafe { libc::process_vm_readv(tid, &raw const here, 1, &raw const there, 1, 0) } {
        -1 => match io::Error::last_os_error() {
            // Filters of containers allow `ptrace` where they forbid this call.
            error if matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => words_at(tid, address),
            error => Err(error),
        },
        read if read as usize == length => Ok(words),
        _ => Err(io::Error::from_raw_os_error(libc::EFAULT)),
    }
}

/// Reads words one by one, by `ptrace` alone.
fn words_at<const N: usize>(tid: Tid, address: u64) -> io::Result<[i64; N]> {
    let mut words = [0_i64; N];
    for (word, at) in words.iter_mut().zip((address..).step_by(8)) {
        // SAFETY: the kernel writes the word to where the last argument points, unlike the C library's function.
        if unsafe { libc::syscall(libc::SYS_ptrace, libc::PTRACE_PEEKDATA, tid, at, &raw mut *word) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(words)
}

/// Writes words to the thread's memory, where its program may write.
///
/// # Errors
/// `EFAULT` where it may not.
pub fn write<const N: usize>(tid: Tid, address: u64, mut words: [i64; N]) -> io::Result<()> {
    let length = size_of_val(&words);
    let here = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: length };
    let there = libc::iovec { iov_base: address as *mut c_void, iov_len: length };
    // SAFETY: what is written is there; the kernel checks the other address.
    match unsafe { libc::process_vm_writev(tid, &raw const here, 1, &raw const there, 1, 0) } {
        -1 => match io::Error::last_os_error() {
            // As for reading.
            error if matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => {
                let mut all = words.into_iter().zip((address..).step_by(8));
                all.try_for_each(|(word, at)| poke(tid, at, word as u64))
            }
            error => Err(error),
        },
        written if written as usize == length => Ok(()),
        _ => Err(io::Error::from_raw_os_error(libc::EFAULT)),
    }
}

/// Writes a word to the thread's memory, regardless of page protection.
pub fn poke(tid: Tid, address: u64, word: u64) -> io::Result<()> {
    ask(libc::PTRACE_POKEDATA, tid, address as usize, word as usize).map(drop)
}

/// Blocks these signals for the thread; returns the previous mask.
pub fn set_mask(tid: Tid, mask: u64) -> io::Result<u64> {
    const GET: Request = 0x420a;
    const SET: Request = 0x420b;
    let mut before = 0_u64;
    ask(GET, tid, 8, &raw mut before as usize)?;
    ask(SET, tid, 8, &raw const mask as usize)?;
    Ok(before)
}

/// What comes with the signal that is about to be delivered.
pub fn signal_info(tid: Tid) -> io::Result<SignalInfo> {
    // SAFETY: a struct of numbers.
    let mut info: SignalInfo = unsafe { std::mem::zeroed() };
    ask(libc::PTRACE_GETSIGINFO, tid, 0, &raw mut info as usize)?;
    Ok(info)
}

/// Replaces what comes with that signal.
pub fn set_signal_info(tid: Tid, info: &SignalInfo) -> io::Result<()> {
    ask(libc::PTRACE_SETSIGINFO, tid, 0, &raw const *info as usize).map(drop)
}

/// The message of an event: the new thread's id, or the former id of a thread that executes a program.
pub fn message(tid: Tid) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    ask(libc::PTRACE_GETEVENTMSG, tid, 0, &raw mut message as usize)?;
    Ok(message)
}

/// Why a thread stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It is gone.
    Gone,
    /// A timed wait begins.
    Wait,
    /// It started another thread or process.
    Started,
    /// Its process executed another program.
    Executes,
    /// Its group was stopped.
    WithGroup,
    /// It stopped for the tracer alone.
    Trap,
    /// It is new, and was held for another stop that doesn't come (a room above lets it go).
    Overdue,
    /// A system call begins or ends.
    Call,
    /// A signal is about to be delivered.
    Signal(i32),
}

impl Stop {
    /// Decodes a status of `wait4`.
    pub fn decode(status: i32) -> Stop {
        if !libc::WIFSTOPPED(status) {
            return Stop::Gone;
        }
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            libc::PTRACE_EVENT_SECCOMP => Stop::Wait,
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => Stop::Started,
            libc::PTRACE_EVENT_EXEC => Stop::Executes,
            libc::PTRACE_EVENT_STOP if STOPS.contains(&signal) => Stop::WithGroup,
            0 if signal == libc::SIGTRAP | 0x80 => Stop::Call,
            0 => Stop::Signal(signal),
            _ => Stop::Trap,
        }
    }
}

/// Waits for one thread of the calling tracer, or for any with −1; `None` if it traces none.
pub fn wait(tid: Tid, flags: i32) -> io::Result<Option<(Tid, Stop)>> {
    loop {
        let mut status = 0;
        // SAFETY: the status is writable.
        match unsafe {
            libc::wait4(tid, &raw mut status, libc::__WALL | libc::__WNOTHREAD | flags, std::ptr::null_mut())
        } {
            0 => return Ok(None),
            -1 => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
            stopped => return Ok(Some((stopped, Stop::decode(status)))),
        }
    }
}

/// Waits for any thread of the calling tracer, for that long at most; `None` if none stops meanwhile. Where several threads
/// wait so, one may take another's signal, whose wait then lasts to its end.
pub fn wait_briefly(most: Nanos) -> io::Result<Option<(Tid, Stop)>> {
    let stopped = wait(-1, libc::WNOHANG)?;
    if stopped.is_some() {
        return Ok(stopped);
    }
    let (signals, most) = (of_stops(), libc::timespec { tv_sec: 0, tv_nsec: most.0 });
    // SAFETY: records that outlive the call. https://man7.org/linux/man-pages/man2/sigtimedwait.2.html
    unsafe { libc::sigtimedwait(&raw const signals, std::ptr::null_mut(), &raw const most) };
    wait(-1, libc::WNOHANG)
}

/// Lets [`wait_briefly`] see stops that come before it waits: for the calling thread and those that it starts.
pub fn keep_stops() {
    let signals = of_stops();
    // SAFETY: a record that outlives the call. https://man7.org/linux/man-pages/man2/sigprocmask.2.html
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut()) };
}

/// The signal that comes with each stop.
fn of_stops() -> libc::sigset_t {
    // SAFETY: an empty set is all zero, and is writable.
    unsafe {
        let mut stops: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut stops, libc::SIGCHLD);
        stops
    }
}
