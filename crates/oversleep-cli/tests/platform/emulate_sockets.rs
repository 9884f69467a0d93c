//! `emulate`: timeouts of sockets end on the machine's ticks, and all else about them is the kernel's. First those for
//! receiving.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::process::{Command, Output};

use serde_json::Value;

use super::emulate::{TIMES, compiled, emulated};
use super::support::Home;

/// For the programs of both ways; `TIMEOUT` is defined before.
pub const SOCKETS: &str = r#"
#include <fcntl.h>
#include <sys/uio.h>
#include <sys/un.h>
static int pair[2];
static void caught(int signal) {}
static void set(int fd, long us) {
    struct timeval time = { us / 1000000, us % 1000000 };
    if (setsockopt(fd, SOL_SOCKET, TIMEOUT, &time, sizeof time)) abort();
}
/* Whether it times out, and not early. */
static int ends(long long begun, long result) {
    return result == -1 && errno == EAGAIN && now(1) - begun >= 10000 - 2;
}
/* Sends signals from another process, again and again: one that comes before the call ends nothing. */
static pid_t signals(void) {
    pid_t parent = getpid(), child = fork();
    while (!child && !kill(parent, SIGALRM)) usleep(30000);
    if (!child) _exit(0);
    return child;
}
static void say(const char *what, int is_right) { printf("%s %d\n", what, is_right); fflush(stdout); }
"#;

/// Timeouts of 10 ms that end, and longer ones that something else ends. Each line: what, and whether it is as it should be.
const RECEIVES: &str = r#"
static void *in_thread(void *none) {
    char byte;
    usleep(60000);
    long long begun = now(1);
    return (void *)(long)ends(begun, recv(pair[0], &byte, 1, 0));
}
/* Writes a byte to a descriptor after a while, from another process. */
static pid_t writes(int fd, long us) {
    pid_t child = fork();
    if (!child) { usleep(us); write(fd, "x", 1); _exit(0); }
    return child;
}
int main(void) {
    char byte;
    struct iovec vector = { &byte, 1 };
    struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
    pthread_t thread;
    void *answer;
    /* Under a tracer, the end of a child interrupts what the kernel ends, although it is ignored. */
    sigset_t ends_of_children;
    sigemptyset(&ends_of_children);
    sigaddset(&ends_of_children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends_of_children, 0);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    pthread_create(&thread, 0, in_thread, 0);
    set(pair[0], 10000);
    struct timeval back;
    socklen_t length = sizeof back;
    getsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &back, &length);
    printf("getsockopt %ld.%06ld\n", (long)back.tv_sec, (long)back.tv_usec);
    long long begun = now(1);
    say("recv", ends(begun, recv(pair[0], &byte, 1, 0)));
    begun = now(1);
    say("read", ends(begun, read(pair[0], &byte, 1)));
    begun = now(1);
    say("readv", ends(begun, readv(pair[0], &vector, 1)));
    begun = now(1);
    say("recvmsg", ends(begun, recvmsg(pair[0], &message, 0)));
    pthread_join(thread, &answer);
    say("thread", (long)answer);
    int status;
    pid_t child = fork();
    if (!child) { begun = now(1); _exit(ends(begun, recv(pair[0], &byte, 1, 0))); }
    waitpid(child, &status, 0);
    say("child", WEXITSTATUS(status));

    begun = now(1);
    say("dontwait", recv(pair[0], &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    say("nonblock", recv(pair[0], &byte, 1, 0) == -1 && errno == EAGAIN);
    fcntl(pair[0], F_SETFL, 0);

    set(pair[0], 86400000000);
    writes(pair[1], 20000);
    say("data", recv(pair[0], &byte, 1, 0) == 1 && byte == 'x');
    for (int flags = 0; flags <= SA_RESTART; flags += SA_RESTART) {
        struct sigaction action = { .sa_handler = caught, .sa_flags = flags };
        sigaction(SIGALRM, &action, 0);
        child = signals();
        say("signal", recv(pair[0], &byte, 1, 0) == -1 && errno == EINTR);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }

    /* What has no timeout any more waits for what comes, whoever took it away. */
    set(pair[0], 0);
    writes(pair[1], 100000);
    say("cleared", recv(pair[0], &byte, 1, 0) == 1);
    set(pair[0], 10000);
    child = fork();
    if (!child) { set(pair[0], 0); _exit(0); }
    waitpid(child, &status, 0);
    writes(pair[1], 100000);
    say("cleared-by-child", recv(pair[0], &byte, 1, 0) == 1);
    set(pair[0], 10000);
    set(pair[0], -1000000);
    say("negative", recv(pair[0], &byte, 1, 0) == -1 && errno == EAGAIN);
    set(pair[0], 10000);
    say("nothing", read(pair[0], &byte, 0) == 0 && readv(pair[0], &vector, 0) == 0);
    char two[2];
    write(pair[1], "a", 1);
    say("peek", recv(pair[0], two, 2, MSG_PEEK) == 1 && recv(pair[0], two, 2, 0) == 1 && two[0] == 'a');
    /* There is a byte, but none at that place. */
    int place = 1;
    setsockopt(pair[0], SOL_SOCKET, SO_PEEK_OFF, &place, sizeof place);
    write(pair[1], "a", 1);
    begun = now(1);
    say("peek-further", ends(begun, recv(pair[0], two, 2, MSG_PEEK)));
    place = -1;
    setsockopt(pair[0], SOL_SOCKET, SO_PEEK_OFF, &place, sizeof place);
    recv(pair[0], two, 2, 0);
    write(pair[1], "a", 1);
    /* The kernel ends these on its own tick, which a busy virtual machine may count late, and so end them early. */
    say("all", recv(pair[0], two, 2, MSG_WAITALL) == 1);
    int least = 2;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
    write(pair[1], "a", 1);
    say("least", recv(pair[0], two, 2, 0) == 1);
    least = 1;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);

    /* Some take what all wait for, and the others wait for the rest of their time. */
    struct mmsghdr messages[2] = { { message }, { message } };
    int both[2], had = 0, timed_out = 0;
    pid_t readers[12];
    socketpair(AF_UNIX, SOCK_DGRAM, 0, both);
    set(both[0], 400000);
    begun = now(1);
    for (int i = 0; i < 12; i++) {
        if ((readers[i] = fork())) continue;
        int got = i % 2 ? recv(both[0], &byte, 1, 0) : read(both[0], &byte, 1);
        _exit(got == 1 ? 1 : now(1) - begun < 400000 - 2 ? 0 : 2);
    }
    usleep(200000);
    for (int i = 0; i < 6; i++) write(both[1], "a", 1);
    for (int i = 0; i < 12; i++) { waitpid(readers[i], &status, 0); had += WEXITSTATUS(status) == 1; timed_out += WEXITSTATUS(status) == 2; }
    say("some", had <= 6 && had + timed_out == 12);
    set(both[0], 10000);
    write(both[1], "a", 1);
    say("many", recvmmsg(both[0], messages, 2, 0, 0) == 1);

    struct sockaddr_un here = { AF_UNIX };
    int listens = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listens, (void *)&here, sizeof(sa_family_t));
    length = sizeof here;
    getsockname(listens, (void *)&here, &length);
    listen(listens, 1);
    set(listens, 10000);
    begun = now(1);
    say("accept", ends(begun, accept(listens, 0, 0)));
    connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&here, length);
    int accepted = accept4(listens, 0, 0, SOCK_CLOEXEC);
    begun = now(1);
    say("accepted", accepted > 0 && recv(accepted, &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    begun = now(1);
    say("duplicate", ends(begun, recv(dup(pair[0]), &byte, 1, 0)));

    set(pair[0], 10000);
    int ends_of_pipe[2], former = pair[0];
    pipe(ends_of_pipe);
    dup2(ends_of_pipe[0], former);
    writes(ends_of_pipe[1], 100000);
    say("reused", read(former, &byte, 1) == 1);
    int fresh[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, fresh);
    dup2(fresh[0], former);
    writes(fresh[1], 100000);
    say("reused-by-socket", recv(former, &byte, 1, 0) == 1);
}
"#;

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All is as it should be, and `getsockopt` says the same as natively. There, the kernel's timeouts may come early: a busy
/// virtual machine counts its ticks late.
pub fn is_right(output: &Output, natively: &str) {
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(printed.lines().next(), natively.lines().next(), "{}", stderr(output));
    assert_eq!(printed.lines().count(), natively.lines().count(), "{printed}{natively}");
    assert!(
        printed.lines().skip(1).all(|line| line.ends_with(" 1")),
        "{printed}natively:\n{natively}{}",
        stderr(output)
    );
}

pub fn report(home: &Home) -> Value {
    serde_json::from_slice(&std::fs::read(home.path().join("r.json")).expect("a report")).expect("JSON")
}

pub fn waits<'a>(report: &'a Value, call: &str) -> &'a Value {
    let mut waits = report["waits"].as_array().expect("waits").iter();
    waits.find(|waits| waits["call"] == call).unwrap_or_else(|| panic!("{call}: {report}"))
}

#[test]
fn receiving_ends_with_its_timeout_or_by_what_comes_first() {
    let home = Home::new();
    let Some(program) =
        compiled(&home, &[TIMES, "#define TIMEOUT SO_RCVTIMEO", SOCKETS, RECEIVES].concat(), &["-w", "-pthread"])
    else {
        return;
    };
    let natively = Command::new(&program).output().expect("it starts");
    let natively = String::from_utf8_lossy(&natively.stdout).into_owned();
    let Some(output) = emulated(&home, &["--out", "r.json"], &[&program]) else { return };
    is_right(&output, &natively);
    let report = report(&home);
    // Those that ended, children's and a thread's among them, and those that something else ended.
    let count = |call: &str| waits(&report, call)["count"].as_u64().expect("a count");
    assert_eq!(["recvfrom", "read", "accept", "accept4"].map(count), [16, 7, 1, 1], "{report}");
    for call in ["readv", "recvmsg"] {
        let waits = waits(&report, call);
        assert_eq!((&waits["stands_for"], &waits["count"]), (&"select".into(), &1.into()), "{report}");
        let requested = waits["requested"]["p50_ns"].as_i64().expect("a length");
        assert!((9_900_000..=10_100_000).contains(&requested), "{report}");
        let end = waits["emulated"]["p50_ns"].as_i64().expect("a length");
        assert!(end >= 9_900_000, "{report}");
    }
    let passed = report["passed_by"].as_array().expect("calls");
    let mut passed: Vec<_> = passed.iter().map(|one| (one["call"].as_str(), one["count"].as_u64())).collect();
    passed.sort_unstable();
    // MSG_WAITALL and SO_RCVLOWAT, and several messages at once.
    assert_eq!(passed, [(Some("recvfrom"), Some(2)), (Some("recvmmsg"), Some(1))], "{report}");
}

/// Timeouts of more sockets than get a filter, and of one after the privileges for filters are gone.
const OTHERS: &str = r#"
int main(int count, char **typed) {
    struct timeval time = { 0, 10000 };
    char byte;
    if (typed[1][0] == 'd') setresuid(65534, 65534, 65534);
    for (int i = 0; i < atoi(typed[2]); i++) {
        int pair[2];
        socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
        setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
        if (!(recv(pair[0], &byte, 1, 0) == -1 && errno == EAGAIN)) return 9;
    }
}
"#;

#[test]
fn what_ends_on_the_kernels_tick_is_named() {
    let home = Home::new();
    let Some(program) = compiled(&home, &[TIMES, OTHERS].concat(), &["-w"]) else { return };
    let user = Command::new("id").arg("-u").output().expect("it starts");
    for (mode, count, why) in [
        ("many", "34", "a process has more than 32 timeouts of sockets"),
        ("dropped", "1", "the system refuses another filter"),
    ] {
        if mode == "dropped" && user.stdout != b"0\n" {
            oversleep_testing::skip("privileges that can be dropped: only root has them");
            continue;
        }
        let Some(output) = emulated(&home, &["--out", "r.json", "--summary"], &[&program, mode, count]) else { return };
        assert_eq!(output.status.code(), Some(0), "{mode}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{mode}: {}", stderr(&output));
        let report = report(&home);
        let passed = report["passed_by"].as_array().expect("calls").iter();
        let named: u64 = passed.filter_map(|one| one["count"].as_u64().filter(|_| one["call"] == "setsockopt")).sum();
        assert_eq!(named, if mode == "many" { 2 } else { 1 }, "{mode}: {report}");
        if mode == "many" {
            assert_eq!(waits(&report, "recvfrom")["count"], 32);
        }
    }
}

/// Errors that don't depend on what comes, on sockets with a timeout of a day; then generations of processes, each of which
/// executes this program and sets the timeout of a socket of its own. The last one says how many filters it has.
const AT_ONCE: &str = r#"
int main(int count, char **typed) {
    struct timeval time = { 86400, 0 };
    struct sockaddr_un here = { AF_UNIX };
    socklen_t length = sizeof here;
    struct mmsghdr none;
    char byte;
    int generation = count > 1 ? atoi(typed[1]) : 0, status, listens = socket(AF_UNIX, SOCK_STREAM, 0);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    set(pair[0], 86400000000);
    if (!generation) {
        bind(listens, (void *)&here, sizeof(sa_family_t));
        listen(listens, 1);
        set(listens, 86400000000);
        say("recvmsg", recvmsg(pair[0], (void *)8, 0) == -1 && errno == EFAULT);
        struct msghdr message = { .msg_iov = (void *)8, .msg_iovlen = 1 };
        say("vector", recvmsg(pair[0], &message, 0) == -1 && errno == EFAULT);
        say("readv", readv(pair[0], (void *)8, 1) == -1 && errno == EFAULT);
        say("many", readv(pair[0], (void *)8, -1) == -1 && errno == EINVAL);
        say("none", recvmmsg(pair[0], &none, 0, 0, 0) == 0);
        say("flag", accept4(listens, 0, 0, 1 << 24) == -1 && errno == EINVAL);
        say("doesn't listen", accept(pair[0], 0, 0) == -1 && errno == EINVAL);
        say("only listens", recv(listens, &byte, 1, 0) == -1 && errno == EINVAL);
    }
    if (generation < 40) {
        char next[20];
        snprintf(next, sizeof next, "%d", generation + 1);
        if (!fork()) execl("/proc/self/exe", typed[0], next, (char *)0);
        wait(&status);
        return WEXITSTATUS(status);
    }
    char line[200];
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file) && !sscanf(line, "Seccomp_filters: %d", &count));
    return count;
}
"#;

#[test]
fn errors_come_at_once_and_filters_dont_accumulate() {
    let home = Home::new();
    let sources = [TIMES, "#define TIMEOUT SO_RCVTIMEO", SOCKETS, AT_ONCE].concat();
    let Some(program) = compiled(&home, &sources, &["-w"]) else { return };
    let Some(output) = emulated(&home, &[], &[&program]) else { return };
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(printed.lines().filter(|line| line.ends_with(" 1")).count(), 8, "{printed}{}", stderr(&output));
    let filters = output.status.code().expect("an exit code");
    assert!((32..40).contains(&filters), "{filters} filters: {}", stderr(&output));
}

/// Receives again and again from a silent socket, or sends to one without room; each line: the µs from one end to the next.
const REPEATED: &str = r#"
int main(int count, char **typed) {
    int pair[2], sends = typed[1][0] == 's';
    char byte = 0;
    struct timeval time = { 0, 10000 };
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    while (sends && send(pair[0], &byte, 1, MSG_DONTWAIT) == 1);
    setsockopt(pair[0], SOL_SOCKET, sends ? SO_SNDTIMEO : SO_RCVTIMEO, &time, sizeof time);
    for (int i = -1; i < 41; i++) {
        long long begun = now(1);
        sends ? send(pair[0], &byte, 1, 0) : recv(pair[0], &byte, 1, 0);
        if (i < 0) continue;
        printf("%lld\n", now(1) - begun);
    }
}
"#;

#[test]
#[ignore = "for the proving ground: a distribution in real time"]
fn timeouts_end_on_the_ticks_that_the_machine_is_said_to_have() {
    let home = Home::new();
    let Some(program) = compiled(&home, &[TIMES, REPEATED].concat(), &["-w"]) else { return };
    let answer = home.run(["ask", "select(10ms)", "--on", "windows-10-1909", "--json"]).fine();
    let answer: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    let modelled = answer[0]["p50_ns"].as_f64().expect("a median") / 1e3;
    for way in ["receives", "sends"] {
        let Some(output) = emulated(&home, &[], &[&program, way]) else { return };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut spans: Vec<f64> = text.lines().map(|line| line.parse().expect("µs")).collect();
        spans.sort_by(f64::total_cmp);
        let [low, found, high] = [4, 20, 36].map(|at| spans[at]);
        println!("{way}: {low}, {found}, {high}");
        assert!((found - modelled).abs() < 200.0, "{way}: found {found} µs, modelled {modelled} µs: {spans:?}");
    }
}
