//! Finds runtimes by option, variable, search path, registry and known places. For each missing runtime, it returns a
//! reason.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::descriptor::{Descriptor, filled};
use crate::installation::{Installation, Missing};
use crate::supervise::output_of;
use crate::surroundings::Surroundings;

/// How long a runtime may take to state its version.
const VERSION_MAX: Duration = Duration::from_secs(10);

/// A runtime whose program the user specified: `java=/opt/jdk/bin/java`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The runtime's name.
    pub name: String,
    /// The program.
    pub program: PathBuf,
}

/// Looks for one runtime.
///
/// # Errors
/// Why it isn't available.
pub fn find(
    descriptor: &'static Descriptor,
    given: &[Given],
    surroundings: &Surroundings,
) -> Result<Vec<Installation>, Missing> {
    let missing = |reason: String| Missing { name: descriptor.name.clone(), reason };
    let given: Vec<&Given> = given.iter().filter(|given| given.name == descriptor.name).collect();
    let mut found: Vec<Installation> = Vec::new();
    let mut refused = None;
    let mut seen: Vec<PathBuf> = Vec::new();
    let candidates = match given.is_empty() {
        true => candidates(descriptor, surroundings),
        false => given.iter().map(|given| given.program.clone()).collect(),
    };
    for candidate in candidates {
        let real = candidate.canonicalize().unwrap_or_else(|_| candidate.clone());
        if seen.contains(&real) {
            continue;
        }
        seen.push(real.clone());
        match ask(descriptor, &candidate, &real) {
            Ok((exe, version)) if found.iter().all(|other| other.version != version && other.exe != exe) => {
                seen.push(exe.clone());
                let id = id(descriptor, &version, &found);
                found.push(Installation { descriptor, exe, version, id, library: None });
                if !descriptor.find.all_versions && given.is_empty() {
                    break;
                }
            }
            Ok(_) => {}
            Err(reason) => refused = refused.or(Some(format!("{}: {reason}", candidate.display()))),
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    let install = &descriptor.install;
    Err(missing(match refused {
        Some(refused) => format!(
            "{refused}. Name another one with --runtime {}=PATH, or install it with: {install}",
            descriptor.name
        ),
        None => format!("not found. Install it with: {install}"),
    }))
}

/// Candidate programs, the likeliest first.
fn candidates(descriptor: &Descriptor, surroundings: &Surroundings) -> Vec<PathBuf> {
    let find = &descriptor.find;
    let mut all = Vec::new();
    for value in find.env.iter().filter_map(|name| surroundings.variable(name)) {
        let named = Path::new(value);
        let folders = [named.to_owned(), named.join("bin")];
        all.extend(find.programs.iter().flat_map(|program| {
            folders.iter().flat_map(|folder| surroundings.programs_in(folder, program)).collect::<Vec<_>>()
        }));
        if named.is_absolute() && named.is_file() {
            all.push(named.to_owned());
        } else if let Some(name) = named.to_str() {
            all.extend(surroundings.on_path(name));
        }
    }
    all.extend(find.programs.iter().flat_map(|program| surroundings.on_path(program)));
    if surroundings.is_windows() {
        for key in &find.registry {
            let printed = output_of(Command::new("reg").args(["query", &key.key, "/s", "/v", &key.value]), VERSION_MAX);
            let folders = printed.unwrap_or_default();
            all.extend(registry_values(&folders).map(|folder| Path::new(folder).join(&key.program)));
        }
    }
    all.extend(find.roots.iter().flat_map(|root| surroundings.matching(root)));
    all
}

/// The values in the output of `reg query`.
fn registry_values(printed: &str) -> impl Iterator<Item = &str> {
    printed
        .lines()
        .filter_map(|line| line.split_once("REG_SZ"))
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

/// The program behind a shim, and its version.
///
/// # Errors
/// Why it can't be used.
fn ask(descriptor: &Descriptor, candidate: &Path, real: &Path) -> Result<(PathBuf, String), String> {
    let exe = match &descriptor.find.resolve {
        // A link to another name may be a shim that depends on the name it is called by (rustup, ccache).
        None if real.file_name() != candidate.file_name() => candidate.to_owned(),
        None => real.to_owned(),
        Some(resolve) => {
            let resolve = filled(resolve, &[("exe", &candidate.to_string_lossy())]);
            let printed = output_of(Command::new(&resolve[0]).args(&resolve[1..]), VERSION_MAX)?;
            let path = PathBuf::from(printed.lines().next_back().unwrap_or_default().trim());
            if path.is_absolute() { path } else { return Err("it doesn't say where its program is".to_owned()) }
        }
    };
    let mut command = Command::new(&exe);
    let printed = output_of(command.args(&descriptor.version.arguments), VERSION_MAX)?;
    let stated = match &descriptor.version.line {
        Some(begin) => printed.lines().rfind(|line| line.starts_with(begin.as_str())).unwrap_or_default(),
        None => &printed,
    };
    let version = version_in(stated).ok_or_else(|| "it doesn't state a version".to_owned())?;
    Ok((exe, descriptor.version.fixed.clone().unwrap_or(version)))
}

/// The first number in a text, with its dots.
fn version_in(printed: &str) -> Option<String> {
    let begin = printed.find(|c: char| c.is_ascii_digit())?;
    let version: String = printed[begin..].chars().take_while(|&c| c.is_ascii_digit() || c == '.').collect();
    Some(version.trim_end_matches('.').to_owned())
}

/// Whether a version is at least another one, compared number by number.
pub fn is_at_least(version: &str, least: &str) -> bool {
    let numbers = |text: &str| text.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u64>>();
    numbers(version) >= numbers(least)
}

fn id(descriptor: &Descriptor, version: &str, others: &[Installation]) -> String {
    let parts: Vec<&str> = version.split('.').take(descriptor.version.parts).collect();
    let short = format!("{}-{}", descriptor.name, parts.join("."));
    match others.iter().any(|other| other.id == short) {
        true => format!("{}-{version}", descriptor.name),
        false => short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_number() {
        for (printed, version) in [
            ("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK 64-Bit", "17.0.15"),
            ("openjdk version \"25\" 2025-09-16", "25"),
            ("go version go1.26.8 linux/amd64", "1.26.8"),
            ("v20.20.2\n", "20.20.2"),
            ("Python 3.11.7", "3.11.7"),
            ("Mono JIT compiler version 6.8.0.105 (Debian", "6.8.0.105"),
            ("12.2.0\n", "12.2.0"),
        ] {
            assert_eq!(version_in(printed).as_deref(), Some(version));
        }
        assert_eq!(version_in("unknown"), None);
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(is_at_least("25.0.3", "19") && is_at_least("3.11.7", "3.11") && is_at_least("19", "19"));
        assert!(!is_at_least("17.0.15", "19") && !is_at_least("9", "19"));
    }

    #[test]
    fn the_registry_names_folders() {
        let printed = "\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\JavaSoft\\JDK\\17\r\n    JavaHome    REG_SZ    C:\\Program Files\\Java\\jdk-17\r\n";
        assert_eq!(registry_values(printed).collect::<Vec<_>>(), ["C:\\Program Files\\Java\\jdk-17"]);
    }
}
