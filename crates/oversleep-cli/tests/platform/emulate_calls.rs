//! `emulate`: calls that runtimes rarely make. No wait ends early, and the report names each.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use super::emulate::{TIMES, allowed, compiled, emulated};
use super::support::Home;

/// Each line: the call, its request and its duration, in µs. A deadline on the time of day is timed by that clock.
const CALLS: &str = r#"
#define SHOW_BY(clock, call, us, ...) do { long long begun = now(clock); __VA_ARGS__; \
    printf("%s %lld %lld\n", call, (long long)(us), now(clock) - begun); fflush(stdout); } while (0)
#define SHOW(call, us, ...) SHOW_BY(1, call, us, __VA_ARGS__)

int main(void) {
    int pair[2];
    char byte;
    uint64_t count;
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    struct timeval short_time = { 0, 3000 };
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &short_time, sizeof short_time);
    SHOW("recvfrom", 3000, recv(pair[0], &byte, 1, 0));
    /* Blocked and waited for, so that one that comes before its wait is not lost. */
    sigset_t alarms;
    int got;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarms, 0);
    struct itimerval once = { { 0, 0 }, { 0, 4000 } };
    SHOW("setitimer", 4000, { setitimer(ITIMER_REAL, &once, 0); sigwait(&alarms, &got); });
    SHOW("alarm", 1000000, { alarm(1); sigwait(&alarms, &got); });
    int timer = timerfd_create(CLOCK_REALTIME, 0);
    SHOW_BY(0, "timerfd_settime", 5000, { struct itimerspec of_day = { { 0, 0 }, at(0, 5000) }; timerfd_settime(timer, TFD_TIMER_ABSTIME, &of_day, 0); read(timer, &count, 8); });
    /* A period that is no multiple of a tick, armed anew while it runs. */
    struct itimerspec period = { { 0, 20000000 }, { 0, 20000000 } }, other = { { 0, 7000000 }, { 0, 7000000 } };
    SHOW("timerfd_settime", 60000, { timerfd_settime(timer, 0, &period, 0); for (int i = 0; i < 3;) { read(timer, &count, 8); i += count; } });
    SHOW("timerfd_settime", 7000, { timerfd_settime(timer, 0, &other, 0); read(timer, &count, 8); });
    timer_t posix;
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
    timer_create(CLOCK_MONOTONIC, &event, &posix);
    struct itimerspec in_6 = { { 0, 0 }, { 0, 6000000 } };
    SHOW("timer_settime", 6000, { timer_settime(posix, 0, &in_6, 0); sigwait(&alarms, &got); });
    struct timespec two = { 0, 2000000 };
    sigset_t usr;
    sigemptyset(&usr);
    sigaddset(&usr, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr, 0);
    SHOW("rt_sigtimedwait", 2000, sigtimedwait(&usr, 0, &two));
    struct timespec left = two;
    SHOW("pselect6", 2000, pselect(0, 0, 0, 0, &left, 0));
    struct timeval rest = { 0, 2000 };
    SHOW("select", 2000, syscall(SYS_select, 0, 0, 0, 0, &rest));
    if (rest.tv_sec || rest.tv_usec) puts("select left time");
    SHOW("ppoll", 2000, ppoll(0, 0, &two, 0));
    SHOW("poll", 2000, poll(0, 0, 2));
    int many = epoll_create1(0);
    struct epoll_event found;
    SHOW("epoll_wait", 2000, epoll_wait(many, &found, 1, 2));
    SHOW("clock_nanosleep", 2000, { struct timespec end = at(1, 2000); clock_nanosleep(1, TIMER_ABSTIME, &end, 0); });
    SHOW_BY(0, "clock_nanosleep", 2000, { struct timespec end = at(0, 2000); clock_nanosleep(0, TIMER_ABSTIME, &end, 0); });
    printf("io_uring_setup %d\n", syscall(SYS_io_uring_setup, 1, 0) == -1 && errno == ENOSYS);
}
"#;

#[test]
fn no_call_ends_early_and_the_report_names_each() {
    let home = Home::new();
    let Some(program) = compiled(&home, &[TIMES, CALLS].concat(), &["-w"]) else { return };
    let Some(output) = emulated(&home, &["--out", "calls.json"], &[&program]) else { return };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.ends_with("io_uring_setup 1\n") && !text.contains("left time"), "{text}");
    let report = std::fs::read_to_string(home.path().join("calls.json")).expect("a report");
    let mut count = 0;
    for line in text.lines() {
        let [call, requested, took] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let [requested, took] = [requested, took].map(|number| number.parse::<i64>().expect("µs"));
        // Three periods of 20 ms are three periods of one tick each there: a periodic timer is rounded to whole ticks.
        let least = if requested == 60_000 { 3 * 15_625 } else { requested };
        // The clock reads whole µs, twice.
        assert!(took >= least - 2, "{line}");
        // They end within two ticks of the modelled machine's, but a busy machine comes later.
        assert!(report.contains(&format!("\"call\": \"{call}\"")), "{call}: {report}");
        count += 1;
    }
    assert_eq!(count, 15, "{text}");
    assert!(report.contains("io_uring"), "{report}");
    // One that is longer than a tick and rounded expires at another rate; a shorter one expires at each tick there, too.
    assert_eq!(report.matches("the interval of a timer is rounded").count(), 1, "{report}");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let rounded = report["passed_by"].as_array().into_iter().flatten().find(|one| one["call"] == "timerfd_settime");
    assert_eq!(rounded.map(|rounded| &rounded["count"]), Some(&1.into()), "{report}");
}

#[test]
fn the_machine_of_a_result_is_emulated() {
    let home = Home::new();
    let result = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/golden/v2/everything.json");
    let mut command = home.command();
    let output =
        command.args(["emulate", "--like", result, "--summary", "--", "sleep", "0.001"]).output().expect("it starts");
    let Some(output) = allowed("sleep", output) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && stderr.contains("emulated like ") && stderr.contains("count 1"), "{stderr}");
}
