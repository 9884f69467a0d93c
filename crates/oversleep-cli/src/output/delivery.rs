//! Delivers a subject to every destination that the user named, in the format of each.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use oversleep_record::ResultFile;
use oversleep_record::date::Utc;
use oversleep_record::words::counted;
use oversleep_report::document::{self, Entry, HTML, JSON, Layout, Subject};
use oversleep_report::terminal::Detail;

use super::file::{self, Files};
use super::place::{self, Places};
use super::stdout::Reader;
use super::{Contents, pictures, rescue, stdout};
use crate::args::{Document, DocumentArgs, Named, PictureFormat};
use crate::exit::{Exit, Failure};
use crate::message;
use crate::width::width;

/// The destinations, checked before anything is measured or read.
#[derive(Debug, Default)]
pub struct Delivery {
    files: Vec<(&'static Entry, PathBuf)>,
    /// Directories for pictures.
    pictures: Vec<(PictureFormat, PathBuf)>,
    /// The directory for files that the user did not name.
    automatic: Option<PathBuf>,
    stdout: Stdout,
    detail: Detail,
    intervals: bool,
    /// Whether a file has the data already, because they were read from there, or anybody can ask for them again.
    is_stored: bool,
    /// Files that are written while it is measured.
    meanwhile: Vec<String>,
}

/// The content of standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stdout {
    /// Text for people.
    #[default]
    Text,
    /// A document for programs.
    Document(&'static Entry),
    /// Nothing: the user named files only.
    Nothing,
}

/// The documents that are written without being named: the data and a page.
const AUTOMATIC: [&Entry; 2] = [&JSON, &HTML];

impl Delivery {
    /// Checks every destination before anything is measured. With `automatic`, a result file and a page are written to
    /// the current directory unless the user named a destination. Results that are read must not be overwritten.
    ///
    /// # Errors
    /// The first destination that can't be written, or two documents for one destination.
    pub fn prepare(args: &DocumentArgs, automatic: bool, read: Option<&PathBuf>) -> Result<Delivery, Failure> {
        Delivery::prepare_in(args, automatic, Places::reading(read)?)
    }

    /// [`Delivery::prepare`] where other outputs are known already.
    ///
    /// # Errors
    /// As for [`Delivery::prepare`].
    pub fn prepare_in(args: &DocumentArgs, automatic: bool, places: Places) -> Result<Delivery, Failure> {
        let mut delivery = Delivery::named(args, places)?;
        if automatic && !args.names_any() {
            delivery.automatic = automatic_directory();
        }
        // Every measuring command shows something.
        stdout::check()?;
        Ok(delivery)
    }

    /// Only the destinations that the user named, for what is read or listed; the text if there are none.
    ///
    /// # Errors
    /// As for [`Delivery::prepare`].
    pub fn only_named(args: &DocumentArgs, read: &[PathBuf]) -> Result<Delivery, Failure> {
        Delivery::only_named_in(args, read, Places::reading(read)?)
    }

    /// [`Delivery::only_named`] where other outputs are known already.
    ///
    /// # Errors
    /// As for [`Delivery::prepare`].
    pub fn only_named_in(args: &DocumentArgs, read: &[PathBuf], places: Places) -> Result<Delivery, Failure> {
        let mut delivery = Delivery::named(args, places)?;
        if args.names_any() {
            delivery = delivery.without_report();
        }
        delivery.is_stored = read.iter().all(|path| matches!(Document::at(path), Document::File(_)));
        Ok(delivery)
    }

    /// Nothing is printed but a document that was asked for.
    pub fn without_report(mut self) -> Delivery {
        if self.stdout == Stdout::Text {
            self.stdout = Stdout::Nothing;
        }
        self
    }

    /// The data were measured for this, so that they are kept if no destination takes them.
    pub fn of_measured(mut self) -> Delivery {
        self.is_stored = false;
        self
    }

    /// Names files that are written meanwhile with those that are written here.
    pub fn also_written<'a>(&mut self, files: impl IntoIterator<Item = &'a PathBuf>) {
        self.meanwhile.extend(files.into_iter().map(|path| path.display().to_string()));
    }

    /// Leaves out the files that the user did not name.
    pub fn only_what_was_named(&mut self) {
        self.automatic = None;
    }

    /// Whether standard output belongs to a document.
    pub fn takes_stdout(&self) -> bool {
        matches!(self.stdout, Stdout::Document(_))
    }

    fn named(args: &DocumentArgs, mut places: Places) -> Result<Delivery, Failure> {
        message::leave_out_notes(args.quiet);
        let detail = if args.full { Detail::Full } else { Detail::Brief };
        let intervals = args.interval;
        let mut delivery = Delivery { pictures: args.pictures.clone(), detail, intervals, ..Delivery::default() };
        for Named { option, format, path } in &args.named {
            match place::output(option, path)? {
                Document::Stdout => delivery.claim_stdout(format, option)?,
                // The same document twice is written once.
                Document::File(path) if delivery.has(format, &path) => {}
                Document::File(path) => {
                    places.add(option, &path)?;
                    delivery.files.push((format, path));
                }
            }
        }
        for (_, path) in &delivery.files {
            file::check(path).map_err(Failure::Failed)?;
        }
        for (format, directory) in &delivery.pictures {
            pictures::check(*format).map_err(Failure::Failed)?;
            file::check_in(directory).map_err(Failure::Failed)?;
            places.add_pictures(format.name(), directory)?;
        }
        Ok(delivery)
    }

    fn has(&self, format: &Entry, path: &Path) -> bool {
        self.files.iter().any(|(other, there)| *other == format && place::is_same(there, path))
    }

    fn claim_stdout(&mut self, format: &'static Entry, option: &str) -> Result<(), Failure> {
        let document = Stdout::Document(format);
        if self.stdout != Stdout::Text && self.stdout != document {
            return Err(Failure::usage(format!(
                "--{option}: standard output takes one document; give the other a file"
            )));
        }
        self.stdout = document;
        Ok(())
    }

    /// Writes a subject to every destination. If one fails, the others are still written, and a copy of what is stored
    /// nowhere is kept elsewhere. `stem` is the name of the files that the user didn't name.
    ///
    /// # Errors
    /// Every destination that failed, and where the data are now.
    pub fn deliver(&self, subject: &dyn Subject, stem: impl Into<Stem>) -> Result<(), Failure> {
        let stem = stem.into();
        let mut tally = Tally { kept: self.is_stored, ..Tally::default() };
        let mut files = Files::default();
        let layout = Layout { width: width(), detail: self.detail, intervals: self.intervals };
        if self.intervals && self.stdout == Stdout::Text && subject.intervals().is_none() {
            message::warning("this has no series with values, so --interval adds nothing");
        }
        for (format, path) in &self.files {
            let written = files.replace(path, &|out| document::write(subject, format, &layout, out));
            tally.file(path, written, **format == JSON);
        }
        let drawn = if self.pictures.is_empty() { Vec::new() } else { subject.pictures() };
        for (format, directory) in &self.pictures {
            let (shown, option) = (directory.display(), format.name());
            match pictures::write_all(&drawn, *format, directory, &mut files) {
                Ok(0) => message::warning(&format!(
                    "this has no pictures, so --{option} writes nothing to '{shown}'; --html writes a page"
                )),
                Ok(count) => tally.written.push(format!("{} in {shown}", counted(count, "picture"))),
                Err(error) => tally.failed.push(file::why_not(directory, &error)),
            }
        }
        for format in AUTOMATIC {
            let Some(directory) = &self.automatic else { break };
            let contents: Contents = &|out| document::write(subject, format, &layout, out);
            match files.create(directory, &stem.name, format.extension, contents) {
                Ok(path) => {
                    tally.unnamed.push(path.display().to_string());
                    tally.file(&path, Ok(()), *format == JSON);
                }
                Err(error) => {
                    tally.file(
                        &directory.join(format!("{}.{}", stem.name, format.extension)),
                        Err(error),
                        *format == JSON,
                    );
                }
            }
        }
        tally.written.extend_from_slice(&self.meanwhile);
        match self.show(subject, &layout) {
            Ok(Reader::Present) if self.stdout == Stdout::Document(&JSON) => tally.keep(),
            Ok(Reader::Present | Reader::Gone) => {}
            Err(error) => tally.failed.push(error.to_string()),
        }
        message::written(&tally.written, &tally.unnamed);
        self.conclude(subject, &stem, tally)
    }

    fn show(&self, subject: &dyn Subject, layout: &Layout) -> Result<Reader, Failure> {
        match self.stdout {
            Stdout::Text => stdout::text(&document::as_text(subject, layout)),
            Stdout::Document(format) if *format == JSON => stdout::json_document(&|out| subject.json(out)),
            Stdout::Document(format) => stdout::document(&|out| document::write(subject, format, layout, out)),
            Stdout::Nothing => Ok(Reader::Present),
        }
    }

    fn conclude(&self, subject: &dyn Subject, stem: &Stem, tally: Tally) -> Result<(), Failure> {
        if tally.failed.is_empty() {
            return Ok(());
        }
        let failed = tally.failed.join("; ");
        if self.is_stored {
            return Err(Failure::failed(failed));
        }
        if tally.kept {
            let shows = if stem.is_result { ": `oversleep report FILE` shows it" } else { "" };
            return Err(Failure::failed(format!("{failed}; the result itself was written{shows}")));
        }
        if let Some(kept) = rescue::keep(subject, stem) {
            return Err(Failure::failed(format!("{failed}; {kept}")));
        }
        // Standard output is the last resort, but JSON on a terminal would only scroll the report away.
        let is_free = !self.takes_stdout() && !io::stdout().is_terminal();
        if is_free && stdout::json_document(&|out| subject.json(out)).ok() == Some(Reader::Present) {
            return Err(Failure::failed(format!("{failed}; the result is the last line on standard output")));
        }
        Err(Failure::failed(format!("{failed}; the result could not be written anywhere else either")))
    }
}

/// Shows what can be asked for again at any time, in the destinations that were named.
///
/// # Errors
/// As for [`Delivery::deliver`].
pub fn show(documents: &DocumentArgs, subject: &dyn Subject) -> Result<Exit, Failure> {
    Delivery::only_named(documents, &[])?.deliver(subject, "oversleep")?;
    Ok(Exit::Fine)
}

/// The outcomes of the destinations.
#[derive(Debug, Default)]
struct Tally {
    written: Vec<String>,
    /// Those of them that the user did not name.
    unnamed: Vec<String>,
    failed: Vec<String>,
    /// Whether one of them, or the file it was read from, holds the result as JSON.
    kept: bool,
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

/// The name of files that the user didn't name, without an ending.
#[derive(Clone, Debug)]
pub struct Stem {
    pub name: String,
    /// Whether `report` reads the data.
    pub is_result: bool,
}

impl From<&str> for Stem {
    /// That of something that is no result.
    fn from(name: &str) -> Stem {
        Stem { name: name.to_owned(), is_result: false }
    }
}

/// `oversleep-2025-01-31T12-34-56Z`.
pub fn stem(result: &ResultFile) -> Stem {
    let now = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_secs()).ok()
    };
    let taken = result.taken_unix_s.or_else(now).and_then(Utc::of_unix);
    let kind = if result.observation.is_some() { "why-" } else { "" };
    let name = format!("oversleep-{kind}{}", taken.map_or_else(|| "undated".to_owned(), Utc::for_file_name));
    Stem { name, is_result: true }
}

#[cfg(test)]
mod tests {
    use oversleep_report::document::FORMATS;
    use oversleep_report::testing;

    use super::*;

    fn naming(named: &[(&'static str, PathBuf)]) -> DocumentArgs {
        let format = |option: &str| FORMATS.iter().find(|format| format.name == option).unwrap_or(&&JSON);
        let one =
            |(option, path): &(&'static str, PathBuf)| Named { option, format: format(option), path: path.clone() };
        DocumentArgs { named: named.iter().map(one).collect(), quiet: true, ..DocumentArgs::default() }
    }

    #[test]
    fn standard_output_takes_one_document() {
        let both = naming(&[("json", "-".into()), ("html", "-".into())]);
        let error = Delivery::prepare(&both, false, None).unwrap_err();
        assert_eq!(error.to_string(), "--html: standard output takes one document; give the other a file");
        let twice = naming(&[("json", "-".into()), ("out", "-".into())]);
        assert_eq!(Delivery::prepare(&twice, false, None).unwrap().stdout, Stdout::Document(&JSON));
    }

    #[test]
    fn a_report_written_to_files_stays_off_the_screen() {
        let home = tempfile::tempdir().unwrap();
        let page = naming(&[("html", home.path().join("r.html"))]);
        assert_eq!(Delivery::only_named(&page, &[]).unwrap().stdout, Stdout::Nothing);
        assert_eq!(Delivery::prepare(&page, true, None).unwrap().stdout, Stdout::Text);
        assert!(Delivery::prepare(&page, true, None).unwrap().automatic.is_none());
        assert_eq!(Delivery::only_named(&naming(&[]), &[]).unwrap().stdout, Stdout::Text);
    }

    #[test]
    fn one_file_holds_one_thing() {
        for other in ["html", "csv", "md"] {
            let same = naming(&[("out", "r".into()), (other, "r".into())]);
            assert!(matches!(Delivery::prepare(&same, false, None), Err(Failure::Usage(_))));
        }
        let twice = naming(&[("json", "r".into()), ("out", "./r".into())]);
        assert_eq!(Delivery::prepare(&twice, false, None).unwrap().files.len(), 1);
    }

    #[test]
    fn files_are_named_after_when_the_run_began() {
        assert_eq!(stem(&testing::result(&[])).name, "oversleep-2023-11-14T22-13-20Z");
    }
}
