//! The packages with the kernels and the guests' shell, each pinned by version and hash. They are unpacked and never
//! installed. Debian's mirrors drop a version when the next one is released; <https://snapshot.debian.org> keeps all.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask_tools::Prerequisites;

/// A package of one version.
#[derive(Clone, Copy)]
pub struct Package {
    pub name: &'static str,
    pub version: &'static str,
    /// `debian` or `debian-security`.
    pub archive: &'static str,
    /// The path of its file below an archive's root.
    pub path: &'static str,
    pub sha256: &'static str,
}

/// The state of the archives that is used if the mirrors have dropped a version: one that contains all packages.
const SNAPSHOT: &str = "20261122T000000Z";
/// APT's helper for single files: it uses APT's proxy configuration, and checks hashes.
const HELPER: &str = "/usr/lib/apt/apt-helper";

/// Why a package is not available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It can't be downloaded.
    Unreachable(String),
    /// It was downloaded, but is not the right one.
    Wrong(String),
}

impl Package {
    fn urls(&self) -> [String; 2] {
        let Package { archive, path, .. } = self;
        [
            format!("http://deb.debian.org/{archive}/{path}"),
            format!("http://snapshot.debian.org/archive/{archive}/{SNAPSHOT}/{path}"),
        ]
    }

    /// Its name in messages.
    pub fn words(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// The file in the package that matches this pattern, unpacked into the cache once.
    ///
    /// # Errors
    /// Why it is not available.
    pub fn file(&self, cache: &Path, pattern: &str, may_fetch: bool) -> Result<PathBuf, Missing> {
        let kept = cache.join(format!("{}-{}", self.name, &self.sha256[..16]));
        if kept.exists() {
            return Ok(kept);
        }
        if !may_fetch {
            return Err(Missing::Unreachable(format!("{} is not in {}", self.words(), cache.display())));
        }
        let package = cache.join(format!("{}.deb", kept.file_name().unwrap_or_default().to_string_lossy()));
        self.fetch(&package)?;
        let unpacked = unpack(&package, pattern);
        _ = std::fs::remove_file(&package);
        // Renamed when it is complete, because another run may look for it.
        let unfinished = kept.with_extension("new");
        let written = unpacked.and_then(|bytes| std::fs::write(&unfinished, bytes).map_err(|e| e.to_string()));
        let renamed = written.and_then(|()| std::fs::rename(&unfinished, &kept).map_err(|e| e.to_string()));
        renamed.map_err(|why| Missing::Wrong(format!("{}: {why}", self.words())))?;
        Ok(kept)
    }

    fn fetch(&self, to: &Path) -> Result<(), Missing> {
        if !Path::new(HELPER).exists() {
            return Err(Missing::Unreachable(format!("{HELPER} doesn't exist, so {} can't be fetched", self.words())));
        }
        let mut answers = Vec::new();
        for url in self.urls() {
            let mut fetch = Command::new(HELPER);
            fetch.args(["-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=20", "download-file", &url]);
            let output = fetch.arg(to).arg(format!("SHA256:{}", self.sha256)).output();
            match output {
                Ok(output) if output.status.success() => return Ok(()),
                Ok(output) => answers.push((url, String::from_utf8_lossy(&output.stderr).into_owned())),
                Err(error) => return Err(Missing::Unreachable(format!("{HELPER}: {error}"))),
            }
        }
        Err(judge(self, &answers))
    }
}

/// Combines the answers of all archives: the package is wrong only if an archive sent another file, or if all of them
/// were reached and none has it.
fn judge(package: &Package, answers: &[(String, String)]) -> Missing {
    let has = |answer: &str, word: &str| answer.contains(word);
    let is_other =
        |answer: &&(String, String)| has(&answer.1, "Hash Sum mismatch") || has(&answer.1, "unexpected size");
    if let Some((url, _)) = answers.iter().find(is_other) {
        return Missing::Wrong(format!("{url} is not {} as it was pinned", package.words()));
    }
    let host = |url: &str| url.split('/').nth(2).unwrap_or_default().to_owned();
    let is_gone = |answer: &&(String, String)| has(&answer.1, "404");
    let gone: Vec<String> = answers.iter().filter(is_gone).map(|(url, _)| host(url)).collect();
    let unreached: Vec<String> = answers.iter().filter(|answer| !is_gone(answer)).map(|(url, _)| host(url)).collect();
    match (&gone[..], &unreached[..]) {
        (gone, []) => Missing::Wrong(format!(
            "{} is gone from {}; pin a newer version in proving/src/kernels/pins.rs",
            package.words(),
            gone.join(" and ")
        )),
        ([], unreached) => {
            Missing::Unreachable(format!("{} can't be fetched from {}", package.words(), unreached.join(" or ")))
        }
        (gone, unreached) => Missing::Unreachable(format!(
            "{} no longer has {}, and {} can't be reached",
            gone.join(" and "),
            package.words(),
            unreached.join(" and ")
        )),
    }
}

/// The only file of a package that matches this pattern.
fn unpack(package: &Path, pattern: &str) -> Result<Vec<u8>, String> {
    let script = "set -o pipefail; dpkg-deb --fsys-tarfile \"$1\" | tar -xO --wildcards \"$2\"";
    let output = Command::new("bash").args(["-c", script, "unpack"]).arg(package).arg(pattern).output();
    let output = output.map_err(|error| format!("bash: {error}"))?;
    if output.status.success() && !output.stdout.is_empty() {
        return Ok(output.stdout);
    }
    Err(format!("it holds no {pattern}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// The other prerequisites: emulators, and tools for unpacking packages.
///
/// # Errors
/// What is missing and can't be installed.
pub fn tools(prerequisites: &mut Prerequisites, emulators: &[(&str, &[&str])]) -> Result<(), String> {
    for (program, packages) in emulators {
        prerequisites.program(program, packages)?;
    }
    prerequisites.program("dpkg-deb", &["dpkg"])?;
    prerequisites.program("tar", &["tar"])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGE: Package = Package { name: "a", version: "1", archive: "debian", path: "pool/a.deb", sha256: "00" };

    fn judged(first: &str, second: &str) -> Missing {
        let [mirror, snapshot] = PACKAGE.urls();
        judge(&PACKAGE, &[(mirror, first.to_owned()), (snapshot, second.to_owned())])
    }

    #[test]
    fn what_cannot_be_reached_is_no_fault_and_what_is_another_file_is_one() {
        let (gone, unreached) = ("404  Not Found [IP: 1.2.3.4 80]", "Could not connect to it");
        assert_eq!(
            judged(unreached, unreached),
            Missing::Unreachable("a 1 can't be fetched from deb.debian.org or snapshot.debian.org".to_owned())
        );
        assert_eq!(
            judged(gone, unreached),
            Missing::Unreachable(
                "deb.debian.org no longer has a 1, and snapshot.debian.org can't be reached".to_owned()
            )
        );
        assert!(
            matches!(judged(gone, gone), Missing::Wrong(why) if why.starts_with("a 1 is gone from deb.debian.org"))
        );
        assert!(
            matches!(judged("Hash Sum mismatch", unreached), Missing::Wrong(why) if why.ends_with("as it was pinned"))
        );
    }
}
