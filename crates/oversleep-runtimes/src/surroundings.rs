//! What determines where runtimes are looked for: environment variables, search path, home, roots.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use oversleep_record::words::is_like;

/// Folders in which systems and their package managers put programs, below the root.
const USUAL: [&str; 4] = ["usr/local/bin", "usr/bin", "bin", "opt/homebrew/bin"];

/// Where to look.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The system's name.
    pub os: String,
    /// Environment variables.
    pub variables: Vec<(String, OsString)>,
    /// The prefix of absolute paths: `/`, or a test's directory.
    pub root: PathBuf,
}

impl Surroundings {
    /// The surroundings of this process.
    pub fn here(os: &str) -> Surroundings {
        let variables = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect();
        Surroundings { os: os.to_owned(), variables, root: PathBuf::from("/") }
    }

    /// An environment variable that isn't empty.
    pub fn variable(&self, name: &str) -> Option<&OsString> {
        let fits = |known: &str| if self.is_windows() { known.eq_ignore_ascii_case(name) } else { known == name };
        self.variables.iter().find(|(known, value)| fits(known) && !value.is_empty()).map(|(_, value)| value)
    }

    /// Whether it is Windows, where programs have an extension and variable names are case-insensitive.
    pub fn is_windows(&self) -> bool {
        self.os == "windows"
    }

    /// The user's home directory.
    pub fn home(&self) -> Option<PathBuf> {
        ["HOME", "USERPROFILE"].iter().find_map(|name| self.variable(name)).map(PathBuf::from)
    }

    /// Programs with that name on the search path, in its order.
    pub fn on_path(&self, program: &str) -> Vec<PathBuf> {
        self.search_path().iter().flat_map(|folder| self.programs_in(folder, program)).collect()
    }

    /// The folders of the search path, then those where every Unix keeps its programs, each once.
    pub fn search_path(&self) -> Vec<PathBuf> {
        let stated = self.variable("PATH").map(|path| env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
        let usual = USUAL.iter().filter(|_| !self.is_windows()).map(|folder| self.root.join(folder));
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in stated.into_iter().filter(|folder| folder.is_absolute()).chain(usual) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// The program with that name in a folder, with or without the system's extension.
    pub fn programs_in(&self, folder: &Path, program: &str) -> Vec<PathBuf> {
        let plain = folder.join(program);
        let with_extension = self.is_windows().then(|| folder.join(format!("{program}.exe")));
        [Some(plain), with_extension].into_iter().flatten().filter(|path| is_program(path)).collect()
    }

    /// The files that match a pattern: `*` stands for any part of a name, `~` for the home directory.
    pub fn matching(&self, pattern: &str) -> Vec<PathBuf> {
        let mut names = pattern.split('/').filter(|name| !name.is_empty());
        let start = match pattern.split('/').next() {
            Some("~") => {
                names.next();
                self.home()
            }
            Some(drive) if drive.ends_with(':') => {
                names.next();
                self.is_windows().then(|| PathBuf::from(format!("{drive}\\")))
            }
            _ => (!self.is_windows()).then(|| self.root.clone()),
        };
        let mut found: Vec<PathBuf> = start.into_iter().collect();
        for name in names {
            found = found.iter().flat_map(|folder| entries(folder, name)).collect();
        }
        found.retain(|path| is_program(path));
        found
    }
}

/// The entries of a folder that match a name with `*`, sorted.
fn entries(folder: &Path, name: &str) -> Vec<PathBuf> {
    if !name.contains('*') {
        return vec![folder.join(name)];
    }
    let fits = |found: &str| is_like(found, name);
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(fits))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_search_path_the_usual_folders_are_searched() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("usr/bin")).unwrap();
        fs::write(root.path().join("usr/bin/gcc"), "").unwrap();
        let on = |os: &str, path: OsString| Surroundings {
            os: os.to_owned(),
            variables: vec![("PATH".to_owned(), path)],
            root: root.path().to_owned(),
        };
        let gcc = root.path().join("usr/bin/gcc");
        assert_eq!(on("linux", OsString::new()).on_path("gcc"), std::slice::from_ref(&gcc));
        let stated = root.path().join("usr/bin").into_os_string();
        assert_eq!(on("linux", stated).on_path("gcc"), [gcc], "each folder once");
        assert!(on("windows", OsString::new()).on_path("gcc").is_empty());
    }

    #[test]
    fn patterns_name_files_below_the_root_and_the_home() {
        let root = tempfile::tempdir().unwrap();
        for file in ["usr/lib/jvm/jdk-17/bin/java", "usr/lib/jvm/jdk-25/bin/java", "home/me/.jdks/a/bin/java"] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::create_dir_all(root.path().join("usr/lib/jvm/empty/bin/java")).unwrap();
        let home = root.path().join("home/me").into_os_string();
        let surroundings = Surroundings {
            os: "linux".to_owned(),
            variables: vec![("HOME".to_owned(), home), ("PATH".to_owned(), OsString::new())],
            root: root.path().to_owned(),
        };
        let found = |pattern: &str| -> Vec<String> {
            let below = |path: PathBuf| path.strip_prefix(root.path()).unwrap().to_str().unwrap().replace('\\', "/");
            surroundings.matching(pattern).into_iter().map(below).collect()
        };
        assert_eq!(found("/usr/lib/jvm/*/bin/java"), ["usr/lib/jvm/jdk-17/bin/java", "usr/lib/jvm/jdk-25/bin/java"]);
        assert_eq!(found("~/.jdks/*/bin/java"), ["home/me/.jdks/a/bin/java"]);
        assert_eq!(found("/usr/lib/jvm/jdk-2*/bin/java"), ["usr/lib/jvm/jdk-25/bin/java"]);
        assert_eq!(found("C:/Java/*/java.exe"), [""; 0], "of another system");
        assert!(surroundings.on_path("java").is_empty());
    }
}
