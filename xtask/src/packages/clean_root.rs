//! An empty Debian or Ubuntu in a folder: where a package is installed as on a new machine. It has what `mmdebstrap` calls
//! the variant `apt`, and the packages that are asked of it; a later run unpacks the same archive again.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::product;
use super::yard::{Refusal, Yard, run, run_installed};

/// The user without rights, as everywhere on Linux.
pub const NOBODY: &str = "65534:65534";

/// A system that was unpacked for one package.
pub struct CleanRoot {
    folder: PathBuf,
}

impl CleanRoot {
    /// Debian of this machine's version with these packages.
    pub fn debian(yard: &mut Yard, name: &str, packages: &[&str]) -> Result<CleanRoot, Refusal> {
        let archive = archive(yard, packages)?;
        let folder = yard.empty(name)?;
        run(Command::new("tar").args(["--extract", "--file"]).arg(&archive).arg("--directory").arg(&folder))?;
        Ok(CleanRoot { folder })
    }

    /// A folder that is a system already.
    pub fn at(folder: PathBuf) -> CleanRoot {
        CleanRoot { folder }
    }

    /// A folder with no package yet but what is unpacked.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// What a line of shell prints in it as root, without network. `/proc` is mounted as long as it runs.
    pub fn shell(&self, line: &str) -> Result<String, Refusal> {
        Ok(run(self.entered(None).args(["/bin/sh", "-euc", line]))?)
    }

    /// What a program prints in it for a user without rights. Nothing but the program is needed there.
    pub fn as_nobody(&self, line: &[&str]) -> Result<String, Refusal> {
        Ok(run_installed(self.entered(Some(NOBODY)).args(line))?)
    }

    fn entered(&self, user: Option<&str>) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--net", "--pid", "--fork", "--kill-child", "--", "sh", "-euc"]);
        command.arg(
            "root=$1 user=$2; shift 2; mkdir -p \"$root/proc\"; mount -t proc proc \"$root/proc\"
            exec chroot ${user:+--userspec=$user} \"$root\" \"$@\"",
        );
        command.arg("sh").arg(&self.folder).arg(user.unwrap_or_default());
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C.UTF-8");
        command.env("DEBIAN_FRONTEND", "noninteractive").env("HOME", "/tmp");
        command
    }

    /// Every file and folder but those of kernel and package manager, for a comparison.
    pub fn files(&self) -> Result<Vec<String>, Refusal> {
        let mut find = Command::new("find");
        find.arg(&self.folder).args(["-path", "*/proc", "-prune", "-o", "-path", "*/var/lib/dpkg", "-prune"]);
        find.args(["-o", "-path", "*/var/cache", "-prune", "-o", "-path", "*/var/log", "-prune"]);
        find.args(["-o", "-path", "*/var/lib/apt", "-prune", "-o", "-printf", "/%P\n"]);
        let mut files: Vec<String> = run(&mut find)?.lines().map(str::to_owned).collect();
        files.sort();
        Ok(files)
    }
}

/// The archive of an empty Debian, made once.
fn archive(yard: &mut Yard, packages: &[&str]) -> Result<PathBuf, Refusal> {
    let release = product::read(Path::new("/etc/os-release")).unwrap_or_default();
    let suite = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")).unwrap_or_default().to_owned();
    let is_known = ["debian", "ubuntu"].iter().any(|name| release.lines().any(|line| line == format!("ID={name}")));
    if suite.is_empty() || !is_known {
        return Err(Refusal::Missing("an empty Debian is made on Debian or Ubuntu only, from its packages".to_owned()));
    }
    let name = packages.iter().fold(suite.clone(), |name, package| format!("{name}-{package}"));
    let archive = yard.kept("roots")?.join(format!("{name}.tar"));
    if archive.exists() {
        return Ok(archive);
    }
    if run(Command::new("id").arg("-u"))?.trim() != "0" {
        return Err(Refusal::Missing("run it as root, which changes its root folder".to_owned()));
    }
    yard.prerequisites.program("mmdebstrap", &["mmdebstrap"]).map_err(Refusal::Missing)?;
    let partial = archive.with_extension("partial.tar");
    let mut make = Command::new("mmdebstrap");
    make.args(["--quiet", "--variant=apt"]);
    if !packages.is_empty() {
        make.arg(format!("--include={}", packages.join(",")));
    }
    // The sources are those of this machine.
    make.arg(&suite).arg(&partial).arg(sources());
    run(&mut make).map_err(Refusal::Missing)?;
    std::fs::rename(&partial, &archive).map_err(|error| format!("{}: {error}", archive.display()))?;
    Ok(archive)
}

/// The file in which this machine states where Debian's packages are from.
fn sources() -> String {
    let files = ["debian.sources", "ubuntu.sources"].map(|name| format!("/etc/apt/sources.list.d/{name}"));
    files.into_iter().find(|file| Path::new(file).exists()).unwrap_or_else(|| "/etc/apt/sources.list".to_owned())
}
