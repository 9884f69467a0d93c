//! Runs a function in a child and stops it before each system call.

use std::io::Error;

use oversleep_record::Nanos;

/// A child that is about to make a system call.
pub struct Stopped {
    pub child: libc::pid_t,
    pub call: libc::c_long,
    pub arguments: [u64; 6],
}

impl Stopped {
    /// Two words of the child's memory; nothing for a null address.
    fn words(&self, address: u64) -> Option<[i64; 2]> {
        let mut words = [0_i64; 2];
        let here = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: size_of_val(&words) };
        let there = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: size_of_val(&words) };
        // SAFETY: there is room for what is read; the other address is the child's and checked by the kernel.
        // https://man7.org/linux/man-pages/man2/process_vm_readv.2.html
        let read = unsafe { libc::process_vm_readv(self.child, &raw const here, 1, &raw const there, 1, 0) };
        (address != 0 && usize::try_from(read) == Ok(size_of_val(&words))).then_some(words)
    }

    /// A `timespec` there.
    pub fn timespec(&self, address: u64) -> Option<Nanos> {
        self.words(address).map(|[secs, nanos]| Nanos(secs * 1_000_000_000 + nanos))
    }

    /// A `timeval` there.
    pub fn timeval(&self, address: u64) -> Option<Nanos> {
        self.words(address).map(|[secs, micros]| Nanos(secs * 1_000_000_000 + micros * 1_000))
    }
}

/// `struct ptrace_syscall_info`, as far as it tells a call that begins.
#[repr(C)]
#[derive(Default)]
struct CallInfo {
    op: u8,
    _pad: [u8; 3],
    _arch: u32,
    _instruction_pointer: u64,
    _stack_pointer: u64,
    call: u64,
    arguments: [u64; 6],
    _rest: [u64; 4],
}

const OP_ENTRY: u8 = 1;
/// What the child ends with where nobody may trace it.
const NOT_TRACED: i32 = 77;

/// Runs `body` in a child and shows each of its system calls, before it is made, to `seen`.
///
/// # Errors
/// Why processes can't be traced here.
pub fn trace(body: fn(), mut seen: impl FnMut(&Stopped)) -> Result<(), String> {
    // SAFETY: this process has one thread, so the child may do anything. https://man7.org/linux/man-pages/man2/fork.2.html
    let child = unsafe { libc::fork() };
    match child {
        -1 => return Err(format!("fork: {}", Error::last_os_error())),
        0 => run_traced(body),
        _ => {}
    }
    let none = std::ptr::null_mut::<libc::c_void>();
    let status = wait_for(child);
    if libc::WIFEXITED(status) {
        return Err("ptrace is forbidden".to_owned());
    }
    let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
    // SAFETY: the child is stopped and traced by this thread. https://man7.org/linux/man-pages/man2/ptrace.2.html
    let set = unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, child, none, options as usize) };
    assert_eq!(set, 0, "PTRACE_SETOPTIONS: {}", Error::last_os_error());
    let mut signal = 0;
    loop {
        // SAFETY: as above; a signal that stopped the child is passed on.
        let resumed = unsafe { libc::ptrace(libc::PTRACE_SYSCALL, child, none, signal as usize) };
        assert_eq!(resumed, 0, "PTRACE_SYSCALL: {}", Error::last_os_error());
        let status = wait_for(child);
        if libc::WIFEXITED(status) {
            assert_eq!(libc::WEXITSTATUS(status), 0, "the child failed");
            return Ok(());
        }
        assert!(libc::WIFSTOPPED(status), "the child was killed: status {status:#x}");
        signal = libc::WSTOPSIG(status);
        if signal == libc::SIGTRAP | 0x80 {
            signal = 0;
            if let Some(stopped) = about_to_call(child)? {
                seen(&stopped);
            }
        }
    }
}

fn run_traced(body: fn()) -> ! {
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: asks to be traced and stops until the tracer goes on. https://man7.org/linux/man-pages/man2/ptrace.2.html
    unsafe {
        if libc::ptrace(libc::PTRACE_TRACEME, 0, none, none) != 0 {
            libc::_exit(NOT_TRACED);
        }
        libc::raise(libc::SIGSTOP);
    }
    let outcome = std::panic::catch_unwind(body);
    // SAFETY: ends the child without running what its parent registered.
    unsafe { libc::_exit(i32::from(outcome.is_err())) }
}

fn wait_for(child: libc::pid_t) -> libc::c_int {
    let mut status = 0;
    // SAFETY: the status is writable. https://man7.org/linux/man-pages/man2/waitpid.2.html
    let waited = unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) };
    assert_eq!(waited, child, "waitpid: {}", Error::last_os_error());
    status
}

/// The call that the stopped child begins; nothing if it ends one.
fn about_to_call(child: libc::pid_t) -> Result<Option<Stopped>, String> {
    const GET_SYSCALL_INFO: libc::c_uint = 0x420e;
    let mut info = CallInfo::default();
    // SAFETY: the child is stopped and traced by this thread; there is room for what is told.
    // https://man7.org/linux/man-pages/man2/ptrace.2.html
    let told = unsafe { libc::ptrace(GET_SYSCALL_INFO, child, size_of::<CallInfo>(), &raw mut info) };
    if told < 0 {
        return Err(format!("PTRACE_GET_SYSCALL_INFO (Linux 5.3): {}", Error::last_os_error()));
    }
    let stopped = Stopped { child, call: info.call as libc::c_long, arguments: info.arguments };
    Ok((info.op == OP_ENTRY).then_some(stopped))
}
