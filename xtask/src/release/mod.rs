//! `cargo xtask release [WAY…]`: everything that a release publishes, in one folder: the packages, their sums, what they are
//! made of, the notes, and recipes for package managers. The same commit gives the same bytes; `--twice` proves that.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::packages::contents::sha256;
use crate::packages::yard::{Refusal, Yard, run};
use crate::packages::{WAYS, Way, product};

mod notes;
mod recipes;
mod sbom;

const USAGE: &str = "release takes names of ways (`cargo xtask packages --list`), --version VERSION, --quick, --collect, \
     --twice, --except WAY, --no-install, --profile NAME (dist unless stated) and --out DIR (dist unless stated)";

/// The sums of all other files.
const SUMS: &str = "SHA256SUMS";

#[derive(Debug)]
struct Options {
    ways: Vec<String>,
    /// Those that another system builds.
    except: Vec<String>,
    /// The version that must be in the manifest.
    version: Option<String>,
    is_quick: bool,
    /// Builds no package: those of several systems are in the folder already.
    collects: bool,
    /// Builds the same again elsewhere, and compares.
    twice: bool,
    may_install: bool,
    profile: String,
    dist: PathBuf,
}

/// Runs the chore. Exit code 0: all is there, or says why it isn't; 1: something failed.
pub fn command(root: &Path, args: &[String]) -> Result<ExitCode, String> {
    let options = options(root, args)?;
    let version = product::version(root)?;
    if let Some(stated) = options.version.as_ref().filter(|stated| **stated != version) {
        return Err(format!("this is {version}, not {stated}; write {stated} into Cargo.toml (workspace.package)"));
    }
    if !options.collects {
        empty(root, &options.dist)?;
    }
    let mut yard = Yard::new(root, options.dist.clone(), options.profile.clone(), options.may_install)?;
    let mut steps = Steps { failed: false };
    for way in ways(&options)? {
        steps.step(way.name, || (way.build)(&mut yard));
    }
    steps.step("sbom", || sbom::write(&mut yard));
    steps.step("notes", || notes::write(&yard));
    steps.step("recipes", || recipes::write(&mut yard));
    steps.step(SUMS, || Ok(vec![write_sums(&yard.dist)?]));
    if options.twice {
        steps.step("twice", || again(&yard, &options).map(|()| Vec::new()));
    }
    Ok(ExitCode::from(u8::from(steps.failed)))
}

/// Removes what an earlier release left, which would be summed, too. A folder of something else is refused.
fn empty(root: &Path, dist: &Path) -> Result<(), String> {
    let Ok(mut files) = fs::read_dir(dist) else { return Ok(()) };
    if files.next().is_none() {
        return Ok(());
    }
    if dist != root.join("dist") && !dist.join(SUMS).is_file() {
        return Err(format!("{} has other files than those of a release; name an empty folder", dist.display()));
    }
    fs::remove_dir_all(dist).map_err(|error| format!("{}: {error}", dist.display()))
}

struct Steps {
    failed: bool,
}

impl Steps {
    fn step(&mut self, name: &str, act: impl FnOnce() -> Result<Vec<PathBuf>, Refusal>) {
        let began = Instant::now();
        let outcome = act();
        let seconds = began.elapsed().as_secs();
        match outcome.and_then(|files| Ok(crate::packages::yard::sizes(&files)?)) {
            Ok(files) => println!("ok       {seconds:>5} s  {name}: {files}"),
            Err(Refusal::Missing(reason)) => println!("SKIPPED  {seconds:>5} s  {name}: {reason}"),
            Err(Refusal::Failed(reason)) => {
                self.failed = true;
                println!("FAILED   {seconds:>5} s  {name}: {reason}");
            }
        }
    }
}

fn options(root: &Path, args: &[String]) -> Result<Options, String> {
    let mut options = Options {
        ways: Vec::new(),
        except: Vec::new(),
        version: None,
        is_quick: false,
        collects: false,
        twice: false,
        may_install: true,
        profile: "dist".to_owned(),
        dist: root.join("dist"),
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let (name, mut value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        let mut stated = || value.take().or_else(|| args.next().cloned()).ok_or(USAGE);
        match name {
            "--quick" => options.is_quick = true,
            "--collect" => options.collects = true,
            "--twice" => options.twice = true,
            "--no-install" => options.may_install = false,
            // A tag's `v` isn't part of a version.
            "--version" => options.version = Some(stated()?.trim_start_matches('v').to_owned()),
            "--except" => options.except.push(stated()?),
            "--profile" => options.profile = stated()?,
            "--out" => options.dist = std::path::absolute(stated()?).map_err(|error| error.to_string())?,
            _ if name.starts_with('-') => return Err(format!("{USAGE}; not `{arg}`")),
            _ => options.ways.push(name.to_owned()),
        }
    }
    ways(&options)?;
    Ok(options)
}

/// The ways that are built.
fn ways(options: &Options) -> Result<Vec<&'static Way>, String> {
    if let Some(unknown) =
        options.ways.iter().chain(&options.except).find(|name| !WAYS.iter().any(|way| way.name == **name))
    {
        return Err(format!("{USAGE}; not `{unknown}`"));
    }
    let is_in = |names: &[String], way: &Way| names.iter().any(|name| name == way.name);
    let is_chosen = |way: &&Way| match options.ways.is_empty() {
        _ if options.collects || is_in(&options.except, way) => false,
        true => way.is_quick || !options.is_quick,
        false => is_in(&options.ways, way),
    };
    Ok(WAYS.iter().filter(is_chosen).collect())
}

/// Every file of the folder with its sum, by path, but the sums themselves.
fn sums(dist: &Path) -> Result<Vec<(String, String)>, String> {
    let mut sums = Vec::new();
    let mut folders = vec![dist.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let name = path.strip_prefix(dist).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            sums.push((name, sha256(&bytes)));
        }
    }
    sums.retain(|(name, _)| name != SUMS);
    sums.sort();
    Ok(sums)
}

fn write_sums(dist: &Path) -> Result<PathBuf, String> {
    let lines: String = sums(dist)?.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    product::write(&dist.join(SUMS), lines)
}

/// Builds the last commit in another folder with another folder for Cargo's output, and compares the sums.
fn again(yard: &Yard, options: &Options) -> Result<(), Refusal> {
    let elsewhere = yard.empty("somewhere-else")?;
    let copy = elsewhere.join("a-copy");
    fs::create_dir_all(&copy).map_err(|error| error.to_string())?;
    let archive = elsewhere.join("commit.tar");
    run(Command::new("git").arg("-C").arg(&yard.root).args(["archive", "--output"]).arg(&archive).arg("HEAD"))?;
    run(Command::new("tar").arg("xf").arg(&archive).arg("-C").arg(&copy))?;
    // A tool that is compiled once needs no second time.
    let (output, kept) = (elsewhere.join("output"), yard.kept("")?);
    fs::create_dir_all(output.join("packages")).map_err(|error| error.to_string())?;
    run(Command::new("cp").args(["-R", "--"]).arg(kept.join(sbom::TOOL)).arg(output.join("packages")))?;
    let dist = elsewhere.join("dist");
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut release = Command::new(this);
    release.arg("release").args(&options.ways).args(options.except.iter().map(|way| format!("--except={way}")));
    release.args(["--profile", &options.profile, "--out"]).arg(&dist);
    release.args(options.is_quick.then_some("--quick")).args((!options.may_install).then_some("--no-install"));
    release.current_dir(&copy).env("SOURCE_DATE_EPOCH", product::epoch_s(&yard.root)?.to_string());
    release.env("CARGO_MANIFEST_DIR", copy.join("xtask")).env("CARGO_TARGET_DIR", output);
    run(&mut release)?;
    let (first, second) = (sums(&yard.dist)?, sums(&dist)?);
    let differs =
        |(name, sum): &&(String, String)| !second.iter().any(|(other, other_sum)| other == name && other_sum == sum);
    let different: Vec<&str> = first.iter().filter(differs).map(|(name, _)| name.as_str()).collect();
    if different.is_empty() && first.len() == second.len() {
        return Ok(());
    }
    Err(Refusal::Failed(format!("a build of the last commit in another folder differs in {different:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(line: &str) -> Result<Options, String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        options(Path::new("/project"), &args)
    }

    #[test]
    fn options_say_what_is_built() {
        let chosen = |line| ways(&taken(line).unwrap()).unwrap().len();
        assert_eq!(chosen(""), WAYS.len());
        assert_eq!(chosen("--quick"), WAYS.iter().filter(|way| way.is_quick).count());
        assert_eq!(chosen("--except rpm --except=image"), WAYS.len() - 2);
        assert_eq!((chosen("deb rpm"), chosen("--collect")), (2, 0));
        assert_eq!(taken("--version v1.2.3").unwrap().version.as_deref(), Some("1.2.3"));
        assert!(taken("--version").is_err() && taken("carrier-pigeon").is_err() && taken("--sign").is_err());
        assert!(taken("--except carrier-pigeon").is_err());
    }

    #[test]
    fn the_workflow_calls_this_and_pins_what_it_uses() {
        let workflow = product::read(&crate::project_root().join(".github/workflows/release.yml")).unwrap();
        assert!(workflow.contains("cargo xtask release --version") && !workflow.contains("curl"));
        for action in workflow.lines().filter_map(|line| line.split_once("uses: ").map(|(_, action)| action)) {
            let commit = action.split_once('@').and_then(|(_, rest)| rest.split(' ').next()).unwrap_or_default();
            assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{action}");
        }
        // Each system builds its own ways, and the others leave them out.
        for option in workflow.lines().filter_map(|line| line.split_once("options: ").map(|(_, options)| options)) {
            let args: Vec<String> = option.split_whitespace().map(str::to_owned).collect();
            assert!(options(Path::new("/project"), &args).is_ok(), "{option}");
        }
    }

    #[test]
    fn only_what_a_release_left_is_removed() {
        let (root, dist) = (Path::new("/project"), std::env::temp_dir());
        let dist = dist.join(format!("oversleep-release-empty-{}", std::process::id()));
        assert_eq!(empty(root, &dist), Ok(()), "it doesn't exist");
        fs::create_dir_all(&dist).unwrap();
        fs::write(dist.join("letter"), "text").unwrap();
        assert!(empty(root, &dist).is_err_and(|error| error.contains("name an empty folder")));
        fs::write(dist.join(SUMS), "").unwrap();
        assert_eq!((empty(root, &dist), dist.exists()), (Ok(()), false));
    }

    #[test]
    fn another_version_than_that_of_the_manifest_is_refused() {
        let refused = command(&crate::project_root(), &["--version=999.0.0".to_owned()]).unwrap_err();
        assert!(refused.contains("write 999.0.0 into Cargo.toml"), "{refused}");
    }

    #[test]
    fn sums_are_those_of_sha256sum_and_cover_every_file_but_themselves() {
        let dist = std::env::temp_dir().join(format!("oversleep-release-sums-{}", std::process::id()));
        fs::create_dir_all(dist.join("recipes")).unwrap();
        fs::write(dist.join("b"), "abc").unwrap();
        fs::write(dist.join("recipes/a"), "").unwrap();
        write_sums(&dist).unwrap();
        let text = fs::read_to_string(write_sums(&dist).unwrap()).unwrap();
        // From FIPS 180-4's examples.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b\n\
                        e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  recipes/a\n";
        assert_eq!(text, expected);
        fs::remove_dir_all(&dist).unwrap();
    }
}
