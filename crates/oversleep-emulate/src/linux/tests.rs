//! Holds the ends of the code inside programs against the plan, runs the filter in an interpreter, and checks the bounds of
//! the code.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use oversleep_record::Nanos;
use oversleep_system::runtime_calls::{Passes, Rule};

use super::code::{rule, trampoline};
use super::filter;
use crate::plan::{Ends, Holder, Plan, Requested, StandsFor, Ticks};

/// Maps the code into this process at the address that programs use, and opens this process's memory; `None` if the address
/// is taken.
pub fn placed() -> Option<File> {
    static PLACED: OnceLock<bool> = OnceLock::new();
    let memory = OpenOptions::new().read(true).write(true).open("/proc/self/mem").ok()?;
    let is_placed = PLACED.get_or_init(|| {
        // SAFETY: a new mapping, and nothing is mapped over.
        let address = unsafe {
            libc::mmap(
                trampoline::BASE as *mut libc::c_void,
                trampoline::SIZE_WITH_DATA as usize,
                libc::PROT_READ | libc::PROT_EXEC,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            )
        };
        address as u64 == trampoline::BASE && memory.write_all_at(trampoline::code(), trampoline::BASE).is_ok()
    });
    is_placed.then_some(memory)
}

/// When a wait ends according to the code: its span, the moment, a rule's figures and a grid.
type RuleEnd = extern "C" fn(i64, i64, *const i64, *const i64) -> i64;

/// That code; `None` if its address is taken.
fn rule_end() -> Option<RuleEnd> {
    placed()?;
    // SAFETY: the signature of that function.
    Some(unsafe { std::mem::transmute::<u64, RuleEnd>(trampoline::Entry::RuleEnd.address()) })
}

#[test]
fn code_inside_programs_ends_waits_when_the_plan_does() {
    let Some(end_of) = rule_end() else { return oversleep_testing::skip("the code's address is taken") };
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: i64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as i64
    };
    let (mut compared, mut by_timer) = (0, 0);
    let changed: [&[&str]; 5] = [
        &["p-two-tick=0", "grid-p-late=0"],
        &["p-two-tick=0", "grid-p-late=1", "margin=400us"],
        &["p-two-tick=1", "grid-p-late=1"],
        &["p-two-tick=1", "grid-p-late=0", "one-shot-ends=when-due", "one-shot-slack=50us"],
        &["p-two-tick=1", "grid-p-late=1", "one-shot-ends=when-due", "grid-aligned-most=0"],
    ];
    for (name, set) in oversleep_model::names().into_iter().flat_map(|name| changed.map(|set| (name, set))) {
        let set: Vec<String> = set.iter().map(|&one| one.to_owned()).collect();
        let Ok(plan) = Plan::named(name, &set, Some(1)) else { continue };
        let mut resolution = plan.resolution(Nanos(77));
        for held in [None, Some(1_000_000), Some(500_000), Some(5_000_000)] {
            resolution.hold(Holder::All, held.map(Nanos), Nanos(1_234_567_891));
            let Some(grid) = resolution.grid(1) else { continue };
            let rounding = |wait| {
                let passes = Passes::rounding(Rule::TruncatesToAtLeastOne);
                [StandsFor::plain(wait), StandsFor { passes, ..StandsFor::plain(wait) }]
            };
            for wait in plan.waits().iter().flat_map(rounding) {
                let Some(form) = plan.closed_form(wait) else { continue };
                let (figures, grid_words) = (rule::figures(&form), [grid.period.0, grid.origin.0]);
                for _ in 0..40 {
                    let now = 2_000_000_000 + random(1_000_000_000_000);
                    let near = |moment: i64| moment / 1_000_000 * 1_000_000;
                    let span = match random(4) {
                        0 => 1 + random(5_000_000),
                        1 => 1 + random(100_000_000_000),
                        2 => near(random(40_000_000)).max(1),
                        _ => grid.at_or_after(Nanos(now + random(50_000_000))).0 - now + random(3) - 1,
                    };
                    let span = span.max(1);
                    let requested = Requested::Span(Nanos(span));
                    let seen = Ticks { grid: Some(grid), ..resolution.ticks(1) };
                    let planned = plan.end(wait, requested, Nanos(now), seen).map(|planned| planned.end.0);
                    let found = end_of(span, now, figures.as_ptr(), grid_words.as_ptr());
                    let what = wait.wait.info.name;
                    assert_eq!(Some(found), planned, "{name} {set:?} {what} {held:?}: {span} at {now}, {form:?}");
                    compared += 1;
                    by_timer += u32::from(matches!(form.ends, Ends::ByTimer(_)));
                }
            }
        }
    }
    assert!(compared > 10_000 && by_timer > 1_000, "{compared}, {by_timer}");
}

#[test]
fn code_inside_programs_leaves_to_chance_what_the_plan_does() {
    const COUNT: i64 = 20_000;
    let Some(end_of) = rule_end() else { return oversleep_testing::skip("the code's address is taken") };
    let plan = |share: f64| {
        let set = [format!("p-two-tick={share}"), format!("grid-p-late={share}"), "margin=400us".to_owned()];
        Plan::named("windows-10-2004", &set, Some(1)).expect("a machine")
    };
    let [never, always] = [plan(0.0), plan(1.0)];
    for share in [0.05, 0.35, 0.8] {
        let some = plan(share);
        let grid = some.resolution(Nanos(77)).grid(1).expect("a grid");
        for name in ["sleep", "waitable-timer-high-resolution"] {
            let wait = |plan: &Plan| plan.waits().iter().find(|wait| wait.info.name == name).expect("a wait").clone();
            let form = some.closed_form(StandsFor::plain(&wait(&some))).expect("a form");
            let mut later = 0;
            for at in 0..COUNT {
                // Each begins 0.55 ms after a tick, and is 0.3 ms too long for the second tick after it.
                let (now, span) = (grid.origin.0 + 550_000 + at * grid.period.0, 31_000_000);
                let planned = |plan: &Plan| {
                    let seen = Ticks { grid: Some(grid), interrupts: None, is_as_found: true };
                    plan.end(StandsFor::plain(&wait(plan)), Requested::Span(Nanos(span)), Nanos(now), seen)
                        .expect("an end")
                        .end
                        .0
                };
                let [never, always] = [planned(&never), planned(&always)];
                let found = end_of(span, now, rule::figures(&form).as_ptr(), [grid.period.0, grid.origin.0].as_ptr());
                assert!(never < always && [never, always].contains(&found), "{name}: {found} of {never}, {always}");
                later += i64::from(found == always);
            }
            let got = later as f64 / COUNT as f64;
            assert!((got - share).abs() < 0.02, "{name}: {got} for {share}");
        }
    }
}

/// The filter's answer to a call with those arguments from code at that address.
fn answer(call: libc::c_long, arguments: [u64; 6], place: u64) -> u32 {
    answer_where(&[], call, arguments, place)
}

fn answer_where(stepped: &[u32], call: libc::c_long, arguments: [u64; 6], place: u64) -> u32 {
    answer_of(0xc000_003e, stepped, call, arguments, place)
}

fn answer_of(arch: u32, stepped: &[u32], call: libc::c_long, arguments: [u64; 6], place: u64) -> u32 {
    answer_by(&filter::of_emulated(stepped), &data(arch, call, arguments, place))
}

fn data(arch: u32, call: libc::c_long, arguments: [u64; 6], place: u64) -> [u32; 16] {
    let mut data = [0_u32; 16];
    (data[0], data[1]) = (call as u32, arch);
    (data[2], data[3]) = (place as u32, (place >> 32) as u32);
    for (at, argument) in arguments.into_iter().enumerate() {
        (data[4 + 2 * at], data[5 + 2 * at]) = (argument as u32, (argument >> 32) as u32);
    }
    data
}

/// That program's answer to a call with this data.
fn answer_by(program: &[libc::sock_filter], data: &[u32; 16]) -> u32 {
    let (mut at, mut value) = (0, 0_u32);
    loop {
        let step = program[at];
        let jump = |yes: bool| usize::from(if yes { step.jt } else { step.jf });
        at += 1;
        match step.code {
            0x20 => value = data[step.k as usize / 4],
            0x05 => at += step.k as usize,
            0x54 => value &= step.k,
            0x15 => at += jump(value == step.k),
            0x35 => at += jump(value >= step.k),
            0x45 => at += jump(value & step.k != 0),
            0x06 => return step.k,
            code => panic!("{code:#x}"),
        }
    }
}

/// Answers of a filter: the call is made, or its thread stops.
const ALLOW: u32 = 0x7fff_0000;
const TRACE: u32 = 0x7ff0_6f76;

#[test]
fn the_filter_stops_timed_waits_only() {
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
        (libc::SYS_prctl, [u64::from(filter::PRCTL_DISPATCH), 1, 0, 0, 0, 0], TRACE),
        (libc::SYS_userfaultfd, [0; 6], TRACE),
        (libc::SYS_fanotify_init, [0; 6], ALLOW),
        (libc::SYS_fanotify_init, [4, 0, 0, 0, 0, 0], TRACE),
    ] {
        assert_eq!(answer(call, arguments, 0x5555_0000_0000), wanted, "{call} {arguments:?}");
        assert_eq!(answer(call, arguments, trampoline::BASE + 100), ALLOW, "{call} from our own code");
        assert_eq!(answer(call, arguments, trampoline::BASE + trampoline::SIZE), wanted, "{call} behind it");
    }
}

#[test]
fn a_program_with_native_waits_stops_only_where_a_signal_that_it_ignores_would_end_one() {
    let minus_one = u64::from(u32::MAX);
    for (call, arguments, wanted) in [
        (libc::SYS_rt_sigtimedwait, [8, 0, 8, 8, 0, 0], TRACE),
        (libc::SYS_rt_sigtimedwait, [8, 0, 0, 8, 0, 0], ALLOW),
        (libc::SYS_semtimedop, [1, 8, 1, 8, 0, 0], TRACE),
        (libc::SYS_io_getevents, [8, 1, 1, 8, 8, 0], TRACE),
        (filter::IO_PGETEVENTS, [8, 1, 1, 8, 8, 0], TRACE),
        (libc::SYS_epoll_wait, [3, 8, 1, 5, 0, 0], TRACE),
        (libc::SYS_epoll_wait, [3, 8, 1, minus_one, 0, 0], ALLOW),
        (libc::SYS_epoll_pwait2, [3, 8, 1, 8, 0, 0], TRACE),
        (libc::SYS_clone, [libc::CLONE_UNTRACED as u64, 0, 0, 0, 0, 0], TRACE),
        (libc::SYS_userfaultfd, [0; 6], TRACE),
        (libc::SYS_nanosleep, [8, 0, 0, 0, 0, 0], ALLOW),
        (libc::SYS_poll, [0, 0, 1, 0, 0, 0], ALLOW),
        (libc::SYS_futex, [8, 128, 0, 8, 0, 0], ALLOW),
        (libc::SYS_setitimer, [0, 8, 0, 0, 0, 0], ALLOW),
    ] {
        let data = data(0xc000_003e, call, arguments, 0x5555_0000_0000);
        assert_eq!(answer_by(&filter::of_native(), &data), wanted, "{call} {arguments:?}");
    }
}

#[test]
fn the_filter_stops_at_timed_waits_of_other_call_tables() {
    const I386: u32 = 0x4000_0003;
    const X86_64: u32 = 0xc000_003e;
    const ARM: u32 = 0x4000_0028;
    const ALLOW: u32 = 0x7fff_0000;
    const MARKED: u32 = 0x7ff0_6f77;
    const X32: libc::c_long = 0x4000_0000;
    for (arch, call, arguments, wanted) in [
        (I386, 162, [8, 0, 0, 0, 0, 0], MARKED),
        (I386, 407, [1, 0, 8, 0, 0, 0], MARKED),
        (I386, 240, [8, 128, 0, 0, 0, 0], ALLOW),
        (I386, 240, [8, 128, 0, 8, 0, 0], MARKED),
        (I386, 240, [8, 129, 0, 8, 0, 0], ALLOW),
        (I386, 422, [8, 9, 0, 8, 0, 0], MARKED),
        (I386, 168, [8, 0, 0, 0, 0, 0], ALLOW),
        (I386, 168, [8, 0, 5, 0, 0, 0], MARKED),
        (I386, 142, [0, 0, 0, 0, 8, 0], MARKED),
        // Numbers of 64-bit waits: getresuid32 and the like.
        (I386, libc::SYS_nanosleep, [8; 6], ALLOW),
        (I386, libc::SYS_clock_nanosleep, [1; 6], ALLOW),
        (I386, 252, [126, 0, 0, 0, 0, 0], ALLOW),
        (X86_64, X32 + libc::SYS_nanosleep, [8, 0, 0, 0, 0, 0], MARKED),
        (X86_64, X32 + libc::SYS_poll, [0, 0, 1, 0, 0, 0], MARKED),
        (X86_64, X32 + libc::SYS_poll, [0; 6], ALLOW),
        (X86_64, X32 + 523, [8, 0, 8, 0, 0, 0], MARKED),
        (X86_64, X32 + libc::SYS_getpid, [0; 6], ALLOW),
        (ARM, 162, [8, 0, 0, 0, 0, 0], ALLOW),
    ] {
        assert_eq!(answer_of(arch, &[], call, arguments, 0x5555_0000_0000), wanted, "{arch:#x} {call} {arguments:?}");
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
