//! What C programs can't provoke at will: panics inside every function, and handles used in the wrong thread.

use std::ffi::c_char;
use std::ptr::{null, null_mut};

use crate::backoff::*;
use crate::boundary::forced::while_panicking;
use crate::clock::*;
use crate::outcome::{Change, Outcome};
use crate::pacer::*;
use crate::park::*;
use crate::resolution::*;
use crate::slack::*;
use crate::sleep::*;
use crate::status::{Status, oversleep_status_text};
use crate::thread::*;
use crate::{ABI_VERSION, UNKNOWN_NS, VERSION, oversleep_abi_version, oversleep_version};

/// Every source file that exports functions.
const SOURCES: &[&str] = &[
    include_str!("version.rs"),
    include_str!("status.rs"),
    include_str!("clock.rs"),
    include_str!("sleep.rs"),
    include_str!("pacer.rs"),
    include_str!("park.rs"),
    include_str!("backoff.rs"),
    include_str!("thread.rs"),
    include_str!("slack.rs"),
    include_str!("resolution.rs"),
];

/// Structures as a caller prepares them.
const CHANGE: Change =
    Change { size: size_of::<Change>(), outcome: Outcome::NotAsked, reserved: 7, was_ns: 7, now_ns: 7 };
const LIMITS: Limits = Limits { size: size_of::<Limits>(), spins: 0, yields: 0, park_ns: 0, absence_ns: 0 };

/// A handle that a function created.
fn made<H>(make: impl FnOnce(*mut *mut H) -> Status) -> *mut H {
    let mut handle = null_mut();
    assert_eq!(make(&raw mut handle), Status::Ok);
    assert!(!handle.is_null());
    handle
}

/// Calls every function that returns a status, correctly, and collects the statuses.
///
/// # Safety
///
/// The handles are alive. Each is freed unless the call that frees it fails.
unsafe fn every_status(handles: &Handles) -> Vec<(&'static str, Status)> {
    let mut statuses = Vec::new();
    let mut text = [0 as c_char; 600];
    let (text, length) = ((&raw mut text).cast::<c_char>(), &raw mut *Box::leak(Box::new(0_usize)));
    let (mut number, mut ppm) = (0_u64, 0.0);
    let (number, ppm) = (&raw mut number, &raw mut ppm);
    let mut source = Source::Other;
    let (mut change, mut limits) = (CHANGE, LIMITS);
    let Handles { sleeper, pacer, parker, backoff, thread, slack, resolution } = *handles;
    macro_rules! call {
        ($($function:ident($($argument:expr),*);)*) => {
            $(
                // SAFETY: the arguments are valid, and the caller guarantees that the handles are alive.
                #[allow(unused_unsafe, reason = "some functions are safe")]
                let status = unsafe { $function($($argument),*) };
                statuses.push((stringify!($function), status));
            )*
        };
    }
    call! {
        oversleep_status_text(0, text, 600, length);
        oversleep_clock_source(&raw mut source);
        oversleep_clock_source_name(text, 600, length);
        oversleep_clock_why(text, 600, length);
        oversleep_clock_frequency_hz(number);
        oversleep_clock_verify(ppm);
        oversleep_sleep_ns(1_000);
        oversleep_sleep_until_ns(1);
        oversleep_sleeper_set_budget_ns(sleeper, 10_000);
        oversleep_sleeper_sleep_ns(sleeper, 1_000, null_mut());
        oversleep_sleeper_sleep_until_ns(sleeper, 1, null_mut());
        oversleep_pacer_set_start_ns(pacer, 0);
        oversleep_pacer_set_missed(pacer, Missed::Skip as i32);
        oversleep_pacer_set_budget_ns(pacer, 10_000);
        oversleep_pacer_wait(pacer, null_mut());
        oversleep_pacer_poll(pacer, null_mut());
        oversleep_pacer_next_deadline_ns(pacer, number);
        oversleep_pacer_deadline_of_ns(pacer, 5, number);
        oversleep_pacer_missed(pacer, number);
        oversleep_parker_unpark(parker);
        oversleep_parker_park(parker);
        oversleep_parker_park_until_ns(parker, 1, null_mut());
        oversleep_backoff_default_limits(&raw mut limits);
        oversleep_backoff_idle(backoff, null_mut());
        oversleep_backoff_reset(backoff);
        oversleep_backoff_park_lateness_ns(backoff, number);
        oversleep_thread_unpark(thread);
        oversleep_timer_slack_current_ns(number);
        oversleep_timer_slack_why(text, 600, length);
        oversleep_timer_slack_change(slack, &raw mut change);
        oversleep_timer_slack_text(slack, text, 600, length);
        oversleep_resolution_ask_harmless(resolution);
        oversleep_resolution_ask_timer_slack_ns(resolution, 5);
        oversleep_resolution_ask_timer_ns(resolution, 1_000_000);
        oversleep_resolution_ask_real_time(resolution, 1);
        oversleep_resolution_ask_cpu_latency_ns(resolution, 1_000_000);
        oversleep_resolution_hold(resolution);
        oversleep_resolution_change(resolution, Setting::Timer as i32, &raw mut change);
        oversleep_resolution_text(resolution, Setting::Timer as i32, text, 600, length);
        oversleep_resolution_release(resolution);
        oversleep_sleeper_free(sleeper);
        oversleep_pacer_free(pacer);
        oversleep_parker_free(parker);
        oversleep_backoff_free(backoff);
        oversleep_thread_free(thread);
        oversleep_timer_slack_release(slack);
        oversleep_resolution_free(resolution);
    }
    // SAFETY: leaked above and no longer used.
    drop(unsafe { Box::from_raw(length) });
    statuses
}

#[derive(Clone, Copy)]
struct Handles {
    sleeper: *mut Sleeper,
    pacer: *mut Pacer,
    parker: *mut Parker,
    backoff: *mut Backoff,
    thread: *mut Thread,
    slack: *mut TimerSlack,
    resolution: *mut Resolution,
}

impl Handles {
    fn new() -> Self {
        // SAFETY: the places are writable.
        unsafe {
            Self {
                sleeper: made(|place| oversleep_sleeper_new(place)),
                pacer: made(|place| oversleep_pacer_new_every_ns(1_000_000, place)),
                parker: made(|place| oversleep_parker_new(place)),
                backoff: made(|place| oversleep_backoff_new(null(), place)),
                thread: made(|place| oversleep_thread_current(place)),
                slack: made(|place| oversleep_timer_slack_hold_ns(1, place)),
                resolution: made(|place| oversleep_resolution_new(place)),
            }
        }
    }
}

/// Calls every function that creates a handle; each must fail and leave a null pointer or the place unchanged.
fn every_making() -> Vec<(&'static str, Status)> {
    fn attempt<H>(make: impl FnOnce(*mut *mut H) -> Status) -> Status {
        let mut handle = null_mut();
        let status = make(&raw mut handle);
        assert!(handle.is_null());
        status
    }
    // SAFETY: the places are writable.
    unsafe {
        vec![
            ("oversleep_sleeper_new", attempt(|place| oversleep_sleeper_new(place))),
            ("oversleep_pacer_new_every_ns", attempt(|place| oversleep_pacer_new_every_ns(1, place))),
            ("oversleep_pacer_new_per_second", attempt(|place| oversleep_pacer_new_per_second(1, place))),
            ("oversleep_parker_new", attempt(|place| oversleep_parker_new(place))),
            ("oversleep_backoff_new", attempt(|place| oversleep_backoff_new(null(), place))),
            ("oversleep_thread_current", attempt(|place| oversleep_thread_current(place))),
            ("oversleep_timer_slack_hold_ns", attempt(|place| oversleep_timer_slack_hold_ns(1, place))),
            ("oversleep_resolution_new", attempt(|place| oversleep_resolution_new(place))),
        ]
    }
}

#[test]
fn no_panic_leaves_any_function() {
    let handles = Handles::new();
    let mut names: Vec<&str> = Vec::new();
    // SAFETY: the handles are alive; a function that panics doesn't free its handle.
    let (statuses, makings) = while_panicking(|| (unsafe { every_status(&handles) }, every_making()));
    for (name, status) in statuses.into_iter().chain(makings) {
        assert_eq!(status, Status::Panicked, "{name}");
        names.push(name);
    }
    let times = while_panicking(|| {
        [
            ("oversleep_clock_now_ns", oversleep_clock_now_ns()),
            ("oversleep_clock_now_ordered_ns", oversleep_clock_now_ordered_ns()),
            ("oversleep_clock_coarse_ns", oversleep_clock_coarse_ns()),
            ("oversleep_clock_coarse_step_ns", oversleep_clock_coarse_step_ns()),
        ]
    });
    for (name, ns) in times {
        assert_eq!(ns, UNKNOWN_NS, "{name}");
        names.push(name);
    }
    assert_eq!(while_panicking(|| oversleep_abi_version()), 0);
    names.push("oversleep_abi_version");
    assert_eq!(while_panicking(|| oversleep_version()), 0);
    names.push("oversleep_version");

    // The handles still work. Nothing here is misuse, and nothing panics.
    // SAFETY: the handles are still alive.
    for (name, status) in unsafe { every_status(&handles) } {
        assert!(status as i32 >= 0, "{name}: {status:?}");
    }
    assert_eq!((oversleep_abi_version(), oversleep_version()), (ABI_VERSION, VERSION));

    let exported = SOURCES.iter().flat_map(|source| source.split("extern \"C\" fn ").skip(1));
    let mut exported: Vec<&str> = exported.map(|rest| rest.split('(').next().unwrap_or_default()).collect();
    exported.sort_unstable();
    names.sort_unstable();
    assert_eq!(names, exported, "every function is called exactly once");
}

/// Moves a handle into another thread, as C can.
struct Anywhere<T>(T);

// SAFETY: the tests check that the interface refuses what must not happen in another thread.
unsafe impl<T> Send for Anywhere<T> {}

impl<T> Anywhere<T> {
    fn elsewhere<R: Send>(self, call: impl FnOnce(T) -> R + Send) -> R {
        std::thread::scope(|scope| {
            let handle = self;
            scope.spawn(move || call({ handle }.0)).join().expect("nothing panics across the boundary")
        })
    }
}

#[test]
fn only_the_owning_thread_can_release() {
    // SAFETY: the handles are alive until the last lines.
    unsafe {
        let slack = made(|place| oversleep_timer_slack_hold_ns(3, place));
        let status = Anywhere(slack).elsewhere(|slack| oversleep_timer_slack_release(slack));
        assert_eq!(status, Status::WrongThread);
        let mut change = CHANGE;
        assert_eq!(oversleep_timer_slack_change(slack, &raw mut change), Status::Ok);

        let resolution = made(|place| oversleep_resolution_new(place));
        assert_eq!(oversleep_resolution_ask_timer_slack_ns(resolution, 4), Status::Ok);
        assert_eq!(oversleep_resolution_hold(resolution), Status::Ok);
        let statuses = Anywhere(resolution)
            .elsewhere(|resolution| [oversleep_resolution_release(resolution), oversleep_resolution_free(resolution)]);
        assert_eq!(statuses, [Status::WrongThread; 2]);
        // Any thread can query the outcome.
        let outcome = Anywhere(resolution).elsewhere(|resolution| {
            let mut change = CHANGE;
            assert_eq!(oversleep_resolution_change(resolution, 1, &raw mut change), Status::Ok);
            change.outcome
        });
        assert_ne!(outcome, Outcome::NotAsked);
        assert_eq!(oversleep_resolution_release(resolution), Status::Ok);
        // Nothing is held any more, so any thread may free it.
        assert_eq!(Anywhere(resolution).elsewhere(|resolution| oversleep_resolution_free(resolution)), Status::Ok);
        assert_eq!(oversleep_timer_slack_release(slack), Status::Ok);
    }
}

#[test]
fn a_concurrent_call_is_refused() {
    // SAFETY: the pacer is alive until the last line.
    unsafe {
        let pacer = made(|place| oversleep_pacer_new_every_ns(1_000_000, place));
        let meanwhile = crate::boundary::handle::with(pacer, |_| {
            Ok(Anywhere(pacer).elsewhere(|pacer| {
                [
                    oversleep_pacer_wait(pacer, null_mut()),
                    oversleep_pacer_poll(pacer, null_mut()),
                    oversleep_pacer_free(pacer),
                ]
            }))
        });
        assert_eq!(meanwhile, Ok([Status::InUse; 3]));
        assert_eq!(oversleep_pacer_wait(pacer, null_mut()), Status::Ok);
        assert_eq!(oversleep_pacer_free(pacer), Status::Ok);
    }
}

#[test]
fn a_structure_of_another_version_is_written_as_far_as_it_goes() {
    /// A caller's structure with a later header.
    #[repr(C)]
    struct Later {
        change: Change,
        member: u64,
    }
    let mut later = Later { change: CHANGE, member: 99 };
    later.change.size = size_of::<Later>();
    // SAFETY: the structure begins as the library knows it and is as large as it says; the handle is alive.
    unsafe {
        let slack = made(|place| oversleep_timer_slack_hold_ns(3, place));
        assert_eq!(oversleep_timer_slack_change(slack, (&raw mut later).cast()), Status::Ok);
        assert_eq!((later.member, later.change.size, later.change.reserved), (99, size_of::<Later>(), 0));
        // One that is too small, or was never prepared, is refused and stays as it is.
        for size in [0, size_of::<Change>() - 1] {
            let mut small = Change { size, ..CHANGE };
            assert_eq!(oversleep_timer_slack_change(slack, &raw mut small), Status::InvalidArgument);
            assert_eq!(small, Change { size, ..CHANGE });
        }
        assert_eq!(oversleep_timer_slack_release(slack), Status::Ok);
        let mut backoff = null_mut();
        let small = Limits { size: 8, ..LIMITS };
        assert_eq!(oversleep_backoff_new(&raw const small, &raw mut backoff), Status::InvalidArgument);
    }
}

#[test]
fn any_thread_unparks_while_another_is_parked() {
    // SAFETY: the parker is alive until the last line.
    unsafe {
        let parker = made(|place| oversleep_parker_new(place));
        let mut woken = Woken { size: size_of::<Woken>(), lateness_ns: 0 };
        std::thread::scope(|scope| {
            let unparking = Anywhere(parker);
            scope.spawn(move || oversleep_parker_unpark({ unparking }.0));
            assert_eq!(oversleep_parker_park_until_ns(parker, u64::MAX, &raw mut woken), Status::Ok);
        });
        assert_eq!(woken.lateness_ns, UNKNOWN_NS);
        let deadline_ns = oversleep_clock_now_ns() + 200_000;
        assert_eq!(oversleep_parker_park_until_ns(parker, deadline_ns, &raw mut woken), Status::Ok);
        assert!(oversleep_clock_now_ns() >= deadline_ns && woken.lateness_ns != UNKNOWN_NS);
        assert_eq!(oversleep_parker_free(parker), Status::Ok);
    }
}
