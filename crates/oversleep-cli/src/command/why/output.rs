//! Delivers a summary to the terminal, a result file, a page or JSON, and shows stored results again.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use oversleep_record::date::Utc;
use oversleep_report::html;
use oversleep_why::names::Names;
use oversleep_why::recording::Reader;
use oversleep_why::session::Session;
use oversleep_why::summary::Losses;
use oversleep_why::{Summary, text};

use super::Why;
use crate::args::Document;
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::Contents;
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
    let named = [
        ("--json", &why.json),
        ("--html", &why.html),
        ("--out", &why.out),
        ("--record", &why.record),
        ("--perfetto", &why.perfetto),
    ];
    let mut on_stdout = 0;
    for (option, path) in named {
        let Some(path) = path else { continue };
        match places.claim(option, path)? {
            Document::File(_) => {}
            Document::Stdout if matches!(option, "--record" | "--perfetto") => {
                return Err(Failure::usage(format!("{option} writes while it follows, so it needs a file of its own")));
            }
            Document::Stdout => on_stdout += 1,
        }
    }
    if on_stdout > 1 {
        return Err(Failure::usage("standard output takes one document; give the others files"));
    }
    Ok(())
}

/// Shows a summary and writes its files. Returns whether the bound is exceeded.
pub fn deliver(why: &Why, summary: &Summary) -> Result<bool, Failure> {
    let json = |out: &mut dyn std::io::Write| summary.write_to(out);
    let page = html::why::report(summary);
    let html = |out: &mut dyn std::io::Write| out.write_all(page.as_bytes());
    let mut files = Files::default();
    for (option, path, contents) in [("--out", &why.out, &json as Contents), ("--html", &why.html, &html)] {
        if let Some(path) = path {
            place::write(option, path, contents, &mut files)?;
        }
    }
    if why.out.is_none() && why.html.is_none() && why.json.is_none() && why.files.is_empty() {
        for (extension, contents) in [("json", &json as Contents), ("html", &html)] {
            if let Err(error) = files.create(Path::new(""), &stem(summary), extension, contents) {
                let name = format!("{}.{extension}", stem(summary));
                message::warning(&format!("no result file: {}", file::why_not(Path::new(&name), &error)));
            }
        }
    }
    let takes_stdout =
        |path: &Option<PathBuf>| path.as_ref().is_some_and(|path| Document::at(path) == Document::Stdout);
    match &why.json {
        Some(path) => place::write("--json", path, &json, &mut files)?,
        None if takes_stdout(&why.html) || takes_stdout(&why.out) => {}
        // A recording or a result that is only converted to another document is not printed.
        None if !why.files.is_empty() && why.html.is_some() => {}
        None => stdout::text(&text::report(summary))?,
    }
    if !why.quiet {
        // These two were written meanwhile.
        let meanwhile = why.record.iter().chain(&why.perfetto).map(|path| path.display().to_string());
        message::written(&[files.names(), &meanwhile.collect::<Vec<_>>()].concat());
    }
    let Some(bound) = &why.fail_if else { return Ok(false) };
    let exceeded = bound.exceeded_by(summary);
    for (group, value) in &exceeded {
        message::warning(&format!("above the bound of --fail-if: {}", text::exceeded(group, *value)));
    }
    Ok(!exceeded.is_empty())
}

fn stem(summary: &Summary) -> String {
    let taken = summary.meta.taken_unix_s.and_then(Utc::of_unix);
    format!("oversleep-why-{}", taken.map_or_else(|| "undated".to_owned(), Utc::for_file_name))
}

/// Shows a recording or a result again.
pub fn again(why: &Why, path: &Path) -> Result<Exit, Failure> {
    check(why)?;
    let summary = read(why, path)?;
    Ok(if deliver(why, &summary)? { Exit::AssertionFailed } else { Exit::Fine })
}

fn read(why: &Why, path: &Path) -> Result<Summary, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::failed(format!("can't read '{}': {error}", path.display())))?;
    let unusable = |error: String| Failure::failed(format!("can't use '{}': {error}", path.display()));
    if !Reader::knows(&bytes) {
        for (option, is_named) in
            [("--only", why.only.is_some()), ("--want", why.want.is_some()), ("--perfetto", why.perfetto.is_some())]
        {
            if is_named {
                return Err(Failure::usage(format!(
                    "{option} needs every wait, and a result file has them in groups; record them with --record and give \
                     the recording"
                )));
            }
        }
        return Summary::read_from(&mut &bytes[..])
            .map_err(|error| unusable(format!("it is neither a recording nor a result of `oversleep why` ({error})")));
    }
    let mut reader = Reader::new(&bytes).map_err(|error| unusable(error.to_string()))?;
    let meta = reader.meta.clone();
    let want_ns = why.want.and_then(|want| u64::try_from(want.0).ok());
    let mut session = Session::new(meta.arch, Names::of(&meta.processes), why.only.clone(), want_ns);
    let trace_failed = |error| Failure::failed(format!("can't write the trace: {error}"));
    if let Some(path) = &why.perfetto {
        session.trace_to(BufWriter::new(File::create(path).map_err(trace_failed)?)).map_err(trace_failed)?;
    }
    session.feed(reader.by_ref()).map_err(trace_failed)?;
    let losses = Losses { is_truncated: reader.is_broken(), ..Losses::default() };
    session.finish(meta, losses).map_err(trace_failed)
}
