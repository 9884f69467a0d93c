//! Files generated from the command line: completions and manual pages.

use std::fs;

use super::support::{Home, commands};

#[test]
fn there_are_completions_for_every_shell() {
    let (home, commands) = (Home::new(), commands());
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = home.run(["completions", shell]).fine().stdout;
        let words = commands.iter().flat_map(|command| command.split(' ')).chain(["dma-latency", "no-remedies"]);
        // The names that arguments take: of machines, waits, experiments, findings. Other shells' scripts have none.
        let names = ["windows-10-1909", "thread-sleep", "B12", "timer-slack", "OVS-Y015"];
        let names = names.into_iter().filter(|_| ["bash", "zsh"].contains(&shell));
        for word in words.chain(names) {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn there_is_a_page_for_every_command() {
    let home = Home::new();
    let ended = home.run(["man", "--out", "man/man1"]).fine();
    let commands = commands();
    assert_eq!(ended.stderr, format!("Written: {} pages in man/man1\n", commands.len() + 1));
    let page = |name: &str| fs::read_to_string(home.path().join("man/man1").join(name)).expect(name);
    let whole = page("oversleep.1");
    for part in [".SH NAME", ".SH SYNOPSIS", ".SH EXAMPLES", ".SH EXIT STATUS", "130  interrupted", "oversleep\\-waits"]
    {
        assert!(whole.contains(part), "{part}: {whole}");
    }
    for command in commands.iter().map(|command| command.replace(' ', "-")) {
        let text = page(&format!("oversleep-{command}.1"));
        let title = format!("oversleep\\-{} \\-", command.replace('-', "\\-"));
        assert!(
            text.contains(&title) && text.contains(".SH EXAMPLES") && text.contains(".SH OPTIONS"),
            "{command}: {text}"
        );
    }
    assert!(page("oversleep-waits.1").contains("\\-\\-dma\\-latency"));
}

#[test]
fn an_unusable_directory_is_an_error() {
    let home = Home::new();
    fs::write(home.path().join("file"), "").expect("writable");
    let ended = home.run(["man", "--out", "file/man1"]).with_code(1);
    assert!(ended.stderr.starts_with("error: can't write 'file/man1': "), "{}", ended.stderr);
}
