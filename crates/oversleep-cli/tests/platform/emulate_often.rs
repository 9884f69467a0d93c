//! `emulate`: waits that are so frequent that they no longer stop. They follow the machine's rules, and the calls
//! otherwise behave as usual.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use super::emulate::{TIMES, compiled, emulated};
use super::support::Home;

/// Makes each call often with 1 ms, and prints how often, the shortest and all together in µs. Then tries the other ways in
/// which a wait ends; each deviation from the manual is a separate line.
const OFTEN: &str = r#"
#define REPEAT(name, times, ...) do { long long least = INT64_MAX, first = now(1); \
    for (int i = 0; i < times; i++) { \
        long long begun = now(1); __VA_ARGS__; long long took = now(1) - begun; if (took < least) least = took; } \
    printf("%s %d %lld %lld\n", name, times, least, now(1) - first); fflush(stdout); } while (0)
#define OFTEN(name, ...) REPEAT(name, 60, __VA_ARGS__)
#define MUST(what) do { if (!(what)) printf("NOT SO: %s (errno %d)\n", #what, errno); fflush(stdout); } while (0)

static int word = 1, rounds;
static volatile int has_slept;
static void catch(int signal) {}
static const struct timespec one = { 0, 1000000 }, day = { 86400, 0 };
static void *parked(void *none) { return (void *)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0); }
static void *sleeper(void *left) { long slept = nanosleep(&day, left); has_slept = 1; return (void *)slept; }
static void *sleeps(void *none) { for (int i = 0; i < 40; i++) nanosleep(&one, 0); return 0; }

int main(void) {
    int word2 = 1;
    prctl(0x6f767352, 2000000);
    MUST(nanosleep((void *)8, 0) == -1 && errno == EFAULT);
    char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page + 4096, 4096, PROT_NONE);
    /* A thread that is in the call while its place is replaced. */
    pthread_t early;
    pthread_create(&early, 0, parked, 0);
    usleep(20000);
    OFTEN("clock_nanosleep", nanosleep(&one, 0));
    OFTEN("clock_nanosleep", { struct timespec end = at(1, 1000); clock_nanosleep(1, TIMER_ABSTIME, &end, 0); });
    OFTEN("clock_nanosleep", { struct timespec end = at(0, 1000); clock_nanosleep(0, TIMER_ABSTIME, &end, 0); });
    OFTEN("futex", syscall(SYS_futex, &word2, FUTEX_WAIT_PRIVATE, 1, &one, 0, 0));
    OFTEN("futex", { struct timespec end = at(1, 1000); syscall(SYS_futex, &word2, FUTEX_WAIT_BITSET_PRIVATE, 1, &end, 0, -1); });
    OFTEN("futex", { struct timespec end = at(0, 1000); syscall(SYS_futex, &word2, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 1, &end, 0, -1); });
    /* Operations that the kernel doesn't have. */
    MUST(syscall(SYS_futex, &word2, FUTEX_WAIT | FUTEX_CLOCK_REALTIME, 1, &one, 0, 0) == -1 && errno == ENOSYS);
    MUST(syscall(SYS_futex, &word2, FUTEX_WAIT | 512, 1, &one, 0, 0) == -1 && errno == ENOSYS);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    OFTEN("futex", { struct timespec end = at(0, 1000); pthread_cond_timedwait(&cond, &mutex, &end); });
    OFTEN("poll", poll(0, 0, 1));
    OFTEN("ppoll", ppoll(0, 0, &one, 0));
    OFTEN("select", { struct timeval t = { 0, 1000 }; syscall(SYS_select, 0, 0, 0, 0, &t); });
    OFTEN("pselect6", { struct timeval t = { 0, 1000 }; select(0, 0, 0, 0, &t); });
    int many = epoll_create1(0);
    struct epoll_event found;
    OFTEN("epoll_wait", epoll_wait(many, &found, 1, 1));
    OFTEN("epoll_pwait", epoll_pwait(many, &found, 1, 1, 0));

    void *ended;
    word = 0;
    MUST(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0) == 1);
    pthread_join(early, &ended);
    MUST(ended == 0);
    /* What isn't a wait, by the same place. */
    MUST(syscall(SYS_getppid) == getppid());
    MUST(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 7, &one, 0, 0) == -1 && errno == EAGAIN);
    struct timespec past = { 1, 0 }, bad = { 0, 2000000000 };
    MUST(syscall(SYS_futex, &word2, FUTEX_WAIT_BITSET_PRIVATE, 1, &past, 0, -1) == -1 && errno == ETIMEDOUT);
    MUST(nanosleep(&bad, 0) == -1 && errno == EINVAL);
    MUST(clock_nanosleep(1, TIMER_ABSTIME, &past, 0) == 0);
    /* Times that can't be read: nowhere, at no address at all, and half of them. */
    void *bads[] = { (void *)8, (void *)0x8000000000000000, page + 4096 - 8 };
    for (int i = 0; i < 3; i++) {
        MUST(nanosleep(bads[i], 0) == -1 && errno == EFAULT);
        MUST(clock_nanosleep(1, TIMER_ABSTIME, bads[i], 0) == EFAULT);
        MUST(syscall(SYS_futex, &word2, FUTEX_WAIT_PRIVATE, 1, bads[i], 0, 0) == -1 && errno == EFAULT);
        MUST(syscall(SYS_select, 0, 0, 0, 0, bads[i]) == -1 && errno == EFAULT);
        MUST(syscall(SYS_ppoll, 0, 0, bads[i], 0) == -1 && errno == EFAULT);
    }
    MUST(nanosleep(&one, 0) == 0);
    int pair[2];
    pipe(pair);
    struct pollfd ready = { pair[1], POLLOUT };
    MUST(poll(&ready, 1, 1000) == 1 && ready.revents == POLLOUT);
    /* A signal ends it, and says what is left. */
    struct sigaction action = { .sa_handler = catch };
    sigaction(SIGUSR1, &action, 0);
    struct timespec left = { 0, 0 };
    pthread_t other;
    /* One that comes before the sleep ends nothing. */
    long long begun = now(1), tick = 15625;
    pthread_create(&other, 0, sleeper, &left);
    while (!has_slept) { usleep(30000); pthread_kill(other, SIGUSR1); }
    pthread_join(other, &ended);
    long long slept = 86400000000LL - left.tv_sec * 1000000LL - left.tv_nsec / 1000;
    MUST((long)ended == -1 && slept >= -2 * tick && slept <= now(1) - begun + 1);
    /* Child processes, with and without memory of their own. */
    fflush(stdout);
    if (fork() == 0) { long long begun = now(1); sleeps(0); _exit(now(1) - begun >= 40000 ? 3 : 4); }
    int status;
    wait(&status);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    MUST(system("exit 7") == 7 << 8);
    pthread_t all[8];
    for (int i = 0; i < 8; i++) pthread_create(&all[i], 0, sleeps, 0);
    for (int i = 0; i < 8; i++) pthread_join(all[i], 0);
    /* Another resolution while it runs: that of the machine without a request. */
    prctl(0x6f767352, 0);
    REPEAT("released", 12, nanosleep(&one, 0));
}
"#;

#[test]
fn waits_without_a_stop_end_and_fail_as_the_others() {
    std::thread::scope(|scope| {
        for options in [&["-w", "-pthread"][..], &["-w", "-pthread", "-static"], &["-w", "-pthread", "-no-pie"]] {
            scope.spawn(|| end_and_fail_as_the_others(options));
        }
    });
}

fn end_and_fail_as_the_others(options: &[&str]) {
    let home = Home::new();
    let Some(program) = compiled(&home, &[TIMES, OFTEN].concat(), options) else { return };
    let Some(output) = emulated(&home, &["--out", "often.json"], &[&program]) else { return };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && !text.contains("NOT SO"), "{options:?}: {output:?}");
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(home.path().join("often.json")).expect("a file")).expect("JSON");
    let of = |call: &str, field: &str| -> u64 {
        let waits = report["waits"].as_array().expect("waits").iter();
        waits.filter(|waits| waits["call"] == call).filter_map(|waits| waits[field].as_u64()).sum()
    };
    for line in text.lines() {
        let [call, times, least, all] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let [times, least, all] = [times, least, all].map(|number| number.parse::<i64>().expect("a number"));
        // Calls round up; the clock reads whole µs, twice.
        assert!(least >= 998, "{options:?}: {text}");
        // Successive waits end at different ticks, except those of a deadline that passed before its call. Without
        // ticks, each would take 1.1 ms.
        let (call, tick) = if call == "released" { ("clock_nanosleep", 15_625) } else { (call, 2_000) };
        assert!(all >= times * tick * 3 / 4, "{options:?}: {text}");
        let (count, sampled) = (of(call, "count"), of(call, "sampled"));
        assert!(count >= 60 && sampled >= 16, "{options:?}, {call}: {report}");
    }
    let sleeps = of("clock_nanosleep", "count") + of("nanosleep", "count");
    // Those for a span. A deadline may have passed before its call, which then doesn't wait.
    assert!(sleeps >= 60 + 12 + 40 * 9, "{options:?}: {report}");
    let (all, stopped) = (sleeps, of("clock_nanosleep", "sampled") + of("nanosleep", "sampled"));
    assert!(stopped < all / 2, "most sleeps make no stop: {stopped} of {all}");
}

/// Sleeps until 1 ms ago and until 1 ms later, 300 times each.
const UNTIL: &str = r#"
int main(void) {
    for (int i = 0; i < 300; i++) {
        struct timespec past = at(1, -1000);
        clock_nanosleep(1, TIMER_ABSTIME, &past, 0);
        struct timespec end = at(1, 1000);
        clock_nanosleep(1, TIMER_ABSTIME, &end, 0);
        if (now(1) < end.tv_sec * 1000000LL + end.tv_nsec / 1000) puts("NOT SO: early");
    }
}
"#;

#[test]
fn waits_that_no_tick_ends_need_no_stop_either() {
    let home = Home::new();
    let Some(program) = compiled(&home, &[TIMES, UNTIL].concat(), &["-w"]) else { return };
    // Python's sleep of that version arms a timer that ignores the tick. (Up to 3.12 each wait is stopped: two of its clocks
    // are told apart.)
    let python = home.path().join("python3.13").display().to_string();
    oversleep_testing::copy_executable(program.as_ref(), python.as_ref(), 0o755);
    let Some(output) = emulated(&home, &["--out", "until.json"], &[&python]) else { return };
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(home.path().join("until.json")).expect("a file")).expect("JSON");
    let of = |field: &str| report["waits"][0][field].as_u64().unwrap_or(0);
    assert_eq!(report["waits"][0]["stands_for"], "waitable-timer-high-resolution", "{report}");
    // A deadline that is past is no wait, also if no tick came since; of the others, some may pass before their call.
    assert!((100..=300).contains(&of("count")) && of("sampled") < 40, "{report}");
}

/// A hundred threads, each of which sleeps once when all have started and the one before it has slept.
const CROWD: &str = r#"
#include <semaphore.h>
#define THREADS 100
static sem_t started, turns[THREADS + 1];
static void *sleeps(void *number) {
    struct timespec span = { 0, 1000000 };
    sem_post(&started);
    sem_wait(&turns[(long)number]);
    nanosleep(&span, 0);
    sem_post(&turns[(long)number + 1]);
    return 0;
}
int main(void) {
    sem_init(&started, 0, 0);
    for (int i = 0; i <= THREADS; i++) sem_init(&turns[i], 0, 0);
    pthread_t all[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&all[i], 0, sleeps, (void *)i);
    for (long i = 0; i < THREADS; i++) sem_wait(&started);
    sem_post(&turns[0]);
    sem_wait(&turns[THREADS]);
}
"#;

#[test]
fn many_threads_do_not_queue_for_their_first_waits() {
    let home = Home::new();
    for options in [&["-w", "-pthread"][..], &["-w", "-pthread", "-static"]] {
        let Some(program) = compiled(&home, &[TIMES, CROWD].concat(), options) else { continue };
        let Some(output) = emulated(&home, &["--resolution", "1ms", "--out", "crowd.json"], &[&program]) else {
            return;
        };
        assert!(output.status.success(), "{options:?}: {output:?}");
        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(home.path().join("crowd.json")).expect("a file")).expect("JSON");
        let of = |field: &str| report["waits"][0][field].as_u64();
        // The place is replaced at the first of them; elsewhere the first 16 stop.
        assert_eq!((of("count"), of("sampled")), (Some(100), Some(1)), "{options:?}: {report}");
    }
}

/// A program of root that becomes nobody, in the root directory that is named: from then on, it can't open what is the
/// supervisor's.
const NOBODY: &str = r#"
int main(int count, char **typed) {
    struct timespec span = { 0, 1000000 };
    if (chroot(typed[1]) || chdir("/") || setgid(65534) || setuid(65534)) return 9;
    for (int i = 0; i < 600; i++) nanosleep(&span, 0);
}
"#;

#[test]
fn a_program_that_gives_up_its_privileges_waits_without_a_stop_too() {
    let home = Home::new();
    let Some(program) = compiled(&home, &[TIMES, NOBODY].concat(), &["-w"]) else { return };
    let in_root = |root: &str, report: &str| {
        let options = ["--resolution", "500us", "--out", report];
        let Some(output) = emulated(&home, &options, &[&program, root]) else { return };
        if output.status.code() == Some(9) {
            return oversleep_testing::skip("only root becomes nobody");
        }
        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(home.path().join(report)).expect("a file")).expect("JSON");
        let of = |field: &str| report["waits"][0][field].as_u64().unwrap_or(0);
        // It stops 16 times until its place is replaced, then at each 256th; what comes after the last isn't known.
        assert!((16 + 2 * 256..=600).contains(&of("count")) && of("sampled") < 25, "{root}: {report}");
    };
    let own = home.path().display().to_string();
    std::thread::scope(|scope| {
        scope.spawn(|| in_root("/", "nobody.json"));
        scope.spawn(|| in_root(&own, "enclosed.json"));
    });
}

/// A program that filters its own calls after frequent sleeps: an unknown call in the sandbox ends it.
const SANDBOX: &str = r#"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
int main(void) {
    struct timespec span = { 0, 1000000 };
    for (int i = 0; i < 40; i++) nanosleep(&span, 0);
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { 4, filter };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 9;
    for (int i = 0; i < 40; i++) nanosleep(&span, 0);
    puts("alive");
}
"#;

#[test]
fn a_sandbox_around_replaced_places_waits_natively() {
    let home = Home::new();
    let Some(program) = compiled(&home, SANDBOX, &["-w"]) else { return };
    let Some(output) = emulated(&home, &["--summary", "--resolution", "1ms"], &[&program]) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "alive\n", "{stderr}");
    assert!(stderr.contains("filters its own system calls"), "{stderr}");
}
