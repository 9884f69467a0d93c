//! Delivers one result to every destination that the user named.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use oversleep_record::ResultFile;
use oversleep_record::date::Utc;

use super::file::{self, Files};
use super::place::{self, Places};
use super::{Contents, pages, rescue, stdout};
use crate::args::{Document, OutputArgs};
use crate::exit::Failure;
use crate::message;
use oversleep_record::words::counted;
use oversleep_report::terminal::Detail;
use oversleep_report::view::overview;

/// The destinations, checked before anything is measured.
#[derive(Debug, Default)]
pub struct Delivery {
    json: Vec<PathBuf>,
    html: Option<PathBuf>,
    svg: Option<PathBuf>,
    /// The directory for files that the user did not name.
    automatic: Option<PathBuf>,
    stdout: Stdout,
    quiet: bool,
    detail: Detail,
    /// Whether a file has the result already, because it was read from there.
    is_stored: bool,
    /// Files that are written while it is measured.
    meanwhile: Vec<String>,
}

/// The content of standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stdout {
    /// The report.
    #[default]
    Report,
    /// The result as JSON.
    Json,
    /// The page.
    Html,
    /// Nothing: the user named files only.
    Nothing,
}

impl Delivery {
    /// Checks every destination before anything is measured. With `automatic`, a result file and a page are written to
    /// the current directory unless the user named a destination. Results that are read must not be overwritten.
    ///
    /// # Errors
    /// The first destination that can't be written, or two documents for one destination.
    pub fn prepare(args: &OutputArgs, automatic: bool, read: Option<&PathBuf>) -> Result<Delivery, Failure> {
        Delivery::prepare_in(args, automatic, Places::reading(read)?)
    }

    /// The same where other outputs are known already.
    ///
    /// # Errors
    /// As for [`Delivery::prepare`].
    pub fn prepare_in(args: &OutputArgs, automatic: bool, places: Places) -> Result<Delivery, Failure> {
        let mut delivery = Delivery::named(args, places)?;
        let named = args.json.is_some() || args.html.is_some() || args.svg.is_some() || args.out.is_some();
        if automatic && !named {
            delivery.automatic = automatic_directory();
        }
        // Every measuring command shows something.
        stdout::check()?;
        Ok(delivery)
    }

    /// Only the destinations that the user named, for results that are read; the report if there are none.
    ///
    /// # Errors
    /// As for [`Delivery::prepare`].
    pub fn only_named(args: &OutputArgs, read: &[PathBuf]) -> Result<Delivery, Failure> {
        let mut delivery = Delivery::named(args, Places::reading(read)?)?;
        let files = args.json.is_some() || args.html.is_some() || args.svg.is_some() || args.out.is_some();
        if files && delivery.stdout == Stdout::Report {
            delivery.stdout = Stdout::Nothing;
        }
        delivery.is_stored = read.iter().all(|path| matches!(Document::at(path), Document::File(_)));
        Ok(delivery)
    }

    /// Prints no report: the user named documents.
    pub fn only_documents(&mut self) {
        if self.stdout == Stdout::Report {
            self.stdout = Stdout::Nothing;
        }
    }

    /// Names files that are written meanwhile with those that are written here.
    pub fn also_written<'a>(&mut self, files: impl IntoIterator<Item = &'a PathBuf>) {
        self.meanwhile.extend(files.into_iter().map(|path| path.display().to_string()));
    }

    /// Leaves out the files that the user did not name.
    pub fn only_what_was_named(&mut self) {
        self.automatic = None;
    }

    fn named(args: &OutputArgs, mut places: Places) -> Result<Delivery, Failure> {
        let detail = if args.full { Detail::Full } else { Detail::Brief };
        let mut delivery = Delivery { svg: args.svg.clone(), quiet: args.quiet, detail, ..Delivery::default() };
        for (option, path) in [("--json", &args.json), ("--out", &args.out)] {
            match path.as_deref().map(|path| place::output(option, path)).transpose()? {
                None => {}
                Some(Document::Stdout) => delivery.claim_stdout(Stdout::Json, option)?,
                // The same document twice is written once.
                Some(Document::File(path)) if places.has(&path) => {}
                Some(Document::File(path)) => {
                    places.add(option, &path)?;
                    delivery.json.push(path);
                }
            }
        }
        match args.html.as_deref().map(|path| place::output("--html", path)).transpose()? {
            None => {}
            Some(Document::Stdout) => delivery.claim_stdout(Stdout::Html, "--html")?,
            Some(Document::File(path)) => {
                places.add("--html", &path)?;
                delivery.html = Some(path);
            }
        }
        for path in delivery.json.iter().chain(&delivery.html) {
            file::check(path).map_err(Failure::Failed)?;
        }
        if let Some(directory) = &delivery.svg {
            file::check_in(directory).map_err(Failure::Failed)?;
            places.add_pictures("--svg", directory)?;
        }
        Ok(delivery)
    }

    fn claim_stdout(&mut self, document: Stdout, option: &str) -> Result<(), Failure> {
        if self.stdout != Stdout::Report && self.stdout != document {
            return Err(Failure::usage(format!("{option}: standard output takes one document; give the other a file")));
        }
        self.stdout = document;
        Ok(())
    }

    /// Writes the result to every destination. If one fails, the others are still written, and a copy is kept elsewhere.
    ///
    /// # Errors
    /// Every destination that failed, and where the result is now.
    pub fn deliver(&self, result: &ResultFile) -> Result<(), Failure> {
        let mut tally = Tally { kept: self.is_stored, ..Tally::default() };
        let mut files = Files::default();
        let json: Contents = &|out| result.write_to(out);
        let html: Contents = &|out| out.write_all(&pages::html(result));
        for path in &self.json {
            tally.file(path, files.replace(path, json), true);
        }
        if let Some(path) = &self.html {
            tally.file(path, files.replace(path, html), false);
        }
        if let Some(directory) = &self.svg {
            match pages::svg(result, directory, &mut files) {
                Ok(count) => tally.written.push(format!("{} in {}", counted(count, "picture"), directory.display())),
                Err(error) => tally.failed.push(file::why_not(directory, &error)),
            }
        }
        if let Some(directory) = &self.automatic {
            let stem = stem(result);
            for (extension, contents, is_result) in [("json", json, true), ("html", html, false)] {
                match files.create(directory, &stem, extension, contents) {
                    Ok(path) => tally.file(&path, Ok(()), is_result),
                    Err(error) => tally.file(&directory.join(format!("{stem}.{extension}")), Err(error), is_result),
                }
            }
        }
        tally.written.extend_from_slice(&self.meanwhile);
        match self.show(result, &tally.written) {
            Ok(()) if self.stdout == Stdout::Json => tally.keep(),
            Ok(()) => {}
            Err(Failure::ReaderGone) => tally.reader_gone = true,
            Err(error) => tally.failed.push(error.to_string()),
        }
        // On a terminal, the bottom line of a check has just named them.
        let is_named = self.stdout == Stdout::Report && overview::has_bottom_line(result) && io::stdout().is_terminal();
        if !self.quiet && !is_named {
            message::written(&tally.written);
        }
        self.conclude(result, tally)
    }

    fn show(&self, result: &ResultFile, written: &[String]) -> Result<(), Failure> {
        match self.stdout {
            Stdout::Report => stdout::text(&pages::text(result, self.detail, written)),
            Stdout::Json => stdout::json_document(&|out| result.write_to(out)),
            Stdout::Html => stdout::document(&|out| out.write_all(&pages::html(result))),
            Stdout::Nothing => Ok(()),
        }
    }

    fn conclude(&self, result: &ResultFile, tally: Tally) -> Result<(), Failure> {
        if tally.failed.is_empty() {
            return if tally.reader_gone { Err(Failure::ReaderGone) } else { Ok(()) };
        }
        let failed = tally.failed.join("; ");
        if self.is_stored {
            return Err(Failure::failed(failed));
        }
        if tally.kept {
            return Err(Failure::failed(format!(
                "{failed}; the result itself was written: `oversleep report FILE` shows it"
            )));
        }
        if let Some(path) = rescue::keep(result, &stem(result)) {
            return Err(Failure::failed(format!("{failed}; {}", rescue::is_kept_in(&path))));
        }
        // Standard output is the last resort, but JSON on a terminal would only scroll the report away.
        let is_free = matches!(self.stdout, Stdout::Report | Stdout::Nothing) && !io::stdout().is_terminal();
        if is_free && stdout::document(&|out| result.write_to(out)).is_ok() {
            return Err(Failure::failed(format!("{failed}; the result is the last line on standard output")));
        }
        Err(Failure::failed(format!("{failed}; the result could not be written anywhere else either")))
    }
}

/// The outcomes of the destinations.
#[derive(Debug, Default)]
struct Tally {
    written: Vec<String>,
    failed: Vec<String>,
    /// Whether one of them, or the file it was read from, holds the result as JSON.
    kept: bool,
    reader_gone: bool,
}

impl Tally {
    /// Notes that the result is safe.
    fn keep(&mut self) {
        self.kept = true;
        rescue::release();
    }

    fn file(&mut self, path: &Path, outcome: io::Result<()>, is_result: bool) {
        match outcome {
            Ok(()) => {
                self.written.push(path.display().to_string());
                if is_result && path.is_file() {
                    self.keep();
                }
            }
            Err(error) => self.failed.push(file::why_not(path, &error)),
        }
    }
}

/// The current directory, or the one for temporary files if the current one isn't writable: that should not prevent a
/// measurement.
fn automatic_directory() -> Option<PathBuf> {
    let refuge = std::env::temp_dir();
    for (index, directory) in [PathBuf::new(), refuge].into_iter().enumerate() {
        if file::check(&directory.join("oversleep.json")).is_ok() {
            if index > 0 {
                let place = directory.display();
                message::warning(&format!("the current directory is not writable; the report will be in {place}"));
            }
            return Some(directory);
        }
    }
    message::warning(
        "neither the current directory nor the one for temporary files is writable; no files will be written. Name a place with --out",
    );
    None
}

/// `oversleep-2025-01-31T12-34-56Z`.
pub fn stem(result: &ResultFile) -> String {
    let now = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_secs()).ok()
    };
    let taken = result.taken_unix_s.or_else(now).and_then(Utc::of_unix);
    let kind = if result.observation.is_some() { "why-" } else { "" };
    format!("oversleep-{kind}{}", taken.map_or_else(|| "undated".to_owned(), Utc::for_file_name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_report::testing;

    fn args() -> OutputArgs {
        OutputArgs { quiet: true, ..OutputArgs::default() }
    }

    #[test]
    fn standard_output_takes_one_document() {
        let both = OutputArgs { json: Some("-".into()), html: Some("-".into()), ..args() };
        let error = Delivery::prepare(&both, false, None).unwrap_err();
        assert_eq!(error.to_string(), "--html: standard output takes one document; give the other a file");
        let twice = OutputArgs { json: Some("-".into()), out: Some("-".into()), ..args() };
        assert_eq!(Delivery::prepare(&twice, false, None).unwrap().stdout, Stdout::Json);
    }

    #[test]
    fn a_report_written_to_files_stays_off_the_screen() {
        let home = tempfile::tempdir().unwrap();
        let page = OutputArgs { html: Some(home.path().join("r.html")), ..args() };
        assert_eq!(Delivery::only_named(&page, &[]).unwrap().stdout, Stdout::Nothing);
        assert_eq!(Delivery::prepare(&page, true, None).unwrap().stdout, Stdout::Report);
        assert!(Delivery::prepare(&page, true, None).unwrap().automatic.is_none());
        assert_eq!(Delivery::only_named(&args(), &[]).unwrap().stdout, Stdout::Report);
    }

    #[test]
    fn one_file_holds_one_thing() {
        let same = OutputArgs { out: Some("r".into()), html: Some("r".into()), ..args() };
        assert!(matches!(Delivery::prepare(&same, false, None), Err(Failure::Usage(_))));
    }

    #[test]
    fn files_are_named_after_when_the_run_began() {
        assert_eq!(stem(&testing::result(&[])), "oversleep-2023-11-14T22-13-20Z");
    }
}
