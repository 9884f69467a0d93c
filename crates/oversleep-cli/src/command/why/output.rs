//! Where a summary goes: the terminal, a result file, JSON. And results that are shown again or compared.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use oversleep_record::date::Utc;
use oversleep_why::recording::Reader;
use oversleep_why::summary::Losses;
use oversleep_why::{Summary, text};

use super::Why;
use super::names::Names;
use super::session::Session;
use crate::args::Document;
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::file::{self, Files};
use crate::output::place::{self, Places};
use crate::output::stdout;

/// Seconds since 1970.
pub fn now() -> Option<i64> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

/// Checks every output before anything is followed.
pub fn check(why: &Why) -> Result<(), Failure> {
    let mut places = Places::reading(&why.files)?;
    let named = [("--json", &why.json), ("--out", &why.out), ("--record", &why.record), ("--perfetto", &why.perfetto)];
    for (option, path) in named {
        let Some(path) = path else { continue };
        if let Document::File(path) = place::output(option, path)? {
            places.add(option, &path)?;
            file::check(&path).map_err(Failure::Failed)?;
        } else if matches!(option, "--record" | "--perfetto") {
            return Err(Failure::usage(format!("{option} writes while it follows, so it needs a file of its own")));
        }
    }
    Ok(())
}

/// Shows a summary and writes its files; says whether the bound is exceeded.
pub fn deliver(why: &Why, summary: &Summary) -> Result<bool, Failure> {
    let contents = |out: &mut dyn std::io::Write| {
        serde_json::to_writer(&mut *out, summary)?;
        out.write_all(b"\n")
    };
    let mut files = Files::default();
    let mut written: Vec<PathBuf> = Vec::new();
    match (&why.out, &why.json) {
        (Some(path), _) => {
            place::write("--out", path, &contents, &mut files)?;
            written.push(path.clone());
        }
        (None, None) if why.files.is_empty() => {
            let created = files.create(Path::new(""), &stem(summary), "json", &contents);
            match created {
                Ok(path) => written.push(path),
                Err(error) => message::warning(&format!(
                    "no result file: {}",
                    file::why_not(Path::new(&format!("{}.json", stem(summary))), &error)
                )),
            }
        }
        _ => {}
    }
    match &why.json {
        Some(path) => place::write("--json", path, &contents, &mut files)?,
        None => stdout::text(&text::report(summary))?,
    }
    written.extend(why.record.clone());
    written.extend(why.perfetto.clone());
    if !why.quiet {
        for path in &written {
            message::note(&format!("written: {}", path.display()));
        }
    }
    let Some(bound) = &why.fail_if else { return Ok(false) };
    let exceeded = bound.exceeded_by(summary);
    for (group, value) in &exceeded {
        message::warning(&format!("above the bound of --fail-if: {}", text::exceeded(group, *value)));
    }
    Ok(!exceeded.is_empty())
}

fn stem(summary: &Summary) -> String {
    let day = summary.meta.taken_unix_s.and_then(Utc::of_unix).map(|taken| format!("-{}", taken.to_day()));
    format!("oversleep-why{}", day.unwrap_or_default())
}

/// A recording or a result, shown again.
pub fn again(why: &Why, path: &Path) -> Result<Exit, Failure> {
    check(why)?;
    let summary = read(why, path)?;
    Ok(if deliver(why, &summary)? { Exit::AssertionFailed } else { Exit::Fine })
}

fn read(why: &Why, path: &Path) -> Result<Summary, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::failed(format!("can't read '{}': {error}", path.display())))?;
    let unusable = |error: String| Failure::failed(format!("can't use '{}': {error}", path.display()));
    if !Reader::knows(&bytes) {
        return Summary::read(&bytes)
            .map_err(|error| unusable(format!("it is neither a recording nor a result of `oversleep why` ({error})")));
    }
    let mut reader = Reader::new(&bytes).map_err(|error| unusable(error.to_string()))?;
    let meta = reader.meta.clone();
    let want_ns = why.want.and_then(|want| u64::try_from(want.0).ok());
    let mut session = Session::new(meta.arch, Names::of(&meta.processes), why.only.clone(), want_ns);
    let trace_failed = |error| Failure::failed(format!("can't write the trace: {error}"));
    if let Some(path) = &why.perfetto {
        session.trace_to(File::create(path).map_err(trace_failed)?).map_err(trace_failed)?;
    }
    session.feed(reader.by_ref()).map_err(trace_failed)?;
    let losses = Losses { is_truncated: reader.is_broken(), ..Losses::default() };
    session.finish(meta, losses).map_err(trace_failed)
}

/// Two results beside each other.
pub fn compare(why: &Why, before: &Path, after: &Path) -> Result<Exit, Failure> {
    let (before, after) = (read(why, before)?, read(why, after)?);
    stdout::text(&text::comparison(&before, &after))?;
    Ok(Exit::Fine)
}
