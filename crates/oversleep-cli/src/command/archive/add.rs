//! `archive add`.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use oversleep_archive::store::{Added, Adding, Archive, StoreError};
use oversleep_archive::{Digits, Origin};
use oversleep_record::words::counted;
use oversleep_record::{Nanos, ResultFile, Series};

use super::{Add, failed};
use crate::args::Document;
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::stdout;
use crate::reading;

/// The most files that are read at a time: each is in memory with its rounds.
const READERS_MAX: usize = 4;

/// The machine of results that don't say which it is.
const THIS: &str = "this machine";

pub(super) fn run(add: Add) -> Result<Exit, Failure> {
    message::leave_out_notes(add.quiet);
    let archive = Archive::open_or_make(&add.folder).map_err(|error| failed(&error))?;
    let digits = if add.digits == "2" { Digits::Two } else { Digits::Three };
    let mut adding = Adding::begin(&archive, digits).map_err(|error| failed(&error))?;
    let (mut results, mut rows, mut already, mut undated) = (0_u64, 0, 0_u64, 0_u64);
    let (mut unusable, mut overlapping, mut renamed) = (Vec::new(), 0_u64, (0_u64, None));
    each(&add.files, |path, result| {
        // One file that can't be used doesn't keep the others out.
        let result = match result {
            Ok(result) => result,
            Err(error) => {
                unusable.push(error.to_string());
                return Ok(());
            }
        };
        let machine = machine(&add, path, &result);
        let source = match adding.source(&machine) {
            Err(error @ StoreError::NoName(_)) => {
                unusable.push(format!("'{}': {error}; name it with --machine", path.display()));
                return Ok(());
            }
            source => source.map_err(|error| failed(&error))?,
        };
        undated += u64::from(result.taken_unix_s.is_none());
        if let Some(own) = result.name.as_ref().filter(|own| **own != machine) {
            let first = || format!("the first is '{}', which says '{own}' and is added as '{machine}'", path.display());
            renamed.1 = renamed.1.take().or_else(|| Some(first()));
            renamed.0 += 1;
        }
        let origin = Origin { source, taken_us: changed_us(path) };
        match adding.add(&result, &origin).map_err(|error| failed(&error))? {
            Added::Rows(count) => {
                results += 1;
                rows += count;
            }
            Added::Already => {
                already += 1;
                message::note(&format!("'{}' is in the archive already; nothing was added", path.display()));
            }
            Added::Overlaps { overlap_us } => {
                overlapping += 1;
                message::note(&format!(
                    "'{}' is the last {} of a sampler, and the archive has {} of these from '{machine}' already; nothing was \
                     added, because waits would count twice. Add it an hour after the one before, or the files of `serve --hourly`",
                    path.display(),
                    span(result.duration_ns.0),
                    span(overlap_us.saturating_mul(1_000)),
                ));
            }
            Added::Nothing => message::warning(&format!("'{}' has no series with values", path.display())),
        }
        Ok(())
    })?;
    let files = adding.finish().map_err(|error| failed(&error))?;
    if let (count, Some(first)) = renamed {
        let results = if count == 1 { "1 result names" } else { &format!("{} name", counted(count, "result")) };
        message::note(&format!("{results} another machine than the one it is added as; {first}"));
    }
    if undated > 0 {
        message::note(&format!(
            "{} no date: the time of the file's last change stands for it",
            if undated == 1 { "A result has".to_owned() } else { format!("{} have", counted(undated, "result")) }
        ));
    }
    if !add.quiet {
        let left_out = [(already, "known already"), (overlapping, "of hours that are there already")];
        let left_out = left_out.iter().filter(|(count, _)| *count > 0);
        let known: String = left_out.map(|(count, why)| format!(", {} {why}", counted(*count, "result"))).collect();
        let (results, rows, files) =
            (counted(results, "result"), counted(rows as u64, "row"), counted(files.len() as u64, "file"));
        stdout::text(&format!("Added {results}: {rows} in {files}{known}.\n"))?;
    }
    match unusable.len() {
        0 => Ok(Exit::Fine),
        1 => Err(Failure::failed(unusable.remove(0))),
        count => Err(Failure::failed(format!("{count} files could not be added: {}", unusable.join("; ")))),
    }
}

/// How many files are read at a time. Of the 20 ms that a result of `check` takes, reading it is half.
fn readers() -> usize {
    thread::available_parallelism().map_or(1, |cpus| cpus.get().min(READERS_MAX))
}

/// Reads these files, some at a time and ahead of the one that is added, and adds each in their order.
fn each(
    paths: &[PathBuf],
    mut add: impl FnMut(&Path, Result<ResultFile, Failure>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let one = |path: &PathBuf| reading::read_reduced(path, "archive add DIR -", without_samples);
    thread::scope(|scope| {
        let mut begun = paths.iter().map(|path| (path, scope.spawn(move || one(path))));
        let mut ahead: VecDeque<_> = begun.by_ref().take(readers()).collect();
        while let Some((path, thread)) = ahead.pop_front() {
            let result = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            ahead.extend(begun.next());
            add(path, result)?;
        }
        Ok(())
    })
}

/// The rows don't have them, and they are most of a result.
fn without_samples(series: &mut Series) {
    series.samples = oversleep_record::samples::Samples::default();
}

fn machine(add: &Add, path: &Path, result: &ResultFile) -> String {
    let of_file = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let by_file = if add.by_file { of_file() } else { None };
    add.machine.clone().or(by_file).or_else(|| result.name.clone()).unwrap_or_else(|| THIS.to_owned())
}

/// Whole minutes, or seconds where it is less than two.
fn span(ns: i64) -> String {
    let seconds = Nanos(ns).as_secs_f64();
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

/// When a file was changed last, or now.
fn changed_us(path: &Path) -> i64 {
    let changed = match Document::at(path) {
        Document::File(path) => path.metadata().and_then(|about| about.modified()).ok(),
        Document::Stdout => None,
    };
    let since = changed.unwrap_or_else(SystemTime::now).duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
