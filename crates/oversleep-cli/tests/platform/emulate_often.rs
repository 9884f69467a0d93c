//! `emulate`: waits that are so frequent that they no longer stop. They follow the machine's rules, and the calls
//! otherwise behave as usual.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use super::emulate::{TIMES, compiled, emulated};
use super::support::Home;

/// Makes each call 60 times with 1 ms, and prints the shortest and the median of each, in µs. Then tries the other ways
/// in which a wait ends; each deviation from the manual is a separate line.
const OFTEN: &str = r#"
static int by_size(const void *one, const void *other) {
    long long a = *(const long long *)one, b = *(const long long *)other;
    return (a > b) - (a < b);
}
#define OFTEN(name, ...) do { static long long took[60]; \
    for (int i = 0; i < 60; i++) { long long begun = now(1); __VA_ARGS__; took[i] = now(1) - begun; } \
    qsort(took, 60, sizeof *took, by_size); printf("%s %lld %lld\n", name, took[0], took[30]); fflush(stdout); } while (0)
#define MUST(what) do { if (!(what)) printf("NOT SO: %s (errno %d)\n", #what, errno); fflush(stdout); } while (0)

static int word = 1, rounds;
static volatile int caught;
static void catch(int signal) { caught++; }
static const struct timespec one = { 0, 1000000 }, minute = { 60, 0 };
static void *parked(void *none) { return (void *)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0); }
static void *sleeper(void *left) { return (void *)(long)nanosleep(&minute, left); }
static void *sleeps(void *none) { for (int i = 0; i < 40; i++) nanosleep(&one, 0); return 0; }

int main(void) {
    int word2 = 1;
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
    pthread_create(&other, 0, sleeper, &left);
    while (!caught) { usleep(30000); pthread_kill(other, SIGUSR1); }
    pthread_join(other, &ended);
    MUST((long)ended == -1 && left.tv_sec >= 30 && left.tv_sec < 60);
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
    /* Another resolution while it runs. */
    prctl(0x6f767352, 500000);
    OFTEN("raised", nanosleep(&one, 0));
}
"#;

#[test]
fn waits_without_a_stop_end_and_fail_as_the_others() {
    let home = Home::new();
    for options in [&["-w", "-pthread"][..], &["-w", "-pthread", "-static"], &["-w", "-pthread", "-no-pie"]] {
        let Some(program) = compiled(&home, &[TIMES, OFTEN].concat(), options) else { continue };
        let emulating = ["--resolution", "2ms", "--out", "often.json"];
        let Some(output) = emulated(&home, &emulating, &[&program]) else { return };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && !text.contains("NOT SO"), "{options:?}: {output:?}");
        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(home.path().join("often.json")).expect("a file")).expect("JSON");
        let of = |call: &str, field: &str| -> u64 {
            let waits = report["waits"].as_array().expect("waits").iter();
            waits.filter(|waits| waits["call"] == call).filter_map(|waits| waits[field].as_u64()).sum()
        };
        for line in text.lines() {
            let [call, least, median] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let [least, median] = [least, median].map(|number| number.parse::<i64>().expect("µs"));
            // Calls round up; the clock reads whole µs, twice. A busy machine comes later.
            assert!(least >= 998, "{options:?}: {text}");
            if call == "raised" {
                // 1 ms is three ticks of half a millisecond, and was one of 2 ms.
                assert!(of("clock_nanosleep", "count") > 0 && least < 1_990, "{options:?}: {text}");
                continue;
            }
            // Successive waits end a tick apart.
            assert!(median >= 1_500, "{options:?}: {line}");
            let (count, sampled) = (of(call, "count"), of(call, "sampled"));
            assert!(count >= 60 && sampled >= 16, "{options:?}, {call}: {report}");
        }
        let sleeps = of("clock_nanosleep", "count") + of("nanosleep", "count");
        // On a busy machine, a deadline may have passed before its call, which then doesn't wait.
        assert!(sleeps >= 60 * 3 + 40 * 9, "{options:?}: {report}");
        let (all, stopped) = (sleeps, of("clock_nanosleep", "sampled") + of("nanosleep", "sampled"));
        assert!(stopped < all / 2, "most sleeps make no stop: {stopped} of {all}");
    }
}

/// Sleeps until 1 ms later and until 1 ms ago, 300 times each, and prints the longest of the latter in µs.
const UNTIL: &str = r#"
int main(void) {
    long long most = 0;
    for (int i = 0; i < 300; i++) {
        struct timespec end = at(1, 1000), past = at(1, -1000);
        long long begun = now(1);
        clock_nanosleep(1, TIMER_ABSTIME, &past, 0);
        long long took = now(1) - begun;
        if (took > most && i > 20) most = took;
        clock_nanosleep(1, TIMER_ABSTIME, &end, 0);
        if (now(1) < end.tv_sec * 1000000LL + end.tv_nsec / 1000) puts("NOT SO: early");
    }
    printf("%lld\n", most);
}
"#;

#[test]
fn waits_that_no_tick_ends_need_no_stop_either() {
    let home = Home::new();
    let Some(program) = compiled(&home, &[TIMES, UNTIL].concat(), &["-w"]) else { return };
    // Python's sleep of that version arms a timer that ignores the tick.
    let python = home.path().join("python3.11").display().to_string();
    std::fs::copy(program, &python).expect("a copy");
    let Some(output) = emulated(&home, &["--out", "until.json"], &[&python]) else { return };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // It is past at once, not at the next tick of 15.6 ms.
    assert!(text.trim().parse::<i64>().is_ok_and(|most| most < 10_000), "{output:?}");
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(home.path().join("until.json")).expect("a file")).expect("JSON");
    let of = |field: &str| report["waits"][0][field].as_u64().unwrap_or(0);
    assert_eq!(report["waits"][0]["stands_for"], "waitable-timer-high-resolution", "{report}");
    assert!((290..=300).contains(&of("count")) && of("sampled") < 40, "{report}");
}

/// A hundred threads, each of which sleeps once when the one before it has slept.
const CROWD: &str = r#"
#include <semaphore.h>
#define THREADS 100
static sem_t turns[THREADS + 1];
static void *sleeps(void *number) {
    struct timespec span = { 0, 1000000 };
    sem_wait(&turns[(long)number]);
    nanosleep(&span, 0);
    sem_post(&turns[(long)number + 1]);
    return 0;
}
int main(void) {
    for (int i = 0; i <= THREADS; i++) sem_init(&turns[i], 0, i == 0);
    pthread_t all[THREADS];
    sem_wait(&turns[0]);
    for (long i = 0; i < THREADS; i++) pthread_create(&all[i], 0, sleeps, (void *)i);
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
        // The place is replaced at the first of them, on a busy machine a few later; elsewhere the first 16 stop.
        assert_eq!(of("count"), Some(100), "{options:?}: {report}");
        assert!(of("sampled").is_some_and(|sampled| (1..8).contains(&sampled)), "{options:?}: {report}");
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
    for root in ["/", &home.path().display().to_string()] {
        let options = ["--resolution", "500us", "--out", "nobody.json"];
        let Some(output) = emulated(&home, &options, &[&program, root]) else { return };
        if output.status.code() == Some(9) {
            eprintln!("skipped: only root can become nobody");
            return;
        }
        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(home.path().join("nobody.json")).expect("a file")).expect("JSON");
        let of = |field: &str| report["waits"][0][field].as_u64().unwrap_or(0);
        // It stops 16 times until its place is replaced, then at each 256th; what comes after the last isn't known.
        assert!((16 + 2 * 256..=600).contains(&of("count")) && of("sampled") < 25, "{root}: {report}");
    }
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
