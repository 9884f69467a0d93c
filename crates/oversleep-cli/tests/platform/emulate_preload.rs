//! `emulate` where nobody may trace: functions of the C library keep to the machine's ticks, and do what their manual says.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::process::Command;

use super::emulate::{TIMES, compiled};
use super::emulate_refusals::CONTAINER;
use super::support::Home;

/// Each function 8 times with 1 ms; a line with the shortest of each and all together, in µs. Then what must be so.
const FUNCTIONS: &str = r#"
#include <semaphore.h>
#define SHOW(name, ...) do { long long least = INT64_MAX, first = now(1); \
    for (int i = 0; i < 8; i++) { \
        long long begun = now(1); __VA_ARGS__; long long took = now(1) - begun; if (took < least) least = took; } \
    printf("%s %lld %lld\n", name, least, now(1) - first); fflush(stdout); } while (0)
#define MUST(what) do { if (!(what)) printf("NOT SO: %s (errno %d)\n", #what, errno); fflush(stdout); } while (0)
static const struct timespec one = { 0, 1000000 }, past = { 1, 0 }, bad = { 0, 2000000000 };
static volatile int caught;
static void catch(int signal) { caught++; }
static sem_t semaphore;
static void *posts(void *none) { usleep(40000); sem_post(&semaphore); return 0; }
int main(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER, steady;
    pthread_condattr_t attributes;
    struct epoll_event found;
    int word = 1, many = epoll_create1(0);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&steady, &attributes);
    sem_init(&semaphore, 0, 0);
    pthread_mutex_lock(&mutex);
    SHOW("nanosleep", MUST(nanosleep(&one, 0) == 0));
    SHOW("usleep", MUST(usleep(1000) == 0));
    SHOW("clock_nanosleep", MUST(clock_nanosleep(0, 0, &one, 0) == 0));
    SHOW("until", { struct timespec end = at(1, 1000); MUST(clock_nanosleep(1, TIMER_ABSTIME, &end, 0) == 0); });
    SHOW("poll", MUST(poll(0, 0, 1) == 0));
    SHOW("ppoll", MUST(ppoll(0, 0, &one, 0) == 0));
    SHOW("select", { struct timeval t = { 0, 1000 }; MUST(select(0, 0, 0, 0, &t) == 0); });
    SHOW("pselect", { sigset_t none; sigemptyset(&none); MUST(pselect(0, 0, 0, 0, &one, &none) == 0); });
    SHOW("epoll_wait", MUST(epoll_wait(many, &found, 1, 1) == 0));
    SHOW("epoll_pwait", MUST(epoll_pwait(many, &found, 1, 1, 0) == 0));
    SHOW("futex", MUST(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &one, 0, 0) == -1 && errno == ETIMEDOUT));
    SHOW("condition", { struct timespec end = at(0, 1000); MUST(pthread_cond_timedwait(&cond, &mutex, &end) == ETIMEDOUT); });
    SHOW("steady", { struct timespec end = at(1, 1000); MUST(pthread_cond_timedwait(&steady, &mutex, &end) == ETIMEDOUT); });
    SHOW("clockwait", { struct timespec end = at(1, 1000); MUST(pthread_cond_clockwait(&cond, &mutex, 1, &end) == ETIMEDOUT); });
    SHOW("semaphore", { struct timespec end = at(0, 1000); MUST(sem_timedwait(&semaphore, &end) == -1 && errno == ETIMEDOUT); });
    MUST(nanosleep(&bad, 0) == -1 && errno == EINVAL);
    MUST(clock_nanosleep(1, 0, &bad, 0) == EINVAL);
    MUST(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &one, 0) == EINVAL);
    MUST(clock_nanosleep(1, TIMER_ABSTIME, &past, 0) == 0);
    MUST(pthread_cond_timedwait(&cond, &mutex, &past) == ETIMEDOUT);
    MUST(sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
    MUST(syscall(SYS_getppid) == getppid());
    MUST(syscall(SYS_close, -1) == -1 && errno == EBADF);
    MUST(epoll_wait(-1, &found, 1, 1) == -1 && errno == EBADF);
    MUST(one.tv_nsec == 1000000);
    int pair[2];
    pipe(pair);
    struct pollfd ready = { pair[1], POLLOUT };
    MUST(poll(&ready, 1, 1000) == 1 && ready.revents == POLLOUT);
    pthread_t other;
    pthread_create(&other, 0, posts, 0);
    struct timespec end = at(0, 86400000000);
    MUST(sem_timedwait(&semaphore, &end) == 0);
    pthread_join(other, 0);
    struct sigaction action = { .sa_handler = catch };
    sigaction(SIGALRM, &action, 0);
    struct timespec day = { 86400, 0 }, left = { 0, 0 };
    long long begun = now(1);
    ualarm(50000, 50000);
    MUST(nanosleep(&day, &left) == -1 && errno == EINTR);
    ualarm(0, 0);
    MUST(86400000000LL - left.tv_sec * 1000000LL - left.tv_nsec / 1000 <= now(1) - begun + 1);
    fflush(stdout);
    if (fork() == 0) { long long begun = now(1); for (int i = 0; i < 4; i++) nanosleep(&one, 0); _exit(now(1) - begun > 40000 ? 3 : 4); }
    int status;
    wait(&status);
    MUST(WEXITSTATUS(status) == 3);
}
"#;

#[test]
fn functions_of_the_c_library_wait_for_ticks_where_nobody_may_trace() {
    let home = Home::new();
    let Some(container) = compiled(&home, CONTAINER, &["-w"]) else { return };
    let apart = Home::new();
    let Some(program) = compiled(&apart, &[TIMES, FUNCTIONS].concat(), &["-w", "-pthread"]) else { return };
    let own = home.command().get_program().to_string_lossy().into_owned();
    let words = [&own, "emulate", "windows-10-1909", "--summary", "--", &program];
    let output = Command::new(&container).args(words).output().expect("it starts");
    if output.status.code() == Some(9) {
        return oversleep_testing::skip("no filters here");
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && !text.contains("NOT SO"), "{output:?}");
    assert_eq!(text.lines().count(), 15, "{text}");
    for line in text.lines() {
        let [_, least, all] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let [least, all] = [least, all].map(|number| number.parse::<i64>().expect("µs"));
        // The clock reads whole µs, twice. Waits that follow one another end at different ticks, except those of a
        // deadline that passed before its call.
        assert!(least >= 998 && all >= 4 * 15_625, "{text}");
    }
    // What it starts is reached, too, and ends as it does alone.
    let shell = [&own, "emulate", "windows-10-1909", "--", "sh", "-c", "sleep 0.001; exit 7"];
    let output = Command::new(&container).args(shell).output().expect("it starts");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
}
