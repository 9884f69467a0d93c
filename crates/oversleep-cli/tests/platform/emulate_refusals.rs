//! `emulate`: what can't be emulated, and the reason that is given.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::emulate::{compiled, emulated};
use super::support::Home;

const MACHINE: &str = "windows-10-1909";

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn is_installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        oversleep_testing::skip(format!("no {program}"));
    }
    found
}

/// An ordinary user, with a folder of programs that this user can execute: the command is one of them.
struct Nobody {
    folder: tempfile::TempDir,
}

impl Nobody {
    /// `None` where this user can't become another.
    #[track_caller]
    fn new(home: &Home) -> Option<Nobody> {
        let user = Command::new("id").arg("-u").output().expect("it starts");
        if user.stdout != b"0\n" {
            oversleep_testing::skip("only root becomes another user");
            return None;
        }
        if !is_installed("setpriv") {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("rights");
        let nobody = Nobody { folder };
        nobody.copied(&home.command().get_program().to_string_lossy(), "oversleep", 0o755);
        Some(nobody)
    }

    fn copied(&self, from: &str, name: &str, mode: u32) -> PathBuf {
        let to = self.folder.path().join(name);
        oversleep_testing::copy_executable(from.as_ref(), &to, mode);
        to
    }

    fn emulates(&self, options: &[&str], program: &Path, word: &str) -> Output {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(self.folder.path().join("oversleep"));
        command.args(["emulate", MACHINE]).args(options).arg("--").arg(program).arg(word).output().expect("it starts")
    }
}

#[test]
fn debuggers_inside_are_told_why_they_fail() {
    let home = Home::new();
    for (program, words) in [("strace", &["-f", "true"][..]), ("gdb", &["-batch", "-ex", "run", "--args", "true"])] {
        if !is_installed(program) {
            continue;
        }
        let Some(output) = emulated(&home, &[], &[&[program], words].concat()) else { return };
        let stderr = stderr(&output);
        assert!(stderr.contains("a debugger or tracer can't trace an emulated program"), "{program}: {stderr}");
    }
}

#[test]
fn an_emulation_inside_another_says_that_it_is_traced() {
    let home = Home::new();
    let own = home.command().get_program().to_string_lossy().into_owned();
    let Some(output) = emulated(&home, &[], &[&own, "emulate", MACHINE, "--", "true"]) else { return };
    assert_eq!(output.status.code(), Some(125), "{}", stderr(&output));
    assert!(stderr(&output).contains("another tracer, such as strace, gdb or another emulate"), "{}", stderr(&output));
}

/// Executes a program under a filter that forbids a call, as in containers: `ptrace` unless FORBIDDEN is another.
pub const CONTAINER: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef FORBIDDEN
#define FORBIDDEN SYS_ptrace
#endif
int main(int count, char **typed) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FORBIDDEN, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { 4, filter };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 9;
    execv(typed[1], typed + 1);
    return 9;
}
"#;

#[test]
fn a_container_that_forbids_ptrace_is_named() {
    let home = Home::new();
    let Some(program) = compiled(&home, CONTAINER, &["-w"]) else { return };
    let own = home.command().get_program().to_string_lossy().into_owned();
    let output = Command::new(program).args([&own, "emulate", MACHINE, "--", "true"]).output().expect("it starts");
    if output.status.code() == Some(9) {
        return oversleep_testing::skip("no filters here");
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = ["--cap-add=SYS_PTRACE", "so LD_PRELOAD is used instead"];
    assert!(said.iter().all(|said| stderr(&output).contains(said)), "{}", stderr(&output));
    // That way there are ticks, and nothing else.
    let output =
        Command::new(home.path().join("program")).args([&own, "emulate", "linux-hz100", "--", "true"]).output();
    let output = output.expect("it starts");
    assert_eq!(output.status.code(), Some(125), "{}", stderr(&output));
}

#[test]
fn a_container_that_forbids_reading_of_memory_is_emulated() {
    let home = Home::new();
    for forbidden in ["process_vm_readv", "kcmp"] {
        let option = format!("-DFORBIDDEN=SYS_{forbidden}");
        let Some(program) = compiled(&home, CONTAINER, &["-w", &option]) else { return };
        let own = home.command().get_program().to_string_lossy().into_owned();
        let sleeps = ["sh", "-c", "for a in 1 2 3; do sleep 0.001; done"];
        let options = [&own, "emulate", MACHINE, "--summary", "--"];
        let output = Command::new(program).args(options).args(sleeps).output().expect("it starts");
        let stderr = stderr(&output);
        if output.status.code() == Some(9) || stderr.contains("can't trace") {
            return oversleep_testing::skip(format!("no filters, or no tracing here: {stderr}"));
        }
        assert!(stderr.contains("as sleep: count 3,"), "{forbidden}: {stderr}");
    }
}

#[test]
fn a_program_that_only_asks_for_filters_is_emulated() {
    let home = Home::new();
    let source = r#"
        #include <errno.h>
        #include <sys/prctl.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int main(void) {
            if (prctl(PR_SET_SECCOMP, 2, 0) != -1 || syscall(SYS_seccomp, 1, 0, 0) != -1 || errno != EFAULT) return 9;
            return usleep(1000);
        }"#;
    let Some(program) = compiled(&home, source, &[]) else { return };
    let Some(output) = emulated(&home, &["--summary"], &[&program]) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("as sleep: count 1,"), "{}", stderr(&output));
}

#[test]
fn strict_seccomp_mode_is_said_to_fail() {
    let home = Home::new();
    let source = "#include <sys/prctl.h>\n#include <unistd.h>\n\
        int main(void) { return prctl(PR_SET_SECCOMP, 1) == -1 ? usleep(1000) : 9; }";
    let Some(program) = compiled(&home, source, &[]) else { return };
    let Some(output) = emulated(&home, &["--summary"], &[&program]) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = ["strict seccomp mode fails", "as sleep: count 1,"];
    assert!(said.iter().all(|said| stderr(&output).contains(said)), "{}", stderr(&output));
}

#[test]
fn what_a_daemon_starts_is_said_to_run_natively() {
    let home = Home::new();
    let docker = home.path().join("docker");
    oversleep_testing::copy_executable("/bin/true".as_ref(), &docker, 0o755);
    let Some(output) = emulated(&home, &[], &[&docker.to_string_lossy()]) else { return };
    assert!(stderr(&output).contains("run oversleep in the container"), "{}", stderr(&output));
}

#[test]
fn a_program_that_the_system_protects_from_its_user_is_named() {
    let home = Home::new();
    let source = "#include <sys/prctl.h>\n#include <unistd.h>\n\
        int main(void) { prctl(PR_SET_DUMPABLE, 0); return usleep(1000); }";
    let Some(undumpable) = compiled(&home, source, &[]) else { return };
    let Some(nobody) = Nobody::new(&home) else { return };
    for program in [nobody.copied("/bin/sleep", "unreadable", 0o711), nobody.copied(&undumpable, "undumpable", 0o755)] {
        let output = nobody.emulates(&["--summary"], &program, "0.001");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains("the system protects the memory"), "{program:?}: {}", stderr(&output));
    }
}

#[test]
fn a_setuid_program_of_an_ordinary_user_runs_without_its_privileges_and_is_named() {
    let home = Home::new();
    let Some(nobody) = Nobody::new(&home) else { return };
    // It shows whose rights it has.
    let id = nobody.copied("/usr/bin/id", "id", 0o4755);
    let output = nobody.emulates(&[], &id, "-u");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "65534\n", "{}", stderr(&output));
    assert!(stderr(&output).contains("setuid or setgid program runs without"), "{}", stderr(&output));
}

#[test]
fn a_resolution_is_held_for_none_but_processes_of_the_program() {
    let home = Home::new();
    let script = "for process in $PPID 999999999 one $$; do \
        \"$0\" emulate ctl $OVERSLEEP_EMULATE --resolution 1ms --process $process; echo $?; done";
    let Some(output) = emulated(&home, &[], &["sh", "-c", script, env!("CARGO_BIN_EXE_oversleep")]) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "125\n125\n125\n0\n", "{stderr}");
    assert_eq!(stderr.matches("is not a process of the emulated program").count(), 2, "{stderr}");
}

#[test]
fn a_report_in_between_names_the_program() {
    let home = Home::new();
    let script = "sleep 0.001; \"$0\" emulate ctl $OVERSLEEP_EMULATE --report";
    let Some(output) = emulated(&home, &[], &["sh", "-c", script, env!("CARGO_BIN_EXE_oversleep")]) else { return };
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!([&report["program"][0], &report["program"][1]], ["sh", "-c"], "{report}");
    assert!(report["waits"].as_array().is_some_and(|waits| !waits.is_empty()), "{report}");
}
