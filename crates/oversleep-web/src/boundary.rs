//! The page's interface: bytes in, bytes out. A request is one buffer: the number of pieces, the length of each, then
//! the pieces. The first is JSON, the others are the files. An answer has the same form: JSON first, then the
//! documents. Numbers are 32 bits, little-endian. An instance answers one request; the page creates a new one for each,
//! so nothing is freed, and a panic, which ends the instance, loses nothing.

use std::cell::Cell;

use oversleep_measure::{Progress, Silent, Step};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::catalogue;
use crate::command::{File, Part, run};

thread_local! {
    static ANSWER_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// A request of the page.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// A command line, with the names of the files.
    Run { words: Vec<String>, files: Vec<String> },
    /// The options of the controls.
    Catalogue {},
    /// A machine's figures.
    Figures { machine: String },
}

/// Allocates a request of that many bytes.
// SAFETY: no other function of the module has that name.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(bytes: usize) -> *mut u8 {
    Box::leak(vec![0_u8; bytes].into_boxed_slice()).as_mut_ptr()
}

/// Answers the request in memory from [`reserve`].
///
/// # Safety
/// `request` must point at that many bytes.
// SAFETY: no other function of the module has that name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn answer(request: *const u8, bytes: usize) -> *const u8 {
    // SAFETY: as above.
    let request = unsafe { std::slice::from_raw_parts(request, bytes) };
    let answer = pieces(request).and_then(|pieces| answered(&pieces)).unwrap_or_else(|error| refused(&error));
    ANSWER_BYTES.set(answer.len());
    Box::leak(answer.into_boxed_slice()).as_ptr()
}

/// The length of the answer.
// SAFETY: no other function of the module has that name.
#[unsafe(no_mangle)]
pub extern "C" fn answer_bytes() -> usize {
    ANSWER_BYTES.get()
}

/// Checks the requirements of the modelled machines' event loop; ends the instance if one isn't met.
// SAFETY: no other function of the module has that name.
#[cfg(target_family = "wasm")]
#[unsafe(no_mangle)]
pub extern "C" fn conformance() {
    oversleep_model::sim::carriers_take_turns();
}

// SAFETY: engine.js gives it that type, and numbers are all it takes.
#[cfg(target_family = "wasm")]
#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Progress of a check, in ns.
    safe fn progress(done: f64, total: f64);
}

/// Reports the progress of a check to the page.
struct PageProgress;

impl Progress for PageProgress {
    fn next(&mut self, _step: &Step<'_>) {
        #[cfg(target_family = "wasm")]
        progress(_step.done.0 as f64, _step.total.0 as f64);
    }
}

fn pieces(bytes: &[u8]) -> Result<Vec<&[u8]>, String> {
    let cut = || "the request is cut off".to_owned();
    let (count, mut rest) = number(bytes).ok_or_else(cut)?;
    let mut lengths = Vec::new();
    for _ in 0..count {
        let (length, after) = number(rest).ok_or_else(cut)?;
        lengths.push(length);
        rest = after;
    }
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, after) = rest.split_at_checked(length).ok_or_else(cut)?;
        pieces.push(piece);
        rest = after;
    }
    Ok(pieces)
}

fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((usize::try_from(u32::from_le_bytes(*number)).ok()?, rest))
}

fn joined(pieces: &[&[u8]]) -> Vec<u8> {
    let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = length(pieces.len()).to_vec();
    pieces.iter().for_each(|piece| bytes.extend(length(piece.len())));
    pieces.iter().for_each(|piece| bytes.extend_from_slice(piece));
    bytes
}

fn answered(pieces: &[&[u8]]) -> Result<Vec<u8>, String> {
    let (request, contents) = pieces.split_first().ok_or("the request is empty")?;
    let request: Request = serde_json::from_slice(request).map_err(|error| error.to_string())?;
    match request {
        Request::Catalogue {} => Ok(document(&catalogue::catalogue())),
        Request::Figures { machine } => Ok(document(&catalogue::figures(&machine)?)),
        Request::Run { words, files } => {
            let files: Vec<File> = files.iter().zip(contents).map(|(name, &bytes)| File { name, bytes }).collect();
            let parts = if cfg!(target_family = "wasm") {
                run(&words, &files, &mut PageProgress)
            } else {
                run(&words, &files, &mut Silent)
            }?;
            Ok(parts_joined(&parts))
        }
    }
}

fn document(value: &Value) -> Vec<u8> {
    joined(&[value.to_string().as_bytes()])
}

fn parts_joined(parts: &[Part]) -> Vec<u8> {
    let heads: Value =
        parts.iter().map(|part| json!({ "kind": part.kind, "name": part.name, "type": part.media_type })).collect();
    let heads = json!({ "parts": heads }).to_string();
    let pieces: Vec<&[u8]> =
        std::iter::once(heads.as_bytes()).chain(parts.iter().map(|part| &part.bytes[..])).collect();
    joined(&pieces)
}

fn refused(error: &str) -> Vec<u8> {
    document(&json!({ "error": error.trim_end() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(request: &str, files: &[&[u8]]) -> (Value, Vec<Vec<u8>>) {
        let pieces_in: Vec<&[u8]> = std::iter::once(request.as_bytes()).chain(files.iter().copied()).collect();
        let bytes = joined(&pieces_in);
        let answer = pieces(&bytes).and_then(|pieces| answered(&pieces)).unwrap_or_else(|error| refused(&error));
        let pieces = pieces(&answer).expect("an answer has the same shape");
        let head = serde_json::from_slice(pieces[0]).expect("JSON first");
        (head, pieces[1..].iter().map(|piece| piece.to_vec()).collect())
    }

    /// What the parts of an answer are.
    fn kinds(head: &Value) -> Vec<&str> {
        head["parts"].as_array().unwrap().iter().map(|part| part["kind"].as_str().unwrap()).collect()
    }

    fn formats() -> Vec<&'static str> {
        oversleep_report::document::FORMATS.iter().map(|format| format.name).collect()
    }

    #[test]
    fn a_question_is_answered_as_text_json_and_picture() {
        let (head, parts) =
            sent(r#"{"run":{"words":["ask","sleep(1ms)","--on","windows-11,linux-hz250"],"files":[]}}"#, &[]);
        assert_eq!(kinds(&head), [formats(), vec!["svg"]].concat());
        let json: Value = serde_json::from_slice(&parts[0]).unwrap();
        assert_eq!(json[0]["machine"], "windows-11");
    }

    #[test]
    fn errors_are_the_commands_own() {
        let error =
            |request: &str, files: &[&[u8]]| sent(request, files).0["error"].as_str().unwrap_or_default().to_owned();
        let unknown = error(r#"{"run":{"words":["ask","sleep(1ms)","--on","windows-12"],"files":[]}}"#, &[]);
        assert!(unknown.starts_with("unknown modelled machine 'windows-12'; did you mean"), "{unknown}");
        let damaged = error(r#"{"run":{"words":["report","x.json"],"files":["x.json"]}}"#, &[b"{"]);
        assert!(damaged.starts_with("can't use 'x.json': "), "{damaged}");
        assert!(error(r#"{"run":{"words":["ask","sleep(1ms)"],"files":[]}}"#, &[]).contains("--on or --like"));
        assert!(error("{}", &[]).len() > 10, "what is no request is an error, too");
        for cut in [&b""[..], &[9, 0, 0, 0], &[1, 0, 0, 0, 255, 255, 255, 255]] {
            assert!(pieces(cut).is_err());
        }
    }

    #[test]
    fn a_result_of_a_check_is_reported_and_compared() {
        let (checked, parts) =
            sent(r#"{"run":{"words":["check","--quick","--on","windows-7","--only","B1"],"files":[]}}"#, &[]);
        let result = &parts[0];
        let request = r#"{"run":{"words":["report","a.json"],"files":["a.json"]}}"#;
        let (head, reported) = sent(request, &[result]);
        assert_eq!(head, checked, "a check has the documents of a dropped result");
        assert_eq!(head["parts"][1]["kind"], "html");
        assert!(head["parts"].as_array().unwrap().iter().any(|part| part["kind"] == "svg"), "{head}");
        assert!(reported[1].starts_with(b"<!DOCTYPE html>"));
        assert_eq!(reported[0], *result, "the result itself");
        let request = r#"{"run":{"words":["compare","a.json","b.json"],"files":["a.json","b.json"]}}"#;
        assert_eq!(sent(request, &[result, result]).0["parts"][0]["name"], "comparison.json");
        let words: Vec<&str> = std::iter::once("compare").chain(std::iter::repeat_n("a.json", 27)).collect();
        let request = json!({ "run": { "words": words, "files": ["a.json"] } });
        let refused = sent(&request.to_string(), &[result]).0.to_string();
        assert!(refused.contains("can't compare 27 results; the maximum is 26"), "{refused}");
    }

    #[test]
    fn assertions_about_dropped_files_are_judged() {
        let log = include_bytes!("../../oversleep-exchange/tests/files/jhiccup.hlog");
        let request =
            |assertion: &str| format!(r#"{{"run":{{"words":["assert","j.hlog","{assertion}"],"files":["j.hlog"]}}}}"#);
        let (head, parts) = sent(&request("series(*jhiccup*).p99 < 5ms"), &[log]);
        assert_eq!(kinds(&head), formats());
        let document: Value = serde_json::from_slice(&parts[0]).unwrap();
        assert_eq!((&document["schema"], &document["verdict"]), (&"oversleep-assertions/1".into(), &"pass".into()));
        let both = r#"{"run":{"words":["assert","a","b","series(*).p99 < 5ms"],"files":["a","b"]}}"#;
        let document: Value = serde_json::from_slice(&sent(both, &[log, log]).1[0]).unwrap();
        let about = |at: usize| document["assertions"][at]["about"].as_str().unwrap_or_default().to_owned();
        assert!(about(0).starts_with("a: ") && about(1).starts_with("b: "), "{document}");
        let error = sent(&request("series(x).p50 < 1ms"), &[log]).0["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains("unknown series 'x'"), "{error}");
        let error = sent(&both.replace("series(*)", "series(x)"), &[log, log]).0["error"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(error.starts_with("a: 'series(x).p99 < 5ms': unknown series"), "{error}");
        let error =
            sent(&request("series(*).p50 < baseline"), &[log]).0["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains("needs a base; name a result of before"), "{error}");
    }

    #[test]
    fn files_of_other_programs_are_reported_and_compared_with_ours() {
        let hyperfine = include_bytes!("../../oversleep-exchange/tests/files/hyperfine.json");
        let request = r#"{"run":{"words":["report","hyperfine.json"],"files":["hyperfine.json"]}}"#;
        let (head, parts) = sent(request, &[hyperfine]);
        assert_eq!(kinds(&head), formats());
        assert!(String::from_utf8_lossy(&parts[1]).contains("hyperfine"), "{head}");
        let cyclictest = include_bytes!("../../oversleep-exchange/tests/files/cyclictest.json");
        let ours = r#"{"run":{"words":["check","--quick","--on","linux-fifo","--only","B5"],"files":[]}}"#;
        let (_, measured) = sent(ours, &[]);
        let request =
            r#"{"run":{"words":["compare","cyclictest.json","o.json"],"files":["cyclictest.json","o.json"]}}"#;
        let (head, parts) = sent(request, &[cyclictest, &measured[0]]);
        assert_eq!(head["parts"][0]["name"], "comparison.json", "{head}");
        let comparison: Value = serde_json::from_slice(&parts[0]).unwrap();
        assert_eq!(comparison["results"].as_array().map(Vec::len), Some(2), "{comparison}");
    }

    #[test]
    fn every_call_of_a_runtime_has_an_answer_on_a_system_of_its_records() {
        let (catalogue, _) = sent(r#"{"catalogue":{}}"#, &[]);
        let machine_of = |system: &str| match system {
            "windows" => "windows-11",
            "macos" => "macos-14-m1",
            _ => "linux-hz250",
        };
        let calls = catalogue["runtimes"].as_array().unwrap();
        assert!(calls.len() > 10);
        for call in calls {
            let (name, system) = (call["name"].as_str().unwrap(), call["systems"][0].as_str().unwrap());
            let request = json!({ "run": {
                "words": ["ask", format!("{name}(2ms)"), "--on", machine_of(system), "--count", "10"], "files": []
            }});
            let (head, _) = sent(&request.to_string(), &[]);
            assert!(head["error"].is_null(), "{call}: {head}");
        }
    }

    #[test]
    fn a_recording_and_a_result_of_why_are_shown_and_compared() {
        let recording = include_bytes!("../../oversleep-why/tests/recorded/fifo.why");
        let report = |name: &str, bytes: &[u8]| {
            sent(&format!(r#"{{"run":{{"words":["report","{name}"],"files":["{name}"]}}}}"#), &[bytes])
        };
        let (head, parts) = report("r.why", recording);
        assert_eq!(kinds(&head), formats());
        assert!(String::from_utf8_lossy(&parts[1]).contains("oversleep why: ./app"));
        let result = &parts[0];
        let (_, again) = report("r.json", result);
        assert_eq!(again, parts, "the result gives what the recording gave");
        let request = r#"{"run":{"words":["compare","r.why","r.json"],"files":["r.why","r.json"]}}"#;
        let (head, _) = sent(request, &[recording, result]);
        assert_eq!(head["parts"][0]["name"], "comparison.json");
        let (head, _) = report("r.json", &result[..result.len() / 2]);
        assert!(head["error"].as_str().unwrap().starts_with("can't use 'r.json': "), "{head}");
    }

    #[test]
    fn every_machine_offers_waits_and_figures() {
        let (catalogue, _) = sent(r#"{"catalogue":{}}"#, &[]);
        for machine in catalogue["machines"].as_array().unwrap() {
            assert!(!machine["waits"].as_array().unwrap().is_empty(), "{machine}");
        }
        let (figures, _) = sent(r#"{"figures":{"machine":"windows-11"}}"#, &[]);
        assert!(figures["figures"].as_array().unwrap().len() > 10);
    }
}
