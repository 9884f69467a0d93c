//! The Linux Test Project's tests of calls that wait, set a time, start a process or send a signal, from a built copy
//! (`--path`): under every command that runs a program, each fails, breaks and skips at the same lines as by itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::suites::Verdicts;
use super::{Bench, UNTRACED, Verdict};

/// The calls whose tests run. A test is the name of its call and a number. None of them sets this machine's clock.
const CALLS: &str = "accept accept4 alarm clock_getres clock_gettime clock_nanosleep clone clone3 connect epoll_create \
     epoll_ctl epoll_pwait epoll_wait eventfd eventfd2 execl execle execlp execv execve execvp exit exit_group \
     fcntl fork futex_cmp_requeue futex_wait futex_wait_bitset futex_waitv futex_wake get_robust_list \
     getcontext getitimer getpid getppid getrusage gettid gettimeofday io_cancel io_destroy io_getevents \
     io_pgetevents io_setup io_submit io_uring kcmp kill membarrier mlock mlockall mq_notify mq_open \
     mq_timedreceive mq_timedsend mq_unlink msgrcv msgsnd munlock munlockall nanosleep pause personality \
     pidfd_getfd pidfd_open pidfd_send_signal pipe poll ppoll prctl pselect ptrace read readv recv recvfrom \
     recvmmsg recvmsg rt_sigaction rt_sigprocmask rt_sigqueueinfo rt_sigsuspend rt_sigtimedwait \
     rt_tgsigqueueinfo sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval \
     sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl \
     semget semop send sendmmsg sendmsg sendto set_robust_list set_tid_address setitimer setns setpgid setpgrp \
     setpriority setrlimit setsid setsockopt sigaction sigaltstack sighold signal signalfd signalfd4 \
     sigpending sigprocmask sigrelse sigsuspend sigtimedwait sigwait sigwaitinfo socketpair splice syscall tee \
     tgkill time timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd timerfd_create \
     timerfd_gettime timerfd_settime times tkill unshare vfork vmsplice wait wait4 waitid waitpid write writev";
/// Tests that don't run, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("fcntl14", "it takes minutes"),
    ("fcntl14_64", "it takes minutes"),
    ("fcntl36", "it takes minutes"),
    ("fork13", "it takes minutes"),
    ("fork14", "it takes all memory"),
    ("ptrace11", "it stops this machine's first process"),
    ("sendmsg03", "it looks for a race for minutes"),
    ("setsockopt06", "it looks for a race for minutes"),
    ("setsockopt07", "it looks for a race for minutes"),
    ("setsockopt11", "it takes all memory"),
    ("timerfd_settime02", "it looks for a race for minutes"),
    ("writev03", "it looks for a race for minutes"),
];
/// The longest that a test may take in minutes; then it is interrupted.
const MINUTES_MAX: u32 = 3;
/// The commands.
const MODES: [&str; 9] = [
    "run -q --slack 1ns --",
    "run -q --lock-memory --",
    "emulate -q linux-hz100 --",
    "emulate -q linux-hz250 --",
    "emulate -q windows-10-1909 --",
    "emulate -q windows-11 --",
    "untraced emulate -q windows-10-1909 --",
    "why -q --by supervisor --out r.out --",
    "why -q --by kernel --out r.out --",
];
/// Why tests may have another verdict.
const TRACED: &str = "a program that is traced can't be traced by another one";
const NO_RING: &str = "`io_uring_setup` fails with ENOSYS, so it skips what needs that";
const NO_STRICT: &str = "strict seccomp mode fails with EINVAL, because the program already has a filter";
/// Tests that may have another verdict: the start of the command, the test, and the reason.
const MAY_DIFFER: &[(&str, &str, &str)] = &[
    ("emulate", "ptrace01", TRACED),
    ("run -q --lock-memory", "ptrace01", TRACED),
    ("emulate", "ptrace03", TRACED),
    ("run -q --lock-memory", "ptrace03", TRACED),
    ("emulate", "ptrace05", TRACED),
    ("run -q --lock-memory", "ptrace05", TRACED),
    ("emulate", "ptrace06", TRACED),
    ("run -q --lock-memory", "ptrace06", TRACED),
    ("emulate", "ptrace07", TRACED),
    ("run -q --lock-memory", "ptrace07", TRACED),
    ("emulate", "ptrace08", TRACED),
    ("run -q --lock-memory", "ptrace08", TRACED),
    ("emulate", "ptrace09", TRACED),
    ("run -q --lock-memory", "ptrace09", TRACED),
    ("emulate", "ptrace10", TRACED),
    ("run -q --lock-memory", "ptrace10", TRACED),
    ("emulate", "accept03", NO_RING),
    ("emulate", "epoll_ctl06", NO_RING),
    ("emulate", "epoll_pwait06", NO_RING),
    ("emulate", "io_uring01", NO_RING),
    ("emulate", "io_uring02", NO_RING),
    ("emulate", "io_uring03", NO_RING),
    ("emulate", "io_uring04", NO_RING),
    ("emulate", "splice07", NO_RING),
    ("emulate", "seccomp01", NO_STRICT),
    ("run -q --lock-memory", "seccomp01", NO_STRICT),
    ("why -q --by supervisor", "seccomp01", NO_STRICT),
];

pub fn run(bench: &Bench) -> Result<Verdict, String> {
    let Some(path) = bench.path.as_ref().filter(|path| path.join("runtest/syscalls").exists()) else {
        return Ok(Verdict::Skipped);
    };
    let mut tests = BTreeMap::new();
    find(&path.join("testcases"), &mut tests)?;
    tests.retain(|name, _| bench.wants("ltp", name));
    let alone = all(&tests, &[])?;
    let mut is_fine = true;
    for mode in MODES {
        let words = bench.words(mode)?;
        if !Command::new(&words[0])
            .args(&words[1..])
            .arg("true")
            .current_dir(&bench.folder)
            .status()
            .is_ok_and(|it| it.success())
        {
            println!("{mode}: SKIPPED, because it can't run a program here");
            continue;
        }
        let untraced = bench.words(if mode.starts_with(UNTRACED) { UNTRACED } else { "" })?;
        let alone = if untraced.is_empty() { alone.clone() } else { all(&tests, &untraced)? };
        let under = all(&tests, &words)?;
        let (mut listed, mut once, mut differ) = (0, 0, Vec::new());
        for (name, verdicts) in &alone {
            let first = differing(verdicts, &under[name]);
            let is_listed = MAY_DIFFER.iter().any(|(start, test, _)| mode.starts_with(start) && test == name);
            match first.is_empty() {
                true => {}
                false if is_listed => listed += 1,
                // Some tests fail now and then by themselves: what differs again, alone, counts.
                false => match differing(&one(&tests[name], &untraced)?, &one(&tests[name], &words)?) {
                    again if again.is_empty() => once += 1,
                    again => differ.extend(again.into_iter().map(|line| format!("  {name} {line}"))),
                },
            }
        }
        println!(
            "{mode}: {} tests, {} lines differ, {listed} tests are listed, {once} agree in another run",
            alone.len(),
            differ.len()
        );
        differ.iter().for_each(|line| println!("{line}"));
        is_fine &= differ.is_empty();
    }
    Ok(if is_fine { Verdict::Holds } else { Verdict::Fails })
}

/// The programs below a directory that are tests of the calls.
fn find(folder: &Path, tests: &mut BTreeMap<String, PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            find(&path, tests)?;
        } else if is_wanted(&name) {
            tests.insert(name, path);
        }
    }
    Ok(())
}

fn is_wanted(name: &str) -> bool {
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    CALLS.split_whitespace().any(|call| name.strip_prefix(call).is_some_and(is_number))
        && LEFT_OUT.iter().all(|(test, _)| *test != name)
}

/// The verdicts of all tests, by name.
fn all(tests: &BTreeMap<String, PathBuf>, words: &[String]) -> Result<BTreeMap<String, Verdicts>, String> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let tests: Vec<_> = tests.iter().collect();
    let works = || -> Result<(), String> {
        while let Some((name, path)) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
            let verdicts = one(path, words)?;
            done.lock().map_err(|_| "a thread failed")?.insert((*name).clone(), verdicts);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        // Most tests wait.
        let count = 2 * std::thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(works)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread failed".to_owned())?)
    })?;
    done.into_inner().map_err(|_| "a thread failed".to_owned())
}

/// Runs a test in a directory and a session of its own.
fn one(test: &Path, words: &[String]) -> Result<Verdicts, String> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("oversleep-ltp-{}-{number}", std::process::id()));
    std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    // Some tests go on as another user.
    let _ = Command::new("chmod").arg("777").arg(&folder).status();
    let minutes = format!("{MINUTES_MAX}m");
    let output = Command::new("setsid")
        .args(["--wait", "timeout", "-s", "INT", "-k", "10", &minutes])
        .args(words)
        .arg(test)
        .current_dir(&folder)
        .envs([("TMPDIR", &*folder.to_string_lossy()), ("LTP_COLORIZE_OUTPUT", "n"), ("KCONFIG_SKIP_CHECK", "1")])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("setsid: {error}"))?;
    let _ = std::fs::remove_dir_all(&folder);
    let text = [output.stdout, output.stderr].concat();
    let mut verdicts: Verdicts = String::from_utf8_lossy(&text).lines().filter_map(line).collect();
    verdicts.insert("exit code".to_owned(), format!("{:?}", output.status.code()));
    Ok(verdicts)
}

/// What only one of two runs says.
fn differing(alone: &Verdicts, under: &Verdicts) -> Vec<String> {
    let differ = |one: &Verdicts, other: &Verdicts, who: &str| -> Vec<String> {
        let only = one.iter().filter(|(line, verdict)| other.get(*line) != Some(verdict));
        only.map(|(line, verdict)| format!("{line}: {verdict} only {who}")).collect()
    };
    [differ(alone, under, "alone"), differ(under, alone, "under it")].concat()
}

/// `alarm02.c:37: TFAIL: …`, or of older tests `ptrace04    1  TCONF  :  …`. How often something passed isn't compared.
fn line(line: &str) -> Option<(String, String)> {
    let (place, rest) =
        line.split_once(": ").filter(|(place, _)| place.contains(".c:") || place.contains(".h:")).or_else(|| {
            let at = line.find(" T")?;
            Some((line[..at].trim(), &line[at + 1..]))
        })?;
    let verdict = rest.split(|letter: char| !letter.is_ascii_uppercase()).next()?;
    ["TFAIL", "TBROK", "TCONF", "TWARN"].contains(&verdict).then(|| (format!("{place} {verdict}"), verdict.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_each_test_that_may_differ_with_its_reason() {
        let page = include_str!("../../../docs/emulation.md");
        for (_, test, why) in MAY_DIFFER {
            let row = page.lines().find(|line| line.contains(&format!("`{test}`")));
            assert!(row.is_some_and(|row| row.contains(why)), "{test}: {why}");
        }
    }

    #[test]
    fn verdicts_of_both_kinds_of_tests_are_read() {
        let of = |place: &str, verdict: &str| Some((format!("{place} {verdict}"), verdict.to_owned()));
        assert_eq!(line("alarm02.c:37: TFAIL: alarm(0)"), of("alarm02.c:37", "TFAIL"));
        assert_eq!(line("select_var.h:83: TCONF: syscall(82)"), of("select_var.h:83", "TCONF"));
        assert_eq!(line("ptrace04    1  TCONF  :  tst_test.c"), of("ptrace04    1", "TCONF"));
        assert_eq!(line("alarm02.c:37: TPASS: alarm(0)"), None);
        assert_eq!(line("a TFAILURE"), None);
    }

    #[test]
    fn a_test_is_a_call_and_a_number() {
        for (name, is) in
            [("alarm02", true), ("pselect01_64", true), ("execve_child", false), ("alarm", false), ("fork14", false)]
        {
            assert_eq!(is_wanted(name), is, "{name}");
        }
    }
}
