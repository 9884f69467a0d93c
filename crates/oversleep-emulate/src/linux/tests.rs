//! The filter, run by an interpreter, and the bounds of the code.

use super::*;

/// What the filter answers to a call with those arguments, from code at that address.
fn answer(call: libc::c_long, arguments: [u64; 6], place: u64) -> u32 {
    answer_where(&[], call, arguments, place)
}

fn answer_where(stepped: &[u32], call: libc::c_long, arguments: [u64; 6], place: u64) -> u32 {
    let mut data = [0_u32; 16];
    (data[0], data[1]) = (call as u32, 0xc000_003e);
    (data[2], data[3]) = (place as u32, (place >> 32) as u32);
    for (at, argument) in arguments.into_iter().enumerate() {
        (data[4 + 2 * at], data[5 + 2 * at]) = (argument as u32, (argument >> 32) as u32);
    }
    let program = filter::program(stepped);
    let (mut at, mut value) = (0, 0_u32);
    loop {
        let step = program[at];
        let jump = |yes: bool| usize::from(if yes { step.jt } else { step.jf });
        at += 1;
        match step.code {
            0x20 => value = data[step.k as usize / 4],
            0x54 => value &= step.k,
            0x15 => at += jump(value == step.k),
            0x35 => at += jump(value >= step.k),
            0x45 => at += jump(value & step.k != 0),
            0x06 => return step.k,
            code => panic!("{code:#x}"),
        }
    }
}

#[test]
fn the_filter_stops_timed_waits_only() {
    const ALLOW: u32 = 0x7fff_0000;
    const TRACE: u32 = 0x7ff0_0000;
    let minus_one = u64::from(u32::MAX);
    for (call, arguments, wanted) in [
        (libc::SYS_getppid, [0; 6], ALLOW),
        (libc::SYS_read, [0; 6], ALLOW),
        (libc::SYS_nanosleep, [8, 0, 0, 0, 0, 0], TRACE),
        (libc::SYS_poll, [0, 0, 0, 0, 0, 0], ALLOW),
        (libc::SYS_poll, [0, 0, minus_one, 0, 0, 0], ALLOW),
        (libc::SYS_poll, [0, 0, 1, 0, 0, 0], TRACE),
        (libc::SYS_epoll_wait, [3, 8, 1, minus_one, 0, 0], ALLOW),
        (libc::SYS_epoll_wait, [3, 8, 1, 5, 0, 0], TRACE),
        (libc::SYS_futex, [8, 0, 0, 0, 0, 0], ALLOW),
        (libc::SYS_futex, [8, 1, 1, 8, 0, 0], ALLOW),
        (libc::SYS_futex, [8, 128, 0, 0x7fff_0000_0000, 0, 0], TRACE),
        (libc::SYS_futex, [8, 9 | 128 | 256, 0, 8, 0, 0], TRACE),
        (libc::SYS_clock_nanosleep, [2, 0, 8, 0, 0, 0], ALLOW),
        (libc::SYS_clock_nanosleep, [1, 1, 8, 0, 0, 0], TRACE),
        (libc::SYS_setsockopt, [3, 1, 20, 8, 16, 0], TRACE),
        (libc::SYS_setsockopt, [3, 1, 9, 8, 16, 0], ALLOW),
        (libc::SYS_setsockopt, [3, 6, 20, 8, 16, 0], ALLOW),
        (libc::SYS_setitimer, [0, 8, 0, 0, 0, 0], TRACE),
        (libc::SYS_setitimer, [2, 8, 0, 0, 0, 0], ALLOW),
        (libc::SYS_prctl, [15, 0, 0, 0, 0, 0], ALLOW),
        (libc::SYS_prctl, [u64::from(filter::PRCTL_RESOLUTION), 0, 0, 0, 0, 0], TRACE),
    ] {
        assert_eq!(answer(call, arguments, 0x5555_0000_0000), wanted, "{call} {arguments:?}");
        assert_eq!(answer(call, arguments, trampoline::BASE + 100), ALLOW, "{call} from our own code");
        assert_eq!(answer(call, arguments, trampoline::BASE + trampoline::SIZE), wanted, "{call} behind it");
    }
}

#[test]
fn the_code_fits_its_room_and_refers_to_nothing_outside() {
    let code = trampoline::code();
    assert!((500..trampoline::SIZE as usize).contains(&code.len()), "{}", code.len());
    assert!(trampoline::Entry::SetSockOpt.address() < trampoline::BASE + code.len() as u64);
}

#[test]
fn the_filter_stops_at_reads_of_stepped_clocks() {
    const ALLOW: u32 = 0x7fff_0000;
    const TRACE: u32 = 0x7ff0_0000;
    let coarse = &[5, 6][..];
    for (stepped, call, clock, wanted) in [
        (&[][..], libc::SYS_clock_gettime, 6, ALLOW),
        (coarse, libc::SYS_clock_gettime, 6, TRACE),
        (coarse, libc::SYS_clock_gettime, 1, ALLOW),
        (coarse, libc::SYS_gettimeofday, 0, ALLOW),
        (&[0, 6], libc::SYS_gettimeofday, 0, TRACE),
        (&[0, 6], libc::SYS_time, 0, TRACE),
    ] {
        let arguments = [clock, 8, 0, 0, 0, 0];
        assert_eq!(answer_where(stepped, call, arguments, 0x5555_0000_0000), wanted, "{stepped:?} {call} {clock}");
        assert_eq!(answer_where(stepped, call, arguments, trampoline::BASE + 8), ALLOW, "{call} from our own code");
    }
}
