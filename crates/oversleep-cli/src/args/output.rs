//! Where results go, shared by every measuring command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Args;

use super::value;

/// A document's place: a file, or standard output where `-` or nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// Standard output.
    Stdout,
    /// A file, replaced as a whole.
    File(PathBuf),
}

impl Document {
    /// From what was typed.
    pub fn at(path: &Path) -> Document {
        if path.as_os_str() == OsStr::new("-") { Document::Stdout } else { Document::File(path.to_owned()) }
    }
}

/// `--json`, `--html`, `--svg`, `--out`, `--name`, `--full`, `--quiet`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output (a FILE that exists is replaced; - is standard output)")]
pub struct OutputArgs {
    /// Print the result as one JSON document and nothing else, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,

    /// Write one self-contained HTML page, which works offline
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write the pictures as SVG files into a directory, which is made if needed
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,

    /// Write the result file, for `oversleep report` and comparisons
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// A name to store in the result [default: none; nothing identifies the machine or you]
    #[arg(long, value_name = "TEXT", value_parser = value::label)]
    pub name: Option<String>,

    /// Show every table and all code on the terminal, not only the main ones
    #[arg(long)]
    pub full: bool,

    /// No progress and no notes on standard error; warnings and errors remain
    #[arg(long, short)]
    pub quiet: bool,
}
