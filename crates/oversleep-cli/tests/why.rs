//! `why` without privileges: recordings and results, read on any system.

mod support;

use std::path::PathBuf;

use support::Home;

fn recording() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oversleep-why/tests/recorded/fifo.why");
    path.display().to_string()
}

#[test]
fn a_recording_is_shown_kept_and_shown_again() {
    let home = Home::new();
    let shown = home.run(["why", &recording(), "--out", "r.json", "--perfetto", "t.json"]).fine();
    assert!(shown.stdout.contains("120 waits ended by their timer"), "{}", shown.stdout);
    let again = home.run(["why", "r.json"]).fine();
    assert_eq!(again.stdout, shown.stdout);
    let trace = std::fs::read(home.path().join("t.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&trace).unwrap();
    assert!(trace["traceEvents"].as_array().unwrap().len() > 500);
    let json = home.run(["why", "r.json", "--json"]).fine();
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["groups"][0]["count"], 120);
    assert_eq!(home.files(), ["r.json", "t.json"]);
}

#[test]
fn a_bound_a_selection_and_a_wish_change_what_is_said() {
    let home = Home::new();
    home.run(["why", &recording(), "--fail-if", "p99>1ms"]).with_code(3);
    home.run(["why", &recording(), "--fail-if", "p99>1s"]).fine();
    let late = home.run(["why", &recording(), "--only", "clock_nanosleep >1ms"]).fine();
    assert!(late.stdout.contains("waits were not selected."), "{}", late.stdout);
    let wanted = home.run(["why", &recording(), "--want", "500us"]).fine();
    assert!(wanted.stdout.contains("wants 500 µs and passes more to the call"), "{}", wanted.stdout);
    let compared = home.run(["why", &recording(), &recording()]).fine();
    assert!(
        compared.stdout.contains("app: clock_nanosleep for 1 ms (120 waits before, 120 after)"),
        "{}",
        compared.stdout
    );
}

#[test]
fn what_cannot_be_meant_or_read_is_told() {
    let home = Home::new();
    std::fs::write(home.path().join("other.json"), "{}").unwrap();
    for (args, code, words) in [
        (&["why"][..], 2, "nothing to follow"),
        (&["why", "other.json"], 1, "neither a recording nor a result"),
        (&["why", "missing.why"], 1, "can't read"),
        (&["why", "--only", "fotex", "--system"], 2, "selects nothing that is known"),
        (&["why", "--fail-if", "often", "--system"], 2, "is no bound"),
    ] {
        let ended = home.run(args).with_code(code);
        assert!(ended.stderr.contains(words), "{args:?}: {}", ended.stderr);
    }
}
