//! The filter of one descriptor: it stops calls that receive from it, or those that send to it.

use super::{ALLOW, AND, ARCH_X86_64, JUMP_EQUAL, RETURN, TRACE, argument, instruction, load};
use crate::linux::trampoline;

/// The filter's program, for these calls on that descriptor. Call numbers come first, as in the filter of all waits.
pub fn of(descriptor: i32, calls: &[libc::c_long]) -> Vec<libc::sock_filter> {
    let mut program =
        vec![load(4), instruction(JUMP_EQUAL, ARCH_X86_64, 1, 0), instruction(RETURN, ALLOW, 0, 0), load(0)];
    let count = calls.len();
    program.extend(calls.iter().enumerate().map(|(at, &call)| instruction(JUMP_EQUAL, call as u32, count - at, 0)));
    program.extend([
        instruction(RETURN, ALLOW, 0, 0),
        argument(0, 0),
        instruction(JUMP_EQUAL, descriptor as u32, 0, 6),
        // Calls from the injected code pass.
        load(12),
        instruction(JUMP_EQUAL, (trampoline::BASE >> 32) as u32, 0, 3),
        load(8),
        instruction(AND, !(trampoline::SIZE as u32 - 1), 0, 0),
        instruction(JUMP_EQUAL, trampoline::BASE as u32, 1, 0),
        instruction(RETURN, TRACE, 0, 0),
        instruction(RETURN, ALLOW, 0, 0),
    ]);
    program
}
