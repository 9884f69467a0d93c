//! Files generated from the command line: completions and manual pages.

use std::fs;

use super::support::Home;

#[test]
fn there_are_completions_for_every_shell() {
    let home = Home::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = home.run(["completions", shell]).fine().stdout;
        for word in ["forkjoin", "dma-latency", "no-remedies"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn there_is_a_page_for_every_command() {
    let home = Home::new();
    let ended = home.run(["man", "--out", "man/man1"]).fine();
    assert_eq!(ended.stderr, "Written: 30 pages in man/man1\n");
    let page = |name: &str| fs::read_to_string(home.path().join("man/man1").join(name)).expect(name);
    let whole = page("oversleep.1");
    for part in [".SH NAME", ".SH SYNOPSIS", ".SH EXAMPLES", ".SH EXIT STATUS", "130  interrupted", "oversleep\\-waits"]
    {
        assert!(whole.contains(part), "{part}: {whole}");
    }
    for command in [
        "check",
        "clocks",
        "waits",
        "forkjoin",
        "handoff",
        "idle",
        "resolution",
        "ask",
        "machines",
        "experiments",
        "explain",
        "report",
        "compare",
        "doctor",
    ] {
        let text = page(&format!("oversleep-{command}.1"));
        assert!(text.contains(&format!("oversleep\\-{command} \\-")) && text.contains(".SH OPTIONS"), "{command}");
    }
    assert!(page("oversleep-resolution-hold.1").contains(".SH EXAMPLES"));
    assert!(page("oversleep-waits.1").contains("\\-\\-dma\\-latency"));
}

#[test]
fn an_unusable_directory_is_an_error() {
    let home = Home::new();
    fs::write(home.path().join("file"), "").expect("writable");
    let ended = home.run(["man", "--out", "file/man1"]).with_code(1);
    assert!(ended.stderr.starts_with("error: can't write 'file/man1': "), "{}", ended.stderr);
}
