//! The calls that send to a socket, and whether they wait.

use crate::linux::process::ptrace::Registers;

/// The calls that send. On a socket without room, each of them waits until the socket's timeout; so does a connection.
pub const CALLS: [libc::c_long; 6] =
    [libc::SYS_write, libc::SYS_sendto, libc::SYS_sendmsg, libc::SYS_writev, libc::SYS_sendmmsg, libc::SYS_connect];

/// Whether the call that these registers make may wait.
pub fn may_wait(registers: &Registers) -> bool {
    let flags = match registers.orig_rax as libc::c_long {
        libc::SYS_sendto | libc::SYS_sendmmsg => registers.r10,
        libc::SYS_sendmsg => registers.rdx,
        _ => 0,
    };
    flags as i32 & libc::MSG_DONTWAIT == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_wait_are_told_from_others() {
        // SAFETY: a struct of numbers.
        let none: Registers = unsafe { std::mem::zeroed() };
        const AT_ONCE: u64 = libc::MSG_DONTWAIT as u64;
        for (call, [rdx, r10], wanted) in [
            (libc::SYS_write, [AT_ONCE; 2], true),
            (libc::SYS_connect, [AT_ONCE; 2], true),
            (libc::SYS_sendto, [AT_ONCE, 0], true),
            (libc::SYS_sendto, [0, AT_ONCE], false),
            (libc::SYS_sendmsg, [AT_ONCE, 0], false),
            (libc::SYS_sendmmsg, [0, AT_ONCE], false),
        ] {
            assert_eq!(may_wait(&Registers { orig_rax: call as u64, rdx, r10, ..none }), wanted, "{call}");
        }
    }
}
