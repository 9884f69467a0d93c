//! `cargo xtask packages [WAY…]`: builds every package of oversleep and uses it in a clean root, as a new user would. A way
//! that oversleep reaches people is a module here and a row in [`WAYS`]; `release` builds the same files for publication.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

pub mod archive;
mod clean_root;
pub mod contents;
mod crates;
mod deb;
mod dev;
mod image;
mod jar;
pub mod product;
mod rpm;
mod tools;
mod trial;
mod wheel;
mod wheels;
pub mod yard;

use yard::{Refusal, Yard};

/// A way that oversleep reaches people.
pub struct Way {
    pub name: &'static str,
    about: &'static str,
    /// It runs with `--quick`, which is what every change must pass.
    pub is_quick: bool,
    /// Builds its files into [`Yard::dist`] and returns them.
    pub build: fn(&mut Yard) -> Result<Vec<PathBuf>, Refusal>,
    /// Installs these files in a clean root, uses them, and says what was seen.
    try_out: fn(&mut Yard, &[PathBuf]) -> Result<String, Refusal>,
}

pub const WAYS: &[Way] = &[
    crates::WAY,
    wheel::WAY,
    Way {
        name: "deb",
        about: "the command for Debian and Ubuntu",
        is_quick: true,
        build: deb::build,
        try_out: deb::try_out,
    },
    Way {
        name: "rpm",
        about: "the command for Fedora, openSUSE and their like",
        is_quick: false,
        build: rpm::build,
        try_out: rpm::try_out,
    },
    Way {
        name: "dev",
        about: "the C library for Debian and Ubuntu",
        is_quick: false,
        build: dev::build,
        try_out: dev::try_out,
    },
    Way {
        name: "archive",
        about: "an archive for Linux on x86-64",
        is_quick: false,
        build: archive::linux::build,
        try_out: archive::linux::try_out,
    },
    Way {
        name: "image",
        about: "a container image with the command, the C library and nothing else",
        is_quick: false,
        build: image::build,
        try_out: image::try_out,
    },
    Way {
        name: "archive-arm",
        about: "an archive for Linux on aarch64, run under qemu-user",
        is_quick: false,
        build: archive::arm_linux::build,
        try_out: archive::arm_linux::try_out,
    },
    Way {
        name: "archive-windows",
        about: "an archive for Windows, run under Wine",
        is_quick: false,
        build: archive::windows::build,
        try_out: archive::windows::try_out,
    },
    Way {
        name: "archive-macos",
        about: "archives for macOS on both processors: built, not run",
        is_quick: false,
        build: archive::macos::build,
        try_out: archive::macos::try_out,
    },
    wheels::WAY,
    jar::WAY,
];

const USAGE: &str = "packages takes names of ways, --list, --quick, --no-install, --profile NAME (dist unless stated) and \
     --out DIR (dist unless stated)";

struct Options {
    ways: Vec<&'static Way>,
    may_install: bool,
    profile: String,
    dist: PathBuf,
}

/// Runs the chore. Exit code 0: every package works, or says why it can't be tried here; 1: one doesn't.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    if args == ["--list"] {
        for way in WAYS {
            println!("{:<16} {}{}", way.name, way.about, if way.is_quick { " (--quick)" } else { "" });
        }
        return Ok(ExitCode::SUCCESS);
    }
    let options = options(root, args)?;
    let mut yard = Yard::new(root, options.dist, options.profile, options.may_install)?;
    let mut failed = false;
    for way in options.ways {
        let began = Instant::now();
        let outcome = (way.build)(&mut yard).and_then(|files| {
            let sizes = yard::sizes(&files)?;
            (way.try_out)(&mut yard, &files).map(|seen| format!("{sizes}; {seen}"))
        });
        let seconds = began.elapsed().as_secs();
        match outcome {
            Ok(seen) => println!("ok       {seconds:>5} s  {}: {seen}", way.name),
            Err(Refusal::Missing(reason)) => println!("SKIPPED  {seconds:>5} s  {}: {reason}", way.name),
            Err(Refusal::Failed(reason)) => {
                failed = true;
                println!("FAILED   {seconds:>5} s  {}: {reason}", way.name);
            }
        }
    }
    Ok(ExitCode::from(u8::from(failed)))
}

fn options(root: &Path, args: &[String]) -> Result<Options, String> {
    let mut options =
        Options { ways: Vec::new(), may_install: true, profile: "dist".to_owned(), dist: root.join("dist") };
    let mut is_quick = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (name, mut value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        let mut stated = || value.take().or_else(|| args.next().cloned()).ok_or(USAGE);
        match name {
            "--quick" => is_quick = true,
            "--no-install" => options.may_install = false,
            "--profile" => options.profile = stated()?,
            "--out" => options.dist = std::path::absolute(stated()?).map_err(|error| error.to_string())?,
            _ => {
                let way = WAYS.iter().find(|way| way.name == name);
                options.ways.push(way.ok_or_else(|| format!("{USAGE}; `--list` names the ways; not `{arg}`"))?);
            }
        }
    }
    if options.ways.is_empty() {
        options.ways = WAYS.iter().filter(|way| way.is_quick || !is_quick).collect();
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(line: &str) -> Result<Options, String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        options(Path::new("/project"), &args)
    }

    #[test]
    fn options_say_which_ways_and_where() {
        let none = taken("").unwrap();
        assert_eq!((none.ways.len(), none.profile.as_str(), none.may_install), (WAYS.len(), "dist", true));
        assert_eq!(none.dist, Path::new("/project/dist"));
        let quick = taken("--quick --profile release --out=/tmp/files --no-install").unwrap();
        assert_eq!(quick.ways.len(), WAYS.iter().filter(|way| way.is_quick).count());
        assert_eq!((quick.profile.as_str(), quick.may_install), ("release", false));
        assert_eq!(quick.dist, Path::new("/tmp/files"));
        assert!(taken("--profile").is_err());
        assert!(taken("carrier-pigeon").is_err_and(|error| error.contains("not `carrier-pigeon`")));
    }
}
