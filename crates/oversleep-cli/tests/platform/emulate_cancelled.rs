//! `emulate`: threads that are cancelled while they wait.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::process::Command;

use super::emulate::{TIMES, compiled, emulated};
use super::emulate_refusals::CONTAINER;
use super::support::Home;

/// Cancels a thread in the first wait of its kind, and one in a wait from a place that made many. What each does then takes
/// unwinding the stack, as in C++.
const PROGRAM: &str = r#"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t waits;
static int silent[2];
static void ends(int *fd) { puts("unwound"); }
static void unlocks(void *unused) { printf("unlock %d\n", pthread_mutex_unlock(&mutex)); }
static void waited(int how, long long us) {
    struct timespec span = { us / 1000000, us % 1000000 * 1000 }, end = at(0, us), later = at(1, us);
    int word = 0;
    switch (how) {
    case 0: nanosleep(&span, 0); break;
    case 1: clock_nanosleep(1, TIMER_ABSTIME, &later, 0); break;
    case 2: pthread_cond_timedwait(&never, &mutex, &end); break;
    case 3: ppoll(0, 0, &span, 0); break;
    case 4: poll(0, 0, us / 1000); break;
    case 5: { sem_t none; sem_init(&none, 0, 0); sem_timedwait(&none, &end); break; }
    case 6: select(0, 0, 0, 0, &(struct timeval){ us / 1000000, us % 1000000 }); break;
    case 7: {
        struct timeval time = { us / 1000000, us % 1000000 };
        setsockopt(silent[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
        recv(silent[0], &word, 1, 0);
    }
    }
}
static int how, times;
static void *thread(void *unused) {
    __attribute__((cleanup(ends))) int there = 0;
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlocks, 0);
    for (int at = 0; at < times; at++) waited(how, 1000);
    sem_post(&waits);
    waited(how, 3600000000);
    puts("not cancelled");
    pthread_cleanup_pop(1);
    return 0;
}
int main(void) {
    sem_init(&waits, 0, 0);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, silent);
    for (how = 0; how < 8; how++) for (times = 0; times <= 40; times += 40) {
        pthread_t started;
        void *result;
        pthread_create(&started, 0, thread, 0);
        sem_wait(&waits);
        usleep(20000);
        printf("%d after %d\n", how, times);
        pthread_cancel(started);
        pthread_join(started, &result);
        if (result != PTHREAD_CANCELED || pthread_mutex_trylock(&mutex) || pthread_mutex_unlock(&mutex)) puts("wrong");
        fflush(stdout);
    }
}
"#;

#[test]
fn a_cancelled_thread_cleans_up() {
    let home = Home::new();
    let Some(program) = compiled(&home, &[TIMES, HEADERS, PROGRAM].concat(), OPTIONS) else { return };
    let Some(output) = emulated(&home, &["--resolution", "1ms"], &[&program]) else { return };
    assert_eq!(String::from_utf8_lossy(&output.stdout), all_clean_up(), "{output:?}");
}

const HEADERS: &str = "#include <semaphore.h>\n";
const OPTIONS: &[&str] = &["-w", "-fexceptions", "-pthread"];

fn all_clean_up() -> String {
    let each = |how: i32| [0, 40].map(|times| format!("{how} after {times}\nunlock 0\nunwound\n")).concat();
    (0..8).map(each).collect()
}

/// Cancels threads at all moments around their waits, which begin and end at the same ticks.
const OFTEN: &str = r#"
static int unwound;
static void ends(int *there) { unwound++; }
static void *thread(void *unused) {
    __attribute__((cleanup(ends))) int there = 0;
    for (;;) nanosleep(&(struct timespec){ 0, 100000 }, 0);
}
int main(void) {
    for (int at = 0; at < 300; at++) {
        pthread_t started;
        pthread_create(&started, 0, thread, 0);
        usleep(1000 + 7 * at);
        pthread_cancel(started);
        pthread_join(started, 0);
    }
    printf("%d\n", unwound);
}
"#;

#[test]
fn so_does_one_that_is_cancelled_around_its_waits() {
    let home = Home::new();
    let Some(program) = compiled(&home, &[TIMES, OFTEN].concat(), OPTIONS) else { return };
    let Some(output) = emulated(&home, &["--resolution", "1ms"], &[&program]) else { return };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "300\n", "{output:?}");
}

/// Functions of the C library are cancellation points, and the stack is unwound through those that take their place.
#[test]
fn so_do_both_where_nobody_may_trace() {
    let home = Home::new();
    let Some(container) = compiled(&home, CONTAINER, &["-w"]) else { return };
    let own = home.command().get_program().to_string_lossy().into_owned();
    for (source, expected) in
        [([TIMES, HEADERS, PROGRAM].concat(), all_clean_up()), ([TIMES, OFTEN].concat(), "300\n".to_owned())]
    {
        let apart = Home::new();
        let Some(program) = compiled(&apart, &source, OPTIONS) else { return };
        let words = [&*own, "emulate", "windows-10-1909", "--resolution", "1ms", "--", &program];
        let output = Command::new(&container).args(words).output().expect("it starts");
        if output.status.code() == Some(9) {
            return oversleep_testing::skip("no filters here");
        }
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{output:?}");
    }
}
