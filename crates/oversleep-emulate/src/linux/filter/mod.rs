//! The seccomp filter: it stops a program at its timed waits and at the few other calls that must be changed, and nowhere
//! else.
//!
//! Call numbers are compared first, so that the kernel can tell without running the filter that every other call is
//! allowed (its cache of constant answers, Linux 5.11). Calls from within [`crate::linux::code::trampoline`] are allowed.

mod calls;
pub mod descriptor;
pub mod other_abis;
pub mod receiving;
pub mod sending;

use std::io;

use crate::linux::code::trampoline;
use crate::linux::process::ptrace::{self, Registers, Tid};
use calls::{EMULATED, FUTEX_WAITS, OBSERVED, UNREPEATED, WAITS, When};
use other_abis::{I386, MARK, OF_X32, X32};

pub use calls::{FUTEX_WAIT2, IO_PGETEVENTS, PRCTL_DISPATCH, PRCTL_RESOLUTION};

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_ABOVE_OR_EQUAL: u16 = 0x35;
const JUMP_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const TRACE: u32 = 0x7ff0_0000 | OWN;
/// What our filters tell the tracer, a bit aside: a filter of the program's own may stop its calls, too. "ov".
const OWN: u32 = 0x6f76;
const ARCH_X86_64: u32 = 0xc000_003e;
const ARCH_I386: u32 = 0x4000_0003;

fn instruction(code: u16, k: u32, yes: usize, no: usize) -> libc::sock_filter {
    let near = |distance: usize| u8::try_from(distance).expect("the filter's jumps are short");
    libc::sock_filter { code, jt: near(yes), jf: near(no), k }
}

fn load(offset: u32) -> libc::sock_filter {
    instruction(LOAD, offset, 0, 0)
}

fn argument(number: u8, half: u32) -> libc::sock_filter {
    load(16 + 8 * u32::from(number) + 4 * half)
}

fn given(number: u8) -> Vec<libc::sock_filter> {
    // The upper half decides if the lower is zero; jumping over the answer "no" means yes.
    vec![
        argument(number, 0),
        instruction(JUMP_EQUAL, 0, 0, 3),
        argument(number, 1),
        instruction(JUMP_EQUAL, 0, 0, 1),
        instruction(RETURN, ALLOW, 0, 0),
    ]
}

fn one_of(values: &[u32]) -> Vec<libc::sock_filter> {
    let count = values.len();
    let mut tests: Vec<_> =
        values.iter().enumerate().map(|(at, &value)| instruction(JUMP_EQUAL, value, count - at, 0)).collect();
    tests.push(instruction(RETURN, ALLOW, 0, 0));
    tests
}

/// The call stops, unless the injected code makes it: its region's size is a power of two, and it is aligned to its size.
fn stop() -> [libc::sock_filter; 7] {
    [
        load(12),
        instruction(JUMP_EQUAL, (trampoline::BASE >> 32) as u32, 0, 3),
        load(8),
        instruction(AND, !(trampoline::SIZE as u32 - 1), 0, 0),
        instruction(JUMP_EQUAL, trampoline::BASE as u32, 1, 0),
        instruction(RETURN, TRACE, 0, 0),
        instruction(RETURN, ALLOW, 0, 0),
    ]
}

fn tests(when: When, stepped: &[u32]) -> Vec<libc::sock_filter> {
    let of = |first: libc::sock_filter, rest: Vec<libc::sock_filter>| std::iter::once(first).chain(rest).collect();
    match when {
        When::Always | When::SteppedRealtime => Vec::new(),
        When::Stepped => of(argument(0, 0), one_of(stepped)),
        When::Given(number) => given(number),
        When::Positive(number) => vec![
            argument(number, 0),
            instruction(JUMP_ANY_BIT, 0x8000_0000, 1, 0),
            instruction(JUMP_EQUAL, 0, 0, 1),
            instruction(RETURN, ALLOW, 0, 0),
        ],
        When::Futex => {
            let mut tests = vec![argument(1, 0), instruction(AND, 0x7f, 0, 0)];
            tests.extend(one_of(&FUTEX_WAITS));
            tests.extend(given(3));
            tests
        }
        When::AnyBit(number, bits) => {
            vec![argument(number, 0), instruction(JUMP_ANY_BIT, bits, 1, 0), instruction(RETURN, ALLOW, 0, 0)]
        }
        When::Passing(number) => of(argument(number, 0), one_of(&[0, 1, 7, 11])),
        When::Is(number, value) => of(argument(number, 0), one_of(&[value])),
        When::Either(number, values) => of(argument(number, 0), one_of(&values)),
        When::SocketTimeout => {
            let mut tests = vec![argument(1, 0)];
            tests.extend(one_of(&[1]));
            tests.push(argument(2, 0));
            tests.extend(one_of(&[20, 21, 66, 67]));
            tests
        }
    }
}

/// Whether such calls are inspected where these clocks are stepped.
fn is_inspected(when: When, stepped: &[u32]) -> bool {
    match when {
        When::Stepped => !stepped.is_empty(),
        When::SteppedRealtime => stepped.contains(&(libc::CLOCK_REALTIME as u32)),
        _ => true,
    }
}

/// The filter's program for an emulated program with these stepped clocks. A system call that reads one of them is stopped,
/// too.
pub fn of_emulated(stepped: &[u32]) -> Vec<libc::sock_filter> {
    program(&[WAITS, UNREPEATED, EMULATED], stepped, [OF_X32, I386])
}

/// The filter's program for an observed program.
pub fn of_observed() -> Vec<libc::sock_filter> {
    program(&[WAITS, UNREPEATED, OBSERVED], &[], [&[]; 2])
}

/// The filter's program for a traced program whose waits are left alone.
pub fn of_native() -> Vec<libc::sock_filter> {
    program(&[UNREPEATED], &[], [&[]; 2])
}

fn program(
    calls: &[&[(libc::c_long, When)]],
    stepped: &[u32],
    [x32, i386]: [&[(u32, When, &str)]; 2],
) -> Vec<libc::sock_filter> {
    // Calls of other tables are tested last, so that 64-bit calls run none of those tests.
    let mut own = Vec::new();
    for &(call, when) in calls.iter().copied().flatten() {
        if !is_inspected(when, stepped) {
            continue;
        }
        let mut body = tests(when, stepped);
        body.extend(stop());
        own.push(instruction(JUMP_EQUAL, call as u32, 0, body.len()));
        own.extend(body);
    }
    own.push(instruction(RETURN, ALLOW, 0, 0));
    let x32 = of_other_abi(x32, X32, stepped);
    let to_x32 = own.len() as u32;
    let to_other = 3 + to_x32 + x32.len() as u32;
    let mut program = vec![
        load(4),
        instruction(JUMP_EQUAL, ARCH_X86_64, 1, 0),
        instruction(JUMP, to_other, 0, 0),
        load(0),
        instruction(JUMP_ABOVE_OR_EQUAL, X32, 0, 1),
        instruction(JUMP, to_x32, 0, 0),
    ];
    program.extend(own);
    program.extend(x32);
    program.extend([instruction(JUMP_EQUAL, ARCH_I386, 1, 0), instruction(RETURN, ALLOW, 0, 0), load(0)]);
    program.extend(of_other_abi(i386, 0, stepped));
    program
}

/// The tests of calls that aren't redirected, whose number is loaded.
fn of_other_abi(calls: &[(u32, When, &str)], first: u32, stepped: &[u32]) -> Vec<libc::sock_filter> {
    let mut program = Vec::new();
    for &(call, when, _) in calls {
        let mut body = tests(when, stepped);
        body.push(instruction(RETURN, TRACE | MARK, 0, 0));
        program.push(instruction(JUMP_EQUAL, first + call, 0, body.len()));
        program.extend(body);
    }
    program.push(instruction(RETURN, ALLOW, 0, 0));
    program
}

pub const SET_MODE_FILTER: u64 = 1;
/// Without a loss of speed.
pub const SPEC_ALLOW: u64 = 4;
/// For all threads of the process.
pub const TSYNC: u64 = 1;

/// Installs the filter on the calling thread, for all programs and threads that it starts. Doesn't allocate.
///
/// # Errors
/// The system's refusal.
pub fn install(program: &[libc::sock_filter]) -> io::Result<()> {
    let filter = libc::sock_fprog { len: program.len() as libc::c_ushort, filter: program.as_ptr().cast_mut() };
    // SAFETY: the filter is valid during the calls, which copy it. Only a thread without privileges needs the last of them.
    // https://man7.org/linux/man-pages/man2/seccomp.2.html
    unsafe {
        let set = |flags: u64| match libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, flags, &raw const filter) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        };
        // Up to Linux 5.15, a filter slows the whole program down on some processors unless it says that it confines
        // nothing (`spec_store_bypass_disable=seccomp`). Before 4.17 a filter can't say that.
        let installed = || match set(SPEC_ALLOW) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => set(0),
            installed => installed,
        };
        installed().or_else(|_| match libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) {
            0 => installed(),
            _ => Err(io::Error::last_os_error()),
        })
    }
}

/// Whether a filter of the program's own made this stop (`SECCOMP_RET_TRACE`). Nobody would be there to see it, so the call
/// fails as it does then.
///
/// # Errors
/// The thread is gone.
pub fn refuse_others(tid: Tid) -> io::Result<bool> {
    let told = ptrace::message(tid)?;
    if [TRACE, TRACE | MARK].iter().any(|own| u64::from(own & 0xffff) == told) {
        return Ok(false);
    }
    let registers = ptrace::registers(tid)?;
    let failed = -i64::from(libc::ENOSYS);
    ptrace::set_registers(tid, &Registers { orig_rax: u64::MAX, rax: failed as u64, ..registers }).map(|()| true)
}

#[cfg(test)]
mod tests {
    use oversleep_system::calls::{Arch, COMPAT, Call};

    use super::*;

    #[test]
    fn every_wait_that_is_stopped_is_one_that_why_knows() {
        let is_known = |number: u32| Call::of(Arch::X86_64, number).is_some();
        for &(number, _) in WAITS
            .iter()
            .chain(UNREPEATED)
            .filter(|&&(number, _)| ![libc::SYS_clone, libc::SYS_userfaultfd].contains(&number))
        {
            assert!(is_known(number as u32), "{number}");
        }
        // The arguments of the old select are in memory.
        for &(number, _, name) in I386.iter().filter(|&&(number, ..)| number != 82) {
            assert!(is_known(COMPAT + number), "{name}, {number}");
        }
    }

    /// What the kernel finds out about a call from its number alone when a filter is installed: only then does it keep the
    /// answer instead of running the filter. It follows loads of the number and of the architecture, jumps and masks, and
    /// gives up at any other instruction (`seccomp_is_const_allow`, Linux 5.11).
    /// <https://github.com/torvalds/linux/blob/v6.12/kernel/seccomp.c>
    fn is_always_allowed(program: &[libc::sock_filter], arch: u32, number: u32) -> bool {
        let (mut at, mut value) = (0, 0);
        loop {
            let libc::sock_filter { code, jt, jf, k } = program[at];
            at += 1;
            let mut jump = |is_met: bool| at += usize::from(if is_met { jt } else { jf });
            match (code, k) {
                (LOAD, 0) => value = number,
                (LOAD, 4) => value = arch,
                (JUMP, distance) => at += distance as usize,
                (AND, mask) => value &= mask,
                (JUMP_EQUAL, k) => jump(value == k),
                (JUMP_ABOVE_OR_EQUAL, k) => jump(value >= k),
                (JUMP_ANY_BIT, k) => jump(value & k != 0),
                (RETURN, answer) => return answer == ALLOW,
                _ => return false,
            }
        }
    }

    #[test]
    fn the_kernel_need_not_run_the_filter_for_any_other_call() {
        const NUMBERS: u32 = 512;
        let clocks = [libc::CLOCK_REALTIME as u32, libc::CLOCK_MONOTONIC_COARSE as u32];
        let emulated = [&[][..], &clocks[..1], &clocks].map(|stepped| (EMULATED, stepped, of_emulated(stepped), I386));
        let others = [(OBSERVED, of_observed()), (&[], of_native())];
        let others = others.map(|(more, program)| (more, &[][..], program, &[][..]));
        for (more, stepped, program, i386) in emulated.into_iter().chain(others) {
            let waits = if more.is_empty() { &[] } else { WAITS };
            for number in 0..NUMBERS {
                let is_it = |&(call, when): &(libc::c_long, When)| call as u32 == number && is_inspected(when, stepped);
                let is_inspected = [UNREPEATED, waits, more].into_iter().flatten().any(is_it);
                let is_known = is_always_allowed(&program, ARCH_X86_64, number);
                assert_eq!(is_known, !is_inspected, "{number} with {stepped:?}");
                let is_inspected = i386.iter().any(|call| call.0 == number);
                assert_eq!(is_always_allowed(&program, ARCH_I386, number), !is_inspected, "{number} of i386");
            }
        }
        for number in 0..NUMBERS {
            for calls in [&receiving::CALLS[..], &sending::CALLS] {
                let is_inspected = calls.iter().any(|&call| call as u32 == number);
                let is_known = is_always_allowed(&descriptor::filter(7, calls), ARCH_X86_64, number);
                assert_eq!(is_known, !is_inspected, "{number} of a socket");
            }
        }
    }
}
