//! The RPM package of the command. `rpmbuild` makes it, which Debian has too; cargo-generate-rpm would be compiled first and
//! doesn't find the libraries that a program needs. `rpmlint` judges it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::clean_root::CleanRoot;
use super::contents::{Contents, Papers};
use super::product::{self, DESCRIPTION, LICENCE, MAINTAINER, REPOSITORY, SUMMARY};
use super::trial;
use super::yard::{Refusal, Yard, run};

/// Folders that are removed with the package unless another one has them, too.
const OWN_FOLDERS: &[&str] = &[
    "usr/share/doc/oversleep",
    "usr/share/fish",
    "usr/share/licenses/oversleep",
    "usr/share/oversleep",
    "usr/share/zsh",
];

/// What rpm runs. The service is neither enabled nor started. One that runs goes on with the new version, and ends with the
/// package, whose state stays, as rpm's packages do it. The number is how many versions there are afterwards.
const SCRIPTS: &str = "\
%preun
if [ $1 -eq 0 ] && [ -d /run/systemd/system ]; then systemctl --no-reload disable --now oversleep.service || :; fi

%postun
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || :
    if [ $1 -ge 1 ]; then systemctl try-restart oversleep.service || :; fi
fi

";

/// What rpmlint can't know: distributions sign packages, not we; manuals are compressed with gzip; both licences are
/// SPDX's.
const JUDGE: &str = "\
Filters = ['no-signature']
CompressExtension = 'gz'
ValidLicenses = ['MIT', 'Apache-2.0']
";

pub fn build(yard: &mut Yard) -> Result<Vec<PathBuf>, Refusal> {
    yard.prerequisites.program("rpmbuild", &["rpm"]).map_err(Refusal::Missing)?;
    let command = yard.command(None)?;
    let papers = Papers::written_by(&command, yard)?;
    let mut contents = papers.on_linux("usr/share/zsh/site-functions")?;
    contents.add_program("usr/bin/oversleep", fs::read(&command).map_err(|error| error.to_string())?);
    for (name, text) in papers.texts {
        let folder = if name.starts_with("LICENSE") { "licenses" } else { "doc" };
        contents.add(&format!("usr/share/{folder}/oversleep/{name}"), text);
    }
    let (epoch_s, version) = (product::epoch_s(&yard.root)?, product::packaged_version(&product::version(&yard.root)?));
    let folder = yard.empty("rpm")?;
    let staged = folder.join("staged");
    contents.lay_out(&staged, epoch_s)?;
    let spec = spec(&version, &staged, &product::date(epoch_s, "%a %b %d %Y")?, &contents);
    let spec = product::write(&folder.join("oversleep.spec"), spec)?;
    let mut pack = Command::new("rpmbuild");
    pack.args(["-bb", "--quiet", "--target", &format!("{}-linux", std::env::consts::ARCH)]);
    for (name, value) in [
        ("_topdir", folder.join("top").to_string_lossy().as_ref()),
        ("_rpmdir", folder.join("out").to_string_lossy().as_ref()),
        // What would differ between two machines, or two runs.
        ("_buildhost", "oversleep"),
        ("use_source_date_epoch_as_buildtime", "1"),
        ("clamp_mtime_to_source_date_epoch", "1"),
        ("_binary_payload", "w19.zstdio"),
    ] {
        pack.args(["--define", &format!("{name} {value}")]);
    }
    run(pack.arg(&spec).env("SOURCE_DATE_EPOCH", epoch_s.to_string()))?;
    let name = format!("oversleep-{version}-1.{}.rpm", std::env::consts::ARCH);
    let built = folder.join("out").join(std::env::consts::ARCH).join(&name);
    let to = yard.dist.join(&name);
    fs::copy(&built, &to).map_err(|error| format!("{}: {error}", built.display()))?;
    Ok(vec![to])
}

/// The description of the package for `rpmbuild`: everything is built already, and is packed as it is.
fn spec(version: &str, staged: &Path, date: &str, contents: &Contents) -> String {
    let is_own = |folder: &&str| OWN_FOLDERS.iter().any(|own| folder.starts_with(own));
    let mut files: String =
        contents.folders().into_keys().filter(is_own).map(|folder| format!("%dir /{folder}\n")).collect();
    for path in contents.paths() {
        let kind = match path {
            _ if path.starts_with("usr/share/licenses/") => "%license ",
            _ if path.starts_with("usr/share/doc/") => "%doc ",
            _ => "",
        };
        files.push_str(&format!("{kind}/{path}\n"));
    }
    let mut summary = SUMMARY.chars();
    let summary: String = summary.next().into_iter().flat_map(char::to_uppercase).chain(summary).collect();
    format!(
        "%global debug_package %{{nil}}\n%global __os_install_post %{{nil}}\n\n\
         Name: oversleep\nVersion: {version}\nRelease: 1\nSummary: {summary}\nLicense: {LICENCE}\nURL: {REPOSITORY}\n\
         Group: Development/Tools\nPackager: {MAINTAINER}\n\n\
         %description\n{DESCRIPTION}\n\n\
         %install\ncp -a {}/. %{{buildroot}}\n\n\
         {SCRIPTS}%files\n{files}\n\
         %changelog\n* {date} {MAINTAINER} - {version}-1\n- This version, as CHANGELOG.md describes it.\n",
        staged.display(),
    )
}

pub fn try_out(yard: &mut Yard, files: &[PathBuf]) -> Result<String, Refusal> {
    let file = &files[0];
    trial::size_at_most(yard, file, 6_000_000)?;
    let verdict = judged(yard, file)?;
    let needs = run(Command::new("rpm").args(["--query", "--package", "--requires"]).arg(file))?;
    let is_c_library = |need: &&str| {
        // The shell is for the scripts, which only a system with systemd needs.
        ["libc.", "libm.", "libgcc_s.", "ld-linux", "rpmlib(", "rtld(", "/bin/sh"]
            .iter()
            .any(|name| need.starts_with(name))
    };
    if let Some(other) = needs.lines().find(|need| !is_c_library(need)) {
        return Err(Refusal::Failed(format!("it needs more than the C library: {other}")));
    }
    let root = CleanRoot::debian(yard, "rpm-root", &[])?;
    let before = root.files()?;
    let rpm = |args: &[&str]| {
        let mut rpm = Command::new("rpm");
        rpm.arg("--root").arg(root.path()).args(["--dbpath", "/rpm"]).args(args);
        rpm
    };
    run(&mut rpm(&["--initdb"]))?;
    // The C library is there as a package of Debian, of which rpm knows nothing; what else it needs was checked above.
    run(rpm(&["--install", "--nodeps"]).arg(file))?;
    run(&mut rpm(&["--verify", "--nodeps", "oversleep"]))?;
    let used = trial::of_command(&product::version(&yard.root)?, trial::ON_UNIX, |line| root.as_nobody(line))?;
    let unit = trial::unit(&root)?;
    run(&mut rpm(&["--erase", "oversleep"]))?;
    // `/usr/share/licenses` is in the package `filesystem` of every system with RPM, and not in Debian.
    let is_of_rpm = |file: &str| file.starts_with("/rpm") || file == "/usr/share/licenses";
    let left: Vec<String> =
        root.files()?.into_iter().filter(|file| !before.contains(file) && !is_of_rpm(file)).collect();
    if !left.is_empty() {
        return Err(Refusal::Failed(format!("after `rpm --erase` there are still {left:?}")));
    }
    Ok(format!("{verdict}; installed by `rpm --root`: {used}; {unit}; nothing is left of it after `rpm --erase`"))
}

/// What rpmlint says: an error is a failure, warnings are counted.
fn judged(yard: &mut Yard, file: &Path) -> Result<String, Refusal> {
    if let Err(reason) = yard.prerequisites.program("rpmlint", &["rpmlint"]) {
        return Ok(format!("not judged ({reason})"));
    }
    let rules = product::write(&yard.empty("rpmlint")?.join("rules.toml"), JUDGE)?;
    let said = run(Command::new("rpmlint").arg("--config").arg(rules).arg(file).env("LC_ALL", "C.UTF-8"))?;
    let warnings: Vec<&str> = said.lines().filter(|line| line.contains(": W: ")).collect();
    Ok(match warnings.len() {
        0 => "rpmlint has neither errors nor warnings".to_owned(),
        _ => format!("rpmlint has no errors, but {}", warnings.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_lists_every_file_by_its_kind() {
        let mut contents = Contents::default();
        for path in ["usr/bin/oversleep", "usr/share/doc/oversleep/README.md", "usr/share/licenses/oversleep/MIT"] {
            contents.add(path, "");
        }
        let text = spec("1.2.3", Path::new("/staged"), "Mon Sep 21 2026", &contents);
        let files = "%files\n%dir /usr/share/doc/oversleep\n%dir /usr/share/licenses/oversleep\n/usr/bin/oversleep\n\
                     %doc /usr/share/doc/oversleep/README.md\n%license /usr/share/licenses/oversleep/MIT\n";
        assert!(text.contains(files), "{text}");
        assert!(
            text.contains("\nSummary: Measure how late") && text.contains("cp -a /staged/. %{buildroot}"),
            "{text}"
        );
    }
}
