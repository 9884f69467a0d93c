//! The contents of a package, and the files that hold them: tar.gz, zip, or a folder that another tool packs. The same
//! contents become the same bytes: entries are sorted, belong to root, and have one time.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};

use super::product;
use super::yard::{Yard, run};

/// Files by their paths below the package's root, and folders that aren't like others.
#[derive(Clone, Default)]
pub struct Contents {
    files: BTreeMap<String, Entry>,
    folders: BTreeMap<String, u32>,
}

#[derive(Clone)]
struct Entry {
    mode: u32,
    bytes: Vec<u8>,
}

impl Contents {
    pub fn add(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.to_owned(), Entry { mode: 0o644, bytes: bytes.into() });
    }

    pub fn add_program(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.to_owned(), Entry { mode: 0o755, bytes: bytes.into() });
    }

    /// A folder that is there without files, or with other rights than `rwxr-xr-x`.
    pub fn add_folder(&mut self, path: &str, mode: u32) {
        self.folders.insert(path.to_owned(), mode);
    }

    #[cfg(test)]
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|entry| entry.bytes.as_slice())
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The same below a folder.
    pub fn below(self, folder: &str) -> Contents {
        let moved = |path: String| format!("{folder}/{path}");
        Contents {
            files: self.files.into_iter().map(|(path, entry)| (moved(path), entry)).collect(),
            folders: self.folders.into_iter().map(|(path, mode)| (moved(path), mode)).collect(),
        }
    }

    /// Every folder with its mode, each after the one that holds it.
    pub fn folders(&self) -> BTreeMap<&str, u32> {
        let paths = self.paths().chain(self.folders.keys().map(String::as_str));
        let parents = paths.flat_map(|path| path.match_indices('/').map(|(end, _)| (&path[..end], 0o755)));
        let mut folders: BTreeMap<&str, u32> = parents.collect();
        folders.extend(self.folders.iter().map(|(path, mode)| (path.as_str(), *mode)));
        folders
    }

    /// As a tar archive, without compression.
    pub fn tar(&self, epoch_s: u64) -> Result<Vec<u8>, String> {
        let failed = |error: std::io::Error| format!("tar: {error}");
        let mut archive = tar::Builder::new(Vec::new());
        let header = |kind, mode, size: usize| {
            let mut header = tar::Header::new_ustar();
            header.set_entry_type(kind);
            header.set_mode(mode);
            header.set_size(size as u64);
            header.set_mtime(epoch_s);
            header.set_uid(0);
            header.set_gid(0);
            header
        };
        for (folder, mode) in self.folders() {
            let mut header = header(tar::EntryType::Directory, mode, 0);
            archive.append_data(&mut header, format!("{folder}/"), std::io::empty()).map_err(failed)?;
        }
        for (path, entry) in &self.files {
            let mut header = header(tar::EntryType::Regular, entry.mode, entry.bytes.len());
            archive.append_data(&mut header, path, entry.bytes.as_slice()).map_err(failed)?;
        }
        archive.into_inner().map_err(failed)
    }

    pub fn tar_gz(&self, epoch_s: u64) -> Result<Vec<u8>, String> {
        gzip(&self.tar(epoch_s)?)
    }

    pub fn zip(&self, epoch_s: u64) -> Result<Vec<u8>, String> {
        let failed = |error: zip::result::ZipError| format!("zip: {error}");
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .compression_level(Some(9))
            .last_modified_time(dos_time(epoch_s)?)
            .large_file(false);
        for (path, entry) in &self.files {
            archive.start_file(path.as_str(), options.unix_permissions(entry.mode)).map_err(failed)?;
            archive.write_all(&entry.bytes).map_err(|error| format!("zip: {error}"))?;
        }
        Ok(archive.finish().map_err(failed)?.into_inner())
    }

    /// As files below a folder, for tools that pack what they find.
    pub fn lay_out(&self, folder: &Path, epoch_s: u64) -> Result<(), String> {
        for (path, entry) in &self.files {
            let path = folder.join(path);
            let parent = path.parent().unwrap_or(folder);
            let failed = |error: std::io::Error| format!("{}: {error}", path.display());
            fs::create_dir_all(parent).map_err(failed)?;
            fs::write(&path, &entry.bytes).map_err(failed)?;
            set_mode(&path, entry.mode).map_err(failed)?;
            let time = UNIX_EPOCH + Duration::from_secs(epoch_s);
            File::options().append(true).open(&path).and_then(|file| file.set_modified(time)).map_err(failed)?;
        }
        for (path, mode) in self.folders() {
            set_mode(&folder.join(path), mode).map_err(|error| format!("{path}: {error}"))?;
        }
        Ok(())
    }
}

/// What a user gets beside the command: its manual, its completions and the texts of the project. A command for another
/// system may not run here, so the one for this system writes them; they are the same.
pub struct Papers {
    /// Name and text of each manual page.
    pub manual: Vec<(String, Vec<u8>)>,
    pub bash: Vec<u8>,
    pub zsh: Vec<u8>,
    pub fish: Vec<u8>,
    pub powershell: Vec<u8>,
    /// Name and text, as at the project's root.
    pub texts: Vec<(String, Vec<u8>)>,
    /// Where a Linux distribution has them, and what is there: the service, and what its monitoring needs.
    pub service: Vec<(&'static str, Vec<u8>)>,
}

/// The unit's file and what Prometheus and Grafana take, each by its place in a distribution and in the project. Nothing
/// enables the unit.
const SERVICE: &[(&str, &str)] = &[
    (product::UNIT, "contrib/systemd/oversleep.service"),
    ("usr/share/oversleep/grafana/oversleep.json", "contrib/grafana/oversleep.json"),
    ("usr/share/oversleep/prometheus/oversleep.rules.yml", "contrib/prometheus/oversleep.rules.yml"),
];

impl Papers {
    pub fn written_by(command: &Path, yard: &Yard) -> Result<Papers, String> {
        let folder = yard.empty("man")?;
        run(std::process::Command::new(command).args(["man", "--quiet", "--out"]).arg(&folder))?;
        let completions =
            |shell: &str| run(std::process::Command::new(command).args(["completions", shell])).map(String::into_bytes);
        let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let texts = product::TEXTS.iter().map(|name| Ok(((*name).to_owned(), read(&yard.root.join(name))?)));
        let service = SERVICE.iter().map(|(place, file)| Ok((*place, read(&yard.root.join(file))?)));
        Ok(Papers {
            manual: files(&folder)?,
            bash: completions("bash")?,
            zsh: completions("zsh")?,
            fish: completions("fish")?,
            powershell: completions("powershell")?,
            texts: texts.collect::<Result<_, String>>()?,
            service: service.collect::<Result<_, String>>()?,
        })
    }

    /// Where Linux distributions look for them; only zsh's folder differs. The texts aren't among them.
    pub fn on_linux(&self, zsh: &str) -> Result<Contents, String> {
        let mut contents = Contents::default();
        for (name, text) in &self.manual {
            contents.add(&format!("usr/share/man/man1/{name}.gz"), gzip(text)?);
        }
        contents.add("usr/share/bash-completion/completions/oversleep", self.bash.clone());
        contents.add(&format!("{zsh}/_oversleep"), self.zsh.clone());
        contents.add("usr/share/fish/vendor_completions.d/oversleep.fish", self.fish.clone());
        self.service.iter().for_each(|(place, bytes)| contents.add(place, bytes.clone()));
        Ok(contents)
    }
}

/// The files of a folder, by name.
fn files(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.push((name, fs::read(entry.path()).map_err(failed)?));
    }
    files.sort();
    Ok(files)
}

/// Compressed as well as gzip can, without name and time.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    out.write_all(bytes).and_then(|()| out.finish()).map_err(|error| format!("gzip: {error}"))
}

/// The SHA-256 sum of bytes, as `sha256sum` writes it.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// In steps of 2 s from 1980 on, in no time zone: what zip knows of time.
fn dos_time(epoch_s: u64) -> Result<zip::DateTime, String> {
    let text = product::date(epoch_s, "%Y %m %d %H %M %S")?;
    let numbers: Vec<u16> = text.split(' ').filter_map(|number| number.parse().ok()).collect();
    let [year, month, day, hour, minute, second] = numbers[..] else { return Err(format!("no time: {text}")) };
    let low = |number: u16| u8::try_from(number).unwrap_or_default();
    zip::DateTime::from_date_and_time(year, low(month), low(day), low(hour), low(minute), low(second))
        .map_err(|error| format!("{text}: {error}"))
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> std::io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    const TIME_S: u64 = 1_790_000_001;

    fn sample() -> Contents {
        let mut contents = Contents::default();
        contents.add("share/b.txt", "b");
        contents.add_program("bin/a", "a");
        contents.below("oversleep-1")
    }

    #[test]
    fn a_linux_package_has_these_files_beside_the_command_and_no_other() {
        let papers = Papers {
            manual: vec![("oversleep.1".to_owned(), Vec::new())],
            bash: Vec::new(),
            zsh: Vec::new(),
            fish: Vec::new(),
            powershell: Vec::new(),
            texts: Vec::new(),
            service: SERVICE.iter().map(|(place, _)| (*place, Vec::new())).collect(),
        };
        let contents = papers.on_linux("usr/share/zsh/vendor-completions").unwrap();
        let expected = [
            "usr/lib/systemd/system/oversleep.service",
            "usr/share/bash-completion/completions/oversleep",
            "usr/share/fish/vendor_completions.d/oversleep.fish",
            "usr/share/man/man1/oversleep.1.gz",
            "usr/share/oversleep/grafana/oversleep.json",
            "usr/share/oversleep/prometheus/oversleep.rules.yml",
            "usr/share/zsh/vendor-completions/_oversleep",
        ];
        assert_eq!(contents.paths().collect::<Vec<_>>(), expected);
        assert!(SERVICE.iter().all(|(_, file)| crate::project_root().join(file).is_file()));
    }

    #[test]
    fn a_tar_archive_is_sorted_and_belongs_to_root_at_one_time() {
        let bytes = sample().tar_gz(TIME_S).unwrap();
        assert_eq!(bytes, sample().tar_gz(TIME_S).unwrap());
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let entries = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            let header = entry.header();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap()), (0, 0, TIME_S));
            (entry.path().unwrap().to_string_lossy().into_owned(), header.mode().unwrap())
        });
        let expected = [
            ("oversleep-1/", 0o755),
            ("oversleep-1/bin/", 0o755),
            ("oversleep-1/share/", 0o755),
            ("oversleep-1/bin/a", 0o755),
            ("oversleep-1/share/b.txt", 0o644),
        ];
        assert_eq!(entries.collect::<Vec<_>>(), expected.map(|(path, mode)| (path.to_owned(), mode)));
    }

    #[test]
    fn a_zip_archive_has_the_same_files_and_the_time() {
        let bytes = sample().zip(TIME_S).unwrap();
        assert_eq!(bytes, sample().zip(TIME_S).unwrap());
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let mut file = archive.by_name("oversleep-1/bin/a").unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        // Even seconds only.
        assert_eq!((text.as_str(), file.unix_mode().map(|mode| mode & 0o777)), ("a", Some(0o755)));
        assert_eq!(file.last_modified().unwrap().to_string(), "2026-09-21 14:13:20");
    }
}
