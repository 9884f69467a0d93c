//! Compares the end of a case with its expectation.

use oversleep_record::ResultFile;

use super::row::{Case, Expect, Where};
use super::stage::Ended;

/// A longer output is useless as a message.
const MESSAGES_MAX: usize = 10_000;

/// All deviations from the expectation.
pub fn faults(expect: &Expect, case: &Case, ended: &Ended) -> Vec<String> {
    let mut faults = Vec::new();
    let stderr = String::from_utf8_lossy(&ended.stderr);
    if ended.is_over {
        faults.push("it did not end".to_owned());
    } else {
        match ended.status {
            Ok(code) if !expect.codes.contains(&code) => faults.push(format!("exit code {code}")),
            Err(signal) if !expect.may_be_killed => faults.push(format!("ended by signal {signal}")),
            _ => {}
        }
    }
    // A panic of one measurement is a warning, which begins differently.
    if stderr.contains("panicked at ") {
        faults.push("it panicked".to_owned());
    }
    if ended.stderr.len() > MESSAGES_MAX {
        faults.push(format!("standard error has {} bytes", ended.stderr.len()));
    }
    if !expect.says.is_empty() && !expect.says.iter().any(|part| stderr.contains(part)) {
        faults.push("the message is another".to_owned());
    }
    for (name, text) in [("standard output", &ended.stdout), ("standard error", &ended.stderr)] {
        if let Some(letter) = String::from_utf8_lossy(text).chars().find(|&letter| is_obeyed(letter)) {
            faults.push(format!("{name} has {letter:?}"));
        }
    }
    for (name, bytes) in &ended.files {
        match case.given.iter().find(|(given, _)| given == name) {
            Some((_, before)) if before != bytes => faults.push(format!("{name}, which was given, has changed")),
            Some(_) => {}
            None => faults.extend(half_written(name, bytes)),
        }
    }
    let is_missing = |name: &String| !ended.files.iter().any(|(left, _)| left == name);
    faults.extend(case.given.iter().filter(|(name, _)| is_missing(name)).map(|(name, _)| format!("{name} is gone")));
    faults.extend(ended.temporary.iter().filter_map(|(name, bytes)| half_written(name, bytes)));
    faults.extend(misplaced(expect, case, ended));
    faults
}

/// Whether a terminal would obey it.
fn is_obeyed(letter: char) -> bool {
    let is_mark =
        matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (letter.is_control() && letter != '\n') || is_mark
}

/// The fault in a file that a run left.
fn half_written(name: &str, bytes: &[u8]) -> Option<String> {
    let is_whole = match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "json" => serde_json::from_slice::<serde_json::Value>(bytes).is_ok(),
        "html" => bytes.trim_ascii_end().ends_with(b"</html>"),
        "svg" => bytes.trim_ascii_end().ends_with(b"</svg>"),
        "part" => false,
        _ => !bytes.is_empty(),
    };
    (!is_whole).then(|| format!("{name} is left with {} bytes", bytes.len()))
}

fn is_result(bytes: &[u8]) -> bool {
    ResultFile::read(bytes).is_ok_and(|result| result.series.iter().any(|series| series.has_values()))
}

fn misplaced(expect: &Expect, case: &Case, ended: &Ended) -> Option<String> {
    let is_given = |name: &str| case.given.iter().any(|(given, _)| given == name);
    let left: Vec<&(String, Vec<u8>)> = ended.files.iter().filter(|(name, _)| !is_given(name)).collect();
    let named = left.iter().any(|(name, bytes)| name.ends_with("r.json") && is_result(bytes));
    let temporary = ended.temporary.iter().any(|(_, bytes)| is_result(bytes));
    let last_line = ended.stdout.trim_ascii_end().rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    let printed = is_result(&ended.stdout) || is_result(last_line);
    let any = named || temporary || printed || left.iter().any(|(_, bytes)| is_result(bytes));
    let is_fine = match expect.result {
        Where::Named => named,
        Where::Temporary => temporary,
        Where::Stdout => printed,
        Where::IfMeasured => any || !case.script.contains("r.json") || !matches!(ended.status, Ok(0 | 4)),
        Where::Unneeded => true,
        Where::Nowhere => !any,
    };
    (!is_fine).then(|| match any {
        true => "the result is elsewhere".to_owned(),
        false => "the result is lost".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(status: Result<i32, i32>, stderr: &str) -> Ended {
        let stderr = stderr.as_bytes().to_vec();
        Ended { status, is_over: false, stdout: Vec::new(), stderr, files: Vec::new(), temporary: Vec::new() }
    }

    #[test]
    fn every_expectation_can_fail() {
        let case = Case::script("waits --out r.json").given("g", "g");
        let judge = |expect: Expect, ended: &Ended| faults(&expect, &case, ended).join("; ");
        let mut good = ended(Ok(1), "error: no\n");
        good.files.push(("g".to_owned(), b"g".to_vec()));
        assert_eq!(judge(Expect::codes(&[1]).says(&["error: no"]), &good), "");
        assert_eq!(judge(Expect::codes(&[0]), &good), "exit code 1");
        assert_eq!(judge(Expect::codes(&[1]).says(&["yes"]), &good), "the message is another");
        assert_eq!(judge(Expect::codes(&[1]).result(Where::Named), &good), "the result is lost");
        assert_eq!(judge(Expect::codes(&[1]).result(Where::IfMeasured), &good), "");
        good.files[0].1 = b"other".to_vec();
        assert_eq!(judge(Expect::codes(&[1]), &good), "g, which was given, has changed");
        good.files[0] = (".x.part".to_owned(), b"g".to_vec());
        assert_eq!(judge(Expect::codes(&[1]), &good), ".x.part is left with 1 bytes; g is gone");
        let bad = ended(Err(6), "thread panicked at \u{1b}[2J");
        let all = "ended by signal 6; it panicked; standard error has '\\u{1b}'; g is gone";
        assert_eq!(judge(Expect::codes(&[1]), &bad), all);
    }

    #[test]
    fn a_file_is_whole_or_it_is_a_fault() {
        for (name, bytes, is_whole) in [
            ("r.json", "{}", true),
            ("r.json", "{", false),
            ("r.json", "", false),
            ("r.html", "<html></html>\n", true),
            ("r.html", "<html>", false),
            ("x.svg", "<svg></svg>", true),
            ("x.svg", "<svg>", false),
            ("other", "x", true),
            ("other", "", false),
        ] {
            assert_eq!(half_written(name, bytes.as_bytes()).is_none(), is_whole, "{name} {bytes}");
        }
    }
}
