//! Terminals of 60, 80, 120 and 200 columns: no line is wider, nothing that carries meaning is cut, and no bar wraps.

use super::support::Home;

const WIDTHS: [usize; 4] = [60, 80, 120, 200];

/// What a person sees of a command, at a width.
fn screen(home: &Home, args: &[&str], width: usize) -> String {
    let mut command = home.command();
    let output = command.args(args).env("COLUMNS", width.to_string()).output().expect("it starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The sentences below a heading, up to the first line that draws.
fn sentences(text: &str, heading: &str) -> Option<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with(heading)).skip(1);
    let prose: Vec<&str> = lines.take_while(|line| !line.is_empty() && !line.starts_with(' ')).collect();
    (!prose.is_empty()).then(|| in_one_line(&prose.join(" ")))
}

/// A home with two results of modelled machines.
fn furnished() -> Home {
    let home = Home::new();
    for (machine, file) in [("windows-11", "a.json"), ("linux-hz250", "b.json")] {
        home.run(["check", "--on", machine, "--out", file, "--quiet"]).fine();
    }
    home
}

#[test]
fn every_report_fits_every_terminal_and_loses_nothing() {
    let home = furnished();
    let recording = format!("{}/../oversleep-why/tests/recorded/fifo.why", env!("CARGO_MANIFEST_DIR"));
    let commands: [(&[&str], &str); 7] = [
        (&["why", &recording], "Verdict"),
        (&["report", "a.json"], "Bottom line"),
        (&["report", "b.json", "--full"], "Bottom line"),
        (&["report", "b.json", "--interval"], "Bottom line"),
        (&["compare", "a.json", "b.json"], "Conclusion"),
        (&["ask", "sleep(1ms)", "--on", "windows-10-2004,linux-hz250", "--neighbour", "2ms"], "sleep(1ms)"),
        (&["idle", "jet", "--quick", "--on", "linux-hz250", "--quiet"], "Idle strategies"),
    ];
    for (args, heading) in commands {
        let all = WIDTHS.map(|width| screen(&home, args, width));
        let said = all.each_ref().map(|text| sentences(text, heading));
        for (width, text) in WIDTHS.into_iter().zip(&all) {
            for line in text.lines() {
                // An address can't be broken.
                let fits = line.chars().count() <= width || line.contains("https://");
                assert!(fits, "{args:?} at {width}: {line}");
                assert!(!line.contains('…'), "{args:?} at {width} is cut: {line}");
                let is_bar = |letter: char| "▁▂▃▄▅▆▇█".contains(letter);
                let bars = line.trim().chars().filter(|&letter| is_bar(letter)).count();
                assert!(
                    bars == 0 || line.chars().any(|letter| letter.is_alphanumeric()),
                    "{args:?} at {width}: {line}"
                );
            }
        }
        if heading != "sleep(1ms)" && heading != "Idle strategies" {
            let widest = said[WIDTHS.len() - 1].clone().expect("it has words");
            assert!(said.iter().all(|words| words.as_ref() == Some(&widest)), "{args:?}: {said:#?}");
        }
    }
}

/// Means and intervals, where they are asked for.
#[test]
fn intervals_follow_a_result_and_a_comparison() {
    let home = Home::new();
    for file in ["a.json", "b.json"] {
        home.run(["waits", "nanosleep", "--on", "linux-hz250", "--request", "1ms", "--out", file, "--quiet"]).fine();
    }
    let alone = home.run(["report", "a.json"]).fine().stdout;
    let more = home.run(["report", "a.json", "--interval"]).fine().stdout;
    let added = more.strip_prefix(&alone).expect("the report stays as it is");
    assert!(added.contains("Means and 99 % intervals") && added.contains("p50, 99 %"), "{added}");
    assert!(added.contains(" to ") && !alone.contains("99 % intervals"), "{added}");
    let both = home.run(["compare", "a.json", "b.json", "--interval"]).fine().stdout;
    assert!(both.contains("Means and 99 % intervals"), "{both}");
    let none = home.run(["ask", "sleep(1ms)", "--on", "windows-11", "--interval"]).fine();
    assert!(none.stderr.contains("--interval adds nothing"), "{}", none.stderr);
}
