//! `emulate`: when armed timers end, as the kernel says itself. So a busy machine changes nothing.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use super::emulate::{TIMES, compiled, emulated};
use super::support::Home;

/// Each line: a timer, when before and after it was armed, the bounds of when it will end, and its interval, in ns.
const TIMERS: &str = r#"
enum { ITIMER = -1, POSIX = -2 };
static long long ns(int id) { struct timespec t; clock_gettime(id, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
static long long in_ns(struct timespec t) { return t.tv_sec * 1000000000LL + t.tv_nsec; }
static long long of_us(struct timeval t) { return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL; }
static void show(const char *name, int fd, timer_t timer, long long armed) {
    long long is_armed = ns(1), least = 0, most = INT64_MAX, interval = 0;
    usleep(40000); /* What is left is at most what was requested, and a timer is armed for up to two ticks more. */
    for (int i = 0; i < 50; i++) {
        struct itimerspec left;
        struct itimerval left_us;
        long long before = ns(1);
        if (fd >= 0) timerfd_gettime(fd, &left); else if (fd == POSIX) timer_gettime(timer, &left); else getitimer(ITIMER_REAL, &left_us);
        long long after = ns(1), rest = fd != ITIMER ? in_ns(left.it_value) : of_us(left_us.it_value);
        interval = fd != ITIMER ? in_ns(left.it_interval) : of_us(left_us.it_interval);
        if (before + rest > least) least = before + rest;
        if (after + rest < most) most = after + rest;
    }
    printf("%s %lld %lld %lld %lld %lld\n", name, armed, is_armed, least, most, interval);
}
static struct itimerspec spec(long long interval_ms, struct timespec value) {
    return (struct itimerspec){ { 0, interval_ms * 1000000 }, value };
}
int main(void) {
    struct timespec hour = { 3600, 0 }, later = { 18000, 0 };
    signal(SIGALRM, SIG_IGN);
    int spans = timerfd_create(CLOCK_MONOTONIC, 0), of_day = timerfd_create(CLOCK_REALTIME, 0);
    long long armed = ns(1);
    struct itimerspec span = spec(20, later);
    timerfd_settime(spans, 0, &span, 0);
    show("timerfd", spans, 0, armed);
    long long spans_armed = armed;
    for (long long ms = 3600000; ms <= 3600032; ms += 8) {
        armed = ns(1);
        struct itimerspec until = spec(0, at(CLOCK_REALTIME, ms * 1000));
        timerfd_settime(of_day, TFD_TIMER_ABSTIME, &until, 0);
        show("of-day", of_day, 0, armed);
    }
    armed = ns(1);
    struct itimerval once = { { 0, 0 }, { 3600, 0 } }, often = { { 0, 40000 }, { 3600, 0 } };
    setitimer(ITIMER_REAL, &once, 0);
    show("setitimer", ITIMER, 0, armed);
    armed = ns(1);
    setitimer(ITIMER_REAL, &often, 0);
    show("setitimer-40", ITIMER, 0, armed);
    armed = ns(1);
    alarm(3600);
    show("alarm", ITIMER, 0, armed);
    timer_t posix;
    struct sigevent event = { .sigev_notify = SIGEV_NONE };
    timer_create(CLOCK_MONOTONIC, &event, &posix);
    armed = ns(1);
    struct itimerspec fifty = spec(50, hour);
    timer_settime(posix, 0, &fifty, 0);
    show("timer", POSIX, posix, armed);

    /* Another resolution is for what is armed from now on. */
    prctl(0x6f767352, 1000000);
    show("timerfd-still", spans, 0, spans_armed);
    armed = ns(1);
    timerfd_settime(of_day, 0, &span, 0);
    show("timerfd-then", of_day, 0, armed);
}
"#;

const TICK: i64 = 15_625_000;

struct Timer {
    name: String,
    armed: [i64; 2],
    ends: [i64; 2],
    interval: i64,
}

#[test]
fn timers_are_armed_for_ticks_and_stay_so() {
    let home = Home::new();
    let Some(program) = compiled(&home, &[TIMES, TIMERS].concat(), &["-w"]) else { return };
    let Some(output) = emulated(&home, &[], &[&program]) else { return };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let timer = |line: &str| {
        let (name, numbers) = line.split_once(' ')?;
        let numbers: Vec<i64> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
        let [before, after, least, most, interval] = numbers[..] else { return None };
        Some(Timer { name: name.to_owned(), armed: [before, after], ends: [least, most], interval })
    };
    let timers: Vec<Timer> = text.lines().filter_map(timer).collect();
    assert_eq!(timers.len(), 12, "{text}");
    let find = |name: &str| timers.iter().find(|timer| timer.name == name).expect("a timer");
    // Timers are armed for whole ticks, but show the interval that was requested, as natively.
    for (name, ms) in [("timerfd", 20), ("setitimer", 0), ("setitimer-40", 40), ("timer", 50), ("timerfd-then", 20)] {
        assert_eq!(find(name).interval, ms * 1_000_000, "{name}: {text}");
    }
    // All ends are on one grid. Some calls take µs, and this machine's clocks drift a little.
    let [first, still] = ["timerfd", "timerfd-still"].map(|name| find(name).ends);
    assert!(still[0] <= first[1] + 1_000 && first[0] <= still[1] + 1_000, "an armed timer stays: {text}");
    for timer in timers.iter().filter(|timer| timer.name != "timerfd-then") {
        let apart = (timer.ends[0] - first[0]).rem_euclid(TICK);
        let apart = apart.min(TICK - apart);
        // The kernel arms some for a span only, and other clocks are read beside that of the ticks, so what holds up the
        // call itself may shift any of them.
        let held_up = timer.armed[1] - timer.armed[0];
        let unsure = timer.ends[1] - timer.ends[0] + first[1] - first[0] + held_up;
        assert!(apart <= unsure.abs() + 5_000, "{} is {apart} ns off the grid: {text}", timer.name);
    }
    // None is early, and none is armed for later than the tick after the next.
    for (name, requested_s) in [("timerfd", 18_000), ("setitimer", 3_600), ("alarm", 3_600), ("timer", 3_600)] {
        let Timer { armed, ends, .. } = find(name);
        let late = [1, 0].map(|bound| ends[bound] - armed[1 - bound] - requested_s * 1_000_000_000);
        assert!(late[0] >= 0 && late[1] < 2 * TICK, "{name} is {late:?} ns late: {text}");
    }
}
