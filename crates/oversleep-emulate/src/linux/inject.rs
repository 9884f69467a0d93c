//! A program that begins to run gets the code that makes its waits.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;

use super::ptrace::{self, Stop, Tid};
use super::trampoline;

/// Why a program runs with native timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// It is gone.
    Gone,
    /// It is for 32 bits.
    Of32Bits,
    /// The system refused the mapping.
    Refused,
}

/// `cs` of code for 64 bits.
const CODE_64: u64 = 0x33;
/// `syscall`.
const SYSCALL: u64 = 0x050f;

/// Maps and writes the code into a program that has just been executed; its thread is stopped at that event, and is left
/// at the end of its `execve`, about to run its first instruction.
///
/// # Errors
/// Why it runs natively, if it does.
pub fn at_exec(tid: Tid) -> Result<(), Native> {
    let gone = |_: io::Error| Native::Gone;
    if ptrace::registers(tid).map_err(gone)?.cs != CODE_64 {
        return Err(Native::Of32Bits);
    }
    // A signal would run instead of the call, or be lost: it waits. SIGKILL ends the process, and SIGSTOP is put off.
    let mask = ptrace::set_mask(tid, u64::MAX).map_err(gone)?;
    let mut is_stopped = false;
    let mapped = map(tid, &mut is_stopped);
    let result = match mapped {
        Ok(address) if address == trampoline::BASE as i64 => write(tid).map_err(|_| Native::Refused),
        Ok(_) => Err(Native::Refused),
        Err(_) => Err(Native::Gone),
    };
    ptrace::set_mask(tid, mask).map_err(gone)?;
    if is_stopped {
        // SAFETY: takes numbers; the thread is the only one of its process after an execve.
        unsafe { libc::syscall(libc::SYS_tgkill, tid, tid, libc::SIGSTOP) };
    }
    result
}

/// Makes the program map room for the code; returns what its `mmap` did.
fn map(tid: Tid, is_stopped: &mut bool) -> io::Result<i64> {
    next_call(tid, is_stopped)?;
    let before = ptrace::registers(tid)?;
    let word = ptrace::peek(tid, before.rip)?;
    ptrace::poke(tid, before.rip, word & !0xffff | SYSCALL)?;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let mut call = before;
    call.orig_rax = u64::MAX;
    call.rax = libc::SYS_mmap as u64;
    call.rdi = trampoline::BASE;
    call.rsi = trampoline::SIZE;
    call.rdx = (libc::PROT_READ | libc::PROT_EXEC) as u64;
    call.r10 = flags as u64;
    call.r8 = u64::MAX;
    call.r9 = 0;
    ptrace::set_registers(tid, &call)?;
    next_call(tid, is_stopped)?;
    next_call(tid, is_stopped)?;
    let result = ptrace::registers(tid)?.rax as i64;
    ptrace::poke(tid, before.rip, word)?;
    let mut after = before;
    after.orig_rax = u64::MAX;
    ptrace::set_registers(tid, &after)?;
    Ok(result)
}

/// Lets it run until a system call begins or ends.
fn next_call(tid: Tid, is_stopped: &mut bool) -> io::Result<()> {
    loop {
        ptrace::until_call(tid)?;
        match ptrace::wait(tid, 0)? {
            Some((_, Stop::Call)) => return Ok(()),
            Some((_, Stop::Signal(libc::SIGSTOP))) => *is_stopped = true,
            Some((_, Stop::Gone)) | None => return Err(io::ErrorKind::NotFound.into()),
            Some(_) => {}
        }
    }
}

fn write(tid: Tid) -> io::Result<()> {
    let code = trampoline::code();
    let memory = OpenOptions::new().write(true).open(format!("/proc/{tid}/mem"));
    if memory.and_then(|memory| memory.write_all_at(code, trampoline::BASE)).is_ok() {
        return Ok(());
    }
    // Some kernels let nobody write protected memory through that file.
    for (at, bytes) in code.chunks(8).enumerate() {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        ptrace::poke(tid, trampoline::BASE + 8 * at as u64, u64::from_le_bytes(word))?;
    }
    Ok(())
}
