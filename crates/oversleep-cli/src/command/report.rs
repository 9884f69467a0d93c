//! `report`: shows a result file again. Findings are computed again, so an old result benefits from this version's
//! knowledge.

use std::path::{Path, PathBuf};

use clap::Args;
use oversleep_explain as explain;
use oversleep_lab::records;
use oversleep_record::ResultFile;
use oversleep_record::date::Utc;
use oversleep_record::samples::Samples;
use oversleep_report::document::Gallery;
use oversleep_report::view::gallery::Machine;
use oversleep_report::view::head;

use crate::args::{Documents, Read};
use crate::command::spec::{READS, examples, exits};
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::file::Files;
use crate::output::place::{self, Places};
use crate::output::{self, Delivery};
use crate::reading;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep report r.json", "on the terminal"),
    ("oversleep report r.json --html r.html", "as an HTML page"),
    ("oversleep report results/", "one table of machines and waits"),
    ("oversleep report a.json b.json --csv", "the same of these two, as CSV"),
    ("oversleep handoff --quick --json | oversleep report -", ""),
];

/// Show result files again: on the terminal, as a page, or as pictures
///
/// It reads results of any machine and system. Without an output option it prints the report; with one, it writes only the
/// documents you name. Of several results, a document is one table of machines and waits, as of results in a directory.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS))]
pub struct Report {
    /// Result files, - for standard input, or a directory of them, which becomes one table of machines and waits
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write what waits of language runtimes make of a request as records, as `ask` reads them; - is standard output
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,

    #[command(flatten)]
    documents: Documents<Read>,
}

impl Report {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let is_one_table = self.files.len() > 1 && self.documents.names_any();
        if is_one_table || self.files.iter().any(|path| path.is_dir()) {
            return self.gallery();
        }
        if self.records.is_some() && self.files.len() > 1 {
            return Err(Failure::usage("--records takes one result; run `oversleep report` once for each"));
        }
        if let Some(path) = &self.records {
            return self.records(path);
        }
        let delivery = Delivery::only_named(&self.documents, &self.files)?;
        // Only one result at a time is in memory. The others are shown even if one can't be used.
        let mut unusable = Vec::new();
        for path in &self.files {
            match reading::read(path, "report -") {
                Ok(mut result) => {
                    result.findings = explain::findings_to_keep(&result);
                    delivery.deliver(&result, output::stem(&result))?;
                }
                Err(Failure::Failed(error)) => unusable.push(error),
                Err(error) => return Err(error),
            }
        }
        if unusable.is_empty() { Ok(Exit::Fine) } else { Err(Failure::failed(unusable.join("; "))) }
    }
}

impl Report {
    /// The records of one result's runtimes.
    fn records(&self, path: &Path) -> Result<Exit, Failure> {
        if self.documents.names_any() {
            return Err(Failure::usage(
                "--records is written alone; run `oversleep report` again for the other documents",
            ));
        }
        Places::reading(&self.files)?.claim("records", path)?;
        let result = reading::read(&self.files[0], "report -")?;
        let found = records::records(&result);
        if found.is_empty() {
            return Err(Failure::failed(format!(
                "'{}' tells no rule of any language runtime; `oversleep runtimes --out FILE` writes a result that does",
                self.files[0].display()
            )));
        }
        let failed = |error| Failure::failed(format!("the records can't be written as TOML: {error}"));
        let text = heading(&result) + &records::document(found).map_err(failed)?;
        let mut files = Files::default();
        place::write("records", path, &|out| out.write_all(text.as_bytes()), &mut files)?;
        if !self.documents.quiet {
            message::written(files.names(), &[]);
        }
        Ok(Exit::Fine)
    }

    /// The results in directories, and those named beside them, as one table.
    fn gallery(&self) -> Result<Exit, Failure> {
        if self.records.is_some() {
            return Err(Failure::usage("--records takes one result; run `oversleep report` once for each"));
        }
        let mut files = Vec::new();
        for path in &self.files {
            if path.is_dir() { files.extend(results_in(path)?) } else { files.push(path.clone()) }
        }
        let delivery = Delivery::only_named(&self.documents, &files)?;
        let (mut machines, mut unusable) = (Vec::new(), Vec::new());
        for path in &files {
            let name =
                path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
            match reading::read_reduced(path, "report -", |series| series.samples = Samples::default()) {
                Ok(result) => machines.push(Machine::of(&result, &name)),
                Err(Failure::Failed(error)) => unusable.push(error),
                Err(error) => return Err(error),
            }
        }
        if machines.is_empty() {
            let none =
                "there is no result file (*.json) in it; put files there that `oversleep share` wrote".to_owned();
            let place = self.files.iter().map(|path| format!("'{}'", path.display())).collect::<Vec<_>>().join(", ");
            return Err(Failure::failed(format!("can't report on {place}: {}", unusable.first().unwrap_or(&none))));
        }
        delivery.deliver(&Gallery(&machines), "oversleep-machines")?;
        if unusable.is_empty() { Ok(Exit::Fine) } else { Err(Failure::failed(unusable.join("; "))) }
    }
}

/// The files of a directory whose names end in `.json`, by name.
fn results_in(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::failed(format!("can't read '{}': {error}", directory.display()));
    let entries = std::fs::read_dir(directory).map_err(failed)?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "json") && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The origin of the records: place, date and commands. The file may come from anyone, so its words stay in a comment.
fn heading(result: &ResultFile) -> String {
    let day = result.taken_unix_s.and_then(Utc::of_unix).map_or_else(|| "an unknown day".to_owned(), Utc::to_day);
    let machine = head::machine(result).join(", ").replace(|c: char| c.is_control(), " ");
    format!(
        "# What waits of language runtimes make of a request, found on {day}.\n# Machine: {machine}.\n# Command: oversleep \
         runtimes --name SOURCE --out r.json && oversleep report r.json --records FILE\n\n"
    )
}
