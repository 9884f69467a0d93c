//! What others count in the same files: each event of the recordings in a folder, by `trace-cmd report` and `perf script`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use oversleep_recordings::{SeekSource, how_to, recognise};

use super::observe::judge;

type Check = fn() -> Result<String, String>;

pub const ALL: &[(&str, Check)] = &[("counts", counts)];

/// The folder; without it, that of the fixtures.
const FOLDER: &str = "OVERSLEEP_RECORDINGS";

fn counts() -> Result<String, String> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/oversleep-recordings/tests/recorded");
    let folder = std::env::var_os(FOLDER).map_or(fixtures, PathBuf::from);
    let files = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.sort();
    let (mut lines, mut is_same) = (Vec::new(), true);
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let line = match both(&path) {
            Err(why) => why,
            Ok((ours, theirs)) if ours == theirs => format!("{} events alike", ours.values().sum::<u64>()),
            // perf names samples by their attribute, and a file may have one for all.
            Ok((ours, theirs)) if theirs.len() == 1 && theirs.values().sum::<u64>() == ours.values().sum::<u64>() => {
                format!("{} events in all alike", ours.values().sum::<u64>())
            }
            Ok((ours, theirs)) => {
                is_same = false;
                let differs = |event: &&String| ours.get(*event) != theirs.get(*event);
                let each = ours.keys().chain(theirs.keys()).filter(differs);
                let each =
                    each.map(|event| format!("{event} {:?}, by others {:?}", ours.get(event), theirs.get(event)));
                each.collect::<Vec<_>>().join("; ")
            }
        };
        lines.push(format!("\n         {name}: {line}"));
    }
    judge(is_same && !lines.is_empty(), format!("{} files{}", lines.len(), lines.concat()))
}

type Counts = BTreeMap<String, u64>;

/// How often each needed event occurs, as oversleep and as others count it; or why others can't say.
fn both(path: &Path) -> Result<(Counts, Counts), String> {
    let head = fs::read(path).map_err(|error| error.to_string())?;
    let format = recognise(&head[..head.len().min(1 << 16)]).ok_or("no recording")?;
    let mut command = match format.name {
        "trace.dat" => Command::new("trace-cmd"),
        "perf.data" => Command::new("perf"),
        other => return Err(format!("nothing here counts the events of {other}")),
    };
    match format.name {
        "trace.dat" => command.arg("report").arg(path),
        _ => command.args(["script", "-F", "time,event", "-i"]).arg(path),
    };
    let output = command.output().map_err(|error| format!("SKIPPED: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let needed = needed();
    let mut theirs = Counts::new();
    for event in text.lines().filter_map(event) {
        let short = event.rsplit(':').next().unwrap_or(event);
        if needed.iter().any(|needed| needed == short) {
            *theirs.entry(short.to_owned()).or_default() += 1;
        }
    }
    let file = fs::File::open(path).and_then(SeekSource::new).map_err(|error| error.to_string())?;
    let opened = match format.open(&file) {
        Ok(opened) => opened,
        // Without switches nothing is told, and nothing is counted.
        Err(fault) if !theirs.contains_key("sched_switch") => return Err(format!("refused: {fault}")),
        Err(_) => return Ok((Counts::new(), theirs)),
    };
    let short = |(name, count): &(String, u64)| (name.rsplit(':').next().unwrap_or(name).to_owned(), *count);
    let ours = opened.counts.iter().map(short).filter(|(name, _)| needed.contains(name)).collect();
    Ok((ours, theirs))
}

/// The events that users are told to record, without the one that perf tells by a record of its own (`COMM`).
fn needed() -> Vec<String> {
    let words = how_to::WAYS.iter().flat_map(|way| way.text.split([' ', ',', '\n']));
    let event = |word: &str| Some(word.split_once(':')?.1.to_owned()).filter(|_| word.contains("_"));
    words.filter_map(event).filter(|event| event != "sched_process_exec").collect()
}

/// The event of a line: what follows the time.
fn event(line: &str) -> Option<&str> {
    let is_time = |word: &&str| {
        let digits = word.strip_suffix(':').and_then(|time| time.split_once('.'));
        digits
            .is_some_and(|(one, other)| [one, other].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit())))
    };
    let mut words = line.split_whitespace().skip_while(|word| !is_time(word));
    words.next()?;
    words.next()?.strip_suffix(':')
}
