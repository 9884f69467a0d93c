//! Finds Java development kits.

use std::path::{Path, PathBuf};

/// A JDK with at least this feature release: `JAVA_HOME`, or one installed by a Debian package.
pub fn java_home(oldest: u32) -> Option<PathBuf> {
    homes().find(|home| release_of(home).is_some_and(|release| release >= oldest))
}

/// Any JDK before this feature release.
pub fn older_java_home(before: u32) -> Option<PathBuf> {
    homes().find(|home| release_of(home).is_some_and(|release| release < before))
}

fn homes() -> impl Iterator<Item = PathBuf> {
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let installed = std::fs::read_dir("/usr/lib/jvm").ok();
    let installed = installed.into_iter().flat_map(|entries| entries.flatten().map(|entry| entry.path()));
    named.into_iter().chain(installed)
}

/// The feature release of the JDK in this directory.
fn release_of(home: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(home.join("release")).ok()?;
    feature_release(&text).filter(|_| home.join("bin/javac").is_file())
}

fn feature_release(text: &str) -> Option<u32> {
    let version = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    version.split(['.', '"', '-', '+']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jdk_says_which_release_it_is() {
        assert_eq!(feature_release("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"25.0.1\"\n"), Some(25));
        assert_eq!(feature_release("JAVA_VERSION=\"17\"\n"), Some(17));
        assert_eq!(feature_release("nothing"), None);
    }
}
