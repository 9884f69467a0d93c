//! Prepares a newly executed program: injects the code that makes its waits, or locks its memory.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;

use super::trampoline;
use crate::linux::process::ptrace::{self, Registers, Stop, Tid};

/// Why a program runs with native timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// The process is gone.
    Gone,
    /// It is a 32-bit program.
    Of32Bits,
    /// The system refused the mapping.
    Refused,
    /// The system protects its memory.
    Protected,
}

/// The value of `cs` in 64-bit code.
const CODE_64: u64 = 0x33;
/// Programs of 32 bits have their stacks below.
const END_OF_32_BITS: u64 = 1 << 32;
/// The exit code of what a shell can't execute.
const CANNOT_EXECUTE: u64 = 126;
/// The instruction `syscall`, and its length.
const SYSCALL: u64 = 0x050f;
pub const SYSCALL_LENGTH: u64 = 2;

/// What a program is to get before its first instruction.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The code that makes its waits.
    pub code: bool,
    /// All its memory locked, current and future.
    pub locked_memory: bool,
}

/// What it got.
pub struct Got {
    /// The code, or why it wasn't injected.
    pub code: Result<(), Native>,
    /// The error of locking its memory; 0 on success.
    pub locked_memory: Option<i32>,
}

/// Makes a newly executed program make system calls for the supervisor. Its thread is stopped at that event, and is
/// left at the end of its `execve`, about to run its first instruction.
pub fn prepare_at_exec(tid: Tid, wanted: Wanted) -> Got {
    let fails = |native| Got { code: Err(native), locked_memory: None };
    match ptrace::registers(tid) {
        Err(_) => return fails(Native::Gone),
        Ok(registers) if is_of_32_bits(&registers) => return fails(Native::Of32Bits),
        Ok(_) => {}
    }
    // A signal would run instead of the call or get lost, so signals wait. SIGKILL ends the process, and SIGSTOP stops it
    // once this is done.
    let Ok(mask) = ptrace::set_mask(tid, u64::MAX) else { return fails(Native::Gone) };
    let mut is_stopped = false;
    let got = calls(tid, wanted, &mut is_stopped).unwrap_or_else(|_| fails(Native::Gone));
    if ptrace::set_mask(tid, mask).is_err() {
        return fails(Native::Gone);
    }
    // Its next stop tells whether its group is stopped still.
    if is_stopped && ptrace::interrupt(tid).is_err() {
        return fails(Native::Gone);
    }
    got
}

/// Lifts the limit on the memory that a process may lock, unless there is none. Under a limit, later allocations of a
/// program whose memory is locked would fail, at the latest once it gives up its privileges. Whether there is no limit.
pub fn may_lock_all(process: Tid) -> bool {
    let none = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    let mut limit = none;
    // SAFETY: records that outlive the calls. https://man7.org/linux/man-pages/man2/prlimit.2.html
    unsafe {
        libc::prlimit(process, libc::RLIMIT_MEMLOCK, std::ptr::null(), &raw mut limit) == 0
            && (limit.rlim_cur == libc::RLIM_INFINITY
                || libc::prlimit(process, libc::RLIMIT_MEMLOCK, &raw const none, std::ptr::null_mut()) == 0)
    }
}

/// Whether a newly executed program is for 32 bits. One of the x32 ABI runs 64-bit code.
fn is_of_32_bits(registers: &Registers) -> bool {
    registers.cs != CODE_64 || registers.rsp < END_OF_32_BITS
}

/// Makes a newly executed program end as one that can't be executed: the call of `exit_group` takes the place of its first
/// instruction. Its thread is stopped at that event, where `execve` still sets the register of the result.
///
/// # Errors
/// The process is gone.
pub fn end_at_once(tid: Tid) -> io::Result<()> {
    // mov eax, 252; int 0x80
    const FOR_I386: u64 = u64::from_le_bytes([0xb8, 252, 0, 0, 0, 0xcd, 0x80, 0x90]);
    // mov eax, 231; syscall
    const FOR_X32: u64 = u64::from_le_bytes([0xb8, 231, 0, 0, 0, 0x0f, 0x05, 0x90]);
    let registers = ptrace::registers(tid)?;
    let code = if registers.cs == CODE_64 { FOR_X32 } else { FOR_I386 };
    ptrace::set_registers(tid, &Registers { rbx: CANNOT_EXECUTE, rdi: CANNOT_EXECUTE, ..registers })?;
    match ptrace::poke(tid, registers.rip, code) {
        // Where nothing is mapped, the kernel ends it.
        Err(error) if error.raw_os_error() != Some(libc::ESRCH) => Ok(()),
        written => written,
    }
}

fn calls(tid: Tid, wanted: Wanted, is_stopped: &mut bool) -> io::Result<Got> {
    next_call(tid, is_stopped)?;
    let before = ptrace::registers(tid)?;
    let word = match ptrace::peek(tid, before.rip) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EIO | libc::EPERM)) => {
            let locked_memory = wanted.locked_memory.then_some(libc::EPERM);
            return Ok(Got { code: Err(Native::Protected), locked_memory });
        }
        word => word?,
    };
    ptrace::poke(tid, before.rip, word & !0xffff | SYSCALL)?;
    let mut got = Got { code: Ok(()), locked_memory: None };
    if wanted.code {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let may = libc::PROT_READ | libc::PROT_EXEC;
        let arguments = [trampoline::BASE, trampoline::SIZE_WITH_DATA, may as u64, flags as u64, u64::MAX, 0];
        let address = call(tid, &before, libc::SYS_mmap, arguments, is_stopped)?;
        let is_there = address == trampoline::BASE as i64;
        got.code = if is_there { write(tid).map_err(|_| Native::Refused) } else { Err(Native::Refused) };
    }
    if wanted.locked_memory {
        let flags = libc::MCL_CURRENT | libc::MCL_FUTURE;
        let answer = call(tid, &before, libc::SYS_mlockall, [flags as u64, 0, 0, 0, 0, 0], is_stopped)?;
        got.locked_memory = Some(-answer as i32);
    }
    ptrace::poke(tid, before.rip, word)?;
    ptrace::set_registers(tid, &Registers { orig_rax: u64::MAX, ..before })?;
    Ok(got)
}

/// Makes one system call in the thread, whose next instruction must be one; returns the call's result.
fn call(
    tid: Tid,
    before: &Registers,
    number: libc::c_long,
    [rdi, rsi, rdx, r10, r8, r9]: [u64; 6],
    is_stopped: &mut bool,
) -> io::Result<i64> {
    let rax = number as u64;
    ptrace::set_registers(tid, &Registers { orig_rax: u64::MAX, rax, rdi, rsi, rdx, r10, r8, r9, ..*before })?;
    next_call(tid, is_stopped)?;
    next_call(tid, is_stopped)?;
    Ok(ptrace::registers(tid)?.rax as i64)
}

/// The registers of a thread that makes its call again.
pub fn again(registers: &Registers) -> Registers {
    Registers { rip: registers.rip - SYSCALL_LENGTH, rax: registers.orig_rax, orig_rax: u64::MAX, ..*registers }
}

/// A system call that a thread makes for its tracer.
pub struct Call {
    pub number: libc::c_long,
    pub arguments: [u64; 6],
}

/// Makes a thread that stopped at its call make another one first, which may read these bytes at
/// [`trampoline::SCRATCH`]. Returns the result of that call; the thread then repeats its own.
///
/// # Errors
/// The thread is gone.
pub fn make_instead(tid: Tid, registers: &Registers, bytes: &[u8], made: Call) -> io::Result<i64> {
    if write_at(tid, bytes, trampoline::SCRATCH).is_err() {
        return Ok(-i64::from(libc::EFAULT));
    }
    let mask = ptrace::set_mask(tid, u64::MAX)?;
    let at = Registers { rip: trampoline::Entry::AnyCall.address(), orig_rax: u64::MAX, ..*registers };
    ptrace::set_registers(tid, &at)?;
    let mut is_stopped = false;
    // The call that it stopped at ends, unmade.
    next_call(tid, &mut is_stopped)?;
    let result = call(tid, &at, made.number, made.arguments, &mut is_stopped)?;
    ptrace::set_registers(tid, &again(registers))?;
    ptrace::set_mask(tid, mask)?;
    // Its next stop tells whether its group is stopped still.
    if is_stopped {
        ptrace::interrupt(tid)?;
    }
    Ok(result)
}

/// Lets the thread run until a system call begins or ends, even if its group is stopped meanwhile.
fn next_call(tid: Tid, is_stopped: &mut bool) -> io::Result<()> {
    let mut signal = 0;
    loop {
        ptrace::until_call(tid, std::mem::take(&mut signal))?;
        match ptrace::wait(tid, 0)? {
            Some((_, Stop::Call)) => return Ok(()),
            Some((_, Stop::Signal(libc::SIGSTOP))) => signal = libc::SIGSTOP,
            Some((_, Stop::WithGroup)) => *is_stopped = true,
            Some((_, Stop::Gone)) | None => return Err(io::ErrorKind::NotFound.into()),
            Some(_) => {}
        }
    }
}

fn write(tid: Tid) -> io::Result<()> {
    write_at(tid, trampoline::code(), trampoline::BASE)
}

fn write_at(tid: Tid, code: &[u8], address: u64) -> io::Result<()> {
    let memory = OpenOptions::new().write(true).open(format!("/proc/{tid}/mem"));
    if memory.and_then(|memory| memory.write_all_at(code, address)).is_ok() {
        return Ok(());
    }
    // Some kernels don't allow writes to protected memory through that file.
    for (at, bytes) in code.chunks(8).enumerate() {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        ptrace::poke(tid, address + 8 * at as u64, u64::from_le_bytes(word))?;
    }
    Ok(())
}
