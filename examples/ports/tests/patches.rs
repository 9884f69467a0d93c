//! Each patch leads from its program to the other one, and is short.

/// The lines of each side of a unified diff, hunk by hunk: where the hunk begins, what was there, what is there now.
fn hunks(patch: &str) -> Vec<(usize, Vec<&str>, Vec<&str>)> {
    let mut hunks: Vec<(usize, Vec<&str>, Vec<&str>)> = Vec::new();
    for line in patch.lines() {
        if let Some(head) = line.strip_prefix("@@ -") {
            let first = head.split([',', ' ']).next().and_then(|number| number.parse().ok());
            hunks.push((first.expect("a hunk says where it begins"), Vec::new(), Vec::new()));
        } else if let Some((_, old, new)) = hunks.last_mut() {
            let (mark, text) = line.split_at(usize::from(!line.is_empty()));
            if mark != "+" {
                old.push(text);
            }
            if mark != "-" {
                new.push(text);
            }
        }
    }
    hunks
}

fn applied(patch: &str, before: &str) -> String {
    let mut lines: Vec<&str> = before.lines().collect();
    // From the end, so that the numbers of earlier hunks stay right.
    for (first, old, new) in hunks(patch).into_iter().rev() {
        let place = first - 1..first - 1 + old.len();
        assert_eq!(lines[place.clone()], old, "line {first}");
        lines.splice(place, new);
    }
    lines.join("\n") + "\n"
}

fn changed(patch: &str) -> usize {
    let is_head = |line: &str| line.starts_with("---") || line.starts_with("+++");
    patch.lines().filter(|line| line.starts_with(['-', '+']) && !is_head(line)).count()
}

macro_rules! ports {
    ($($test:ident $directory:literal,)+) => {$(
        #[test]
        fn $test() {
            let patch = include_str!(concat!("../", $directory, "/port.patch"));
            assert!(changed(patch) < 20, "{} changed lines", changed(patch));
            let before = include_str!(concat!("../", $directory, "/before.rs"));
            assert_eq!(applied(patch, before), include_str!(concat!("../", $directory, "/after.rs")));
        }
    )+};
}

ports! {
    the_frame_limiter "frame-limiter",
    the_back_off "back-off",
    the_tokio_interval "tokio-interval",
}

#[test]
fn moka() {
    let patch = include_str!("../moka/port.patch");
    assert!((1..20).contains(&changed(patch)), "{} changed lines", changed(patch));
}
