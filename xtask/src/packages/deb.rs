//! The Debian package of the command. `dpkg-deb` makes it: every Debian has it, while cargo-deb would take minutes to
//! compile for the same archive. `lintian` judges it, and an empty Debian installs and removes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::clean_root::CleanRoot;
use super::contents::{Contents, Papers, gzip};
use super::product::{self, DESCRIPTION, MAINTAINER, REPOSITORY, SUMMARY};
use super::trial;
use super::yard::{Refusal, Yard, run};

/// What lintian warns of in every changelog that begins with the first packaging of a version.
const INITIAL: (&str, &str) =
    ("initial-upload-closes-no-bugs", "It isn't uploaded to Debian, where no bug asks for it.");

/// The first packaging of that version.
const REVISION: &str = "1";

/// What a package says of itself, beside what all say.
pub struct Control<'a> {
    pub package: &'a str,
    pub section: &'a str,
    pub summary: &'a str,
    pub description: &'a str,
    /// More packages that it needs than those of its libraries.
    pub depends: &'a [String],
    /// Files whose libraries it needs.
    pub linked: &'a [&'a str],
    /// More lines, each with its end.
    pub more: &'a str,
    /// The library that programs find in it: its name, and the version of its interface.
    pub library: Option<(&'a str, &'a str)>,
    /// Tags of lintian that it needn't care about, each with the reason.
    pub lintian: &'a [(&'a str, &'a str)],
    /// What dpkg runs: the moment as dpkg names it, and the lines of shell.
    pub scripts: &'a [(&'a str, &'a str)],
}

/// The service is neither enabled nor started. One that runs goes on with the new version and ends with the package, and a
/// purge leaves nothing of it.
const SCRIPTS: &[(&str, &str)] = &[
    (
        "postinst",
        "if [ \"$1\" = configure ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
    if [ -n \"$2\" ]; then deb-systemd-invoke try-restart oversleep.service >/dev/null || true; fi
fi",
    ),
    (
        "prerm",
        "if [ \"$1\" = remove ] && [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop oversleep.service >/dev/null || true
fi",
    ),
    (
        "postrm",
        "if [ \"$1\" = purge ]; then
    rm -f /etc/systemd/system/multi-user.target.wants/oversleep.service
    rm -rf /etc/systemd/system/oversleep.service.d /var/lib/oversleep /var/lib/private/oversleep
fi
if [ -d /run/systemd/system ]; then systemctl --system daemon-reload >/dev/null || true; fi",
    ),
];

pub fn build(yard: &mut Yard) -> Result<Vec<PathBuf>, Refusal> {
    let command = yard.command(None)?;
    let mut contents = Papers::written_by(&command, yard)?.on_linux("usr/share/zsh/vendor-completions")?;
    contents.add_program("usr/bin/oversleep", fs::read(&command).map_err(|error| error.to_string())?);
    let control = Control {
        package: "oversleep",
        section: "utils",
        summary: SUMMARY,
        description: DESCRIPTION,
        depends: &[],
        linked: &["usr/bin/oversleep"],
        more: "",
        library: None,
        lintian: &[("maintainer-script-calls-systemctl", "Only to read the units again, as dh_installsystemd does.")],
        scripts: SCRIPTS,
    };
    let folder = yard.empty("deb")?;
    Ok(vec![pack(yard, &folder, contents, &control)?])
}

/// Lays the contents out in a folder, which may have files already, and packs all of it.
pub fn pack(yard: &mut Yard, folder: &Path, mut contents: Contents, control: &Control) -> Result<PathBuf, Refusal> {
    yard.prerequisites.program("dpkg-shlibdeps", &["dpkg-dev"]).map_err(Refusal::Missing)?;
    let (epoch_s, version) = (
        product::epoch_s(&yard.root)?,
        format!("{}-{REVISION}", product::packaged_version(&product::version(&yard.root)?)),
    );
    let package = control.package;
    let documents = format!("usr/share/doc/{package}");
    let mit = product::read(&yard.root.join("LICENSE-MIT"))?;
    contents.add(&format!("{documents}/copyright"), copyright(&mit, &product::date(epoch_s, "%Y")?));
    let tags = [INITIAL].iter().chain(control.lintian);
    let overrides: String = tags.map(|(tag, reason)| format!("# {reason}\n{package}: {tag} *\n")).collect();
    contents.add(&format!("usr/share/lintian/overrides/{package}"), overrides);
    contents.add(&format!("{documents}/changelog.Debian.gz"), gzip(changelog(package, &version, epoch_s)?.as_bytes())?);
    let changes = product::read(&yard.root.join("CHANGELOG.md"))?;
    contents.add(&format!("{documents}/changelog.gz"), gzip(changes.as_bytes())?);
    contents.lay_out(folder, epoch_s)?;
    let architecture = run(Command::new("dpkg").arg("--print-architecture"))?.trim().to_owned();
    let mut depends = libraries(folder, control.linked)?;
    depends.extend(control.depends.iter().map(|package| package.replace("@version@", &version)));
    let debian = folder.join("DEBIAN");
    fs::create_dir_all(&debian).map_err(|error| error.to_string())?;
    let sums =
        "find usr -type f -printf '%P\\n' | LC_ALL=C sort | sed 's,^,usr/,' | xargs -d '\\n' md5sum >DEBIAN/md5sums";
    run(Command::new("sh").arg("-euc").arg(sums).current_dir(folder))?;
    if let Some((library, interface)) = control.library {
        product::write(&debian.join("triggers"), "activate-noawait ldconfig\n")?;
        let needs = format!("{library} {interface} {package} (>= {version})\n");
        product::write(&debian.join("shlibs"), needs)?;
    }
    let size = run(Command::new("du").args(["--apparent-size", "-sk", "usr"]).current_dir(folder))?;
    let size_kib = size.split_whitespace().next().unwrap_or("0");
    let text = format!(
        "Package: {package}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {size_kib}\nDepends: {}\n{}Section: {}\nPriority: optional\nHomepage: {REPOSITORY}\n\
         Description: {}\n{}",
        depends.join(", "),
        control.more.replace("@version@", &version),
        control.section,
        control.summary,
        control.description.lines().map(|line| format!(" {line}\n")).collect::<String>(),
    );
    product::write(&debian.join("control"), text)?;
    for (moment, lines) in control.scripts {
        product::write(&debian.join(moment), format!("#!/bin/sh\nset -e\n{lines}\n"))?;
    }
    let modes = "chmod 755 DEBIAN && chmod 644 DEBIAN/* && find DEBIAN -name 'p*' -exec chmod 755 {} + && find usr -type d -exec chmod 755 {} +";
    run(Command::new("sh").arg("-euc").arg(modes).current_dir(folder))?;
    let file = yard.dist.join(format!("{package}_{version}_{architecture}.deb"));
    let mut pack = Command::new("dpkg-deb");
    pack.args(["--root-owner-group", "-Zxz", "-z9", "--build"]).arg(folder).arg(&file);
    run(pack.env("SOURCE_DATE_EPOCH", epoch_s.to_string()))?;
    Ok(file)
}

/// The packages with the libraries that these files are linked with, as `dpkg-shlibdeps` finds them.
fn libraries(folder: &Path, linked: &[&str]) -> Result<Vec<String>, String> {
    if linked.is_empty() {
        return Ok(Vec::new());
    }
    // It wants to run in a source package.
    let source = folder.with_extension("source");
    fs::create_dir_all(source.join("debian")).map_err(|error| format!("{}: {error}", source.display()))?;
    product::write(&source.join("debian/control"), "Source: oversleep\n\nPackage: oversleep\nArchitecture: any\n")?;
    let mut ask = Command::new("dpkg-shlibdeps");
    ask.arg("-O").args(linked.iter().map(|file| folder.join(file))).current_dir(&source);
    let said = run(&mut ask)?;
    let list = said.trim().strip_prefix("shlibs:Depends=").unwrap_or_default();
    Ok(list.split(", ").filter(|package| !package.is_empty()).map(str::to_owned).collect())
}

fn copyright(mit: &str, year: &str) -> String {
    let holder =
        mit.lines().find_map(|line| line.strip_prefix("Copyright (c) ")).unwrap_or("the oversleep contributors");
    let text = mit.split_once("\n\n").map_or(mit, |(_, text)| text);
    let text = text.split_once("\n\n").filter(|(head, _)| head.starts_with("Copyright")).map_or(text, |(_, rest)| rest);
    let indented: String =
        text.lines().map(|line| if line.is_empty() { " .\n".to_owned() } else { format!(" {line}\n") }).collect();
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: oversleep\n\
         Source: {REPOSITORY}\n\nFiles: *\nCopyright: {year} {holder}\nLicense: Expat or Apache-2.0\n\nLicense: Expat\n{indented}\n\
         License: Apache-2.0\n On Debian systems, the Apache License, Version 2.0, is in\n \
         /usr/share/common-licenses/Apache-2.0.\n"
    )
}

fn changelog(package: &str, version: &str, epoch_s: u64) -> Result<String, String> {
    let date = product::date(epoch_s, "%a, %d %b %Y %H:%M:%S %z")?;
    Ok(format!(
        "{package} ({version}) unstable; urgency=medium\n\n  * This version, as its own changelog describes it.\n\n \
         -- {MAINTAINER}  {date}\n"
    ))
}

pub fn try_out(yard: &mut Yard, files: &[PathBuf]) -> Result<String, Refusal> {
    trial::size_at_most(yard, &files[0], 6_000_000)?;
    let verdict = judged(yard, files)?;
    let root = CleanRoot::debian(yard, "deb-root", &[])?;
    let before = root.files()?;
    install(&root, files)?;
    let used = trial::of_command(&product::version(&yard.root)?, trial::ON_UNIX, |line| root.as_nobody(line))?;
    root.shell(
        "test -s /usr/share/man/man1/oversleep-why.1.gz; test -s /usr/share/fish/vendor_completions.d/oversleep.fish
        bash -c '. /usr/share/bash-completion/completions/oversleep; complete -p oversleep' >/dev/null
        test -s /usr/share/oversleep/prometheus/oversleep.rules.yml; test -s /usr/share/oversleep/grafana/oversleep.json
        test ! -e /etc/systemd/system/multi-user.target.wants/oversleep.service",
    )?;
    let unit = trial::unit(&root)?;
    root.shell("apt-get -q purge -y oversleep")?;
    let after = root.files()?;
    let left: Vec<&String> = after.iter().filter(|file| !before.contains(file)).collect();
    if !left.is_empty() {
        return Err(Refusal::Failed(format!("after `apt-get purge` there are still {left:?}")));
    }
    Ok(format!("{verdict}; in an empty Debian: {used}; {unit}; nothing is left of it after `apt-get purge`"))
}

/// Copies packages into a root and installs them there, without network.
pub fn install(root: &CleanRoot, files: &[PathBuf]) -> Result<(), Refusal> {
    let mut line = "cd /tmp; apt-get -q install -y".to_owned();
    let mut remove = "rm".to_owned();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        fs::copy(file, root.path().join("tmp").join(&name)).map_err(|error| format!("{name}: {error}"))?;
        line.push_str(&format!(" ./{name}"));
        remove.push_str(&format!(" /tmp/{name}"));
    }
    root.shell(&line)?;
    root.shell(&remove)?;
    Ok(())
}

/// What lintian says: an error is a failure, warnings are counted.
pub fn judged(yard: &mut Yard, files: &[PathBuf]) -> Result<String, Refusal> {
    if let Err(reason) = yard.prerequisites.program("lintian", &["lintian"]) {
        return Ok(format!("not judged ({reason})"));
    }
    // As root, it says that it shouldn't be.
    let mut lintian = Command::new("lintian");
    lintian.args(["--allow-root", "--fail-on", "error", "--display-level", ">=warning"]).args(files);
    let said = run(&mut lintian)?;
    let warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("W: ")).collect();
    Ok(match warnings.len() {
        0 => "lintian has neither errors nor warnings".to_owned(),
        _ => format!("lintian has no errors, but {}", warnings.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copyright_file_holds_the_licence_and_its_holder() {
        let mit = product::read(&crate::project_root().join("LICENSE-MIT")).unwrap();
        let text = copyright(&mit, "2026");
        assert!(text.contains("\nCopyright: 2026 ") && text.contains(" Permission is hereby granted"), "{text}");
        assert!(text.contains("\n .\n") && !text.contains("\n\n\n"), "{text}");
    }

    #[test]
    fn nothing_is_enabled_and_scripts_end_well_without_systemd() {
        for (moment, lines) in SCRIPTS {
            assert!(!lines.contains("enable") && !lines.contains(" start "), "{moment}");
            for argument in ["configure", "remove", "upgrade"] {
                let ended = run(Command::new("sh").args(["-euc", lines, "sh", argument, ""]));
                assert!(Path::new("/run/systemd/system").exists() || ended.is_ok(), "{moment} {argument}: {ended:?}");
            }
        }
    }

    #[test]
    fn the_changelog_has_debians_form() {
        let text = changelog("oversleep", "0.1.0-1", 1_790_000_001).unwrap();
        assert!(text.starts_with("oversleep (0.1.0-1) unstable; urgency=medium\n\n  * "), "{text}");
        assert!(text.ends_with(">  Mon, 21 Sep 2026 14:13:21 +0000\n"), "{text}");
    }
}
