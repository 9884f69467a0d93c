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
    let is_told = ["no directory can be written to compile its probe in", "not found. Install it with"];
    for name in ["c", "cpp"] {
        let is_its = |line: &&str| {
            let named = line.strip_prefix("not measured: ").and_then(|line| line.strip_prefix(name));
            named.is_some_and(|rest| rest.starts_with([':', '-']))
        };
        let told = ended.stderr.lines().find(is_its).unwrap_or_default();
        assert!(is_told.iter().any(|reason| told.contains(reason)), "{name}: {}", ended.stderr);
    }
    assert!(ended.result().series.iter().all(|series| series.runtime.is_none()));

    let mut command = home.command();
    nowhere(command.args(["runtimes", "c"]).args(FEW));
    let ended = Ended::of(command.output().expect("it starts")).fine();
    assert!(is_told.iter().any(|reason| ended.stderr.contains(reason)), "{}", ended.stderr);
    assert_eq!((home.files().len(), home.temporary_files().len()), (0, 0), "nothing is left");
}

#[test]
fn nobody_measures_what_nobody_may() {
    let home = Home::new();
    let can_become_nobody = Command::new("setpriv").args(["--reuid=65534", "--clear-groups", "true"]).status();
    if !can_become_nobody.is_ok_and(|status| status.success()) {
        return oversleep_testing::skip("only root becomes nobody, with setpriv");
    }
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).expect("its own");
    let mut command = home.prepared(Command::new("setpriv"));
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(binary()).args(["runtimes", "perl", "c"]);
    command.args(FEW).env("HOME", "/nonexistent").env_remove("XDG_CACHE_HOME");
    let output = command.output().expect("it starts");
    if output.status.code() == Some(127) {
        return oversleep_testing::skip(format!("nobody may not reach {}", binary().display()));
    }
    let ended = Ended::of(output).measured();
    let measured = ended.result();
    let perl = measured
        .series
        .iter()
        .any(|series| series.runtime.as_ref().is_some_and(|runtime| runtime.name == "perl") && series.has_values());
    assert!(perl || ended.stderr.contains("not measured: perl"), "{}", ended.stderr);
    assert_eq!((home.files().len(), home.temporary_files().len()), (0, 0), "nothing is left");
}

/// Writes an executable script into a home.
fn program(home: &Home, name: &str, text: &str) {
    oversleep_testing::write_executable(&home.path().join(name), text.as_bytes(), 0o755);
}

/// Fails at once, with a message.
const FAILS: &str = "#!/bin/sh\necho 'no licence' >&2\nexit 3\n";

/// Waits by `sleep`, and answers each step with one duration.
const WAITS: &str = r#"#!/bin/sh
echo '{"type":"hello","proto":1,"runtime":"engine","version":"1","clock":"e","now":1}'
if [ "$1" = list ]; then
  echo '{"type":"op","op":"nap","kind":"wait"}'; echo '{"type":"end","now":2}'; exit
fi
for step in "$@"; do
  ns=${step#*@}; ns=${ns%%[!0-9]*}
  echo "{\"type\":\"s\",\"op\":\"nap\",\"requested\":$ns,\"rounded\":$ns,\"n\":1,\"unit\":\"ns\",\"t\":[5],\"d\":[$ns]}"
done
echo '{"type":"end","now":9}'
"#;

#[test]
fn a_program_that_fails_is_told_with_its_reason_and_nothing_measured_is_a_failure() {
    let home = Home::new();
    program(&home, "fails", FAILS);
    for arguments in [&["./fails"][..], &["./fails", "--only", "nap"], &["./nothere"], &["./nothere", "--quiet"]] {
        let mut command = home.command();
        command.args(["runtimes", "--quick"]).args(arguments);
        let ended = Ended::of(command.output().expect("it starts")).with_code(1);
        assert!(ended.stderr.contains("nothing could be measured; "), "{arguments:?}: {}", ended.stderr);
        let reason = if arguments[0] == "./fails" { "no licence" } else { "can't be started" };
        assert!(ended.stderr.contains(reason), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn two_programs_that_share_a_name_have_a_row_each() {
    let home = Home::new();
    for name in ["one", "two"] {
        program(&home, name, WAITS);
    }
    let mut command = home.command();
    command.args(["runtimes", "--quick", "--request", "1ms", "./one", "./two", "--json", "of.json"]);
    let ended = Ended::of(command.output().expect("it starts")).measured();
    let rows = ended.stdout.lines().filter(|line| line.contains("nap")).collect::<Vec<_>>();
    assert!(rows.len() >= 2 && rows[0].starts_with("engine (one) 1"), "{}", ended.stdout);
    assert!(rows.iter().any(|row| row.starts_with("engine (two) 1")), "{}", ended.stdout);
}

/// /proc shows which processes are left.
#[cfg(target_os = "linux")]
mod stopped {
    use std::fs;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::thread::sleep;
    use std::time::Duration;

    use crate::support::{Ended, Home};

    /// A program that lists a wait, then never answers and ignores every signal that can be ignored.
    const HANGS: &str = r#"#!/bin/sh
echo '{"type":"hello","proto":1,"runtime":"engine","version":"1","clock":"e","now":1}'
if [ "$1" = list ]; then
  echo '{"type":"op","op":"tick","kind":"wait"}'; echo '{"type":"end","now":2}'; exit
fi
trap '' INT TERM HUP
setsid sleep 86400 &
echo $! > child.pid
while :; do sleep 1; done
"#;

    #[test]
    fn ctrl_c_in_the_middle_leaves_no_process() {
        let home = Home::new();
        let engine = home.path().join("engine");
        oversleep_testing::write_executable(&engine, HANGS.as_bytes(), 0o755);
        let mut command = home.command();
        command.args(["runtimes", "./engine", "--quick", "--quiet"]).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let pid = home.path().join("child.pid");
        let number = loop {
            match fs::read_to_string(&pid) {
                Ok(number) if number.ends_with('\n') => break number,
                _ => assert!(child.try_wait().expect("it is ours").is_none(), "the program was never started"),
            }
            sleep(Duration::from_millis(5));
        };
        let sent = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().expect("a shell");
        assert!(sent.success());
        Ended::of(child.wait_with_output().expect("it ends")).with_code(130);
        // A process that left the group. Left alone, it would be there for a day.
        while Path::new("/proc").join(number.trim()).exists() {
            sleep(Duration::from_millis(10));
        }
    }
}
