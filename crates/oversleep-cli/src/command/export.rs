//! `export`: writes a result's values in forms that other programs read.

use std::path::PathBuf;

use clap::Args;

use crate::args::{DocumentArgs, Named, export_help, exported};
use crate::command::spec::{READS, examples, exits};
use crate::exit::{Exit, Failure};
use crate::output::{self, Delivery};
use crate::reading;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep export r.json --to hlog=r.hlog", "for programs of HdrHistogram"),
    ("oversleep export r.json --to hgrm=r.hgrm --to buckets=r.csv", "percentiles for a plotter, and every bucket"),
    ("oversleep export cyclictest.json --to json=r.json", "another program's file as a result"),
    ("oversleep waits --export bencher=bmf.json", "every command that measures has --export"),
];

/// Write a result's values in forms that other programs read: HdrHistogram's, CSV, Markdown, Bencher's
///
/// FILE may be a result, a recording, or a file of another program: cyclictest, rtla, hyperfine, jHiccup, MeasureSleep,
/// clockres, powercfg /energy. What each format can't hold is said in it or left out with a note.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS))]
pub struct Export {
    /// Result, recording, or file of another program; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The format, and the file to write; may be repeated. Without a file, standard output
    #[arg(long, value_name = "FORMAT=FILE", required = true, value_parser = exported, long_help = export_help())]
    to: Vec<Named>,

    /// Print no progress and no notes on standard error, only warnings and errors
    #[arg(long, short)]
    quiet: bool,
}

impl Export {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        let named = self.to.into_iter().map(|named| Named { option: "to", ..named }).collect();
        let documents = DocumentArgs { named, quiet: self.quiet, ..DocumentArgs::default() };
        let delivery = Delivery::only_named(&documents, std::slice::from_ref(&self.file))?;
        let result = reading::read(&self.file, "export -")?;
        delivery.deliver(&result, output::stem(&result))?;
        Ok(Exit::Fine)
    }
}
