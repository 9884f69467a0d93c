//! Compares what each call was given with what its description says.

use oversleep_record::Nanos;
use oversleep_system::{Takes, WaitInfo, waits};
use oversleep_testing::skip;

use crate::arguments::{Given, given};
use crate::child::{self, Message, REQUESTS};
use crate::tracer::{Stopped, trace};

/// A step of the wall clock while the child runs spoils the comparison with it.
const ATTEMPTS: usize = 5;
/// One wait the child made.
struct Made {
    info: &'static WaitInfo,
    requested: Nanos,
    deadline: Nanos,
    given: Option<Given>,
    /// When the child was about to begin, and to make that call.
    begun: Nanos,
    called: Nanos,
}

pub fn run() {
    for attempt in 1..=ATTEMPTS {
        let before = wall_clock_offset();
        let (made, missing) = match make_all_waits() {
            Ok(all) => all,
            Err(reason) => return skip(reason),
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
    skip("the wall clock is set all the time");
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
                let (info, now) = (&waits::LINUX[wait as usize], read(libc::CLOCK_MONOTONIC));
                current = Some(Made { info, requested, deadline, given: None, begun: now, called: now });
            }
            Some(Message::End { failed }) => {
                let ended = current.take().expect("a wait that ends has begun");
                assert!(!failed, "{} of {} failed", ended.info.name, ended.requested);
                made.push(ended);
            }
            // The first timed call of a wait is its own; one after it guards against a lost signal.
            None => {
                let seen = given(stopped, &mut receive_timeout);
                if let Some(current) = current.as_mut().filter(|current| current.given.is_none()) {
                    (current.given, current.called) = (seen, read(libc::CLOCK_MONOTONIC));
                }
            }
        }
    };
    trace(child::run, see)?;
    Ok((made, missing))
}

fn compare(made: &[Made], offset: (Nanos, Nanos)) {
    for Made { info, requested, deadline, given, begun, called } in made.iter().filter(|made| !is_composed(made.info)) {
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
                // The child read two clocks, both in this time.
                let late = *given - info.rounded(*deadline + offset.1);
                assert!(late <= *called - *begun, "{name} {requested}: {late} too late");
            }
            (Takes::Nothing, None) => {}
            (takes, given) => panic!("{name} {requested} takes {takes:?} and was given {given:?}"),
        }
    }
}

/// Between which values `CLOCK_REALTIME` minus `CLOCK_MONOTONIC` lies. Both are steered alike, so it changes only where
/// the wall clock is set.
fn wall_clock_offset() -> (Nanos, Nanos) {
    let bounds = (0..1_000).map(|_| {
        let before = read(libc::CLOCK_MONOTONIC);
        let wall = read(libc::CLOCK_REALTIME);
        (wall - read(libc::CLOCK_MONOTONIC), wall - before)
    });
    bounds.fold((Nanos(i64::MIN), Nanos::MAX), |(low, high), (lower, upper)| (low.max(lower), high.min(upper)))
}

fn read(clock: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is writable. https://man7.org/linux/man-pages/man2/clock_gettime.2.html
    assert_eq!(unsafe { libc::clock_gettime(clock, &raw mut time) }, 0);
    Nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}
