//! `share`: writes one small file for an issue or an email, without anything that identifies a person or a host.

use std::path::{Path, PathBuf};

use clap::Args;
use oversleep_lab::share::share;
use oversleep_record::ResultFile;
use oversleep_record::date::Utc;
use oversleep_report::terminal;

use crate::args::{Document, value};
use crate::command::spec::{READS, examples, exits};
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::Contents;
use crate::output::file::{self, Files};
use crate::output::place::Places;
use crate::output::stdout;
use crate::reading;
use crate::width::width;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep share r.json", "a copy for an issue or a mail, in this directory"),
    ("oversleep share r.json --out copy.json", "to that file"),
    ("oversleep check --json | oversleep share - --out copy.json", ""),
    ("oversleep report results/", "copies of several machines in one table"),
];

/// Make a small copy of a result for others, without anything that identifies you or the machine
///
/// It keeps what is on a list: figures, the names of calls, clocks and processors, and the words of systems. Everything
/// else is left out: names, paths, command lines, texts of errors, serial numbers, the time of day, raw samples. A note
/// says how far the result can be relied on. Every command reads the copy as any result.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS))]
pub struct Share {
    /// Result file; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Where to write the copy; - is standard output [default: a new file in the current directory]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Name to store in the copy, which reports show [default: none; the name in FILE is left out]
    #[arg(long, value_name = "TEXT", value_parser = value::label)]
    name: Option<String>,

    /// Print no progress and no notes on standard error, only warnings and errors
    #[arg(long, short)]
    quiet: bool,
}

impl Share {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        message::leave_out_notes(self.quiet);
        let place = self.place()?;
        let result = reading::read(&self.file, "share -")?;
        let shared = ResultFile { name: self.name.clone(), ..share(&result) };
        drop(result);
        let contents = |out: &mut dyn std::io::Write| shared.write_to(out);
        let Some(written) = write(place, &stem(&shared), &contents)? else { return Ok(Exit::Fine) };
        if !self.quiet {
            Share::report(&shared, &written)?;
        } else if self.out.is_none() {
            message::written(&[], &[written.display().to_string()]);
        }
        Ok(Exit::Fine)
    }

    /// The destination of the copy, checked before anything is read; `None` means a new file here.
    fn place(&self) -> Result<Option<Document>, Failure> {
        let mut places = Places::reading([&self.file])?;
        let Some(path) = &self.out else {
            file::check(Path::new("oversleep-shared.json")).map_err(Failure::Failed)?;
            return Ok(None);
        };
        places.claim("out", path).map(Some)
    }

    /// Shows what recipients will see, and where the copy is.
    fn report(shared: &ResultFile, written: &Path) -> Result<(), Failure> {
        let length = std::fs::metadata(written).map_or(0, |file| file.len().div_ceil(1_000));
        stdout::text(&terminal::shared(shared, width(), &format!("{} ({length} KB)", written.display()))).map(drop)
    }
}

/// Writes the copy; `None` if it went to standard output.
fn write(place: Option<Document>, stem: &str, contents: Contents) -> Result<Option<PathBuf>, Failure> {
    match place {
        Some(Document::Stdout) => stdout::json_document(contents).map(|_| None),
        Some(Document::File(path)) => Files::default()
            .replace(&path, contents)
            .map(|()| Some(path.clone()))
            .map_err(|error| Failure::Failed(file::why_not(&path, &error))),
        None => Files::default()
            .create(Path::new(""), stem, "json", contents)
            .map(Some)
            .map_err(|error| Failure::Failed(file::why_not(Path::new(&format!("{stem}.json")), &error))),
    }
}

/// `oversleep-shared-2025-01-31`, without a date for a model.
fn stem(shared: &ResultFile) -> String {
    let day = shared.taken_unix_s.and_then(Utc::of_unix).map(|taken| format!("-{}", taken.to_day()));
    let kind = if shared.observation.is_some() { "-why" } else { "" };
    format!("oversleep{kind}-shared{}", day.unwrap_or_default())
}
