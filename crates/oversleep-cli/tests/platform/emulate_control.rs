//! `emulate ctl`: requests that are slow, foreign or long.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::emulate::emulated;
use super::support::Home;

const OWN: &str = env!("CARGO_BIN_EXE_oversleep");

#[test]
fn a_client_that_says_nothing_holds_up_none() {
    let home = Home::new();
    let script = "import os, socket, subprocess, sys\n\
        number = os.environ['OVERSLEEP_EMULATE']\n\
        space = os.readlink('/proc/self/ns/pid')\n\
        silent = socket.socket(socket.AF_UNIX)\n\
        silent.connect('\\0oversleep-emulate-' + space + '-' + number)\n\
        sys.exit(subprocess.run([sys.argv[1], 'emulate', 'ctl', number, '--resolution', '1ms']).returncode)\n";
    let Some(output) = emulated(&home, &[], &["python3", "-c", script, OWN]) else { return };
    let code = output.status.code();
    if code == Some(127) {
        return oversleep_testing::skip("no python3");
    }
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn another_user_who_never_ends_a_request_holds_up_none() {
    let home = Home::new();
    let script = "import os, socket, subprocess, sys, threading\n\
        number = os.environ['OVERSLEEP_EMULATE']\n\
        space = os.readlink('/proc/self/ns/pid')\n\
        ready = os.pipe()\n\
        if os.fork() == 0:\n\
        \x20   os.setgid(65534); os.setuid(65534)\n\
        \x20   slow = socket.socket(socket.AF_UNIX)\n\
        \x20   slow.connect('\\0oversleep-emulate-' + space + '-' + number)\n\
        \x20   os.write(ready[1], b'x')\n\
        \x20   for _ in range(100):\n\
        \x20       try: slow.sendall(b'x')\n\
        \x20       except OSError: pass\n\
        \x20       threading.Event().wait(0.1)\n\
        \x20   os._exit(0)\n\
        os.read(ready[0], 1)\n\
        sys.exit(subprocess.run([sys.argv[1], 'emulate', 'ctl', number, '--resolution', '1ms']).returncode)\n";
    let user = Command::new("id").arg("-u").output().expect("it starts");
    if user.stdout != b"0\n" {
        return oversleep_testing::skip("only root becomes another user");
    }
    let Some(output) = emulated(&home, &[], &["python3", "-c", script, OWN]) else { return };
    let code = output.status.code();
    if code == Some(127) {
        return oversleep_testing::skip("no python3");
    }
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_report_has_room_for_long_arguments() {
    let home = Home::new();
    let long = "x".repeat(100_000);
    let script = "\"$0\" emulate ctl $OVERSLEEP_EMULATE --report";
    let Some(output) = emulated(&home, &[], &["sh", "-c", script, OWN, &long]) else { return };
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["program"][4].as_str().map(str::len), Some(100_000));
}

#[test]
fn another_user_is_told_so() {
    let home = Home::new();
    let user = Command::new("id").arg("-u").output().expect("it starts");
    if user.stdout != b"0\n" || !Command::new("setpriv").arg("--version").output().is_ok_and(|it| it.status.success()) {
        return oversleep_testing::skip("only root becomes another user, with setpriv");
    }
    // In a place that the other user can access.
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("rights");
    let own = folder.path().join("oversleep");
    oversleep_testing::copy_executable(OWN.as_ref(), &own, 0o755);
    let script =
        "setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\" emulate ctl $OVERSLEEP_EMULATE --report; echo $?";
    let Some(output) = emulated(&home, &[], &["sh", "-c", script, &own.to_string_lossy()]) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "125\n", "{stderr}");
    assert!(stderr.contains("belongs to another user"), "{stderr}");
}

#[test]
fn a_program_in_another_namespace_of_ids_controls_its_emulation() {
    let home = Home::new();
    let script = "\"$0\" emulate ctl $OVERSLEEP_EMULATE --resolution 1ms";
    let Some(output) = emulated(&home, &[], &["unshare", "-Urpf", "sh", "-c", script, OWN]) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains("unshare") {
        return oversleep_testing::skip(stderr);
    }
    assert!(stderr.contains("is held"), "{stderr}");
}

#[test]
fn containers_of_one_network_control_their_own_emulation() {
    let home = Home::new();
    // Two emulations whose process has the same id, each in a namespace of its own. The second asks for its own report.
    let script = r#"
        pair='"$0" emulate windows-10-1909 -- sh -c "$1" "$0"'
        unshare -Urpf sh -c "$pair; true" "$0" 'echo >begun; until [ -e asked ]; do sleep 0.01; done' &
        until [ -e begun ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
        unshare -Urpf --mount-proc sh -c "$pair; true" "$0" '"$0" emulate ctl $OVERSLEEP_EMULATE --report'
        echo >asked
        wait"#;
    let output = home.prepared(Command::new("sh")).args(["-c", script, OWN]).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if stderr.contains("unshare") || stderr.contains("can't trace") {
        return oversleep_testing::skip(stderr);
    }
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(report["program"].to_string().contains("--report"), "{report}");
}
