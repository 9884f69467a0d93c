//! Where results go, shared by every measuring command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Args;

use super::value;

/// The destination of a document: a file, or standard output for `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// Standard output.
    Stdout,
    /// A file, which is replaced as a whole.
    File(PathBuf),
}

impl Document {
    /// The destination for a typed path.
    pub fn at(path: &Path) -> Document {
        if path.as_os_str() == OsStr::new("-") { Document::Stdout } else { Document::File(path.to_owned()) }
    }
}

/// `--json`, `--html`, `--svg`, `--out`, `--name`, `--full`, `--quiet`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output (an existing FILE is replaced; - means standard output)")]
pub struct OutputArgs {
    /// Print only the result, as one JSON document, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,

    /// Write the report as one self-contained HTML page that works offline
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write the pictures as SVG files into this directory, which is created if needed
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,

    /// Write the result file, which `oversleep report` and `oversleep compare` read
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Name to store in the result [default: none, so nothing identifies you or the machine]
    #[arg(long, value_name = "TEXT", value_parser = value::label)]
    pub name: Option<String>,

    /// Show every table and all code on the terminal, not only the main ones
    #[arg(long)]
    pub full: bool,

    /// Print no progress and no notes on standard error, only warnings and errors
    #[arg(long, short)]
    pub quiet: bool,
}
