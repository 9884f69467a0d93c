//! `emulate`: timeouts for sending to sockets end on the machine's ticks, and all else about them is the kernel's.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::process::Command;

use super::emulate::{TIMES, compiled, emulated};
use super::emulate_sockets::{SOCKETS, is_right, report, waits};
use super::support::Home;

/// Sends to sockets without room. Each line: what, and whether it is as it should be.
const SENDS: &str = r#"
static char much[4000000];
static void fill(int fd) { while (send(fd, much, sizeof much, MSG_DONTWAIT) > 0); }
static pid_t empties(int fd, long us) {
    pid_t child = fork();
    if (child) return child;
    usleep(us);
    while (recv(fd, much, sizeof much, MSG_DONTWAIT) > 0);
    _exit(0);
}
static void *in_thread(void *none) {
    long long begun = now(1);
    long sent = send(pair[0], much, 1, 0);
    int is_right = ends(begun, sent);
    if (!is_right) printf("sent %ld, errno %d, after %lld us\n", sent, errno, now(1) - begun);
    return (void *)(long)is_right;
}
int main(void) {
    struct iovec vector = { much, 1 };
    struct mmsghdr message = { { .msg_iov = &vector, .msg_iovlen = 1 } };
    pthread_t threads[20];
    void *answer;
    sigset_t ends_of_children;
    sigemptyset(&ends_of_children);
    sigaddset(&ends_of_children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends_of_children, 0);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    set(pair[0], 10000);
    struct timeval back;
    socklen_t length = sizeof back;
    getsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &back, &length);
    printf("getsockopt %ld.%06ld\n", (long)back.tv_sec, (long)back.tv_usec);
    say("room", send(pair[0], much, 1, 0) == 1);
    long sent = send(pair[0], much, sizeof much, 0);
    say("part", sent > 0 && sent < sizeof much);
    fill(pair[0]);
    long long begun = now(1);
    say("send", ends(begun, send(pair[0], much, 1, 0)));
    begun = now(1);
    say("write", ends(begun, write(pair[0], much, 1)));
    begun = now(1);
    say("writev", ends(begun, writev(pair[0], &vector, 1)));
    begun = now(1);
    say("sendmsg", ends(begun, sendmsg(pair[0], &message.msg_hdr, 0)));
    begun = now(1);
    say("sendmmsg", ends(begun, sendmmsg(pair[0], &message, 1, 0)));
    int all = 1;
    for (int i = 0; i < 20; i++) pthread_create(&threads[i], 0, in_thread, 0);
    for (int i = 0; i < 20; i++) { pthread_join(threads[i], &answer); all &= (long)answer; }
    say("threads", all);
    say("dontwait", send(pair[0], much, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    say("nonblock", write(pair[0], much, 1) == -1 && errno == EAGAIN);
    fcntl(pair[0], F_SETFL, 0);

    set(pair[0], 86400000000);
    int status;
    pid_t child = empties(pair[1], 20000);
    say("emptied", send(pair[0], much, 1, 0) == 1);
    waitpid(child, &status, 0);
    fill(pair[0]);
    for (int flags = 0; flags <= SA_RESTART; flags += SA_RESTART) {
        struct sigaction action = { .sa_handler = caught, .sa_flags = flags };
        sigaction(SIGALRM, &action, 0);
        child = signals();
        say("signal", send(pair[0], much, 1, 0) == -1 && errno == EINTR);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    set(pair[0], 0);
    child = empties(pair[1], 100000);
    say("cleared", send(pair[0], much, 1, 0) == 1);
    waitpid(child, &status, 0);
    fill(pair[0]);
    set(pair[0], 10000);
    child = fork();
    if (!child) { begun = now(1); _exit(ends(begun, send(pair[0], much, 1, 0))); }
    waitpid(child, &status, 0);
    say("child", WEXITSTATUS(status));
    close(pair[1]);
    signal(SIGPIPE, SIG_IGN);
    say("closed", send(pair[0], much, 1, 0) == -1 && errno == EPIPE);

    /* A connection waits for its turn as long. */
    struct sockaddr_un here = { AF_UNIX };
    int listens = socket(AF_UNIX, SOCK_STREAM, 0), connects = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listens, (void *)&here, sizeof(sa_family_t));
    length = sizeof here;
    getsockname(listens, (void *)&here, &length);
    listen(listens, 0);
    connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&here, length);
    set(connects, 10000);
    begun = now(1);
    say("connect", ends(begun, connect(connects, (void *)&here, length)));
    /* Messages wait for the other end. */
    int messages[2];
    socketpair(AF_UNIX, SOCK_DGRAM, 0, messages);
    while (send(messages[0], much, 1, MSG_DONTWAIT) == 1);
    set(messages[0], 10000);
    begun = now(1);
    say("message", ends(begun, send(messages[0], much, 1, 0)));
}
"#;

#[test]
fn sending_ends_with_its_timeout_or_by_what_comes_first() {
    let home = Home::new();
    let Some(program) =
        compiled(&home, &[TIMES, "#define TIMEOUT SO_SNDTIMEO", SOCKETS, SENDS].concat(), &["-w", "-pthread"])
    else {
        return;
    };
    let natively = Command::new(&program).output().expect("it starts");
    let natively = String::from_utf8_lossy(&natively.stdout).into_owned();
    // On the one the kernel's timeout comes before the machine's, on the other after it.
    for resolution in [&[][..], &["--resolution", "1ms"]] {
        let options = [resolution, &["--out", "r.json"]].concat();
        let Some(output) = emulated(&home, &options, &[&program]) else { return };
        is_right(&output, &natively);
        let report = report(&home);
        for call in ["write", "writev", "sendmsg", "sendmmsg", "connect"] {
            assert_eq!(waits(&report, call)["count"], 1, "{call}: {report}");
        }
        assert_eq!(report["passed_by"].as_array().map(Vec::len), Some(0), "{report}");
    }
}

/// A thread executes a program while the first one sends, which gives its id to the other.
const EXECUTES: &str = r#"
#include <sys/epoll.h>
static char much[4000000];
static char *self;
static void *executes(void *none) { usleep(30000); execl(self, self, "waits", NULL); return 0; }
int main(int count, char **typed) {
    struct epoll_event found;
    if (count > 1) { printf("%d\n", epoll_wait(epoll_create1(0), &found, 1, 500)); return 0; }
    int pair[2];
    struct timeval time = { 0, 250000 };
    pthread_t thread;
    self = typed[0];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    pthread_create(&thread, 0, executes, 0);
    send(pair[0], much, sizeof much, 0);
    pause();
}
"#;

#[test]
fn a_program_that_another_thread_executes_meanwhile_is_left_alone() {
    let home = Home::new();
    let Some(program) = compiled(&home, &[TIMES, EXECUTES].concat(), &["-w", "-pthread"]) else { return };
    let Some(output) = emulated(&home, &[], &[&program]) else { return };
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"0\n"[..]), "{output:?}");
}
