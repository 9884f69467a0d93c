//! `emulate`, and `why` with a supervisor: threads and processes that start while others are killed or execute programs.
//! None is left behind, and the supervisor ends with the last one.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::emulate::{TIMES, compiled};
use super::support::Home;

/// In the environment of all processes of a test.
const MARK: &str = "OVERSLEEP_STARTS_MARK";

const UNDER: [&[&str]; 2] =
    [&["emulate", "windows-10-1909", "--"], &["why", "--by", "supervisor", "--out", "r.json", "--"]];

/// The processes with that mark.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("{MARK}={mark}");
    let has_it = |process: &u32| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|one| one == wanted.as_bytes())
    };
    let all = fs::read_dir("/proc").expect("/proc").flatten();
    all.filter_map(|one| one.file_name().to_str()?.parse().ok()).filter(has_it).collect()
}

fn killed(processes: &[u32]) {
    for process in processes {
        let _ = Command::new("kill").args(["-9", &process.to_string()]).stderr(Stdio::null()).status();
    }
}

/// Runs the program under both supervisors. It ends, prints that, and leaves nothing: whatever doesn't end, this waits for.
fn ends(home: &Home, program: &str, name: &str, printed: &str) {
    let run = |at: usize, under: &[&str]| {
        let mark = format!("{}-{name}-{at}", std::process::id());
        // Files, because what is left behind would keep a pipe open.
        let [stdout, stderr] = ["stdout", "stderr"].map(|name| home.path().join(format!("{name}-{at}")));
        let mut command = home.command();
        command.args(under).arg(program).env(MARK, &mark);
        command.stdout(File::create(&stdout).expect("a file")).stderr(File::create(&stderr).expect("a file"));
        let status = command.status().expect("it starts");
        let [text, told] = [stdout, stderr].map(|path| fs::read_to_string(path).expect("text"));
        if told.contains("can't trace") {
            return oversleep_testing::skip(told);
        }
        assert!(status.success() && text.starts_with(printed), "{name} under {under:?}: {status}: {text}{told}");
        while !marked(&mark).is_empty() {
            sleep(Duration::from_millis(10));
        }
    };
    std::thread::scope(|scope| {
        for (at, under) in UNDER.into_iter().enumerate() {
            scope.spawn(move || run(at, under));
        }
    });
}

#[test]
fn a_child_that_its_parent_does_not_announce_runs() {
    let home = Home::new();
    let source = r#"
int main(void) {
    int status, child = syscall(SYS_clone, CLONE_PTRACE | CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
    if (!child) _exit(7);
    waitpid(child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
}"#;
    let Some(program) = compiled(&home, &format!("{TIMES}{source}"), &["-pthread"]) else { return };
    ends(&home, &program, "unannounced", "7\n");
}

/// As LeakSanitizer starts one. It has the filter of its parent, so without a tracer its waits would fail.
#[test]
fn a_child_that_asks_not_to_be_traced_waits() {
    let home = Home::new();
    let source = r#"
int main(void) {
    struct timespec time = { 0, 1000000 };
    int status, child = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
    if (!child) _exit(nanosleep(&time, 0) ? errno : 7);
    waitpid(child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
}"#;
    let Some(program) = compiled(&home, &format!("{TIMES}{source}"), &["-pthread"]) else { return };
    ends(&home, &program, "untraced", "7\n");
}

/// Keeps a CPU busy for some µs.
const SPIN: &str = r#"
static void spin(int us) { for (long long end = now(1) + us; now(1) < end;) {} }
"#;

/// Between the start of its child and the stop that announces it, the parent is killed.
#[test]
fn the_child_of_a_killed_process_runs() {
    let home = Home::new();
    let source = r#"
static void rounds(int first) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int round = first; round < 100; round += 4) {
        int parent = fork();
        if (!parent) for (;;) { if (!fork()) _exit(0); while (waitpid(-1, 0, WNOHANG) > 0) {} }
        spin(round * 20);
        kill(parent, SIGKILL);
        while (waitpid(-1, 0, 0) >= 0) {}
    }
    _exit(0);
}
int main(void) {
    /* Few at a time, because most of a round is the wait for the stop that doesn't come. */
    for (int first = 0; first < 4; first++) if (!fork()) rounds(first);
    while (waitpid(-1, 0, 0) >= 0) {}
    printf("all\n");
}"#;
    let Some(program) = compiled(&home, &[TIMES, SPIN, source].concat(), &["-pthread"]) else { return };
    ends(&home, &program, "killed", "all\n");
}

/// With more threads than one tracer takes, others take some: the thread that executes a program changes its id, and threads
/// that start meanwhile are on their way to a tracer that the others wait for.
#[test]
fn a_thread_among_many_executes_a_program_while_others_start() {
    let home = Home::new();
    let source = r#"
static pthread_attr_t small;
static void *ends(void *none) { return 0; }
static void *waits(void *none) { for (;;) usleep(1000); }
static void *starts(void *none) {
    for (;;) { pthread_t one; if (!pthread_create(&one, &small, ends, 0)) pthread_detach(one); }
}
static void *executes(void *none) { usleep(3000); execl("/bin/true", "true", NULL); _exit(1); }
int main(void) {
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int round = 0; round < 8; round++) {
        int status, child = fork();
        if (!child) {
            pthread_t one;
            for (int at = 0; at < 90; at++) pthread_create(&one, &small, waits, 0);
            for (int at = 0; at < 3; at++) pthread_create(&one, &small, starts, 0);
            pthread_create(&one, &small, executes, 0);
            for (;;) pause();
        }
        waitpid(child, &status, 0);
        if (status) { printf("%d\n", status); return 1; }
    }
    printf("all\n");
}"#;
    let Some(program) = compiled(&home, &format!("{TIMES}{source}"), &["-pthread"]) else { return };
    ends(&home, &program, "executes", "all\n");
}

#[test]
fn a_program_that_is_stopped_and_continued_while_it_starts_runs() {
    let home = Home::new();
    let source = r#"
int main(void) {
    for (int round = 0; round < 400; round++) {
        int child = fork();
        if (!child) { execl("/bin/true", "true", NULL); _exit(1); }
        for (int at = 0; at < 10; at++) { spin(round % 50); kill(child, SIGSTOP); spin(at * 3); kill(child, SIGCONT); }
        waitpid(child, 0, 0);
    }
    printf("all\n");
}"#;
    let Some(program) = compiled(&home, &[TIMES, SPIN, source].concat(), &[]) else { return };
    ends(&home, &program, "stopped", "all\n");
}

/// Without its supervisor, a program isn't emulated in another way: whoever killed the one wants an end.
#[test]
fn a_supervisor_that_is_killed_at_once_is_the_end() {
    let home = Home::new();
    for at in 0..20 {
        let mut command = home.command();
        command.args(["emulate", "windows-10-1909", "--", "true"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let children = format!("/proc/{0}/task/{0}/children", child.id());
        let supervisor: Option<u32> = loop {
            let first = fs::read_to_string(&children).unwrap_or_default();
            match first.split_whitespace().next() {
                // On a busy machine, it may have ended before it is seen.
                None if child.try_wait().expect("it is ours").is_none() => std::hint::spin_loop(),
                first => break first.and_then(|first| first.parse().ok()),
            }
        };
        sleep(Duration::from_micros(100 * at));
        killed(&Vec::from_iter(supervisor));
        let output = child.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!told.contains("LD_PRELOAD"), "{output:?}");
    }
}
