//! Delivers what was observed, and shows stored results and recordings again.

use std::fs::File;
use std::io::{BufWriter, Read};
use std::path::Path;
use std::sync::Arc;

use oversleep_exchange as exchange;
use oversleep_explain as explain;
use oversleep_record::Identity;
use oversleep_record::observed::Losses;
use oversleep_record::words::counted;
use oversleep_record::{Nanos, ResultFile, Series};
use oversleep_why::names::Names;
use oversleep_why::recording::{Reader, RecordingError};
use oversleep_why::select::Judged;
use oversleep_why::session::Session;

use super::Why;
use crate::args::Document;
use crate::exit::{Exit, Failure};
use crate::output::place::Places;
use crate::output::{self, Delivery, rescue};
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
    let Some(bound) = &why.fail_if else { return Ok(None) };
    let (housekeeping, judged): (Vec<_>, Vec<_>) =
        bound.judge(&file).into_iter().partition(|(series, _)| explain::housekeeping::of(&file, series).is_some());
    if !housekeeping.is_empty() {
        let waits = housekeeping.iter().map(|(series, _)| series.counts.recorded).fold(0, u64::saturating_add);
        message::note(&format!(
            "not judged by --fail-if: {} of the runtime's own housekeeping",
            counted(waits, "wait")
        ));
    }
    for (series, judged) in &judged {
        match *judged {
            Judged::Keeps => {}
            Judged::Exceeds(value) => {
                message::warning(&format!("above the bound of --fail-if: {}: {}", name(series), Nanos(value)));
            }
            Judged::TooFew => message::warning(&format!(
                "not judged by --fail-if: {} has {}, too few for that percentile; ten have to lie beyond it",
                name(series),
                counted(series.counts.recorded, "wait")
            )),
        }
    }
    let kept = judged.iter().filter(|(_, judged)| matches!(judged, Judged::Keeps));
    let (kinds, waits) = kept.fold((0, 0), |(kinds, waits): (u64, u64), (series, _)| {
        (kinds + 1, waits.saturating_add(series.counts.recorded))
    });
    if kinds != 0 {
        message::note(&format!(
            "within the bound of --fail-if: {} of {}",
            counted(waits, "wait"),
            counted(kinds, "kind")
        ));
    }
    let has = |is: fn(&Judged) -> bool| judged.iter().any(|(_, judged)| is(judged));
    Ok(match () {
        () if has(|judged| matches!(judged, Judged::Exceeds(_))) => Some(Exit::AssertionFailed),
        () if has(|judged| matches!(judged, Judged::Keeps)) => None,
        // A bound that nothing was compared with doesn't hold.
        () => Some(Exit::TooDisturbed),
    })
}

fn name(series: &Series) -> String {
    Identity::of(series).map_or_else(|| series.key.to_string(), |identity| identity.to_string())
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
        let file =
            ResultFile::read_from(bytes.chain(source)).map_err(|error| unusable(format!("{neither} ({error})")))?;
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
    let want_ns = why.want.and_then(|want| u64::try_from(want.0).ok());
    let mut session = Session::new(meta.arch, Names::of_recording(&meta), why.only.clone(), want_ns);
    let trace_failed = |error| Failure::failed(format!("can't write the trace: {error}"));
    if let Some(path) = &why.perfetto {
        session.trace_to(BufWriter::new(File::create(path).map_err(trace_failed)?)).map_err(trace_failed)?;
    }
    session.feed(reader.by_ref()).map_err(trace_failed)?;
    let losses = Losses { is_truncated: reader.is_broken(), ..Losses::default() };
    session.finish(meta, losses).map_err(trace_failed)
}
