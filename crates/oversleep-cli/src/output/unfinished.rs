//! Files that have a name and are not complete yet, so that a process that ends at once leaves none of them behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

    /// Takes the last step, which completes the file; the process can't end in between.
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

/// Removes them all, for a process that ends now. No file can be registered or finished afterwards.
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

    use super::*;

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
