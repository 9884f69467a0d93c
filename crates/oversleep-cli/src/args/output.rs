//! Where documents go: the same options in every command that has one.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use oversleep_report::document::{EXPORTS, Entry, FORMATS, JSON, export, exports};

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

/// What pictures are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// As they are drawn.
    Svg,
    /// In pixels.
    Png,
}

impl PictureFormat {
    /// Both.
    pub const ALL: [PictureFormat; 2] = [PictureFormat::Svg, PictureFormat::Png];

    /// The option, and the ending of its files.
    pub fn name(self) -> &'static str {
        match self {
            PictureFormat::Svg => "svg",
            PictureFormat::Png => "png",
        }
    }

    fn help(self) -> &'static str {
        match self {
            PictureFormat::Svg => {
                "Write each picture as an SVG file into a directory, which is created if there are any"
            }
            PictureFormat::Png => {
                "The same as PNG files, 1440 pixels wide; released commands leave that to a converter of SVG files"
            }
        }
    }
}

/// A document that the user named.
#[derive(Clone, Debug)]
pub struct Named {
    /// The option, without dashes.
    pub option: &'static str,
    /// Its format.
    pub format: &'static Entry,
    /// Its destination.
    pub path: PathBuf,
}

/// What the options about documents say.
#[derive(Clone, Debug, Default)]
pub struct DocumentArgs {
    /// The documents that were named.
    pub named: Vec<Named>,
    /// Directories for pictures, each with what they are written as.
    pub pictures: Vec<(PictureFormat, PathBuf)>,
    /// The name that the result gets.
    pub name: Option<String>,
    /// Whether the terminal shows everything.
    pub full: bool,
    /// Whether means and intervals follow.
    pub interval: bool,
    /// Whether only warnings and errors go to standard error.
    pub quiet: bool,
}

impl DocumentArgs {
    /// The options that name documents.
    pub fn options(&self) -> impl Iterator<Item = &'static str> {
        self.named.iter().map(|named| named.option).chain(self.pictures.iter().map(|(format, _)| format.name()))
    }

    /// Whether a document was named.
    pub fn names_any(&self) -> bool {
        self.options().next().is_some()
    }
}

/// What a command does with its documents.
pub trait Use {
    /// Whether its subjects have pictures, and more than a terminal shows at once.
    const HAS_PICTURES: bool = true;
    /// Whether it makes the result that the user may name.
    const MAKES_RESULTS: bool = false;
    /// Whether the file of an option needs an equals sign, because it would take one of the other arguments otherwise.
    const NEEDS_EQUALS: bool = true;
}

/// Something is measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measure;

/// Results are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Read;

/// Something is listed.
#[derive(Clone, Copy, Debug, Default)]
pub struct List;

/// `--json FILE` has always been allowed here; a name of a wait or clock in its place is refused.
impl Use for Measure {
    const MAKES_RESULTS: bool = true;
    const NEEDS_EQUALS: bool = false;
}

impl Use for Read {}

impl Use for List {
    const HAS_PICTURES: bool = false;
}

/// The options about documents, for one of these uses.
#[derive(Clone, Debug, Default)]
pub struct Documents<U>(DocumentArgs, PhantomData<U>);

/// Those of measuring commands.
pub type OutputArgs = Documents<Measure>;

impl<U> Deref for Documents<U> {
    type Target = DocumentArgs;

    fn deref(&self) -> &DocumentArgs {
        &self.0
    }
}

const HEADING: &str = "Output (an existing FILE is replaced; - means standard output)";
const WHY_EQUALS: &str = "The equals sign is required, because FILE would otherwise be read as another argument.";

fn file(option: &'static str, help: &str) -> Arg {
    Arg::new(option).long(option).value_name("FILE").value_parser(value_parser!(PathBuf)).help(help.to_owned())
}

/// What `FORMAT=FILE` means; standard output without a file.
///
/// # Errors
/// The format is not known.
pub fn exported(text: &str) -> Result<Named, String> {
    let (name, path) = text.split_once('=').unwrap_or((text, "-"));
    let format = export(name).ok_or_else(|| {
        let names: Vec<&str> = exports().map(|format| format.name).collect();
        format!("'{name}' is no format; there are {}", names.join(", "))
    })?;
    if path.is_empty() {
        return Err(format!("no file follows '{name}='; - means standard output"));
    }
    Ok(Named { option: "export", format, path: PathBuf::from(path) })
}

/// The formats with what each is for.
pub fn export_help() -> String {
    let of = |format: &&Entry| format!("  {:<9}{}", format.name, format.option.unwrap_or_default());
    let lines: Vec<String> = EXPORTS.iter().map(of).collect();
    let others: Vec<&str> = exports().skip(EXPORTS.len()).map(|format| format.name).collect();
    format!(
        "Write the values in a form that other programs read; may be repeated. FORMAT is one of\n{}\nor {}, as the options of \
         that name.",
        lines.join("\n"),
        others.join(", ")
    )
}

impl<U: Use> Args for Documents<U> {
    fn augment_args(command: Command) -> Command {
        let mut command = command.next_help_heading(HEADING);
        for format in FORMATS {
            let Some(help) = format.option else { continue };
            let mut arg = file(format.name, help);
            if format.is_for_pipes {
                arg = arg.num_args(0..=1).default_missing_value("-").require_equals(U::NEEDS_EQUALS);
            }
            if format.is_for_pipes && U::NEEDS_EQUALS {
                arg = arg.long_help(format!("{help}\n\n{WHY_EQUALS}"));
            }
            command = command.arg(arg);
        }
        let out = "Write the data to FILE, as --json does; `report` and `compare` read a result there";
        command = command.arg(file("out", out));
        if U::HAS_PICTURES {
            for format in PictureFormat::ALL {
                let arg = Arg::new(format.name()).long(format.name()).value_name("DIR");
                command = command.arg(arg.value_parser(value_parser!(PathBuf)).help(format.help()));
            }
        }
        if U::HAS_PICTURES {
            command = command.arg(
                Arg::new("export")
                    .long("export")
                    .value_name("FORMAT=FILE")
                    .value_parser(exported)
                    .action(ArgAction::Append)
                    .help("Write the values in a form that other programs read; may be repeated")
                    .long_help(export_help()),
            );
        }
        if U::MAKES_RESULTS {
            let name = "Name to store in the result [default: none, so nothing identifies you or the machine]";
            command =
                command.arg(Arg::new("name").long("name").value_name("TEXT").value_parser(value::label).help(name));
        }
        if U::HAS_PICTURES {
            let full = "Show every table, all evidence and code, not only the main ones";
            command = command.arg(Arg::new("full").long("full").action(ArgAction::SetTrue).help(full));
            let interval = "Show each series' mean too, and 99 % confidence intervals of its median and p99";
            command = command.arg(Arg::new("interval").long("interval").action(ArgAction::SetTrue).help(interval));
        }
        let quiet = "Print no progress and no notes on standard error, only warnings and errors";
        command.arg(Arg::new("quiet").long("quiet").short('q').action(ArgAction::SetTrue).help(quiet))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<U: Use> FromArgMatches for Documents<U> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let path = |option: &str| matches.try_get_one::<PathBuf>(option).ok().flatten().cloned();
        let is_set = |option: &str| matches.try_get_one::<bool>(option).ok().flatten().copied().unwrap_or(false);
        let formats = FORMATS.iter().filter(|format| format.option.is_some()).map(|&format| (format.name, format));
        let named = formats
            .chain([("out", &JSON)])
            .filter_map(|(option, format)| Some(Named { option, format, path: path(option)? }));
        let exported = matches.try_get_many::<Named>("export").ok().flatten().into_iter().flatten().cloned();
        let args = DocumentArgs {
            named: named.chain(exported).collect(),
            pictures: PictureFormat::ALL.into_iter().filter_map(|one| Some((one, path(one.name())?))).collect(),
            name: matches.try_get_one::<String>("name").ok().flatten().cloned(),
            full: is_set("full"),
            interval: is_set("interval"),
            quiet: is_set("quiet"),
        };
        Ok(Documents(args, PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
