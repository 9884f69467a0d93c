//! Handles in the wrong thread, in two threads at once, and structures of other versions.

use std::ptr::null_mut;

use super::*;

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
fn slices_are_released_in_any_order_by_their_own_thread() {
    let mut before_ns = 0;
    // SAFETY: the handles are alive until the last lines.
    unsafe {
        let is_known = oversleep_time_slice_current_ns(&raw mut before_ns) == Status::Ok;
        let first = made(|place| oversleep_time_slice_hold_ns(400_000, place));
        let second = made(|place| oversleep_time_slice_hold_ns(100_000, place));
        let status = Anywhere(first).elsewhere(|first| oversleep_time_slice_release(first));
        assert_eq!(status, Status::WrongThread);
        let mut now_ns = 0;
        for held in [first, second] {
            assert_eq!(oversleep_time_slice_current_ns(&raw mut now_ns) == Status::Ok, is_known);
            assert!(!is_known || now_ns <= 100_000, "{now_ns}");
            assert_eq!(oversleep_time_slice_release(held), Status::Ok);
        }
        assert_eq!(oversleep_time_slice_current_ns(&raw mut now_ns) == Status::Ok, is_known);
        assert!(!is_known || now_ns == before_ns);
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
