//! Delivers what was observed, and shows stored results and recordings again.

use std::fs::File;
use std::io::{BufWriter, Read};
use std::path::Path;
use std::sync::Arc;

use oversleep_exchange as exchange;
use oversleep_explain as explain;
use oversleep_lab::assert::{Assertion, judge};
use oversleep_record::assertion::{Judged, Verdict};
use oversleep_record::observed::Losses;
use oversleep_record::words::counted;
use oversleep_record::{ResultFile, Series};
use oversleep_recordings::{SeekSource, Source, packed};
use oversleep_request::assertions;
use oversleep_why::calls::Arch;
use oversleep_why::names::Names;
use oversleep_why::recording::{Reader, RecordingError};
use oversleep_why::session::Session;

use super::Why;
use crate::args::Document;
use crate::exit::{Exit, Failure};
use crate::output::place::Places;
use crate::output::{self, Delivery, rescue};
use crate::progress::Reading;
use crate::{message, reading};

/// Checks every output before anything is followed or read.
pub fn prepare(why: &Why) -> Result<Delivery, Failure> {
    let mut places = Places::reading(&why.files)?;
    for (option, path) in [("record", &why.record), ("perfetto", &why.perfetto)] {
        let Some(path) = path else { continue };
        if places.claim(option, path)? == Document::Stdout {
            return Err(Failure::usage(format!("--{option} writes while it follows, so it needs a file of its own")));
        }
    }
    let mut delivery = match &why.files[..] {
        [] => Delivery::prepare_in(&why.documents, true, places)?,
        files => Delivery::only_named_in(&why.documents, files, places)?,
    };
    if why.no_report {
        delivery = delivery.without_report();
    }
    // These two are written meanwhile.
    delivery.also_written(why.record.iter().chain(&why.perfetto));
    Ok(delivery)
}

/// Delivers a result. Returns how the command ends because of its bound, if that decides.
pub fn deliver(why: &Why, delivery: &Delivery, mut file: ResultFile) -> Result<Option<Exit>, Failure> {
    file.findings = explain::findings_to_keep(&file);
    let file = Arc::new(file);
    let stem = output::stem(&file);
    if why.files.is_empty() {
        rescue::hold(&file, stem.clone());
    }
    delivery.deliver(&*file, stem)?;
    match &why.fail_if {
        Some(condition) => judged(&file, condition),
        None => Ok(None),
    }
}

/// How the command ends because of `--fail-if`, if that decides. Waits that a runtime makes for its own purposes don't
/// count.
fn judged(file: &ResultFile, condition: &Assertion) -> Result<Option<Exit>, Failure> {
    let is_own = |series: &&Series| explain::housekeeping::of(file, series).is_some();
    let own: Vec<&Series> = file.series.iter().filter(is_own).collect();
    let judged = judge(file, condition).map_err(|error| assertions::unknown(&error))?;
    if !own.is_empty() {
        let waits = own.iter().map(|series| series.counts.recorded).fold(0, u64::saturating_add);
        message::note(&format!(
            "not judged by --fail-if: {} of the runtime's own housekeeping",
            counted(waits, "wait")
        ));
    }
    for Judged { about, message, verdict, .. } in &judged {
        match verdict {
            Verdict::Fail => message::warning(&format!("--fail-if holds: {about}: {message}")),
            Verdict::Undecided => message::warning(&format!("not judged by --fail-if: {about}: {message}")),
            Verdict::Pass => {}
        }
    }
    let has = |verdict: Verdict| judged.iter().filter(|judged| judged.verdict == verdict).count();
    if has(Verdict::Pass) > 0 {
        message::note(&format!("--fail-if doesn't hold of {}", counted(has(Verdict::Pass) as u64, "kind")));
    }
    Ok(match (has(Verdict::Fail), has(Verdict::Pass)) {
        (1.., _) => Some(Exit::AssertionFailed),
        (0, 1..) => None,
        // What nothing was compared with doesn't hold.
        (0, 0) => Some(Exit::TooDisturbed),
    })
}

/// Shows a recording or a result again.
pub fn again(why: &Why, path: &Path) -> Result<Exit, Failure> {
    let delivery = prepare(why)?;
    let file = read(why, path)?;
    Ok(deliver(why, &delivery, file)?.unwrap_or(Exit::Fine))
}

fn read(why: &Why, path: &Path) -> Result<ResultFile, Failure> {
    let unreadable = |error: std::io::Error| Failure::failed(format!("can't read '{}': {error}", path.display()));
    // A recording is read from its end, too, which is possible in a file only.
    let mut file = None;
    let mut source: Box<dyn Read> = match Document::at(path) {
        Document::Stdout => {
            reading::standard_input("why -")?;
            Box::new(std::io::stdin().lock())
        }
        Document::File(path) => {
            let opened = File::open(path).map_err(unreadable)?;
            file = opened
                .metadata()
                .is_ok_and(|about| about.is_file())
                .then(|| opened.try_clone())
                .transpose()
                .map_err(unreadable)?;
            Box::new(opened)
        }
    };
    let mut bytes = Vec::new();
    (&mut source).take(exchange::HEAD_BYTES as u64).read_to_end(&mut bytes).map_err(unreadable)?;
    let unusable = |error: String| Failure::failed(format!("can't use '{}': {error}", path.display()));
    if packed::is_packed(&bytes) {
        source.read_to_end(&mut bytes).map_err(unreadable)?;
        bytes = packed::unpack(&bytes).map_err(|why| unusable(why.to_owned()))?;
        // What was in it is read from memory.
        (file, source) = (None, Box::new(std::io::empty()));
    }
    if let Some(format) = oversleep_recordings::recognise(&bytes) {
        let in_file = file.map(SeekSource::new).transpose().map_err(unreadable)?;
        if in_file.is_none() {
            source.read_to_end(&mut bytes).map_err(unreadable)?;
        }
        let in_memory = &bytes[..];
        let source: &dyn Source = in_file.as_ref().map_or(&in_memory, |file| file);
        let source = &Reading::new(source);
        let of_format = |fault| unusable(format!("it is {}, but {fault}", format.name));
        let opened = format.open(source).map_err(of_format)?;
        let session = session(why, opened.meta.arch, Names::of_recording(&opened.meta))?;
        return opened.into_result(session).map_err(of_format);
    }
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
        let neither = "it is neither a recording nor a result of `oversleep why`";
        if let Some(format) = exchange::recognise(&bytes).map_err(|error| unusable(error.to_string()))? {
            source.take(exchange::FILE_BYTES_MAX as u64).read_to_end(&mut bytes).map_err(unreadable)?;
            return Err(unusable(match format.read(&bytes) {
                Ok(_) => format!("{neither} but {}; `oversleep report` shows it", format.name),
                Err(error) => error.to_string(),
            }));
        }
        let unknown = |error| {
            let known = oversleep_recordings::FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
            unusable(format!("{neither} ({error}); what `oversleep why` reads: recordings of --record, {known}"))
        };
        let file = ResultFile::read_from(bytes.chain(source)).map_err(unknown)?;
        return match file.observation {
            Some(_) => Ok(file),
            None => Err(unusable(format!("{neither}; `oversleep report` shows it"))),
        };
    }
    let not_read = |error: RecordingError| unusable(error.to_string());
    match file {
        Some(file) => replay(why, Reader::in_file(file).map_err(unreadable)?.map_err(not_read)?),
        None => {
            source.read_to_end(&mut bytes).map_err(unreadable)?;
            replay(why, Reader::new(&bytes).map_err(not_read)?)
        }
    }
}

/// The result of a recording.
fn replay(why: &Why, mut reader: Reader<impl Read>) -> Result<ResultFile, Failure> {
    let meta = reader.meta.clone();
    let mut session = session(why, meta.arch, Names::of_recording(&meta))?;
    session.feed(reader.by_ref()).map_err(trace_failed)?;
    let losses = Losses { is_truncated: reader.is_broken(), ..Losses::default() };
    session.finish(meta, losses).map_err(trace_failed)
}

fn session(why: &Why, arch: Arch, names: Names) -> Result<Session<'_>, Failure> {
    let want_ns = why.want.and_then(|want| u64::try_from(want.0).ok());
    let mut session = Session::new(arch, names, why.only.clone(), want_ns);
    if let Some(path) = &why.perfetto {
        session.trace_to(BufWriter::new(File::create(path).map_err(trace_failed)?)).map_err(trace_failed)?;
    }
    Ok(session)
}

fn trace_failed(error: std::io::Error) -> Failure {
    Failure::failed(format!("can't write the trace: {error}"))
}
