//! The calls that receive from a socket, and whether they wait.

use crate::linux::process::ptrace::Registers;

/// The calls that receive. On a socket without data, each of them waits until the socket's timeout.
pub const CALLS: [libc::c_long; 7] = [
    libc::SYS_read,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_readv,
    libc::SYS_recvmmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
];

/// How a call receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It doesn't wait.
    AtOnce,
    /// It waits until there is something.
    Something,
    /// It may wait for more.
    More,
}

/// How the call receives that these registers make.
pub fn how(registers: &Registers) -> How {
    const WAIT_FOR_ONE: i32 = 0x10000;
    let call = registers.orig_rax as libc::c_long;
    let flags = match call {
        libc::SYS_recvfrom | libc::SYS_recvmmsg => registers.r10,
        libc::SYS_recvmsg => registers.rdx,
        _ => 0,
    } as i32;
    let is_for_nothing = matches!(call, libc::SYS_read | libc::SYS_readv) && registers.rdx == 0;
    let is_refused =
        call == libc::SYS_accept4 && registers.r10 as i32 & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) != 0;
    let is_for_many = call == libc::SYS_recvmmsg && registers.rdx as u32 > 1;
    if is_for_nothing || is_refused || flags & (libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE | libc::MSG_OOB) != 0 {
        How::AtOnce
    } else if flags & libc::MSG_WAITALL != 0 || is_for_many && flags & WAIT_FOR_ONE == 0 {
        How::More
    } else {
        How::Something
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_wait_are_told_from_others() {
        // SAFETY: a struct of numbers.
        let none: Registers = unsafe { std::mem::zeroed() };
        let of = |call: libc::c_long, [rdx, r10]: [u64; 2]| how(&Registers { orig_rax: call as u64, rdx, r10, ..none });
        for (call, arguments, wanted) in [
            (libc::SYS_read, [64, 64], How::Something),
            (libc::SYS_read, [0, 0], How::AtOnce),
            (libc::SYS_readv, [0, 0], How::AtOnce),
            (libc::SYS_accept4, [0, libc::SOCK_NONBLOCK as u64], How::Something),
            (libc::SYS_accept4, [0, 1 << 24], How::AtOnce),
            (libc::SYS_recvfrom, [64, 0], How::Something),
            (libc::SYS_recvfrom, [0, libc::MSG_DONTWAIT as u64], How::AtOnce),
            (libc::SYS_recvfrom, [0, (libc::MSG_WAITALL | libc::MSG_DONTWAIT) as u64], How::AtOnce),
            (libc::SYS_recvfrom, [0, libc::MSG_WAITALL as u64], How::More),
            (libc::SYS_recvmsg, [libc::MSG_DONTWAIT as u64, 0], How::AtOnce),
            (libc::SYS_recvmsg, [0, libc::MSG_DONTWAIT as u64], How::Something),
            (libc::SYS_recvmmsg, [2, 0], How::More),
            (libc::SYS_recvmmsg, [2, 0x10000], How::Something),
            (libc::SYS_recvmmsg, [1, 0], How::Something),
        ] {
            assert_eq!(of(call, arguments), wanted, "{call} {arguments:?}");
        }
    }
}
