//! `runtimes` under adverse conditions: nothing installed, no search path, no writable directory, no privileges, Ctrl-C.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::{Ended, Home, binary};

/// A few waits of one runtime, quickly.
const FEW: [&str; 6] = ["--quick", "--request", "1ms", "--only", "sleep", "--json"];

#[test]
fn without_a_search_path_and_with_nowhere_to_write_each_runtime_has_a_reason() {
    let home = Home::new();
    // Not even root can create a directory there.
    let nowhere = |command: &mut Command| {
        command.envs([("HOME", "/proc/no"), ("XDG_CACHE_HOME", "/proc/no"), ("TMPDIR", "/proc/no")]);
    };
    let mut command = home.command();
    nowhere(command.args(["runtimes", "c", "cpp"]).args(FEW).env("PATH", "").env_remove("CC").env_remove("CXX"));
    let ended = Ended::of(command.output().expect("it starts")).fine();
    for name in ["c", "cpp"] {
        let reason = format!("not measured: {name}: not found. Install it with: apt-get install ");
        assert!(ended.stderr.contains(&reason), "{}", ended.stderr);
    }
    assert!(ended.result().series.iter().all(|series| series.runtime.is_none()));

    let mut command = home.command();
    nowhere(command.args(["runtimes", "c"]).args(FEW));
    let ended = Ended::of(command.output().expect("it starts")).fine();
    let is_told = ["no directory can be written to compile its probe in", "not found. Install it with"];
    assert!(is_told.iter().any(|reason| ended.stderr.contains(reason)), "{}", ended.stderr);
    assert_eq!((home.files().len(), home.temporary_files().len()), (0, 0), "nothing is left");
}

#[test]
fn nobody_measures_what_nobody_may() {
    let home = Home::new();
    let can_become_nobody = Command::new("setpriv").args(["--reuid=65534", "--clear-groups", "true"]).status();
    if !can_become_nobody.is_ok_and(|status| status.success()) {
        return eprintln!("SKIPPED: only root becomes nobody, with setpriv");
    }
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).expect("its own");
    let mut command = home.prepared(Command::new("setpriv"));
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(binary()).args(["runtimes", "perl", "c"]);
    command.args(FEW).env("HOME", "/nonexistent").env_remove("XDG_CACHE_HOME");
    let output = command.output().expect("it starts");
    if output.status.code() == Some(127) {
        return eprintln!("SKIPPED: nobody may not reach {}", binary().display());
    }
    let ended = Ended::of(output).fine();
    let measured = ended.result();
    let perl = measured
        .series
        .iter()
        .any(|series| series.runtime.as_ref().is_some_and(|runtime| runtime.name == "perl") && series.has_values());
    assert!(perl || ended.stderr.contains("not measured: perl"), "{}", ended.stderr);
    assert_eq!((home.files().len(), home.temporary_files().len()), (0, 0), "nothing is left");
}

/// /proc shows which processes are left.
#[cfg(target_os = "linux")]
mod stopped {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use crate::support::{Ended, Home};

    fn is_gone(number: &str) -> bool {
        let begun = Instant::now();
        while Path::new("/proc").join(number.trim()).exists() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        !Path::new("/proc").join(number.trim()).exists()
    }

    /// A program that lists a wait, then never answers and ignores every signal that can be ignored.
    const HANGS: &str = r#"#!/bin/sh
echo '{"type":"hello","proto":1,"runtime":"engine","version":"1","clock":"e","now":1}'
if [ "$1" = list ]; then
  echo '{"type":"op","op":"tick","kind":"wait"}'; echo '{"type":"end","now":2}'; exit
fi
trap '' INT TERM HUP
setsid sleep 600 &
echo $! > child.pid
while :; do sleep 1; done
"#;

    #[test]
    fn ctrl_c_in_the_middle_leaves_no_process() {
        let home = Home::new();
        let engine = home.path().join("engine");
        fs::write(&engine, HANGS).expect("written");
        fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).expect("its own");
        let mut command = home.command();
        command.args(["runtimes", "./engine", "--quick", "--quiet"]).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().expect("it starts");
        let pid = home.path().join("child.pid");
        let begun = Instant::now();
        let number = loop {
            match fs::read_to_string(&pid) {
                Ok(number) if number.ends_with('\n') => break number,
                _ => assert!(begun.elapsed() < Duration::from_secs(60), "the program was never started"),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let sent = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().expect("a shell");
        assert!(sent.success());
        Ended::of(child.wait_with_output().expect("it ends")).with_code(130);
        assert!(is_gone(&number), "a process that left the group goes on");
    }
}
