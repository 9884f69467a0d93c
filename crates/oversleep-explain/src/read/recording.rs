//! Recordings of another tool: what they lack, no option of oversleep makes more of.

use oversleep_record::observed::By;
use oversleep_record::{Os, ResultFile};

/// How texts say what makes more values, and what does in a recording.
const LONGER: [(&str, &str); 2] =
    [("Follow the program for longer", "Record for longer"), ("Follow it for longer", "Record it for longer")];
/// How they say what shows more; longest first.
const MORE: [&str; 3] = [
    "Follow them in the kernel (`--by kernel`), without --waits-only",
    "Follow them in the kernel (`--by kernel`), which needs privileges",
    "Follow them in the kernel (`--by kernel`)",
];
/// What shows more than recordings of Linux do.
const FOLLOW: &str = "No other tool records that; `oversleep why` shows it while the program runs";

/// Whether another tool recorded it: it is of the past, and of whatever that tool was told to record.
pub fn is_recording(file: &ResultFile) -> bool {
    file.observation.as_ref().is_some_and(|observation| observation.by == By::Recorder)
}

/// The next step that a reason names, as that of a recording.
pub(super) fn next_step(file: &ResultFile, reason: &str) -> String {
    let longer = LONGER.iter().fold(reason.to_owned(), |reason, (of_run, instead)| reason.replace(of_run, instead));
    match file.platform.is(Os::Windows) {
        true => longer,
        false => MORE.iter().fold(longer, |reason, of_run| reason.replace(of_run, FOLLOW)),
    }
}

/// How to record with the same tool, as `--how-to-record` names it.
pub fn way(file: &ResultFile) -> &'static str {
    match file.observation.as_ref().and_then(|observation| observation.recorder.as_deref()) {
        Some(recorder) if recorder.starts_with("trace-cmd") => "trace-cmd",
        Some("Perfetto") => "android",
        _ if file.platform.is(Os::Windows) => "windows",
        _ => "linux",
    }
}

/// Whether another tool's recording lacks any of these events.
pub(crate) fn lacks_any(file: &ResultFile, events: &[&str]) -> bool {
    let mut missing = file.observation.iter().flat_map(|observation| &observation.losses.missing);
    is_recording(file) && missing.any(|what| events.contains(&&**what))
}

/// Says what a recording doesn't show, with what would.
pub(crate) fn not_shown(file: &ResultFile, what: &str) -> String {
    format!("the recording doesn't show {what}. `oversleep why --how-to-record {}` prints what records it", way(file))
}
