//! Compares what each call was given with what its description says.

use std::collections::BTreeMap;

use oversleep_record::Nanos;
use oversleep_system::{Takes, WaitInfo, waits};

use crate::arguments::{Given, given};
use crate::child::{self, Message, REQUESTS};
use crate::tracer::{Stopped, trace};

/// By how much a deadline converted to the wall clock may exceed the exact one: what reading two clocks takes.
const CONVERSION: Nanos = Nanos(2_000);
/// A step of the wall clock while the child runs spoils the comparison with it.
const ATTEMPTS: usize = 5;
/// A wait that never ends is a failure: the default of this signal ends the process, and the child with it.
const LIMIT_S: u32 = 120;

/// One wait the child made.
struct Made {
    info: &'static WaitInfo,
    requested: Nanos,
    deadline: Nanos,
    given: Option<Given>,
}

pub fn run() {
    // SAFETY: takes a number. https://man7.org/linux/man-pages/man2/alarm.2.html
    unsafe { libc::alarm(LIMIT_S) };
    for attempt in 1..=ATTEMPTS {
        let before = wall_clock_offset();
        let (made, missing) = match make_all_waits() {
            Ok(all) => all,
            Err(reason) => {
                println!("SKIPPED: the traced waits: {reason}");
                return;
            }
        };
        let after = wall_clock_offset();
        if before.1 < after.0 || after.1 < before.0 {
            println!("traced_waits: the wall clock was set during attempt {attempt}");
            continue;
        }
        compare(&made, before);
        for info in waits::LINUX.iter().filter(|info| info.is_timed() && !is_composed(info)) {
            let count = made.iter().filter(|made| made.info.name == info.name).count();
            assert!(missing.contains(&info.name) || count >= REQUESTS.len(), "{}: made {count} times", info.name);
        }
        println!("traced_waits: {} calls were given what their descriptions say; missing: {missing:?}", made.len());
        return;
    }
    println!("SKIPPED: the traced waits: the wall clock is set all the time");
}

/// Whether a wait is made of several waits of the system, each with a request of its own.
fn is_composed(info: &WaitInfo) -> bool {
    info.call.starts_with("oversleep::")
}

/// All the waits of the child, and the names of those that are not available here.
fn make_all_waits() -> Result<(Vec<Made>, Vec<&'static str>), String> {
    let (mut made, mut missing) = (Vec::new(), Vec::new());
    let mut current: Option<Made> = None;
    let mut receive_timeout = None;
    let see = |stopped: &Stopped| {
        let message = (stopped.call == libc::SYS_getppid).then(|| Message::of(&stopped.arguments)).flatten();
        match message {
            Some(Message::Missing { wait }) => missing.push(waits::LINUX[wait as usize].name),
            Some(Message::Begin { wait, requested, deadline }) => {
                current = Some(Made { info: &waits::LINUX[wait as usize], requested, deadline, given: None });
            }
            Some(Message::End { failed }) => {
                let ended = current.take().expect("a wait that ends has begun");
                assert!(!failed, "{} of {} failed", ended.info.name, ended.requested);
                made.push(ended);
            }
            // The first timed call of a wait is its own; one after it guards against a lost signal.
            None => {
                let seen = given(stopped, &mut receive_timeout);
                if let Some(current) = &mut current {
                    current.given = current.given.or(seen);
                }
            }
        }
    };
    trace(child::run, see)?;
    Ok((made, missing))
}

fn compare(made: &[Made], offset: (Nanos, Nanos)) {
    let mut conversions: BTreeMap<(&str, Nanos), Nanos> = BTreeMap::new();
    for Made { info, requested, deadline, given } in made.iter().filter(|made| !is_composed(made.info)) {
        let name = info.name;
        match (info.takes, given) {
            (Takes::Span, given) => {
                assert_eq!(*given, Some(Given::Span(info.rounded(*requested))), "{name} {requested}")
            }
            (Takes::Deadline, given) => {
                assert_eq!(*given, Some(Given::Deadline(info.rounded(*deadline))), "{name} {requested}");
            }
            (Takes::TimeOfDay, Some(Given::TimeOfDay(given))) => {
                let early = info.rounded(*deadline + offset.0) - *given;
                assert!(early <= Nanos::ZERO, "{name} {requested}: {early} too early");
                let late = *given - info.rounded(*deadline + offset.1);
                let least = conversions.entry((name, *requested)).or_insert(late);
                *least = late.min(*least);
            }
            (Takes::Nothing, None) => {}
            (takes, given) => panic!("{name} {requested} takes {takes:?} and was given {given:?}"),
        }
    }
    for ((name, requested), late) in conversions {
        assert!(late <= CONVERSION, "{name} {requested}: {late} too late at best");
    }
}

/// Between which values `CLOCK_REALTIME` minus `CLOCK_MONOTONIC` lies. Both are steered alike, so it changes only where
/// the wall clock is set.
fn wall_clock_offset() -> (Nanos, Nanos) {
    let read = |clock| {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the time is writable. https://man7.org/linux/man-pages/man2/clock_gettime.2.html
        assert_eq!(unsafe { libc::clock_gettime(clock, &raw mut time) }, 0);
        Nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec)
    };
    let bounds = (0..1_000).map(|_| {
        let before = read(libc::CLOCK_MONOTONIC);
        let wall = read(libc::CLOCK_REALTIME);
        (wall - read(libc::CLOCK_MONOTONIC), wall - before)
    });
    bounds.fold((Nanos(i64::MIN), Nanos::MAX), |(low, high), (lower, upper)| (low.max(lower), high.min(upper)))
}
