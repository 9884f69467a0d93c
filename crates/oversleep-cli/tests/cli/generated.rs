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
        let names = ["windows-10-1909", "thread-sleep", "B12", "timer-slack", "OVS-Y015", "syscalls"];
        let names = names.into_iter().filter(|_| ["bash", "zsh"].contains(&shell));
        for word in words.chain(names) {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
}

/// As the shells call the function, which may be there or not.
#[test]
fn each_name_of_a_list_is_completed() {
    let home = Home::new();
    let script = home.run(["completions", "zsh"]).fine().stdout;
    for option in ["--on=", "--only=", "--load="] {
        let lists: Vec<&str> = script.lines().filter(|line| line.contains(&format!("{option}["))).collect();
        assert!(lists.iter().any(|line| line.contains(":_values -s , name ")), "{lists:#?}");
    }
    fs::write(home.path().join("c.bash"), home.run(["completions", "bash"]).fine().stdout).expect("writable");
    let complete = |words: &str, last: &str, before: &str| {
        let script = format!(
            "source c.bash; COMP_WORDS=({words} {last}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _oversleep_lists oversleep '{last}' '{before}'; echo \"${{COMPREPLY[@]}}\""
        );
        let ended = home.prepared(std::process::Command::new("bash")).args(["-c", &script]).output().ok()?;
        ended.status.success().then(|| String::from_utf8(ended.stdout).expect("text").trim().to_owned())
    };
    if complete("oversleep", "machi", "oversleep").as_deref() != Some("machines") {
        return oversleep_testing::skip("no bash of version 4 or later here");
    }
    for (words, last, before, offered) in [
        ("oversleep ask --on", "windows-11,raspberry", "--on", "windows-11,raspberry-pi-4 windows-11,raspberry-pi-5"),
        ("oversleep check --only", "B2,B1,D", "--only", "B2,B1,D1 B2,B1,D2 B2,B1,D3 B2,B1,D4"),
        ("oversleep waits --load", "sp", "--load", "spin"),
        ("oversleep waits --load", "spin:2,mem", "--load", "spin:2,memory"),
        ("oversleep waits --on", "raspberry", "--on", "raspberry-pi-4 raspberry-pi-5"),
    ] {
        assert_eq!(complete(words, last, before).as_deref(), Some(offered), "{words} {last}");
    }
    if super::support::os() == "linux" {
        assert_eq!(complete("oversleep run --policy", "fi", "--policy").as_deref(), Some("fifo"));
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
