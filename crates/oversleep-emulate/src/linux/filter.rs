//! The seccomp filter: it stops a program at its timed waits and nowhere else.
//!
//! Call numbers are compared first, so that the kernel can tell without running the filter that every other call is
//! allowed (its cache of constant answers, Linux 5.11). Calls from within [`super::trampoline`] are allowed.

use std::io;

use super::trampoline;

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_ABOVE_OR_EQUAL: u16 = 0x35;
const JUMP_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const TRACE: u32 = 0x7ff0_0000;
const ARCH_X86_64: u32 = 0xc000_003e;
/// Numbers from here on are of the x32 ABI.
const X32: u32 = 0x4000_0000;

/// What makes a call a timed wait.
#[derive(Clone, Copy)]
enum When {
    Always,
    /// That argument is a pointer other than null.
    Given(u8),
    /// That argument is a number above zero.
    Positive(u8),
    /// A futex operation that waits, with a timeout.
    Futex,
    /// The clock in that argument advances while the thread isn't running.
    Passing(u8),
    /// That argument has that value.
    Is(u8, u32),
    /// That argument has one of these values.
    Either(u8, [u32; 2]),
    /// The clock in the first argument is one of those that advance in steps.
    Stepped,
    /// The time of day advances in steps.
    SteppedRealtime,
    /// A timeout of a socket.
    SocketTimeout,
    /// That argument has one of these bits.
    AnyBit(u8, u32),
}

/// The first argument of `prctl` by which a program changes the emulated resolution: "ovsR".
pub const PRCTL_RESOLUTION: u32 = 0x6f76_7352;

/// Timed waits, and starts of what wouldn't be traced. They stop in any case.
const WAITS: &[(libc::c_long, When)] = &[
    (libc::SYS_futex, When::Futex),
    (libc::SYS_epoll_wait, When::Positive(3)),
    (libc::SYS_epoll_pwait, When::Positive(3)),
    (libc::SYS_clock_nanosleep, When::Passing(0)),
    (libc::SYS_nanosleep, When::Given(0)),
    (libc::SYS_poll, When::Positive(2)),
    (libc::SYS_ppoll, When::Given(2)),
    (libc::SYS_pselect6, When::Given(4)),
    (libc::SYS_select, When::Given(4)),
    (libc::SYS_epoll_pwait2, When::Given(3)),
    (libc::SYS_rt_sigtimedwait, When::Given(2)),
    (libc::SYS_mq_timedsend, When::Given(4)),
    (libc::SYS_mq_timedreceive, When::Given(4)),
    (libc::SYS_semtimedop, When::Given(3)),
    (libc::SYS_io_getevents, When::Given(4)),
    (IO_PGETEVENTS, When::Given(4)),
    (libc::SYS_futex_waitv, When::Given(3)),
    (FUTEX_WAIT2, When::Given(4)),
    // Whatever has the filter but no tracer fails with ENOSYS at its first wait.
    (libc::SYS_clone, When::AnyBit(0, libc::CLONE_UNTRACED as u32)),
];

/// What else matters to an emulated program.
const EMULATED: &[(libc::c_long, When)] = &[
    (libc::SYS_timerfd_settime, When::Given(2)),
    (libc::SYS_timer_settime, When::Given(2)),
    (libc::SYS_setitimer, When::Is(0, 0)),
    (libc::SYS_alarm, When::Positive(0)),
    (libc::SYS_setsockopt, When::SocketTimeout),
    (libc::SYS_clock_gettime, When::Stepped),
    (libc::SYS_clock_getres, When::Stepped),
    (libc::SYS_gettimeofday, When::SteppedRealtime),
    (libc::SYS_time, When::SteppedRealtime),
    (libc::SYS_io_uring_setup, When::Always),
    (libc::SYS_ptrace, When::Always),
    (libc::SYS_seccomp, When::Is(0, 1)),
    (libc::SYS_prctl, When::Either(0, [libc::PR_SET_SECCOMP as u32, PRCTL_RESOLUTION])),
];

/// What else matters to an observed program: that a wait goes on after a signal, and that a thread changes its timer slack.
const OBSERVED: &[(libc::c_long, When)] =
    &[(libc::SYS_restart_syscall, When::Always), (libc::SYS_prctl, When::Is(0, libc::PR_SET_TIMERSLACK as u32))];

/// Linux 4.18; libc has no name for it here.
pub const IO_PGETEVENTS: libc::c_long = 333;
/// `futex_wait`, Linux 6.7.
pub const FUTEX_WAIT2: libc::c_long = 455;

/// Operations of `futex` that wait: WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2.
const FUTEX_WAITS: [u32; 5] = [0, 6, 9, 11, 13];

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
    program(&[WAITS, EMULATED], stepped)
}

/// The filter's program for an observed program.
pub fn of_observed() -> Vec<libc::sock_filter> {
    program(&[WAITS, OBSERVED], &[])
}

fn program(calls: &[&[(libc::c_long, When)]], stepped: &[u32]) -> Vec<libc::sock_filter> {
    let mut program = vec![
        load(4),
        instruction(JUMP_EQUAL, ARCH_X86_64, 1, 0),
        instruction(RETURN, ALLOW, 0, 0),
        load(0),
        instruction(JUMP_ABOVE_OR_EQUAL, X32, 0, 1),
        instruction(RETURN, ALLOW, 0, 0),
    ];
    for &(call, when) in calls.iter().copied().flatten() {
        if !is_inspected(when, stepped) {
            continue;
        }
        let mut body = tests(when, stepped);
        // Calls from the injected code pass: its region's size is a power of two, and it is aligned to its size.
        body.extend([
            load(12),
            instruction(JUMP_EQUAL, (trampoline::BASE >> 32) as u32, 0, 3),
            load(8),
            instruction(AND, !(trampoline::SIZE as u32 - 1), 0, 0),
            instruction(JUMP_EQUAL, trampoline::BASE as u32, 1, 0),
            instruction(RETURN, TRACE, 0, 0),
            instruction(RETURN, ALLOW, 0, 0),
        ]);
        program.push(instruction(JUMP_EQUAL, call as u32, 0, body.len()));
        program.extend(body);
    }
    program.push(instruction(RETURN, ALLOW, 0, 0));
    program
}

const SET_MODE_FILTER: u64 = 1;
const SPEC_ALLOW: u64 = 4;

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

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel finds out about a call from its number alone when a filter is installed: only then does it keep the
    /// answer instead of running the filter. It follows loads of the number and of the architecture, jumps and masks, and
    /// gives up at any other instruction (`seccomp_is_const_allow`, Linux 5.11).
    /// <https://github.com/torvalds/linux/blob/v6.12/kernel/seccomp.c>
    fn is_always_allowed(program: &[libc::sock_filter], number: u32) -> bool {
        let (mut at, mut value) = (0, 0);
        loop {
            let libc::sock_filter { code, jt, jf, k } = program[at];
            at += 1;
            let mut jump = |is_met: bool| at += usize::from(if is_met { jt } else { jf });
            match (code, k) {
                (LOAD, 0) => value = number,
                (LOAD, 4) => value = ARCH_X86_64,
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
        let of_calls =
            |calls: [&'static [(libc::c_long, When)]; 2], stepped| (calls, stepped, program(&calls, stepped));
        let emulated = [&[][..], &clocks[..1], &clocks].map(|stepped| of_calls([WAITS, EMULATED], stepped));
        for (calls, stepped, program) in emulated.into_iter().chain([of_calls([WAITS, OBSERVED], &[])]) {
            for number in 0..NUMBERS {
                let is_it = |&(call, when): &(libc::c_long, When)| call as u32 == number && is_inspected(when, stepped);
                let is_inspected = calls.iter().copied().flatten().any(is_it);
                assert_eq!(is_always_allowed(&program, number), !is_inspected, "{number} with {stepped:?}");
            }
        }
    }
}
