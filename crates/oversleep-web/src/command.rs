//! Runs a command line.

use std::ffi::OsStr;
use std::path::Path;

use clap::{Args, Parser};
use oversleep_explain as explain;
use oversleep_lab::assert::judge;
use oversleep_lab::{Laboratory, machines};
use oversleep_measure::{Progress, StopFlag};
use oversleep_record::ResultFile;
use oversleep_record::assertion::Assertions;
use oversleep_record::samples::Samples;
use oversleep_report::document::{self, Answers, Comparison, Entry, FORMATS, Gallery, Layout, Subject};
use oversleep_report::view::comparison::{self, Adding, RESULTS_MAX};
use oversleep_report::view::gallery::Machine;
use oversleep_report::view::pictures::Picture;
use oversleep_request::args::{AskArgs, CheckArgs, MachineArgs};
use oversleep_request::assertions;
use oversleep_request::machine::modelled;

use crate::refusal;

/// A dropped file.
pub struct File<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its contents.
    pub bytes: &'a [u8],
}

/// One document of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its format: `json`, `html` and the others of `document::FORMATS`, or `svg`.
    pub kind: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// Its file name.
    pub name: String,
    /// The document.
    pub bytes: Vec<u8>,
}

/// A command line of the page: the commands that need no real machine.
#[derive(Parser, Debug)]
#[command(name = "oversleep", disable_help_flag = true, disable_help_subcommand = true)]
enum Typed {
    Ask(Box<AskArgs>),
    Check(Box<CheckArgs>),
    Report(FileArgs),
    Compare(FileArgs),
    Assert(AssertArgs),
}

#[derive(Args, Debug)]
struct AssertArgs {
    #[arg(required = true, value_name = "FILE or ASSERTION")]
    given: Vec<String>,
}

#[derive(Args, Debug)]
struct FileArgs {
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

/// Runs a command line, without the name of the command.
///
/// # Errors
/// The command's error message.
pub fn run(words: &[String], files: &[File], progress: &mut dyn Progress) -> Result<Vec<Part>, String> {
    let line = std::iter::once("oversleep").chain(words.iter().map(String::as_str));
    match Typed::try_parse_from(line).map_err(|error| refusal::sentence(&error, words))? {
        Typed::Ask(args) => answer(&args, files),
        Typed::Check(args) => check(*args, files, progress),
        Typed::Report(args) => match &args.files[..] {
            [one] => report(one, files),
            several => table(several, files),
        },
        Typed::Compare(args) => compare(&args.files, files),
        Typed::Assert(args) => assert(&args.given, files),
    }
}

fn answer(args: &AskArgs, files: &[File]) -> Result<Vec<Part>, String> {
    let mut machines = args.modelled().map_err(|error| error.to_string())?;
    if let Some(path) = &args.like {
        let of_model = MachineArgs { like: Some(path.clone()), model: args.model.clone(), ..MachineArgs::default() };
        machines.push((format!("like {}", path.display()), Ok(laboratory(&of_model, files)?)));
    }
    if machines.is_empty() {
        return Err("a browser can't measure this machine; name a modelled one with --on or --like".to_owned());
    }
    let replies = args.replies(machines).map_err(|error| error.to_string())?;
    Ok(documents(&Answers(&replies), "answer"))
}

fn check(args: CheckArgs, files: &[File], progress: &mut dyn Progress) -> Result<Vec<Part>, String> {
    if args.machine.on.is_none() && args.machine.like.is_none() {
        return Err("a browser can't measure this machine; name a modelled one with --on or --like".to_owned());
    }
    let lab = laboratory(&args.machine, files)?;
    let measuring = args.measuring().map_err(|error| error.to_string())?;
    let request = measuring.request(&lab, None).map_err(|error| error.to_string())?;
    let result = lab.run(&request, &StopFlag::new(), progress).map_err(|error| error.to_string())?;
    Ok(documents(&result, "result"))
}

/// The subject in every format, and its pictures, in files of that name.
fn documents(subject: &dyn Subject, name: &str) -> Vec<Part> {
    let layout = Layout { width: 100, ..Layout::default() };
    let document = |format: &&Entry| Part {
        kind: format.name,
        media_type: format.media_type,
        name: format!("{name}.{}", format.extension),
        bytes: document::bytes(subject, format, &layout),
    };
    let picture = |picture: Picture| Part {
        kind: "svg",
        media_type: "image/svg+xml",
        name: format!("{}.svg", picture.name),
        bytes: picture.forms.alone.into_bytes(),
    };
    FORMATS.iter().map(document).chain(subject.pictures().into_iter().map(picture)).collect()
}

fn report(name: &str, files: &[File]) -> Result<Vec<Part>, String> {
    let mut result = read(name, files)?;
    result.findings = explain::findings_to_keep(&result);
    Ok(documents(&result, "result"))
}

/// Several results as one table of machines and waits.
fn table(names: &[String], files: &[File]) -> Result<Vec<Part>, String> {
    let machine = |name: &String| {
        let mut result = read(name, files)?;
        result.series.iter_mut().for_each(|series| series.samples = Samples::default());
        Ok(Machine::of(&result, name))
    };
    let machines = names.iter().map(machine).collect::<Result<Vec<_>, String>>()?;
    Ok(documents(&Gallery(&machines), "machines"))
}

fn compare(names: &[String], files: &[File]) -> Result<Vec<Part>, String> {
    if names.len() > RESULTS_MAX {
        return Err(format!("can't compare {} results; the maximum is {RESULTS_MAX}", names.len()));
    }
    let mut adding = Adding::new();
    let mut is_observed = None;
    for name in names {
        let result = read(name, files)?;
        if *is_observed.get_or_insert(result.observation.is_some()) != result.observation.is_some() {
            let why = "one is a result of `oversleep why`, the other of another command";
            return Err(format!("can't compare '{name}' with '{}': {why}", names[0]));
        }
        adding.add_whole(result);
    }
    let (comparison, sketches) = adding.finish().ok_or("a comparison takes two results or more")?;
    let compared = Comparison { compared: &comparison, sketches: &sketches, names, shown: comparison::view };
    Ok(documents(&compared, "comparison"))
}

/// What has to hold of dropped files.
fn assert(given: &[String], files: &[File]) -> Result<Vec<Part>, String> {
    let (names, texts): (Vec<&String>, Vec<&String>) = given
        .iter()
        .partition(|given| files.iter().any(|file| file.name == *given) || !given.contains(['(', '<', '>', '=']));
    let typed = texts.iter().map(|text| assertions::parse(text)).collect::<Result<Vec<_>, _>>();
    let typed = typed.map_err(|error| error.to_string())?;
    if names.is_empty() || typed.is_empty() {
        return Err("assert takes a dropped file and an assertion, like 'nanosleep(1ms).p99 < 2ms'".to_owned());
    }
    typed.iter().try_for_each(assertions::stands_alone).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    for name in &names {
        let mut result = read(name, files)?;
        result.findings = explain::findings_to_keep(&result);
        for assertion in &typed {
            let mut judged = judge(&result, assertion).map_err(|error| match names.len() {
                1 => assertions::unknown(&error).to_string(),
                _ => format!("{name}: {}", assertions::unknown(&error)),
            })?;
            if names.len() > 1 {
                judged.iter_mut().for_each(|judged| judged.about = format!("{name}: {}", judged.about));
            }
            all.extend(judged);
        }
    }
    Ok(documents(&Assertions::of(all), "assertions"))
}

fn laboratory(args: &MachineArgs, files: &[File]) -> Result<Laboratory, String> {
    if let Some(name) = &args.on {
        return modelled(name, &args.model).map_err(|error| error.to_string());
    }
    let path = args.like.as_deref().unwrap_or(Path::new(""));
    let name = path.to_str().unwrap_or_default();
    let result = read(name, files).map_err(|error| format!("can't model the machine of '{name}': {error}"))?;
    machines::like(&result, &args.model.set, args.model.seed.unwrap_or(machines::SEED))
        .map_err(|error| error.to_string())
}

fn read(name: &str, files: &[File]) -> Result<ResultFile, String> {
    let file = files.iter().find(|file| OsStr::new(file.name) == OsStr::new(name));
    let file = file.ok_or_else(|| not_dropped(name))?;
    oversleep_exchange::read(&mut &*file.bytes, |_| {}).map_err(|error| format!("can't use '{name}': {error}"))
}

fn not_dropped(name: &str) -> String {
    format!("'{name}' was not dropped here; drop the file on the page")
}
