//! Counts the calls that a sleep makes for the thread's timer slack, and those of a thread that doesn't sleep. A filter
//! hands each `prctl` to a signal handler, which counts it and answers as the kernel would.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use oversleep::{Clock, Sleeper, TimerSlack};

use super::child::{child, is_child};
use super::filter::filter;

static SLACK_NS: AtomicI64 = AtomicI64::new(50_000);
static GETS: AtomicU64 = AtomicU64::new(0);
static SETS: AtomicU64 = AtomicU64::new(0);

#[cfg(target_arch = "x86_64")]
fn registers(context: &mut libc::ucontext_t) -> [&mut i64; 3] {
    let registers = &mut context.uc_mcontext.gregs;
    let all = [libc::REG_RDI as usize, libc::REG_RSI as usize, libc::REG_RAX as usize];
    registers.get_disjoint_mut(all).expect("three registers")
}

#[cfg(target_arch = "aarch64")]
fn registers(context: &mut libc::ucontext_t) -> [&mut i64; 3] {
    // The result replaces the first argument, so the first is copied.
    let [option, value, result] = context.uc_mcontext.regs.get_disjoint_mut([0, 1, 2]).expect("three registers");
    *result = *option;
    // SAFETY: the registers are numbers of the same size.
    unsafe { std::mem::transmute([result, value, option]) }
}

extern "C" fn answer(_signal: libc::c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the interrupted thread's registers, which are written back on return.
    // https://man7.org/linux/man-pages/man2/sigaction.2.html
    let [option, value, result] = registers(unsafe { &mut *context.cast::<libc::ucontext_t>() });
    *result = match *option as libc::c_int {
        libc::PR_GET_TIMERSLACK => {
            GETS.fetch_add(1, Relaxed);
            SLACK_NS.load(Relaxed)
        }
        libc::PR_SET_TIMERSLACK => {
            SETS.fetch_add(1, Relaxed);
            SLACK_NS.store(*value, Relaxed);
            0
        }
        // Pretends that a filter exists.
        libc::PR_GET_SECCOMP => 2,
        _ => 0,
    };
}

/// Makes this thread's `prctl` calls, and those of threads that it starts, go to `answer`.
fn answers() -> bool {
    // SAFETY: the handler only uses atomics and the registers, and lives as long as the program.
    // https://man7.org/linux/man-pages/man2/sigaction.2.html
    let is_set = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = answer as extern "C" fn(_, _, _) as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGSYS, &raw const action, std::ptr::null_mut()) == 0
    };
    is_set && filter(&[libc::SYS_prctl], libc::SECCOMP_RET_TRAP)
}

/// The calls that `body` makes: reads of the slack, and changes.
fn calls(body: impl FnOnce()) -> (u64, u64) {
    let before = (GETS.load(Relaxed), SETS.load(Relaxed));
    body();
    (GETS.load(Relaxed) - before.0, SETS.load(Relaxed) - before.1)
}

#[test]
fn a_sleep_changes_the_slack_once_and_restores_it_and_other_threads_make_no_call() {
    if !is_child() {
        let test = "slack_calls::a_sleep_changes_the_slack_once_and_restores_it_and_other_threads_make_no_call";
        let output = child(test).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        return assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
    }
    if !answers() {
        return oversleep_testing::skip("a thread can't filter its calls");
    }
    let no_sleep = calls(|| {
        let threads = [(); 8].map(|()| std::thread::spawn(|| (0..1_000).map(|_| Clock::now()).max()));
        threads.into_iter().for_each(|thread| _ = thread.join().unwrap());
    });
    assert_eq!(no_sleep, (0, 0), "threads that don't sleep");

    const SLEEPS: u64 = 50;
    let sleep = || (0..SLEEPS).for_each(|_| oversleep::sleep(Duration::from_micros(300)));
    // On a busy machine a sleep may begin too late to wait, or even all of them.
    while SETS.load(Relaxed) == 0 {
        let (gets, sets) = calls(sleep);
        assert!(sets <= 2 * SLEEPS && gets <= SLEEPS, "{gets} reads and {sets} changes in {SLEEPS} sleeps");
    }
    assert_eq!(SLACK_NS.load(Relaxed), 50_000, "it is restored");
    let (gets, sets) = calls(|| (0..SLEEPS).for_each(|_| _ = Sleeper::new().sleep(Duration::from_micros(300))));
    assert!(sets <= 2 * SLEEPS && gets <= SLEEPS, "{gets} reads and {sets} changes with sleepers");

    SLACK_NS.store(1, Relaxed);
    let (gets, sets) = calls(sleep);
    assert!(sets == 0 && gets <= SLEEPS, "{gets} reads and {sets} changes if the slack is 1 ns already");

    SLACK_NS.store(50_000, Relaxed);
    let held = TimerSlack::hold(Duration::from_nanos(1));
    assert_eq!(calls(sleep), (0, 0), "in a thread that holds a slack of 1 ns");
    drop(held);
    assert_eq!(SLACK_NS.load(Relaxed), 50_000);
}
