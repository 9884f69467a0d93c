//! Files that have a name but are not complete, so that a process that ends abruptly can remove them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The files that exist and are not complete yet.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn lock() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is not complete. It is removed on drop, unless it was [finished](Unfinished::finish).
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Registers a file that `make` creates.
    ///
    /// # Errors
    /// It could not be created.
    pub fn make<T>(path: &Path, make: impl FnOnce() -> io::Result<T>) -> io::Result<(Unfinished, T)> {
        let mut all = lock();
        let made = make()?;
        all.push(path.to_owned());
        Ok((Unfinished(path.to_owned()), made))
    }

    /// Its name until it is complete.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Runs the last step, which completes the file; the process can't end in between.
    ///
    /// # Errors
    /// The step failed; the file is still unfinished.
    pub fn finish(&self, last: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut all = lock();
        last()?;
        all.retain(|path| *path != self.0);
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut all = lock();
        if let Some(at) = all.iter().position(|path| *path == self.0) {
            let _ = fs::remove_file(all.swap_remove(at));
        }
    }
}

/// The beginning and the end of a hidden name, around the id of the writing process.
const HIDDEN: (&str, &str) = (".oversleep-", ".part");
/// A file that is being written is touched more often.
const STALE: Duration = Duration::from_secs(60);
/// One is touched more often than this, where it is unknown which processes exist.
const LONG_STALE: Duration = Duration::from_secs(24 * 3_600);

/// A hidden name in that directory; `mark` distinguishes it from others of this process.
pub fn hidden_name(directory: &Path, mark: &str) -> PathBuf {
    directory.join(format!("{}{}-{mark}{}", HIDDEN.0, std::process::id(), HIDDEN.1))
}

/// Removes the files that killed processes left in a directory while they were writing.
pub fn remove_stale(directory: &Path) {
    let own = std::process::id();
    let proc = Path::new("/proc");
    // Only a system that lists this process lists the others: a Windows program may see the host's `/proc`.
    let has_processes = proc.join(own.to_string()).exists();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let inner = name.to_str().and_then(|name| name.strip_prefix(HIDDEN.0)?.strip_suffix(HIDDEN.1));
        let Some(process) = inner.and_then(|inner| inner.split('-').next()?.parse::<u32>().ok()) else { continue };
        if process == own || has_processes && proc.join(process.to_string()).exists() {
            continue;
        }
        let limit = if has_processes { STALE } else { LONG_STALE };
        let untouched = entry.metadata().and_then(|found| found.modified()).ok().and_then(|at| at.elapsed().ok());
        if untouched.is_some_and(|time| time > limit) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes them all when the process ends. No file can be registered or finished afterwards.
pub fn remove_all() {
    let all = lock();
    for path in all.iter() {
        let _ = fs::remove_file(path);
    }
    // The lock is held until the process ends.
    std::mem::forget(all);
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_later() {
        let home = tempfile::tempdir().unwrap();
        let long_ago = SystemTime::now() - 2 * LONG_STALE;
        let names = [".oversleep-4294967295-1-0.part", ".oversleep-4294967295-2-0.part", ".oversleep-x.part", "r.part"];
        for (index, name) in names.iter().enumerate() {
            let file = File::create_new(home.path().join(name)).unwrap();
            if index != 1 {
                file.set_modified(long_ago).unwrap();
            }
        }
        let own = hidden_name(home.path(), "1-0");
        File::create_new(&own).unwrap().set_modified(long_ago).unwrap();
        remove_stale(home.path());
        let left: Vec<bool> = names.iter().map(|name| home.path().join(name).exists()).collect();
        assert_eq!(left, [false, true, true, true], "only what nobody can be writing");
        assert!(own.exists());
    }

    #[test]
    fn what_is_not_finished_does_not_stay() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("r.json");
        let make = || Unfinished::make(&path, || File::create_new(&path)).unwrap().0;
        drop(make());
        assert!(!path.exists());
        assert!(make().finish(|| Err(io::Error::other("no"))).is_err());
        assert!(!path.exists());
        make().finish(|| Ok(())).unwrap();
        assert!(path.exists());
        assert!(Unfinished::make(&path, || File::create_new(&path)).is_err(), "what others finished is not ours");
        assert!(path.exists());
    }
}
