//! Programs that are built for this, in a directory of their own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that is removed with this value.
pub struct Dir(pub PathBuf);

impl Dir {
    pub fn new() -> Result<Dir, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("oversleep-truth-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        Ok(Dir(dir))
    }

    /// A file in it.
    pub fn file(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a compiler; what it can't build is skipped.
pub fn build(compiler: &mut Command) -> Result<(), String> {
    let name = compiler.get_program().display().to_string();
    match compiler.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("SKIPPED: {name} can't build it: {}", said.lines().next().unwrap_or_default()))
        }
        Err(error) => Err(format!("SKIPPED: {name}: {error}")),
    }
}

/// A program of one C file.
pub fn c(dir: &Dir, name: &str, text: &str, flags: &[&str]) -> Result<PathBuf, String> {
    let source = dir.file(&format!("{name}.c"), text)?;
    let program: PathBuf = Path::new(&dir.0).join(name);
    build(Command::new("cc").args(["-O1", "-pthread"]).args(flags).arg("-o").arg(&program).arg(source).arg("-lrt"))?;
    Ok(program)
}
