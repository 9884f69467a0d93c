//! What C programs can't provoke at will: panics inside every function, and in `handles` handles used in the wrong thread.

mod handles;

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
use crate::slice::*;
use crate::status::{Status, oversleep_status_text};
use crate::thread::*;
use crate::{ABI_VERSION, UNKNOWN_NS, VERSION, oversleep_abi_version, oversleep_version};

/// Every source file that exports functions.
const SOURCES: &[&str] = &[
    include_str!("../version.rs"),
    include_str!("../status.rs"),
    include_str!("../clock.rs"),
    include_str!("../sleep.rs"),
    include_str!("../pacer.rs"),
    include_str!("../park.rs"),
    include_str!("../backoff.rs"),
    include_str!("../thread.rs"),
    include_str!("../slack.rs"),
    include_str!("../slice.rs"),
    include_str!("../resolution.rs"),
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
    let Handles { sleeper, pacer, parker, backoff, thread, slack, slice, resolution } = *handles;
    let mut faults =
        Faults { size: size_of::<Faults>(), is_demoted: 0, reserved: 7, suspected: 0, backward: 0, backward_max_ns: 0 };
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
        oversleep_clock_faults(&raw mut faults);
        oversleep_clock_before_sandbox();
        oversleep_boot_wait_until_ns(1, number);
        oversleep_sleep_ns(1_000);
        oversleep_sleep_until_ns(1);
        oversleep_sleeper_set_budget_ns(sleeper, 10_000);
        oversleep_sleeper_set_price(sleeper, 5);
        oversleep_sleeper_sleep_ns(sleeper, 1_000, null_mut());
        oversleep_sleeper_sleep_until_ns(sleeper, 1, null_mut());
        oversleep_pacer_set_start_ns(pacer, 0);
        oversleep_pacer_set_missed(pacer, Missed::Skip as i32);
        oversleep_pacer_set_catch_up_max(pacer, 5);
        oversleep_pacer_set_budget_ns(pacer, 10_000);
        oversleep_pacer_wait(pacer, null_mut());
        oversleep_pacer_poll(pacer, null_mut());
        oversleep_pacer_next_deadline_ns(pacer, number);
        oversleep_pacer_deadline_of_ns(pacer, 5, number);
        oversleep_pacer_missed(pacer, number);
        oversleep_parker_unpark(parker);
        oversleep_parker_park(parker);
        oversleep_parker_park_until_ns(parker, 1, null_mut());
        oversleep_parker_park_timeout_ns(parker, 1_000, null_mut());
        oversleep_backoff_default_limits(&raw mut limits);
        oversleep_backoff_idle(backoff, null_mut());
        oversleep_backoff_idle_on(backoff, parker, null_mut());
        oversleep_backoff_reset(backoff);
        oversleep_backoff_park_lateness_ns(backoff, number);
        oversleep_thread_unpark(thread);
        oversleep_timer_slack_current_ns(number);
        oversleep_timer_slack_why(text, 600, length);
        oversleep_timer_slack_change(slack, &raw mut change);
        oversleep_timer_slack_text(slack, text, 600, length);
        oversleep_time_slice_current_ns(number);
        oversleep_time_slice_why(text, 600, length);
        oversleep_time_slice_change(slice, &raw mut change);
        oversleep_time_slice_text(slice, text, 600, length);
        oversleep_resolution_ask_harmless(resolution);
        oversleep_resolution_ask_timer_slack_ns(resolution, 5);
        oversleep_resolution_ask_timer_ns(resolution, 1_000_000);
        oversleep_resolution_ask_real_time(resolution, 1);
        oversleep_resolution_ask_real_time_every_ns(resolution, 1, 1_000_000);
        oversleep_resolution_ask_time_slice_ns(resolution, 200_000);
        oversleep_resolution_ask_multimedia(resolution);
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
        oversleep_time_slice_release(slice);
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
    slice: *mut TimeSlice,
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
                slice: made(|place| oversleep_time_slice_hold_ns(200_000, place)),
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
            ("oversleep_time_slice_hold_ns", attempt(|place| oversleep_time_slice_hold_ns(1, place))),
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
            ("oversleep_boot_now_ns", oversleep_boot_now_ns()),
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
