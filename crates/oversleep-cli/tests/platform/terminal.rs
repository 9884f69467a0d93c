//! No argument and no file contents control the terminal.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;

use crate::support::{Home, SHORT};

/// A title, a cleared screen, a line that looks like a message of oversleep, and a change of writing direction.
const HOSTILE: &str = "x\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\r\nerror: all is well\u{202e}y";

#[track_caller]
fn is_harmless(text: &str, args: &[OsString]) {
    for letter in text.chars().filter(|letter| *letter != '\n') {
        let is_hostile = letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        assert!(!is_hostile, "{args:?}: {letter:?} in {text}");
    }
    assert!(!text.contains("\nerror: all"), "{args:?}: a line of its own: {text}");
}

#[test]
fn what_is_typed_is_shown_and_not_obeyed() {
    let home = Home::new();
    home.run(SHORT.iter().chain(&["--out", "r.json", "--quiet"])).fine();
    fs::write(home.path().join(HOSTILE), "{\"schema\":\"\\u001b]0;title\\u0007\"}").expect("writable");
    let no_text = OsString::from_vec(b"\x1b[2J\xff\x9b31m".to_vec());
    let lines: &[&[&str]] = &[
        &["?"],
        &["waits", "?"],
        &["waits", "--?"],
        &["waits", "--request", "?"],
        &["waits", "--count", "?"],
        &["waits", "--slack", "?"],
        &["waits", "--pin", "?"],
        &["waits", "--policy", "?"],
        &["waits", "--load", "?"],
        &["waits", "--tune", "?=?"],
        &["waits", "--tune", "slack=?"],
        &["waits", "--clock", "?"],
        &["waits", "--pace", "?"],
        &["waits", "--name", "?"],
        &["waits", "--on", "?"],
        &["waits", "--on", "windows-11", "--set", "?"],
        &["waits", "--on", "windows-11", "--set", "?=?"],
        &["waits", "--like", "?"],
        &["waits", "--like", "no/?"],
        &["waits", "--json", "no/?"],
        &["waits", "--out", "no/?"],
        &["waits", "--html", "temp/../no/?"],
        &["clocks", "?"],
        &["handoff", "?"],
        &["check", "--only", "?"],
        &["ask", "?"],
        &["ask", "?(1ms)"],
        &["ask", "sleep(?)"],
        &["ask", "resolution()", "--on", "?"],
        &["ask", "resolution()", "--neighbour", "?"],
        &["explain", "?"],
        &["experiments", "?"],
        &["machines", "?"],
        &["report", "?"],
        &["report", "no/?"],
        &["report", "r.json", "--html", "no/?"],
        &["compare", "?", "?"],
        &["compare", "r.json", "r.json", "--html=no/?"],
        &["compare", "r.json", "r.json", "--html=./?", "--json=?"],
        &["resolution", "hold", "?"],
        &["resolution", "hold", "1ms", "--", "no/?"],
        &["completions", "?"],
        &["man", "--out", "r.json/?"],
    ];
    for line in lines {
        for hostile in [OsString::from(HOSTILE), no_text.clone()] {
            let args: Vec<OsString> = line.iter().map(|word| replaced(word, &hostile)).collect();
            let ended =
                String::from_utf8_lossy(&home.command().args(&args).output().expect("it starts").stderr).into_owned();
            assert!(!ended.is_empty(), "{args:?}");
            is_harmless(&ended, &args);
        }
    }
}

/// The word with the text in place of `?`.
fn replaced(word: &str, by: &OsString) -> OsString {
    let mut all = OsString::new();
    for (index, part) in word.split('?').enumerate() {
        if index > 0 {
            all.push(by);
        }
        all.push(part);
    }
    all
}

#[test]
fn what_is_done_with_hostile_names_is_harmless_too() {
    let home = Home::new();
    let ended = home.run(SHORT.iter().chain(&["--out", HOSTILE])).fine();
    is_harmless(&ended.stdout, &[]);
    is_harmless(&ended.stderr, &[]);
    assert!(ended.stderr.contains("Written: x\u{fffd}]0;title\u{fffd}"), "{}", ended.stderr);
    for args in [["compare", HOSTILE, HOSTILE].as_slice(), &["report", HOSTILE]] {
        let shown = home.run(args).stdout;
        assert!(!shown.is_empty());
        is_harmless(&shown, &[]);
    }
}

#[test]
fn a_program_with_a_hostile_name_shows_its_help() {
    let home = Home::new();
    let link = home.path().join("over\u{1b}[2Jsleep");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_oversleep"), &link).expect("a link");
    for args in [&["--help"][..], &["--version"], &["waits", "--no"], &["waits", "--help"]] {
        let output = home.prepared(std::process::Command::new(&link)).args(args).output().expect("it starts");
        for text in [output.stdout, output.stderr] {
            is_harmless(&String::from_utf8_lossy(&text), &[]);
        }
    }
}
