//! Libraries that a probe uses: found in the local Maven repository, or fetched by Maven if the user permits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::descriptor::{Descriptor, Library};
use crate::installation::{Built, Installation, Missing};
use crate::supervise::output_of;
use crate::surroundings::Surroundings;

/// How long Maven may take to fetch a library: Hazelcast is 14 MB.
const FETCH_MAX: Duration = Duration::from_secs(600);
/// The Maven goal that fetches one file, with a pinned plugin version.
const GET: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get";
/// The Maven option for the local repository.
const OPTION: &str = "-Dmaven.repo.local=";

impl Library {
    /// Its path in a Maven repository.
    fn path_in(&self, repository: &Path) -> PathBuf {
        let Library { group, artifact, version, .. } = self;
        let folder = group.split('.').fold(repository.to_owned(), |folder, part| folder.join(part));
        folder.join(artifact).join(version).join(format!("{artifact}-{version}.jar"))
    }

    /// The Maven arguments that fetch only this file and verify its checksum.
    fn fetching(&self) -> [String; 6] {
        let Library { group, artifact, version, .. } = self;
        let what = format!("-Dartifact={group}:{artifact}:{version}");
        ["-B".to_owned(), "-q".to_owned(), "-C".to_owned(), GET.to_owned(), what, "-Dtransitive=false".to_owned()]
    }
}

/// The local Maven repository: the one in Maven's options or settings, or the default.
fn repository(surroundings: &Surroundings) -> Option<PathBuf> {
    let options = ["MAVEN_ARGS", "MAVEN_OPTS"].iter().filter_map(|name| surroundings.variable(name)?.to_str());
    let named = options.flat_map(str::split_whitespace).find_map(|word| word.strip_prefix(OPTION));
    if let Some(named) = named {
        return Some(PathBuf::from(named));
    }
    let home = surroundings.home()?;
    let settings = fs::read_to_string(home.join(".m2/settings.xml")).unwrap_or_default();
    let inside = settings.split_once("<localRepository>").and_then(|(_, rest)| rest.split_once("</localRepository>"));
    Some(match inside.map(|(path, _)| path.trim()).filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path.replace("${user.home}", &home.to_string_lossy())),
        None => home.join(".m2/repository"),
    })
}

/// Expands an installation to one per library that is there.
pub fn with_libraries(
    found: &Installation,
    surroundings: &Surroundings,
) -> (Vec<Installation>, Vec<(Missing, &'static Library)>) {
    let descriptor: &'static Descriptor = found.descriptor;
    let (mut all, mut missing) = (Vec::new(), Vec::new());
    for library in &descriptor.library {
        let id = id(descriptor, library);
        let jar = repository(surroundings).map(|repository| library.path_in(&repository));
        match jar.filter(|jar| jar.is_file()) {
            Some(jar) => all.push(Installation {
                version: library.version.clone(),
                id,
                library: Some(Built { jar, of: library, on: format!("{} {}", descriptor.host, found.version) }),
                ..found.clone()
            }),
            None => {
                let fetch = library.fetching().join(" ");
                let reason = format!(
                    "its library is not in the local Maven repository. Fetch it with --fetch, or with: mvn {fetch}"
                );
                missing.push((Missing { name: id, reason }, library));
            }
        }
    }
    (all, missing)
}

/// The id of a library's version: `jet-5.7`.
fn id(descriptor: &Descriptor, library: &Library) -> String {
    let parts: Vec<&str> = library.version.split('.').take(descriptor.version.parts).collect();
    format!("{}-{}", descriptor.name, parts.join("."))
}

/// Makes Maven fetch a library.
///
/// # Errors
/// Why it failed.
pub fn fetch(library: &Library, surroundings: &Surroundings) -> Result<(), String> {
    let maven = ["mvn", "mvn.cmd"].iter().flat_map(|name| surroundings.on_path(name)).next();
    let maven = maven.ok_or("Maven is missing. Install it with: apt-get install maven")?;
    let mut command = Command::new(maven);
    // The repository that is searched afterwards: Java's idea of the home directory may differ from this process's.
    if let Some(repository) = repository(surroundings) {
        command.arg(format!("{OPTION}{}", repository.display()));
    }
    output_of(command.args(library.fetching()), FETCH_MAX)
        .map(|_| ())
        .map_err(|error| format!("Maven could not fetch its library: {error}"))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::descriptor::descriptors;

    fn jet() -> Installation {
        let descriptor = descriptors().iter().find(|one| one.name == "jet").expect("it has a folder");
        let (exe, version, id) = ("/usr/bin/java".into(), "17.0.15".to_owned(), "jet-17.0".to_owned());
        Installation { descriptor, exe, version, id, library: None }
    }

    fn surroundings(home: &Path, options: &str) -> Surroundings {
        let variable = |name: &str, value: OsString| (name.to_owned(), value);
        let variables = vec![variable("HOME", home.into()), variable("MAVEN_OPTS", options.into())];
        Surroundings { os: "linux".to_owned(), variables, root: "/".into() }
    }

    #[test]
    fn each_library_that_is_there_is_a_runtime_and_each_other_one_says_how_to_fetch_it() {
        let home = tempfile::tempdir().unwrap();
        let (none, missing) = with_libraries(&jet(), &surroundings(home.path(), ""));
        assert!(none.is_empty());
        let reasons: Vec<String> = missing.iter().map(|(one, _)| format!("{}: {}", one.name, one.reason)).collect();
        assert!(reasons[0].starts_with("jet-3.2: its library is not in the local Maven repository."), "{reasons:?}");
        assert!(
            reasons[0].ends_with(":get -Dartifact=com.hazelcast.jet:hazelcast-jet:3.2.2 -Dtransitive=false"),
            "{reasons:?}"
        );

        let jar = home.path().join("else/com/hazelcast/jet/hazelcast-jet/3.2.2/hazelcast-jet-3.2.2.jar");
        fs::create_dir_all(jar.parent().unwrap()).unwrap();
        fs::write(&jar, "").unwrap();
        let there = |surroundings: &Surroundings| {
            let (found, missing) = with_libraries(&jet(), surroundings);
            assert_eq!(missing.len(), 1, "the other one");
            let one = &found[0];
            assert_eq!((one.id.as_str(), one.version.as_str()), ("jet-3.2", "3.2.2"));
            let library = one.library.as_ref().unwrap();
            assert_eq!((&library.jar, library.on.as_str()), (&jar, "Java 17.0.15"));
        };
        let named = format!("-Xmx1g -Dmaven.repo.local={}", home.path().join("else").display());
        there(&surroundings(home.path(), &named));
        let settings = "<settings>\n  <localRepository>${user.home}/else</localRepository>\n</settings>\n";
        fs::create_dir(home.path().join(".m2")).unwrap();
        fs::write(home.path().join(".m2/settings.xml"), settings).unwrap();
        there(&surroundings(home.path(), ""));
    }

    #[test]
    fn without_maven_nothing_is_fetched() {
        let nothing = Surroundings { root: "/nowhere".into(), ..surroundings(Path::new("/nowhere"), "") };
        let error = fetch(descriptors().iter().flat_map(|one| &one.library).next().unwrap(), &nothing).unwrap_err();
        assert_eq!(error, "Maven is missing. Install it with: apt-get install maven");
    }
}
