//! Keys of a table on a terminal, typed into a pseudo-terminal of `script`.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use oversleep_record::ResultFile;
use oversleep_record::file::Completion;

use crate::support::Home;

/// A shell on a terminal of its own.
struct Terminal {
    child: Child,
    shown: String,
}

impl Terminal {
    /// `None` where there is no `script` that takes these options: it is util-linux's.
    fn run(home: &Home, commands: &str) -> Option<Terminal> {
        let help = Command::new("script").arg("--help").output().ok()?;
        if !String::from_utf8_lossy(&help.stdout).contains("--return") {
            return None;
        }
        let mut command = home.prepared(Command::new("script"));
        command.env("SHELL", "/bin/sh").args(["--quiet", "--return", "--flush", "--command", commands, "/dev/null"]);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        Some(Terminal { child, shown: String::new() })
    }

    /// Reads until this text is shown.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let stdout = self.child.stdout.as_mut().expect("piped");
        let begins_at = self.shown.len();
        let mut bytes = Vec::new();
        let mut one = [0];
        while !String::from_utf8_lossy(&bytes).ends_with(text) {
            assert!(matches!(stdout.read(&mut one), Ok(1)), "no {text:?} in {}", self.shown);
            bytes.push(one[0]);
            self.shown.truncate(begins_at);
            self.shown += &String::from_utf8_lossy(&bytes);
        }
    }

    fn press(&mut self, keys: &str) {
        self.child.stdin.as_mut().expect("piped").write_all(keys.as_bytes()).expect("it reads");
    }

    /// What it showed to its end.
    fn end(mut self) -> String {
        let mut rest = Vec::new();
        self.child.stdout.as_mut().expect("piped").read_to_end(&mut rest).expect("readable");
        self.child.wait().expect("it ends");
        self.shown + &String::from_utf8_lossy(&rest)
    }
}

const KEYS: &str = "p pauses the table · q quits\r\n";
const PAUSED: &str = "paused, while sampling goes on · p resumes the table · q quits\r\n";
/// The terminal's settings before and after, between brackets.
const SETTINGS: &str = "printf '[%s]\\n' $(stty -g)";

/// The settings were shown so many times, and were the same each time.
#[track_caller]
fn assert_settings(shown: &str, times: usize) {
    let settings: Vec<&str> =
        shown.split('[').filter_map(|part| part.split_once("]\r\n")).map(|(all, _)| all).collect();
    assert!(settings.len() == times && settings.iter().all(|all| *all == settings[0]), "{settings:?}: {shown}");
}

#[test]
fn q_quits_with_a_result_and_p_pauses_the_table_alone() {
    let home = Home::new();
    let watch = "oversleep watch thread-sleep --late 1ns --by counters --out r.json";
    let Some(mut terminal) = Terminal::run(&home, &format!("{SETTINGS}; {watch}; echo code $?; {SETTINGS}")) else {
        return oversleep_testing::skip("no `script` of util-linux");
    };
    terminal.wait_for(KEYS);
    terminal.press("xp");
    terminal.wait_for(PAUSED);
    let paused_at = terminal.shown.len();
    terminal.press("p");
    terminal.wait_for(KEYS);
    assert!(!terminal.shown[paused_at..].contains(PAUSED), "{}", terminal.shown);
    terminal.press("p");
    terminal.wait_for(PAUSED);
    terminal.press("q");
    let shown = terminal.end();
    assert!(shown.contains("ending the run with what was measured") && shown.contains("code 0\r\n"), "{shown}");
    assert_settings(&shown, 2);
    let file = ResultFile::read(&std::fs::read(home.path().join("r.json")).expect("written")).expect("a result");
    assert_eq!((file.command.as_str(), file.completion), ("watch", Completion::Complete));
}

#[test]
fn the_terminal_is_as_it_was_found_after_each_end_and_while_it_is_stopped() {
    for signal in ["TERM", "INT", "QUIT"] {
        let home = Home::new();
        let watch = "sh -c 'echo pid $$; exec oversleep watch thread-sleep --by counters --out r.json'";
        let commands = format!("ulimit -c 0; {SETTINGS}; {watch}; {SETTINGS}");
        let Some(mut terminal) = Terminal::run(&home, &commands) else {
            return oversleep_testing::skip("no `script` of util-linux");
        };
        terminal.wait_for(KEYS);
        let pid = terminal.shown.lines().find_map(|line| line.strip_prefix("pid ")).expect("shown").to_owned();
        let sent = Command::new("kill").args([format!("-{signal}").as_str(), pid.trim()]).status();
        assert!(sent.is_ok_and(|sent| sent.success()), "{pid}");
        assert_settings(&terminal.end(), 2);
    }
    let home = Home::new();
    let watch = "oversleep watch thread-sleep --by counters --out r.json";
    let commands = format!("set -m; {SETTINGS}; {watch}; {SETTINGS}; fg; {SETTINGS}");
    let Some(mut terminal) = Terminal::run(&home, &commands) else { return };
    terminal.wait_for(KEYS);
    terminal.press("\u{1a}");
    terminal.wait_for("]\r\n");
    terminal.wait_for(KEYS);
    terminal.press("q");
    let shown = terminal.end();
    assert_settings(&shown, 3);
    assert!(shown.contains("Written: r.json"), "{shown}");
}
