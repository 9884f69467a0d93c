//! `compare`: results of several machines, kernels or runs compared with the first of them.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use oversleep_explain::compare::{Comparing, reduce};
use oversleep_record::comparison::Comparison;

use crate::args::{Document, help};
use crate::exit::{Exit, Failure};
use crate::output::file::{self, Files};
use crate::output::place::{self, Places};
use crate::output::stdout;
use crate::reading;
use crate::width::width;
use oversleep_report::view::{comparison, head};
use oversleep_report::{html, terminal};

/// Most results compared at once: each has a letter.
const RESULTS_MAX: usize = 26;

/// Compare results of machines or releases: what differs, and what is inconclusive?
///
/// The first result is the base. You can compare results of any machines and systems, including modelled ones. A series
/// differs only if its figures are further apart than the uncertainty of both, with 99 % confidence; otherwise it is
/// inconclusive, with the reason. Without an output option this prints the comparison; with one, it writes only the
/// documents you name.
#[derive(Args, Debug)]
#[command(before_help = help::COMPARE, after_help = help::CODES)]
pub struct Compare {
    /// Result files, the base first; - is standard input
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print the comparison as one JSON document, or write it to FILE
    ///
    /// The equals sign is required, because FILE would otherwise be read as another result.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,

    /// Write one self-contained HTML page, which works offline; - is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Show every series, including inconclusive ones
    #[arg(long)]
    full: bool,
}

impl Compare {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        self.check()?;
        let compared = self.compared()?;
        self.deliver(&compared)?;
        Ok(if compared.concludes() { Exit::Fine } else { Exit::TooDisturbed })
    }

    /// The results compared, of which the base and one other are in memory at a time.
    fn compared(&self) -> Result<Comparison, Failure> {
        let mut results = self.files.iter().map(|path| reading::read_reduced(path, "compare a.json -", reduce));
        let base = results.next().ok_or_else(|| Failure::usage("compare takes two results or more"))??;
        let mut comparing = Comparing::with(base, head::machine);
        for result in results {
            comparing.add(&result?);
        }
        Ok(comparing.finish())
    }

    /// Refuses arguments that make no sense, before anything is read.
    fn check(&self) -> Result<(), Failure> {
        if self.files.len() > RESULTS_MAX {
            return Err(Failure::usage(format!(
                "can't compare {} results; the maximum is {RESULTS_MAX}",
                self.files.len()
            )));
        }
        let is_stdin = |path: &&PathBuf| Document::at(path) == Document::Stdout;
        if self.files.iter().filter(is_stdin).count() > 1 {
            return Err(Failure::usage("- stands for one result, because standard input can be read only once"));
        }
        let mut places = Places::reading(&self.files);
        let mut on_stdout = Vec::new();
        for (option, path) in [("--json", &self.json), ("--html", &self.html)] {
            match path.as_deref().map(|path| place::output(option, path)).transpose()? {
                None => {}
                Some(Document::Stdout) => on_stdout.push(option),
                Some(Document::File(path)) => {
                    places.add(option, &path)?;
                    file::check(&path).map_err(Failure::Failed)?;
                }
            }
        }
        if on_stdout.len() > 1 {
            return Err(Failure::usage("--html: standard output takes one document; give the other a file"));
        }
        Ok(())
    }

    fn deliver(&self, compared: &Comparison) -> Result<(), Failure> {
        let view = |full: bool| comparison::view(compared, &self.names(), full);
        let mut files = Files::default();
        if let Some(path) = &self.json {
            let document = |out: &mut dyn Write| {
                serde_json::to_writer(&mut *out, compared)?;
                out.write_all(b"\n")
            };
            place::write("--json", path, &document, &mut files)?;
        }
        if let Some(path) = &self.html {
            let page = html::comparison(&view(true));
            place::write("--html", path, &|out| out.write_all(page.as_bytes()), &mut files)?;
        }
        if self.json.is_none() && self.html.is_none() {
            stdout::text(&terminal::comparison(&view(self.full), width()))?;
        }
        Ok(())
    }

    /// The names of the results' files.
    fn names(&self) -> Vec<String> {
        let name = |path: &PathBuf| match Document::at(path) {
            Document::Stdout => "standard input".to_owned(),
            Document::File(path) => path.display().to_string(),
        };
        self.files.iter().map(name).collect()
    }
}
