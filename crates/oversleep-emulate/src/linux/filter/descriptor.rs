//! The filter of one descriptor: it stops calls that receive from it, or those that send to it.

use super::{ALLOW, ARCH_X86_64, JUMP_EQUAL, RETURN, argument, instruction, load, stop};

/// The filter's program, for these calls on that descriptor. Call numbers come first, as in the filter of all waits.
pub fn filter(descriptor: i32, calls: &[libc::c_long]) -> Vec<libc::sock_filter> {
    let mut program =
        vec![load(4), instruction(JUMP_EQUAL, ARCH_X86_64, 1, 0), instruction(RETURN, ALLOW, 0, 0), load(0)];
    let count = calls.len();
    program.extend(calls.iter().enumerate().map(|(at, &call)| instruction(JUMP_EQUAL, call as u32, count - at, 0)));
    program.extend([
        instruction(RETURN, ALLOW, 0, 0),
        argument(0, 0),
        instruction(JUMP_EQUAL, descriptor as u32, 0, 6),
    ]);
    program.extend(stop());
    program
}
