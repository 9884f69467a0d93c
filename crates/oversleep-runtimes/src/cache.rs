//! Compiled probes: built once per source and toolchain, then cached.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{env, fs, io, iter, process};

use crate::descriptor::{Build, Descriptor, filled};
use crate::installation::Installation;
use crate::supervise::output_of;
use crate::surroundings::Surroundings;

/// How long a compiler may take.
const BUILD_MAX: Duration = Duration::from_secs(180);
/// The prefix of unfinished builds.
const UNFINISHED: &str = ".unfinished-";

/// Where compiled probes are stored: the user's cache, or a directory that this run removes.
#[derive(Debug)]
pub struct Cache {
    place: Option<PathBuf>,
    /// The directory to remove when the run ends.
    own: Option<PathBuf>,
    /// Why no directory is writable.
    refusal: String,
    /// Whether compilers may fetch what a probe needs from the network.
    may_fetch: bool,
}

impl Cache {
    /// Opens the first place that is writable.
    pub fn open(surroundings: &Surroundings) -> Cache {
        let mut refusals = Vec::new();
        if let Some(kept) = kept_place(surroundings) {
            match is_writable(&kept) {
                Ok(()) => return Cache::at(Some(kept), None, String::new()),
                Err(error) => refusals.push(format!("{}: {error}", kept.display())),
            }
        }
        let own = temporary(&env::temp_dir(), "oversleep-runtimes-");
        // Not its parents, which would be left behind.
        match fs::create_dir(&own) {
            Ok(()) => Cache::at(Some(own.clone()), Some(own), String::new()),
            Err(error) => {
                refusals.push(format!("{}: {error}", env::temp_dir().display()));
                Cache::at(None, None, refusals.join("; "))
            }
        }
    }

    fn at(place: Option<PathBuf>, own: Option<PathBuf>, refusal: String) -> Cache {
        Cache { place, own, refusal, may_fetch: false }
    }

    /// From now on, compilers may fetch what a probe needs from the network.
    pub fn let_fetch(&mut self) {
        self.may_fetch = true;
    }

    /// The directory with an installation's compiled probe, which is built now if necessary.
    ///
    /// # Errors
    /// Why it can't be built, in words.
    pub fn directory(&self, installation: &Installation, surroundings: &Surroundings) -> Result<PathBuf, String> {
        let Some(build) = &installation.descriptor.build else { return Ok(PathBuf::new()) };
        let place = self.place.as_ref().ok_or_else(|| {
            format!("no directory can be written to compile its probe in ({}); set XDG_CACHE_HOME to one", self.refusal)
        })?;
        let ready = place.join(name(installation, build));
        if ready.is_dir() {
            return Ok(ready);
        }
        let unfinished = temporary(place, UNFINISHED);
        let built = self.built(installation, build, &unfinished, surroundings);
        let kept = built.and_then(|()| match fs::rename(&unfinished, &ready) {
            Ok(()) => Ok(ready.clone()),
            // Another run finished first.
            Err(_) if ready.is_dir() => Ok(ready.clone()),
            Err(error) => Err(format!("its compiled probe can't be kept: {error}")),
        });
        let _ = fs::remove_dir_all(&unfinished);
        kept
    }

    /// Compiles a probe, by the fallback if the first way fails.
    fn built(&self, of: &Installation, build: &Build, dir: &Path, surroundings: &Surroundings) -> Result<(), String> {
        let Err(error) = compile(of, build, dir, surroundings, self.may_fetch) else { return Ok(()) };
        match &build.otherwise {
            Some(other) if fs::remove_dir_all(dir).is_ok() => {
                self.built(of, other, dir, surroundings).map_err(|second| format!("{error}; {second}"))
            }
            _ => Err(error),
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        if let Some(own) = &self.own {
            let _ = fs::remove_dir_all(own);
        }
    }
}

/// The user's cache directory.
fn kept_place(surroundings: &Surroundings) -> Option<PathBuf> {
    let named = |name: &str| surroundings.variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = match surroundings.os.as_str() {
        "windows" => named("LOCALAPPDATA"),
        "macos" => surroundings.home().map(|home| home.join("Library/Caches")),
        _ => named("XDG_CACHE_HOME").or_else(|| Some(surroundings.home()?.join(".cache"))),
    };
    Some(caches?.join("oversleep").join("runtimes"))
}

fn is_writable(place: &Path) -> io::Result<()> {
    fs::create_dir_all(place)?;
    let probe = temporary(place, UNFINISHED);
    fs::create_dir(&probe)?;
    fs::remove_dir(&probe)
}

/// A name that no other process and no other call in this process uses.
fn temporary(place: &Path, prefix: &str) -> PathBuf {
    static CHOSEN: AtomicU64 = AtomicU64::new(0);
    place.join(format!("{prefix}{}-{}", process::id(), CHOSEN.fetch_add(1, Ordering::Relaxed)))
}

/// A name derived from everything that a compiled probe depends on: sources, command, toolchain.
fn name(installation: &Installation, build: &Build) -> String {
    let mut hasher = DefaultHasher::new();
    let Installation { descriptor, exe, version, .. } = installation;
    descriptor.sources.hash(&mut hasher);
    iter::successors(Some(build), |one| one.otherwise.as_deref()).for_each(|one| one.command.hash(&mut hasher));
    (exe, version, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
    installation.library.as_ref().map(|library| (&library.jar, &library.on)).hash(&mut hasher);
    format!("{}-{version}-{:016x}", descriptor.name, hasher.finish())
}

fn compile(
    installation: &Installation,
    build: &Build,
    dir: &Path,
    surroundings: &Surroundings,
    may_fetch: bool,
) -> Result<(), String> {
    let write = |(file, text): &(String, &str)| {
        let path = dir.join(file);
        fs::create_dir_all(path.parent().unwrap_or(dir))?;
        fs::write(path, text)
    };
    let sources = &installation.descriptor.sources;
    sources.iter().try_for_each(write).map_err(|error| format!("its source can't be written: {error}"))?;
    let program = match &build.program {
        None => installation.exe.clone(),
        Some(program) => compiler(installation, program, surroundings)
            .ok_or_else(|| format!("{program} is missing. Install it with: {}", installation.descriptor.install))?,
    };
    let (here, program) = (dir.to_string_lossy(), program.to_string_lossy());
    let own = installation.values();
    let mut values: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
    values.extend([("dir", &*here), ("program", &*program)]);
    if let (Some(fetch), true) = (&build.fetch, may_fetch) {
        let words = filled(fetch, &values);
        output_of(Command::new(&words[0]).args(&words[1..]), BUILD_MAX)
            .map_err(|error| format!("what its probe needs can't be fetched: {error}"))?;
    }
    let words = filled(&build.command, &values);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    // Compilers look for their assembler and linker there.
    if let Ok(path) = env::join_paths(surroundings.search_path()) {
        command.env("PATH", path);
    }
    for (variable, value) in &build.environment {
        command.env(variable, &filled(std::slice::from_ref(value), &values)[0]);
    }
    if let Some(directory) = &build.directory {
        command.current_dir(&filled(std::slice::from_ref(directory), &values)[0]);
    }
    output_of(&mut command, BUILD_MAX).map_err(|error| match &build.fails {
        Some(meaning) => format!("its probe can't be compiled: {meaning}; {error}"),
        None => format!("its probe can't be compiled: {error}"),
    })?;
    // Linkers and build caches leave other files behind.
    if build.outputs.is_empty() { Ok(()) } else { keep_only(dir, installation.descriptor, &build.outputs) }
}

/// The compiler: next to the runtime, or on the search path.
fn compiler(installation: &Installation, program: &str, surroundings: &Surroundings) -> Option<PathBuf> {
    let beside = installation.exe.parent().map(|folder| surroundings.programs_in(folder, program)).unwrap_or_default();
    beside.into_iter().chain(surroundings.on_path(program)).next()
}

fn keep_only(dir: &Path, descriptor: &Descriptor, outputs: &[String]) -> Result<(), String> {
    let aside = dir.with_extension("kept");
    let moved = outputs.iter().try_for_each(|output| {
        // Linkers on Windows add the extension themselves.
        let output = if dir.join(output).exists() { output.clone() } else { format!("{output}.exe") };
        let to = aside.join(&output);
        fs::create_dir_all(to.parent().unwrap_or(&aside))?;
        fs::rename(dir.join(output), to)
    });
    let swapped = moved.and_then(|()| fs::remove_dir_all(dir)).and_then(|()| fs::rename(&aside, dir));
    let _ = fs::remove_dir_all(&aside);
    swapped.map_err(|error| format!("the compiled probe of {} can't be kept: {error}", descriptor.title))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn surroundings(cache: &Path) -> Surroundings {
        let variables = vec![("XDG_CACHE_HOME".to_owned(), OsString::from(cache))];
        Surroundings { os: "linux".to_owned(), variables, root: "/".into() }
    }

    #[test]
    fn a_cache_that_can_not_be_written_is_replaced_by_one_that_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let kept = Cache::open(&surroundings(home.path()));
        assert_eq!(kept.place, Some(home.path().join("oversleep/runtimes")));
        assert!(kept.own.is_none());
        assert_eq!(fs::read_dir(kept.place.as_ref().unwrap()).unwrap().count(), 0, "nothing is left of the attempt");

        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        let other = Cache::open(&surroundings(&file));
        let own = other.own.clone().expect("a directory of its own");
        assert!(own.is_dir());
        drop(other);
        assert!(!own.exists());
    }

    #[test]
    fn a_compiler_fetches_what_a_probe_needs_if_it_may() {
        let tokio = crate::descriptor::descriptors().iter().find(|one| one.name == "tokio").unwrap();
        let build = tokio.build.as_ref().unwrap();
        assert!(tokio.sources.iter().any(|(name, text)| name == "Cargo.toml" && text.contains("tokio = ")));
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("probe");
        let (exe, version, id) = (home.path().join("no-cargo"), "1.54.1".to_owned(), "tokio".to_owned());
        let installation = Installation { descriptor: tokio, exe, version, id, library: None };
        let compiled =
            |may_fetch| compile(&installation, build, &dir, &surroundings(home.path()), may_fetch).unwrap_err();
        assert!(compiled(true).starts_with("what its probe needs can't be fetched: "), "{}", compiled(true));
        let unfetched = compiled(false);
        assert!(unfetched.starts_with("its probe can't be compiled: tokio is not in cargo's cache."), "{unfetched}");
    }
}
