//! Gates that would say nothing of what was meant: options that choose nothing, limits that are missing, files in other
//! codings. None of them passes.

use std::fs;
use std::path::PathBuf;

use super::support::Home;

fn sample(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oversleep-exchange/tests/files");
    folder.join(name).display().to_string()
}

/// The words of what a command printed, on one line.
fn words_of(ended: &super::support::Ended) -> String {
    format!("{}{}", ended.stdout, ended.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn with_result() -> Home {
    let home = Home::new();
    home.run(["waits", "nanosleep", "--request", "1ms", "--on", "linux-hz250", "--quiet", "--out", "r.json"]).fine();
    home
}

#[test]
fn what_would_be_ignored_is_refused() {
    let home = with_result();
    let limit = "nanosleep(1ms).p50 < 1s";
    for (args, words) in [
        (vec!["r.json", limit, "--on", "windows-11"], "a result file is measured already"),
        (vec!["r.json", limit, "--seed", "7"], "a result file is measured already"),
        (vec!["--base", "true", "--new", "true", "--on", "windows-11"], "commands run on this machine"),
        (vec!["r.json", limit, "--max-regression", "20%"], "--max-regression is about a base; name one"),
        (vec!["r.json", "--max-regression", "20%"], "--max-regression is about a base; name one"),
        (vec![limit, "--max-regression", "20%", "--on", "linux-hz250"], "--max-regression is about a base"),
        (vec!["r.json", "nanosleep(1ms).p50 < baseline"], "needs a base; name a result of before with --baseline"),
        (vec!["nanosleep(1ms).p50 < baseline * 2", "--on", "linux-hz250"], "needs a base"),
        (vec!["r.json", "nanosleep(1ms).p99"], "'nanosleep(1ms).p99' states no limit"),
    ] {
        let ended = home.run(["assert"].iter().chain(&args)).with_code(2);
        assert!(words_of(&ended).contains(words), "{args:?}: {}", words_of(&ended));
    }
    let ended = home.run(["assert", "r.json", &sample("jhiccup.hlog"), limit]).with_code(2);
    assert!(words_of(&ended).contains("jhiccup.hlog: 'nanosleep(1ms).p50 < 1s': unknown wait"), "{}", words_of(&ended));
}

/// A wait that ends later than the next deadline leaves that one little to wait for.
#[test]
fn a_wait_that_ends_after_the_next_deadline_is_slower() {
    let home = Home::new();
    let args = ["assert", "nanosleep(1ms)", "--on", "linux-hz250", "--within", "60s", "--quiet"];
    home.run(args.iter().chain(&["--base-setting", "slack=50us", "--new-setting", "slack=1ms"])).with_code(3);
    let slack = ["waits", "nanosleep", "--request", "300us", "--slack", "1ms", "--on", "linux-hz250", "--quiet"];
    home.run(slack.iter().chain(&["--count", "400", "--out", "r.json"])).fine();
    let ended = home.run(["assert", "r.json", "nanosleep(300us).p50 < 900us"]).with_code(4);
    let words = "300 deadlines had passed before the wait could be called, and of the calls it is 1.01 ms";
    assert!(words_of(&ended).contains(words), "{}", words_of(&ended));
    home.run(["assert", "r.json", "nanosleep(300us).missed < 10%"]).with_code(3);
    home.run(["assert", "r.json", "nanosleep(300us).p50 < 1100us"]).fine();
}

#[test]
fn files_of_assertions_may_be_utf_16() {
    let home = with_result();
    let text = "# late\r\nnanosleep(1ms).p50 < 1s\r\nnanosleep(1ms).p50 < 1us\r\n";
    for (mark, unit) in [([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]), ([0xfe, 0xff], u16::to_be_bytes)] {
        let bytes: Vec<u8> = mark.into_iter().chain(text.encode_utf16().flat_map(unit)).collect();
        fs::write(home.path().join("timing.assert"), bytes).expect("a file");
        let ended = home.run(["assert", "--file", "timing.assert", "r.json"]).with_code(3);
        assert!(words_of(&ended).contains("timing.assert:3: nanosleep(1ms).p50 < 1us"), "{}", words_of(&ended));
    }
    fs::write(home.path().join("timing.assert"), [b'a', 0xff]).expect("a file");
    let ended = home.run(["assert", "--file", "timing.assert", "r.json"]).with_code(1);
    assert!(words_of(&ended).contains("it is neither UTF-8 nor UTF-16 text"), "{}", words_of(&ended));
}

#[test]
fn a_baseline_that_does_not_state_its_machine_may_be_from_another() {
    let home = Home::new();
    let wait = ["waits", "clock-nanosleep-abs", "--request", "1ms", "--on", "linux-hz250", "--quiet"];
    home.run(wait.iter().chain(&["--out", "own.json"])).fine();
    let judged = |new: &str, base: &str| words_of(&home.run(["assert", new, "--baseline", base]).with_code(4));
    let other = judged("own.json", &sample("cyclictest.json"));
    assert!(other.contains("the baseline is from another machine: platform ("), "{other}");
    let unsure = judged(&sample("cyclictest.json"), &sample("cyclictest-quiet.txt"));
    assert!(unsure.contains("the baseline may be from another machine: platform (linux unknown, now"), "{unsure}");
}

#[test]
fn the_end_of_a_histogram_is_why_a_percentile_is_unknown() {
    let home = Home::new();
    let ended = home.run(["assert", &sample("cyclictest.json"), "clock-nanosleep-abs(1ms).p99.9 < 1ms"]).with_code(4);
    assert!(
        words_of(&ended).contains("its interval reaches values beyond what the program recorded"),
        "{}",
        words_of(&ended)
    );
}
