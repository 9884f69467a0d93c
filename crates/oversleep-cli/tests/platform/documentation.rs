//! Every example of the help and of the guide runs, and the answer in the README is the one that is given.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::{self, Home, SHORT, Served, pauses};

const RECORDING: &[u8] = include_bytes!("../../../oversleep-why/tests/recorded/fifo.why");

/// Whether it measures, or waits for a signal.
fn is_long(words: &[&str]) -> bool {
    const QUICK: &str = "ask compare completions doctor experiments explain machines man page report share";
    let has = |word| words.contains(&word);
    let is_quick = words.first().is_some_and(|word| QUICK.split(' ').any(|quick| quick == *word));
    has("verify") || !(is_quick || has("show") || has("--list") || has("--"))
}

/// Runs a line of documentation. One that may be long is interrupted once it handles signals; the others run to their
/// end.
pub fn run_line(home: &Home, line: &str) {
    if line.starts_with("oversleep assert ") {
        return run_gate(home, line);
    }
    if line.starts_with("oversleep archive ") {
        return run_archive(home, line);
    }
    if [" | ", " > ", "; ", " & "].iter().any(|sign| line.contains(sign)) {
        let output = home.prepared(Command::new("sh")).args(["-ec", line]).output().expect("a shell");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    // A process that runs already, and a port that nobody else has.
    let line = line.replace(" -p 1234", &format!(" -p {}", std::process::id())).replace("'[::]:9899'", "127.0.0.1:0");
    let served = line.starts_with("oversleep watch http:").then(|| Served::start(home, &[], &[]));
    let line = match &served {
        Some(served) => line.replace("127.0.0.1:9899", &served.address),
        None => line,
    };
    let line = &match line.starts_with("oversleep serve") && !line.contains("--listen") {
        true => format!("{line} --listen 127.0.0.1:0"),
        false => line,
    };
    let words: Vec<&str> = line.split_whitespace().skip(1).map(|word| word.trim_matches(['\'', '"'])).collect();
    if !is_long(&words) {
        home.run(&words).measured();
        return;
    }
    // On a busy machine it may take a while until signals are handled; a run that a signal kills is repeated.
    for pause in pauses() {
        let mut child =
            home.command().args(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let begun = Instant::now();
        while begun.elapsed() < pause && child.try_wait().expect("it can be asked").is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        if child.try_wait().expect("it can be asked").is_none() {
            let interrupt = format!("kill -INT {}", child.id());
            assert!(Command::new("sh").args(["-c", &interrupt]).status().expect("a shell").success());
        }
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        // It was interrupted before its first wait had ended.
        let is_too_early = stderr.contains("press Ctrl-C again") && stderr.contains("nothing could be measured");
        if output.status.signal().is_none() && !is_too_early {
            let is_refused = stderr.contains("lacks CAP_");
            assert!(
                matches!(output.status.code(), Some(0 | 4 | 130)) || is_refused,
                "{line}: {:?} {stderr}",
                output.status
            );
            return;
        }
    }
}

/// Runs a gate, for a short time: it has any verdict.
fn run_gate(home: &Home, line: &str) {
    if !cfg!(target_os = "linux") && line.contains("--base ") {
        return;
    }
    let line = line.replace("--within 60s", "--within 1s").replace("--within 30s", "--within 1s");
    // What the furnished result and the furnished programs have.
    let line = line.replace("nanosleep(1ms)", "thread-sleep(1ms)").replace("'sleep(1ms)", "'thread-sleep(1ms)");
    let line = line.replace("(program)", "(sleep)").replace(" 'period(sleep).p50'", "");
    let output = home.prepared(Command::new("sh")).args(["-ec", &line]).output().expect("a shell");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3 | 4)), "{line}: {:?} {stderr}", output.status);
}

/// Runs a line about archives. A command that was built without them says how to get one that has them; and the furnished
/// archive doesn't have every value that a reader's has.
fn run_archive(home: &Home, line: &str) {
    let output = home.prepared(Command::new("sh")).args(["-ec", line]).output().expect("a shell");
    let stderr = String::from_utf8_lossy(&output.stderr);
    if cfg!(feature = "archive") || line.starts_with("oversleep archive views") {
        let has_other_values = output.status.code() == Some(2) && stderr.contains("no row has ");
        assert!(output.status.success() || has_other_values, "{line}: {stderr}");
    } else {
        assert!(output.status.code() == Some(1) && stderr.contains("--features archive"), "{line}: {stderr}");
    }
}

/// Runs all of them, several at a time: most do little but wait.
fn run_lines(lines: &[String]) {
    let (home, next) = (furnished(lines), AtomicUsize::new(0));
    let run_some = || {
        while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
            run_line(&home, line);
        }
    };
    std::thread::scope(|scope| (0..8).for_each(|_| _ = scope.spawn(run_some)));
}

/// A home with the results that lines of documentation read.
pub fn furnished(lines: &[String]) -> Home {
    let home = Home::new();
    add_the_readers_own(&home);
    home.run(SHORT.iter().chain(&["--out", "r.json"])).fine();
    fs::create_dir(home.path().join("results")).expect("writable");
    fs::copy(home.path().join("r.json"), home.path().join("results/r.json")).expect("writable");
    let reads = |line: &&String| {
        [
            "oversleep report ",
            "oversleep compare ",
            "oversleep clocks ",
            "oversleep export ",
            "oversleep assert ",
            "oversleep archive add ",
        ]
        .iter()
        .any(|start| line.starts_with(start))
    };
    for line in lines.iter().filter(reads) {
        for word in line.split_whitespace().filter(|word| word.ends_with(".json") && !word.starts_with('-')) {
            if !home.path().join(word).exists() {
                fs::copy(home.path().join("r.json"), home.path().join(word)).expect("writable");
            }
        }
    }
    // Lines run beside one another, so what they ask is there before the line that adds it.
    if cfg!(feature = "archive") && lines.iter().any(|line| line.starts_with("oversleep archive ")) {
        home.run(["archive", "add", "fleet", "r.json"]).fine();
    }
    home
}

/// A probe with one wait of which it knows one duration.
const ENGINE_TIMER: &str = r#"#!/bin/sh
echo '{"type":"hello","proto":2,"runtime":"engine","version":"1","clock":"CLOCK_MONOTONIC","now":1}'
for step; do
    request=${step#*@}
    case $step in
    list) echo '{"type":"op","op":"own","kind":"wait"}' ;;
    *) echo '{"type":"s","op":"own","requested":'"${request%@*},\"rounded\":${request%@*}"',"n":1,"unit":"ns","t":[2],"d":[9]}' ;;
    esac
done
echo '{"type":"end","now":12}'
"#;

/// Examples that need what a test can't have, and what that is.
const NOT_RUN: [(&str, &str); 2] = [
    ("oversleep runtimes jet --fetch", "downloads an engine"),
    ("oversleep emulate ctl ", "speaks to a program that is emulated"),
];

/// What examples call the reader's own: a program, one that speaks the protocol of probes, a makefile, a recording.
fn add_the_readers_own(home: &Home) {
    for (name, script) in [("app", "#!/bin/sh\nsleep 0.01\n"), ("my-engine-timer", ENGINE_TIMER)] {
        oversleep_testing::write_executable(&home.path().join(name), script.as_bytes(), 0o755);
    }
    for name in ["old", "new", "old-app", "new-app"] {
        let script = "#!/bin/sh\nfor i in 1 2 3 4 5 6; do sleep 0.002; done\n";
        oversleep_testing::write_executable(&home.path().join(name), script.as_bytes(), 0o755);
    }
    fs::write(home.path().join("timing.assert"), "# ours\nthread-sleep(1ms).p50 < 60s\n").expect("writable");
    fs::write(home.path().join("Makefile"), "test:\n\t@sleep 0.01\n").expect("writable");
    fs::write(home.path().join("r.why"), RECORDING).expect("writable");
}

#[test]
fn every_example_of_the_help_runs() {
    let mut lines = Vec::new();
    // These follow a program or hold its settings; elsewhere they say that only Linux lets them.
    let is_elsewhere = |command: &String| {
        !cfg!(target_os = "linux") && ["why", "run", "emulate"].iter().any(|one| command.starts_with(one))
    };
    for command in support::commands().into_iter().chain([String::new()]).filter(|command| !is_elsewhere(command)) {
        let help = Home::new().run(command.split_whitespace().chain(["-h"])).fine().stdout;
        let examples = help.lines().skip(1).take_while(|line| !line.is_empty());
        let examples =
            examples.filter_map(|line| line.trim().split("  ").next()).filter(|line| line.starts_with("oversleep"));
        let examples: Vec<String> = examples.map(str::to_owned).collect();
        assert!(!examples.is_empty(), "{command} has no examples");
        lines.extend(examples.into_iter().filter(|line| !lines.contains(line)).collect::<Vec<_>>());
    }
    for (line, reason) in NOT_RUN {
        assert!(
            lines.iter().any(|one| one.starts_with(line)) || is_elsewhere(&line["oversleep ".len()..].to_owned()),
            "{line} ({reason})"
        );
        lines.retain(|one| !one.starts_with(line));
    }
    run_lines(&lines);
}

/// A page of the project; `None` if the crate is tested without it.
#[track_caller]
pub fn page(name: &str) -> Option<String> {
    match fs::read_to_string(format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))) {
        Ok(text) => Some(text.replace("\r\n", "\n")),
        Err(error) => {
            oversleep_testing::skip(format!("{name}: {error}"));
            None
        }
    }
}

/// A model gives the same answer everywhere, so the README's answer can be compared with it. It leaves out what helps.
#[test]
fn the_answer_in_the_readme_is_the_one_that_is_given() {
    let Some(text) = page("README.md") else { return };
    let (_, from_command) = text.split_once("```console\n$ oversleep ask ").expect("a question");
    let (command, after) = from_command.split_once("\n```\n\n```text\n").expect("the answer behind it");
    let (shown, _) = after.split_once("\n```").expect("its end");
    let args = command.split_whitespace().map(|word| word.trim_matches('\''));
    let answer = Home::new().run(std::iter::once("ask").chain(args)).fine();
    let (said, _) = answer.stdout.split_once("\n  helps ").expect("what helps");
    assert_eq!(said, shown);
}

/// The commands in a page's console blocks.
fn commands(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut in_console = false;
    for line in text.lines() {
        match line.trim() {
            "```console" => in_console = true,
            "```" => in_console = false,
            line if in_console => {
                lines.extend(line.strip_prefix("$ ").filter(|line| line.starts_with("oversleep")).map(str::to_owned));
            }
            _ => {}
        }
    }
    lines
}

#[test]
fn every_command_of_the_readme_and_the_guide_runs() {
    let pages: Vec<String> = ["README.md", "docs/guide.md", "docs/serve.md", "docs/fleet.md"]
        .into_iter()
        .filter_map(|name| page(name))
        .collect();
    let mut lines = Vec::new();
    for text in &pages {
        let commands = commands(text);
        assert!(!commands.is_empty(), "a page has no ```console block with a `$ oversleep` line");
        lines.extend(commands.into_iter().filter(|line| !lines.contains(line)).collect::<Vec<_>>());
    }
    run_lines(&lines);
}
