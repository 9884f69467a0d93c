//! Starts to trace a thread without waiting for long.
//!
//! While a process executes a program, the kernel holds a lock that `PTRACE_SEIZE` of its threads takes, until all its
//! other threads are gone. A thread that is traced is gone once its tracer has seen its end. So a tracer that waits for
//! the lock and has to see such an end waits forever. A signal doesn't end that wait either: the kernel repeats the call
//! ([ptrace_attach](https://elixir.bootlin.com/linux/v6.12/source/kernel/ptrace.c)). So the signal's handler takes the
//! thread past the call.

use std::arch::global_asm;
use std::ffi::c_void;
use std::io;
use std::sync::Once;

use crate::linux::process::ptrace::{OPTIONS, Tid};

global_asm!(
    ".pushsection .text.oversleep_seize, \"ax\", @progbits",
    "oversleep_seize:",
    "xor edx, edx",
    "mov r10, rcx",
    "mov eax, {ptrace}",
    "oversleep_seize_call:",
    "syscall",
    "oversleep_seize_end:",
    "ret",
    ".popsection",
    ptrace = const libc::SYS_ptrace,
);

// SAFETY: the code above defines them; it takes its arguments as C functions do, and keeps what they have to keep.
unsafe extern "C" {
    fn oversleep_seize(request: u64, tid: u64, zero: u64, options: u64) -> i64;
    static oversleep_seize_call: u8;
    static oversleep_seize_end: u8;
}

/// Ends a call that waits.
const GIVE_UP: i32 = libc::SIGALRM;
/// How long a call may wait, and then again for as long, in case the signal came before the call.
const PATIENCE_NS: i64 = 2_000_000;

/// The means of one tracing thread to end its calls.
pub struct Seizure {
    timer: libc::timer_t,
}

impl Seizure {
    /// For the calling thread.
    pub fn of_this_thread() -> io::Result<Seizure> {
        static HANDLED: Once = Once::new();
        HANDLED.call_once(|| {
            // SAFETY: all-zero is a valid sigaction, and the handler has the signature of its flags.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = gives_up as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                libc::sigaction(GIVE_UP, &raw const action, std::ptr::null_mut());
            }
        });
        // SAFETY: a struct of numbers and pointers that the kernel doesn't follow; the id is written to where it points.
        unsafe {
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = GIVE_UP;
            // As a system call: glibc has a function only since 2.30.
            event.sigev_notify_thread_id = libc::syscall(libc::SYS_gettid) as libc::pid_t;
            let mut timer = 0_i32;
            match libc::syscall(libc::SYS_timer_create, libc::CLOCK_MONOTONIC, &raw const event, &raw mut timer) {
                0 => Ok(Seizure { timer: timer as usize as libc::timer_t }),
                _ => Err(io::Error::last_os_error()),
            }
        }
    }

    /// Starts to trace a running thread.
    ///
    /// # Errors
    /// `Interrupted` if its process executes a program now; the thread is gone then, or can be traced later.
    pub fn seize(&self, tid: Tid) -> io::Result<()> {
        self.end_after(PATIENCE_NS);
        // SAFETY: takes numbers.
        let answer = unsafe { oversleep_seize(libc::PTRACE_SEIZE as u64, tid as u64, 0, OPTIONS as u64) };
        self.end_after(0);
        if answer == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(-answer as i32)) }
    }

    fn end_after(&self, ns: i64) {
        let time = libc::timespec { tv_sec: 0, tv_nsec: ns };
        let time = libc::itimerspec { it_interval: time, it_value: time };
        let nowhere = std::ptr::null_mut::<libc::itimerspec>();
        // SAFETY: a record that outlives the call.
        unsafe { libc::syscall(libc::SYS_timer_settime, self.timer, 0, &raw const time, nowhere) };
    }
}

impl Drop for Seizure {
    fn drop(&mut self) {
        // SAFETY: takes the id of a timer of this process.
        unsafe { libc::syscall(libc::SYS_timer_delete, self.timer) };
    }
}

/// Takes a thread that is about to make the call, or to repeat it, past it.
extern "C" fn gives_up(_: i32, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a context to handlers of this kind; the symbols are only compared.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        if registers[libc::REG_RIP as usize] == &raw const oversleep_seize_call as i64 {
            registers[libc::REG_RIP as usize] = &raw const oversleep_seize_end as i64;
            registers[libc::REG_RAX as usize] = -i64::from(libc::EINTR);
        }
    }
}
