//! `man`: manual pages, one for the program and one for each command.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{Args, CommandFactory};
use clap_mangen::Man as Manual;

use super::Cli;
use crate::command::spec::{READS, examples, exits};
use crate::exit::{Exit, Failure};
use crate::message;
use crate::output::file::{self, Files};

const EXAMPLES: &[(&str, &str)] = &[("oversleep man --out man1", "then `man -l man1/oversleep.1`")];

/// Write the manual pages
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", READS))]
pub struct Man {
    /// Directory to write them into, which is created if needed
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Print no progress and no notes on standard error, only warnings and errors
    #[arg(long, short)]
    quiet: bool,
}

impl Man {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        message::leave_out_notes(self.quiet);
        file::check_in(&self.out).map_err(Failure::Failed)?;
        std::fs::create_dir_all(&self.out).map_err(|error| Failure::Failed(file::why_not(&self.out, &error)))?;
        let (pages, mut files) = (pages(), Files::default());
        for (name, command) in &pages {
            let path = self.out.join(name);
            page(command)
                .and_then(|page| files.replace(&path, &|out| out.write_all(&page)))
                .map_err(|error| Failure::Failed(file::why_not(&path, &error)))?;
        }
        message::written(&[format!("{} pages in {}", pages.len(), self.out.display())], &[]);
        Ok(Exit::Fine)
    }
}

/// The file name and the command of each page.
fn pages() -> Vec<(String, clap::Command)> {
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    let mut pages = Vec::new();
    add_pages(&whole, &mut pages);
    pages
}

/// Adds the page of a command, then those of its own commands.
fn add_pages(command: &clap::Command, pages: &mut Vec<(String, clap::Command)>) {
    let name = command.get_display_name().unwrap_or(command.get_name());
    pages.push((format!("{name}.1"), command.clone()));
    command.get_subcommands().for_each(|command| add_pages(command, pages));
}

/// A page: clap's text, then the examples and the exit codes as separate sections.
fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let examples = command.get_before_help().map(ToString::to_string);
    let codes = command.get_after_help().map(ToString::to_string);
    let described = command.clone().before_help(Resettable::Reset).after_help(Resettable::Reset);
    let mut page = Vec::new();
    Manual::new(described)
        .source(concat!("oversleep ", env!("CARGO_PKG_VERSION")))
        .manual("oversleep")
        .render(&mut page)?;
    for (title, text) in [("EXAMPLES", examples), ("EXIT STATUS", codes)] {
        let Some(text) = text else { continue };
        writeln!(page, ".SH {title}\n.nf")?;
        // The first line repeats the title.
        for line in text.lines().skip(1) {
            writeln!(page, "{}", escaped(line))?;
        }
        writeln!(page, ".fi")?;
    }
    Ok(page)
}

/// A line that roff prints unchanged.
fn escaped(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_examples() {
        let pages = pages();
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.starts_with(&["oversleep.1", "oversleep-check.1", "oversleep-clocks.1"]), "{names:?}");
        for (name, command) in &pages {
            let text = String::from_utf8(page(command).unwrap()).unwrap();
            assert!(text.contains(".SH NAME") && text.contains(".SH DESCRIPTION"), "{name}");
            assert!(text.contains(".SH EXAMPLES"), "{name}");
            // What is not filled is as wide as it stands there, behind an indent of 7.
            let unfilled = text.split("\n.nf\n").skip(1).filter_map(|part| part.split("\n.fi\n").next());
            for line in unfilled.flat_map(str::lines) {
                let shown = line.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "");
                assert!(7 + shown.chars().count() <= 80, "{name}: {shown}");
            }
        }
    }

    #[test]
    fn lines_are_printed_unchanged() {
        assert_eq!(escaped("a --b \\n"), "a \\-\\-b \\en");
        assert_eq!(escaped(".x"), "\\&.x");
    }
}
