//! One file under several names, outputs that are not there, and limits on what is written.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use oversleep_record::ResultFile;

use crate::support::{Ended, Home, SHORT};

/// A home with a result `r.json`, a symbolic link `s.json` and a hard link `h.json` to it.
fn with_result() -> Home {
    let home = Home::new();
    home.run(SHORT.iter().chain(&["--out", "r.json", "--quiet"])).fine();
    symlink("r.json", home.path().join("s.json")).expect("a link");
    fs::hard_link(home.path().join("r.json"), home.path().join("h.json")).expect("a link");
    home
}

#[test]
fn an_output_never_replaces_what_is_read_or_another_output() {
    let home = with_result();
    let before = fs::read(home.path().join("r.json")).expect("written");
    let absolute = home.path().join("r.json").display().to_string();
    for other in ["./r.json", "temp/../r.json", "s.json", "h.json", &absolute] {
        for args in [
            ["report", "r.json", "--html", other],
            ["report", other, "--html", "r.json"],
            ["compare", "r.json", "r.json", &format!("--json={other}")],
            ["waits", "--like", "r.json", &format!("--out={other}")],
            ["waits", "--quick", "--json=r.json", &format!("--html={other}")],
        ] {
            let ended = home.run(args).with_code(2);
            assert!(ended.stderr.starts_with("error: ") && ended.stdout.is_empty(), "{args:?}: {}", ended.stderr);
        }
        assert!(fs::read(home.path().join("r.json")).expect("still there") == before, "{other}");
    }
    // The same document under two names is written once.
    home.run(SHORT.iter().chain(&["--out", "n.json", "--json", "./n.json", "--quiet"])).fine();
    // A discarded output isn't a file.
    home.run(SHORT.iter().chain(&["--json", "/dev/null", "--html", "/dev/null"])).fine();
}

#[test]
fn a_name_of_standard_output_is_standard_output() {
    let home = Home::new();
    for name in ["/dev/stdout", "/dev/fd/1"] {
        let both = home.run(SHORT.iter().chain(&["--json", name, "--html", name])).with_code(2);
        assert!(both.stderr.contains("standard output takes one document"), "{}", both.stderr);
        let file = File::create(home.path().join("out")).expect("writable");
        let output = home.command().args(SHORT).args(["--json", name]).stdout(file).output().expect("it starts");
        Ended::of(output).fine();
        let written = fs::read(home.path().join("out")).expect("readable");
        assert!(ResultFile::read(&written).is_ok(), "{name}: {}", String::from_utf8_lossy(&written));
    }
    let errors = File::create(home.path().join("errors")).expect("writable");
    let output = home.command().args(SHORT).args(["--json", "errors"]).stderr(errors).output().expect("it starts");
    assert_eq!(Ended::of(output).code, Some(2), "messages would be lost");
}

/// A line for the shell, with the program as `$0`.
fn shell(home: &Home, line: &str) -> Ended {
    let mut command = home.prepared(Command::new("sh"));
    Ended::of(command.args(["-c", line, env!("CARGO_BIN_EXE_oversleep")]).output().expect("a shell"))
}

#[test]
fn a_closed_standard_output_is_an_error() {
    let home = with_result();
    for args in
        ["waits thread-sleep --count 3", "report r.json", "machines", "--help", "--version", "ask 'resolution()'"]
    {
        let ended = shell(&home, &format!("exec \"$0\" {args} >&-")).with_code(1);
        let message = "error: can't write to standard output: it is closed; redirect it to a file or /dev/null\n";
        assert_eq!(ended.stderr, message, "{args}");
    }
    shell(&home, "exec \"$0\" report r.json --html r.html >&-").fine();
    shell(&home, "exec \"$0\" report r.json >/dev/null").fine();
}

#[test]
fn a_report_that_can_not_be_shown_leaves_no_copy() {
    let (home, Ok(full)) = (with_result(), fs::OpenOptions::new().write(true).open("/dev/full")) else {
        return oversleep_testing::skip("no /dev/full here");
    };
    let output = home.command().args(["report", "r.json"]).stdout(full).output().expect("it starts");
    let ended = Ended::of(output).with_code(1);
    assert!(ended.stderr.starts_with("error: can't write to standard output: "), "{}", ended.stderr);
    assert!(!ended.stderr.contains("kept") && home.temporary_files().is_empty(), "{}", ended.stderr);
}

#[test]
fn a_limit_on_file_sizes_is_an_error_of_every_command() {
    let home = with_result();
    for args in ["report r.json --html big.html", "compare r.json r.json --html=big.html", "man --out pages"] {
        let ended = shell(&home, &format!("ulimit -f 1; exec \"$0\" {args}")).with_code(1);
        assert!(ended.stderr.starts_with("error: can't write '"), "{args}: {}", ended.stderr);
        assert!(ended.stderr.contains("(ulimit -f)"), "{args}: {}", ended.stderr);
    }
    let left: Vec<String> = home.files().into_iter().filter(|name| name.ends_with(".part")).collect();
    assert!(left.is_empty() && !home.files().contains(&"big.html".to_owned()), "{left:?}");
}

#[test]
fn memory_that_runs_out_is_an_error() {
    let home = Home::new();
    // The sufficient amount differs between machines and builds.
    let mut crashes = Vec::new();
    for kilobytes in (30_000..54_000).step_by(1_000) {
        let ended = shell(&home, &format!("ulimit -v {kilobytes}; exec \"$0\" waits thread-sleep --count 3"));
        // Before `main`, Rust's runtime ends a process that has no memory for its signal stack.
        let has_no_signal_stack = ended.stderr.contains("failed to allocate an alternative stack");
        assert!(has_no_signal_stack || !ended.stderr.contains("panicked"), "{kilobytes}: {}", ended.stderr);
        // With far too little, the loader fails (127), or the process never begins.
        let has_begun = ended.code != Some(127) && !ended.stderr.is_empty();
        // 130: the run ended early with what it had measured.
        if has_begun && !matches!(ended.code, Some(0 | 1 | 4 | 130)) {
            crashes.push(format!("{kilobytes}: {:?} {}", ended.code, ended.stderr));
        }
    }
    // If the program got the last page, its stack can't grow: the system kills it, and no message is possible.
    assert!(crashes.len() <= 2, "{crashes:?}");
}

#[test]
fn what_is_discarded_or_read_by_nobody_is_no_loss() {
    let home = with_result();
    let mut command = home.command();
    let child = command.args(["report", "r.json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("it starts");
    drop(child.stdout.take());
    Ended::of(child.wait_with_output().expect("it ends")).fine();
    assert!(home.temporary_files().is_empty());
}

#[test]
fn what_is_read_is_not_written_by_any_way_round() {
    let home = Home::new();
    home.run(SHORT.iter().copied().chain(["--out", "old.json"])).fine();
    let before = fs::read(home.path().join("old.json")).expect("written");
    for line in [
        "exec \"$0\" report old.json >>old.json",
        "exec \"$0\" compare old.json old.json >>old.json",
        "exec \"$0\" ask 'sleep(1ms)' --like old.json >>old.json",
        "mkdir p; ln -s ../old.json p/percentiles.svg; exec \"$0\" report old.json --svg p",
        "exec \"$0\" report - --svg p <old.json",
        "ln -s new l; exec \"$0\" report old.json --json=l --html new",
        "ln -s new m; exec \"$0\" report old.json --json=l --html m",
        "mkdir q; exec \"$0\" waits thread-sleep --for 1h --svg q --html q/percentiles.svg",
    ] {
        let mut command = home.prepared(Command::new("sh"));
        command.args(["-c", line, env!("CARGO_BIN_EXE_oversleep")]);
        Ended::of(command.output().expect("a shell")).with_code(2);
        assert_eq!(fs::read(home.path().join("old.json")).expect("readable"), before, "{line}");
    }
    let line = "exec \"$0\" report old.json --html l && test -h l && test -f new";
    let mut command = home.prepared(Command::new("sh"));
    command.args(["-c", line, env!("CARGO_BIN_EXE_oversleep")]);
    Ended::of(command.output().expect("a shell")).fine();
}
