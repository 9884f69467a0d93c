//! Every refusal is an outcome, and the clock keeps working: with a seccomp filter as in containers, and without
//! privileges.
//!
//! A filter and a user belong to a thread and can't be undone, and the clock is chosen once per process, so each test
//! has its own process.

use std::time::Duration;

use oversleep::clock::{Clock, Reason, Source, monotonic_ns};
use oversleep::resolution::What;
use oversleep::{Denied, Instant, Outcome, Resolution, Sleeper, TimerSlack, Why};
use oversleep_testing::skip;

use super::child::{child, is_child};
use super::filter::filter;

/// Makes each of these calls fail with `errno` for the rest of the calling thread's life. False, and the test is skipped,
/// if the thread can't filter itself.
#[track_caller]
fn forbid(calls: &[libc::c_long], errno: i32) -> bool {
    is_filtered(calls, libc::SECCOMP_RET_ERRNO | errno as u32)
}

#[track_caller]
fn is_filtered(calls: &[libc::c_long], action: u32) -> bool {
    let is_filtered = filter(calls, action);
    if !is_filtered {
        skip("a thread can't filter its calls (a kernel without seccomp, or an emulator)");
    }
    is_filtered
}

/// Runs `body` in a child process that is the test of this name.
fn alone(test: &str, body: impl FnOnce()) {
    if is_child() {
        return body();
    }
    let output = child(&format!("refused::{test}")).output().expect("the test can start itself");
    let stdout = String::from_utf8_lossy(&output.stdout);
    // With a wrong name no test would run, and none would fail.
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
}

fn is_refusal(denied: &Denied, of: &str, by: i32) -> bool {
    matches!(denied.why, Why::Forbidden { call, errno } if call.contains(of) && errno == by) && !denied.how.is_empty()
}

fn is_refused<T>(outcome: &Outcome<T>, of: &str, by: i32) -> bool {
    outcome.denied().is_some_and(|denied| is_refusal(denied, of, by))
}

/// Sleeps of a millisecond never end before their deadline by the system's clock, whatever is refused.
fn sleeps_on_time() {
    let mut sleeper = Sleeper::new();
    (0..5).for_each(|_| _ = sleeps_once_on_time(&mut sleeper));
}

fn sleeps_once_on_time(sleeper: &mut Sleeper) -> Option<Outcome<Duration>> {
    let deadline = Instant::now() + Duration::from_millis(1);
    let slack = sleeper.sleep_until(deadline).slack;
    assert!(monotonic_ns() >= deadline.as_nanos() && Instant::now() >= deadline);
    slack
}

/// The slack of a sleep that waited. One whose thread loses its processor for too long doesn't wait, and the next one is
/// tried.
fn slack_of_a_wait() -> Outcome<Duration> {
    let mut sleeper = Sleeper::new();
    loop {
        if let Some(slack) = sleeps_once_on_time(&mut sleeper) {
            return slack;
        }
    }
}

#[test]
fn without_prctl_the_slack_stays_and_the_outcome_says_so() {
    alone("without_prctl_the_slack_stays_and_the_outcome_says_so", || {
        for errno in [libc::EPERM, libc::ENOSYS] {
            std::thread::spawn(move || {
                if !forbid(&[libc::SYS_prctl], errno) {
                    return;
                }
                assert!(TimerSlack::current().is_err_and(|denied| is_refusal(&denied, "prctl", errno)));
                assert!(is_refused(TimerSlack::hold(Duration::from_nanos(1)).outcome(), "prctl", errno));
                let held = Resolution::harmless().hold();
                assert!(is_refused(held.outcome(What::TimerSlack).expect("requested"), "prctl", errno));
                assert!(is_refused(&slack_of_a_wait(), "prctl", errno));
                // Whether the counter may be read can't be queried either, and that must not reject it.
                assert!(Clock::why().rejected.iter().all(|&(_, reason)| reason != Reason::ReadForbidden));
            })
            .join()
            .unwrap();
        }
    });
}

#[test]
fn without_the_usual_wait_another_one_is_used() {
    alone("without_the_usual_wait_another_one_is_used", || {
        if forbid(&[libc::SYS_clock_nanosleep, libc::SYS_nanosleep], libc::EPERM) {
            sleeps_on_time();
            oversleep::sleep(Duration::from_millis(1));
        }
    });
}

#[test]
fn without_any_wait_sleeps_still_end_on_time() {
    alone("without_any_wait_sleeps_still_end_on_time", || {
        if forbid(&[libc::SYS_clock_nanosleep, libc::SYS_nanosleep, libc::SYS_ppoll], libc::ENOSYS) {
            sleeps_on_time();
        }
    });
}

#[test]
fn an_unverifiable_counter_is_not_used() {
    alone("an_unverifiable_counter_is_not_used", || {
        // The kernel's clock source can't be read, and the cores can't be compared.
        let calls = [libc::SYS_openat, libc::SYS_sched_setaffinity, libc::SYS_sched_getaffinity];
        if !forbid(&calls, libc::EACCES) {
            return;
        }
        let choice = Clock::why();
        assert_eq!(choice.source, Source::Os, "{choice}");
        let doubts = [Reason::Unverifiable, Reason::InvariantTscMissing];
        assert!(choice.rejected.iter().any(|(_, reason)| doubts.contains(reason)), "{choice}");
        sleeps_on_time();
    });
}

/// Reads the clock past several of its lines, and past two questions to the kernel if it asks any.
fn reads_for_a_second() {
    let (mut last, until_ns) = (Clock::now(), monotonic_ns() + 1_000_000_000);
    while monotonic_ns() < until_ns {
        let now = Clock::now();
        assert!(now >= last);
        last = now;
    }
}

#[test]
fn a_sandbox_after_the_first_use_is_noticed() {
    alone("a_sandbox_after_the_first_use_is_noticed", || {
        Clock::now();
        if is_filtered(&[libc::SYS_openat], libc::SECCOMP_RET_KILL_PROCESS) {
            reads_for_a_second();
        }
    });
}

#[test]
fn a_sandbox_that_ends_the_process_finds_no_forbidden_call() {
    alone("a_sandbox_that_ends_the_process_finds_no_forbidden_call", || {
        Clock::before_sandbox();
        let calls = [libc::SYS_openat, libc::SYS_prctl, libc::SYS_read, libc::SYS_close];
        if is_filtered(&calls, libc::SECCOMP_RET_KILL_PROCESS) {
            reads_for_a_second();
            // SAFETY: ends the process at once, without the calls that its usual end makes.
            unsafe {
                libc::write(1, c"1 passed".as_ptr().cast(), 8);
                libc::_exit(0);
            }
        }
    });
}

#[test]
fn a_faked_change_is_detected() {
    alone("a_faked_change_is_detected", || {
        // Some sandboxes report success and do nothing.
        if !forbid(&[libc::SYS_sched_setscheduler], 0) {
            return;
        }
        let held = Resolution::new().real_time(5).hold();
        let outcome = held.outcome(What::RealTime).expect("requested");
        let Some(denied) = outcome.denied() else { panic!("{outcome}") };
        assert_eq!(denied.why, Why::Ignored { call: "sched_setscheduler" });
        assert!(!denied.how.is_empty());
    });
}

#[test]
fn without_privileges_real_time_is_refused_and_the_rest_works() {
    alone("without_privileges_real_time_is_refused_and_the_rest_works", || {
        const NOBODY: libc::c_long = 65_534;
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the limit is valid for the call. The raw call changes only this thread's user, and drops its
        // privileges.
        // https://man7.org/linux/man-pages/man2/setresuid.2.html
        unsafe {
            libc::setrlimit(libc::RLIMIT_RTPRIO, &raw const none);
            libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY);
        }
        let held = Resolution::harmless().real_time(1).cpu_latency(Duration::from_micros(10)).hold();
        let outcome = |what| held.outcome(what).expect("requested");
        assert!(is_refused(outcome(What::RealTime), "sched_setscheduler", libc::EPERM), "{held:?}");
        // Some systems let ordinary users open the device, others don't have it.
        let latency = outcome(What::CpuLatency);
        assert!(latency.denied().is_none_or(|denied| !denied.how.is_empty()), "{latency}");
        assert!(outcome(What::TimerSlack).holds());
        assert!(slack_of_a_wait().holds());
        assert!(Clock::now_ordered() <= Clock::now_ordered());
    });
}
